//! Requests as the chat completions API wants them.

use serde_json::{Map, Value, json};
use tandem_shared::call::ToolCall;
use tandem_shared::model::{ActionRequest, Message, PlainRequest, Speaker};
use tandem_shared::tool::ToolSpec;

use crate::provider::{Binding, ToolProtocol};
use crate::quirks::Quirks;
use crate::quote::quoted;
use crate::schema;
use crate::think;

/// Fields that extra ones may not replace.
pub(crate) const RESERVED: [&str; 4] = ["messages", "model", "stream", "tools"];

/// How one endpoint wants its requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form<'a> {
    pub(crate) quirks: &'a Quirks,
    pub(crate) extra: &'a Map<String, Value>,
    pub(crate) tools: ToolProtocol,
}

impl Form<'_> {
    /// The request as it is sent: in this form, and with the extra fields last.
    fn give(self, mut body: Map<String, Value>) -> Value {
        self.quirks.apply(&mut body);
        body.extend(self.extra.clone());
        Value::Object(body)
    }
}

/// The body of a request that offers tools.
pub(crate) fn action_body(binding: &Binding, form: Form<'_>, request: &ActionRequest) -> Value {
    let tools = &request.tools;
    let in_words = form.tools == ToolProtocol::Schema && !tools.is_empty();
    let system_text = if in_words { schema::system(&request.system, tools) } else { request.system.clone() };
    let mut messages = system(&system_text);
    // Some endpoints refuse calls in a conversation where no tools are offered.
    if in_words || tools.is_empty() {
        messages.extend(quoted(&request.messages));
    } else {
        messages.extend(request.messages.iter().filter_map(|said| message(said, &binding.provider)));
    }
    let mut body = head(binding, binding.max_tokens, messages);
    if in_words {
        body.insert("response_format".to_owned(), schema::response_format(tools));
    } else if !tools.is_empty() {
        body.insert("tools".to_owned(), tools.iter().map(tool).collect());
    }
    form.give(body)
}

/// The body of a request in words. It has no `tools` key.
pub(crate) fn plain_body(binding: &Binding, form: Form<'_>, request: &PlainRequest) -> Value {
    let mut messages = system(&request.system);
    messages.extend(request.messages.iter().map(|message| {
        let role = match message.speaker {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        json!({ "role": role, "content": message.text })
    }));
    form.give(head(binding, request.max_tokens.or(binding.max_tokens), messages))
}

fn head(binding: &Binding, max_tokens: Option<u32>, messages: Vec<Value>) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(binding.model));
    body.insert("messages".to_owned(), Value::Array(messages));
    body.insert("stream".to_owned(), json!(true));
    body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    if let Some(temperature) = binding.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(max_tokens) = max_tokens {
        body.insert("max_tokens".to_owned(), json!(max_tokens));
    }
    body
}

fn system(text: &str) -> Vec<Value> {
    if text.is_empty() { Vec::new() } else { vec![json!({ "role": "system", "content": text })] }
}

/// `None` for an assistant message that says and calls nothing: some providers refuse it. Reasoning stays with a turn
/// that called tools, and the provider's own fields with every turn, where they came from `provider`: to another one they
/// mean nothing.
fn message(message: &Message, provider: &str) -> Option<Value> {
    match message {
        Message::User { text } => Some(json!({ "role": "user", "content": text })),
        Message::Tool { call_id, text } => {
            Some(json!({ "role": "tool", "tool_call_id": call_id, "content": text }))
        }
        Message::Assistant { text, calls, .. } if text.is_empty() && calls.is_empty() => None,
        Message::Assistant { text, reasoning, own, origin, calls } => {
            let from = origin.as_deref().and_then(|origin| origin.split_once('/')).map(|(from, _)| from);
            let from_here = from == Some(provider);
            // Thoughts in front of the text are the other provider's own, too.
            let text = if from.is_some() && !from_here { think::words(text) } else { text.as_str() };
            let mut message = Map::new();
            message.insert("role".to_owned(), json!("assistant"));
            message.insert("content".to_owned(), if text.is_empty() { Value::Null } else { json!(text) });
            let mut sent: Vec<Value> = calls.iter().map(call).collect();
            if from_here {
                for (sent, own) in sent.iter_mut().filter_map(Value::as_object_mut).zip(&own.calls) {
                    sent.extend(own.clone());
                }
                message.extend(own.message.clone());
            }
            if !sent.is_empty() {
                message.insert("tool_calls".to_owned(), Value::Array(sent));
                if let Some(reasoning) = reasoning.as_ref().filter(|_| from_here) {
                    message.insert("reasoning_content".to_owned(), json!(reasoning));
                }
            }
            Some(Value::Object(message))
        }
    }
}

/// Providers refuse a whole conversation for one earlier call with a bad name or bad arguments. So such a name is made
/// plain, and such arguments are sent as an empty object; what the model really sent stands in the call's result.
fn call(call: &ToolCall) -> Value {
    let is_object = serde_json::from_str::<Value>(&call.arguments).is_ok_and(|value| value.is_object());
    let arguments = if is_object { call.arguments.as_str() } else { "{}" };
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    // 64 characters are the longest name that is allowed.
    let name: String = call.name.chars().take(64).map(plain).collect();
    let name = if name.is_empty() { "unnamed".to_owned() } else { name };
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": name, "arguments": arguments },
    })
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.parameters,
        },
    })
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use tandem_shared::model::{OwnFields, PlainMessage};
    use tandem_shared::tool::Access;

    fn binding(temperature: Option<f64>, max_tokens: Option<u32>) -> Binding {
        Binding {
            provider: "p".to_owned(),
            model: "a/b".to_owned(),
            temperature,
            max_tokens,
            context_window: None,
            price: None,
            fallback: Vec::new(),
        }
    }

    fn common() -> Form<'static> {
        static COMMON: LazyLock<(Quirks, Map<String, Value>)> = LazyLock::new(Default::default);
        Form { quirks: &COMMON.0, extra: &COMMON.1, tools: ToolProtocol::Native }
    }

    fn user(text: &str) -> PlainRequest {
        let message = PlainMessage { speaker: Speaker::User, text: text.to_owned() };
        PlainRequest { system: "be brief".to_owned(), messages: vec![message], max_tokens: None }
    }

    #[test]
    fn a_plain_request_has_nothing_that_nobody_set() {
        let expect = json!({
            "model": "a/b",
            "messages": [
                { "role": "system", "content": "be brief" },
                { "role": "user", "content": "hi" },
            ],
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        assert_eq!(plain_body(&binding(None, None), common(), &user("hi")), expect);
    }

    #[test]
    fn the_request_s_own_limit_goes_before_the_role_s() {
        let limit = |own: Option<u32>| {
            let request = PlainRequest { max_tokens: own, ..user("hi") };
            let body = plain_body(&binding(Some(0.5), Some(100)), common(), &request);
            (body["temperature"].clone(), body["max_tokens"].clone())
        };
        assert_eq!(limit(None), (json!(0.5), json!(100)));
        assert_eq!(limit(Some(7)), (json!(0.5), json!(7)));
    }

    #[test]
    fn an_action_request_carries_tools_calls_and_results() {
        let call = |id: &str, name: &str, arguments: &str| ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        let calls = vec![call("c1", "grep", "{\"q\": 1}"), call("c2", "my tool", "{\"q\": ")];
        let request = ActionRequest {
            system: "s".to_owned(),
            messages: vec![
                Message::User { text: "go".to_owned() },
                Message::Assistant {
                    text: String::new(),
                    reasoning: Some("r".to_owned()),
                    own: OwnFields::default(),
                    origin: None,
                    calls,
                },
                Message::Tool { call_id: "c1".to_owned(), text: "one".to_owned() },
                Message::Tool { call_id: "c2".to_owned(), text: "bad".to_owned() },
                Message::Assistant {
                    text: "done".to_owned(),
                    reasoning: None,
                    own: OwnFields::default(),
                    origin: None,
                    calls: Vec::new(),
                },
                Message::Assistant {
                    text: String::new(),
                    reasoning: None,
                    own: OwnFields::default(),
                    origin: None,
                    calls: Vec::new(),
                },
            ],
            tools: vec![ToolSpec {
                name: "grep".to_owned(),
                description: "finds".to_owned(),
                parameters: json!({ "type": "object" }),
                access: Access::Read,
            }],
        };
        let body = action_body(&binding(None, None), common(), &request);
        let expect = json!({
            "model": "a/b",
            "messages": [
                { "role": "system", "content": "s" },
                { "role": "user", "content": "go" },
                { "role": "assistant", "content": null, "tool_calls": [
                    { "id": "c1", "type": "function", "function": { "name": "grep", "arguments": "{\"q\": 1}" } },
                    { "id": "c2", "type": "function", "function": { "name": "my_tool", "arguments": "{}" } },
                ] },
                { "role": "tool", "tool_call_id": "c1", "content": "one" },
                { "role": "tool", "tool_call_id": "c2", "content": "bad" },
                { "role": "assistant", "content": "done" },
            ],
            "stream": true,
            "stream_options": { "include_usage": true },
            "tools": [{ "type": "function", "function": {
                "name": "grep", "description": "finds", "parameters": { "type": "object" },
            } }],
        });
        assert_eq!(body, expect);
        let bare = ActionRequest { tools: Vec::new(), ..request };
        let body = action_body(&binding(None, None), common(), &bare);
        assert_eq!(body.get("tools"), None);
        // Calls are quoted where no tools are offered.
        let roles: Vec<&str> =
            body["messages"].as_array().unwrap().iter().map(|said| said["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user", "assistant"]);
    }
}
