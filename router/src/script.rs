//! A provider that reads its replies from a script: for demonstrations without a key and without a network.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};
use tandem_shared::role::Role;

use crate::error::RouterError;
use crate::fault::Fault;

/// Characters of text in one event, about what a model sends at a time.
const EVENT_CHARS: usize = 12;

/// Bytes that arrive at a time: less than an event, so that events are cut as on a real network.
const PIECE_BYTES: usize = 100;

/// Characters a token, for the usage that a script reports.
const CHARS_PER_TOKEN: u64 = 4;

/// Replies by role, each given once, in order.
#[derive(Debug)]
pub struct Script {
    pause: Duration,
    replies: Mutex<HashMap<Role, VecDeque<ScriptedReply>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFile {
    #[serde(default)]
    pause_ms: u64,
    replies: Vec<ScriptedReply>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedReply {
    role: Role,
    #[serde(default)]
    text: String,
    #[serde(default)]
    reasoning: String,
    #[serde(default)]
    calls: Vec<ScriptedCall>,
    /// Its place in the script, from which the ids of its calls are made.
    #[serde(skip)]
    number: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl Script {
    /// Reads `{"pause_ms": 3, "replies": [{"role", "text", "reasoning", "calls": [{"name", "arguments"}]}]}`.
    /// Only `replies` and `role` are needed. `pause_ms` is the wait before each piece of about a dozen characters.
    /// `arguments` that are a string are sent as that very text, which need not be JSON.
    ///
    /// # Errors
    /// [`RouterError::Script`] with line and column.
    pub fn parse(json_text: &str) -> Result<Script, RouterError> {
        let file: ScriptFile =
            serde_json::from_str(json_text).map_err(|error| RouterError::Script(error.to_string()))?;
        let mut replies: HashMap<Role, VecDeque<ScriptedReply>> = HashMap::new();
        for (number, reply) in file.replies.into_iter().enumerate() {
            replies.entry(reply.role).or_default().push_back(ScriptedReply { number, ..reply });
        }
        Ok(Script { pause: Duration::from_millis(file.pause_ms), replies: Mutex::new(replies) })
    }

    /// The next reply for `role`, as a response that streams.
    pub(crate) fn answer(&self, role: Role, body: &Value) -> Result<reqwest::Response, Fault> {
        let mut replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        let reply = replies.get_mut(&role).and_then(VecDeque::pop_front).ok_or_else(|| {
            Fault::ScriptOver(format!(
                "the script has no reply left for the role {role}; add one to its replies"
            ))
        })?;
        drop(replies);
        let bytes = Bytes::from(reply.stream(tokens(&body.to_string())));
        let mut pieces = Vec::new();
        for start in (0..bytes.len()).step_by(PIECE_BYTES) {
            pieces.push(bytes.slice(start..bytes.len().min(start + PIECE_BYTES)));
        }
        let pause = self.pause;
        let paced = futures::stream::iter(pieces).then(move |piece| async move {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            Ok::<Bytes, Infallible>(piece)
        });
        Ok(http::Response::new(reqwest::Body::wrap_stream(paced)).into())
    }
}

impl ScriptedReply {
    /// The reply as a server would send it.
    fn stream(&self, prompt_tokens: u64) -> String {
        let mut deltas = vec![json!({ "role": "assistant" })];
        deltas.extend(pieces(&self.reasoning).map(|piece| json!({ "reasoning_content": piece })));
        deltas.extend(pieces(&self.text).map(|piece| json!({ "content": piece })));
        let mut said = tokens(&self.reasoning) + tokens(&self.text);
        for (index, call) in self.calls.iter().enumerate() {
            let arguments = match &call.arguments {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                value => value.to_string(),
            };
            said += tokens(&call.name) + tokens(&arguments);
            let id = format!("call_{}_{}", self.number + 1, index + 1);
            let fragment = |rest: Value| json!({ "tool_calls": [merge(json!({ "index": index }), rest)] });
            deltas.push(fragment(json!({
                "id": id, "type": "function", "function": { "name": call.name, "arguments": "" },
            })));
            deltas.extend(
                pieces(&arguments).map(|piece| fragment(json!({ "function": { "arguments": piece } }))),
            );
        }
        let finish = if self.calls.is_empty() { "stop" } else { "tool_calls" };
        let choice = |delta: Value, finish: Value| {
            chunk(json!([{ "index": 0, "delta": delta, "finish_reason": finish }]), Value::Null)
        };
        let usage = json!({
            "prompt_tokens": prompt_tokens,
            "completion_tokens": said,
            "total_tokens": prompt_tokens + said,
        });
        let mut stream: String = deltas.into_iter().map(|delta| choice(delta, Value::Null)).collect();
        stream.push_str(&choice(json!({}), json!(finish)));
        stream.push_str(&chunk(json!([]), usage));
        stream.push_str("data: [DONE]\n\n");
        stream
    }
}

fn chunk(choices: Value, usage: Value) -> String {
    let chunk = json!({
        "id": "script",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "script",
        "choices": choices,
        "usage": usage,
    });
    format!("data: {chunk}\n\n")
}

fn merge(mut object: Value, more: Value) -> Value {
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.extend(more);
    }
    object
}

fn pieces(text: &str) -> impl Iterator<Item = String> {
    let chars: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = chars.chunks(EVENT_CHARS).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}

fn tokens(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX).div_ceil(CHARS_PER_TOKEN)
}
