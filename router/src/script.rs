//! Replies that somebody planned, as the bytes that a server would send: for demonstrations without a network.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

/// Characters of text in one event, about what a model sends at a time.
const EVENT_CHARS: usize = 12;

/// Bytes that arrive at a time: less than an event, so that events are cut as on a real network.
const PIECE_BYTES: usize = 100;

/// Characters a token, for the usage that a planned reply reports.
const CHARS_PER_TOKEN: u64 = 4;

/// A planned reply.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Planned {
    #[serde(default)]
    text: String,
    #[serde(default)]
    reasoning: String,
    #[serde(default)]
    calls: Vec<PlannedCall>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlannedCall {
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl Planned {
    /// Whether it neither says nor calls anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.reasoning.is_empty() && self.calls.is_empty()
    }

    /// The bytes of the reply in small pieces. `number` is its place among all replies, from which the ids of its calls
    /// are made; the size of the request `body` gives the usage that it reports.
    pub(crate) fn pieces(&self, number: usize, body: &Value) -> Vec<Bytes> {
        let bytes = Bytes::from(self.stream(number, tokens(&body.to_string())));
        let starts = (0..bytes.len()).step_by(PIECE_BYTES);
        starts.map(|start| bytes.slice(start..bytes.len().min(start + PIECE_BYTES))).collect()
    }

    /// The reply as a server would send it.
    fn stream(&self, number: usize, prompt_tokens: u64) -> String {
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
            let id = format!("call_{number}_{}", index + 1);
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
