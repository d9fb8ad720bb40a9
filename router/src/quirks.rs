//! Where an endpoint differs from the common form of a request: one row for each difference.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::own::{OF_CALL, OF_MESSAGE};

/// The differences of one endpoint. What is absent keeps to the common form, which each field's type names first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quirks {
    /// What becomes of a user note that follows tool results: some endpoints refuse it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note_after_tool: Option<NoteAfterTool>,
    /// The content of an assistant message that only calls tools. The other form is tried once when this one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_without_text: Option<ContentWithoutText>,
    /// Under which name a model's reasoning is sent back with the turns that called tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_echo: Option<ReasoningEcho>,
    /// Whether fields that only this endpoint knows, such as signatures of reasoning, are sent back with their turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_fields: Option<UnknownFields>,
    /// Whether the model may call several tools in one reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel_calls: Option<ParallelCalls>,
    /// Under which role the system text is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_role: Option<SystemRole>,
    /// What the limit on an answer is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens_field: Option<MaxTokensField>,
    /// Whether the stream is asked to report tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_usage: Option<StreamUsage>,
}

/// What becomes of a user note that follows tool results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoteAfterTool {
    /// It stays a message of the user.
    User,
    /// It goes to the end of the last tool result.
    Fold,
}

/// The content of an assistant message that only calls tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContentWithoutText {
    /// `null`.
    Null,
    /// An empty string.
    Empty,
}

/// Under which name reasoning is sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningEcho {
    /// It is not sent back.
    None,
    /// `reasoning_content`.
    ReasoningContent,
    /// `reasoning`.
    Reasoning,
}

/// Whether fields of a reply that only its endpoint knows are sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnknownFields {
    /// They are left out: most endpoints refuse fields that they do not know.
    Drop,
    /// They are sent back as they came.
    Echo,
}

/// Whether the model may call several tools in one reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParallelCalls {
    /// As the endpoint does it when nothing is said.
    Default,
    /// `parallel_tool_calls: false`.
    Off,
}

/// Under which role the system text is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SystemRole {
    /// `system`.
    System,
    /// `developer`.
    Developer,
    /// `user`, at the start of the first message of the user.
    User,
}

/// What the limit on an answer is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// Whether the stream is asked to report tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StreamUsage {
    /// `stream_options: {"include_usage": true}`.
    Ask,
    /// Some endpoints refuse the field.
    Never,
}

/// Rewrites a request in the common form.
type Rewrite = fn(&Quirks, &mut Map<String, Value>);

/// A row for each quirk. The roles come after the notes: a system text that becomes the user's is no note.
const REWRITES: [Rewrite; 8] = [
    note_after_tool,
    content_without_text,
    reasoning_echo,
    unknown_fields,
    parallel_calls,
    system_role,
    max_tokens,
    stream_usage,
];

impl Quirks {
    /// Turns a request in the common form into the one that this endpoint wants.
    pub(crate) fn apply(&self, body: &mut Map<String, Value>) {
        for rewrite in REWRITES {
            rewrite(self, body);
        }
    }

    /// These quirks, with the other content for messages that only call.
    pub(crate) fn with_other_content(&self) -> Quirks {
        let other = match self.content_without_text {
            None | Some(ContentWithoutText::Null) => ContentWithoutText::Empty,
            Some(ContentWithoutText::Empty) => ContentWithoutText::Null,
        };
        Quirks { content_without_text: Some(other), ..self.clone() }
    }
}

fn messages(body: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
    body.get_mut("messages")?.as_array_mut()
}

fn note_after_tool(quirks: &Quirks, body: &mut Map<String, Value>) {
    if quirks.note_after_tool != Some(NoteAfterTool::Fold) {
        return;
    }
    let Some(messages) = messages(body) else { return };
    let mut folded: Vec<Value> = Vec::with_capacity(messages.len());
    for message in messages.drain(..) {
        match folded.last_mut() {
            Some(result) if result["role"] == "tool" && message["role"] == "user" => {
                result["content"] = joined(&result["content"], &message["content"]);
            }
            _ => folded.push(message),
        }
    }
    *messages = folded;
}

fn joined(first: &Value, second: &Value) -> Value {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    json!(text(first) + "\n\n" + &text(second))
}

fn content_without_text(quirks: &Quirks, body: &mut Map<String, Value>) {
    if quirks.content_without_text != Some(ContentWithoutText::Empty) {
        return;
    }
    for message in messages(body).into_iter().flatten() {
        if message["content"].is_null() {
            message["content"] = json!("");
        }
    }
}

fn reasoning_echo(quirks: &Quirks, body: &mut Map<String, Value>) {
    let name = match quirks.reasoning_echo {
        None | Some(ReasoningEcho::None) => None,
        Some(ReasoningEcho::ReasoningContent) => return,
        Some(ReasoningEcho::Reasoning) => Some("reasoning"),
    };
    for message in messages(body).into_iter().flatten().filter_map(Value::as_object_mut) {
        let kept = message.remove("reasoning_content");
        if let (Some(name), Some(kept)) = (name, kept) {
            message.insert(name.to_owned(), kept);
        }
    }
}

fn unknown_fields(quirks: &Quirks, body: &mut Map<String, Value>) {
    if quirks.unknown_fields == Some(UnknownFields::Echo) {
        return;
    }
    for message in messages(body).into_iter().flatten().filter_map(Value::as_object_mut) {
        message.retain(|name, _| OF_MESSAGE.contains(&name.as_str()));
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        for call in calls.into_iter().flatten().filter_map(Value::as_object_mut) {
            call.retain(|name, _| OF_CALL.contains(&name.as_str()));
        }
    }
}

fn parallel_calls(quirks: &Quirks, body: &mut Map<String, Value>) {
    // Without tools the field is refused.
    if quirks.parallel_calls == Some(ParallelCalls::Off) && body.contains_key("tools") {
        body.insert("parallel_tool_calls".to_owned(), json!(false));
    }
}

fn system_role(quirks: &Quirks, body: &mut Map<String, Value>) {
    let Some(messages) = messages(body) else { return };
    let Some(system) = messages.first_mut().filter(|message| message["role"] == "system") else { return };
    match quirks.system_role {
        None | Some(SystemRole::System) => {}
        Some(SystemRole::Developer) => system["role"] = json!("developer"),
        Some(SystemRole::User) => {
            system["role"] = json!("user");
            // Endpoints without a system role refuse two messages of one speaker in a row, too.
            if messages.get(1).is_some_and(|message| message["role"] == "user") {
                let first = messages.remove(0);
                if let Some(second) = messages.first_mut() {
                    second["content"] = joined(&first["content"], &second["content"]);
                }
            }
        }
    }
}

fn max_tokens(quirks: &Quirks, body: &mut Map<String, Value>) {
    if quirks.max_tokens_field == Some(MaxTokensField::MaxCompletionTokens)
        && let Some(limit) = body.remove("max_tokens")
    {
        body.insert("max_completion_tokens".to_owned(), limit);
    }
}

fn stream_usage(quirks: &Quirks, body: &mut Map<String, Value>) {
    if quirks.stream_usage == Some(StreamUsage::Never) {
        body.remove("stream_options");
    }
}
