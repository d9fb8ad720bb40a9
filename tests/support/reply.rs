//! What the scripted model says: words, calls, numbers and faults, and how they look as chunks of a stream.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::request::Request;

/// One scripted answer.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    /// Sent in several deltas.
    pub text: String,
    /// Sent as `reasoning_content` before the text.
    pub reasoning: String,
    pub calls: Vec<Call>,
    /// `stop`, or `tool_calls` when there are calls, unless set.
    pub finish: Option<String>,
    /// Tokens; estimated from the sizes unless set.
    pub usage: Option<Tokens>,
    /// Tells no tokens, whoever asks.
    pub no_usage: bool,
    /// Sent as they stand instead of text and calls: what odd servers stream.
    pub deltas: Option<Vec<Value>>,
    pub fault: Option<Fault>,
    /// How often in a row this answer is given; 0 and 1 are once.
    pub repeat: usize,
    /// Files, relative to the project, that somebody else writes just before the answer leaves.
    pub write: BTreeMap<String, String>,
    /// Done just before the answer leaves.
    #[serde(skip)]
    pub before: Option<Action>,
}

/// Something that happens while the model "thinks".
pub type Action = Arc<dyn Fn(&Request) + Send + Sync>;

/// A tool call as the model writes it.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Call {
    pub name: String,
    pub args: Value,
    /// Sent as they stand instead of `args`: malformed arguments.
    pub raw: Option<String>,
    /// Made up and unique unless set.
    pub id: Option<String>,
}

/// Token numbers of one request.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tokens {
    pub prompt: u64,
    pub cached: u64,
    pub completion: u64,
}

/// What goes wrong with an answer.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// An HTTP error instead of a stream.
    Status {
        status: u16,
        #[serde(default)]
        body: String,
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    /// A 200 with these headers and this body as they stand; where it is `cut`, the connection breaks behind them.
    Raw {
        #[serde(default)]
        headers: BTreeMap<String, String>,
        #[serde(default)]
        body: Vec<u8>,
        #[serde(default)]
        cut: bool,
    },
    /// Silence of so many milliseconds after so many events.
    Stall { after: usize, ms: u64 },
    /// Silence for ever after so many events, until the client goes away.
    Hang { after: usize },
    /// The connection breaks in the middle of the event after so many.
    Cut { after: usize },
    /// The connection is reset after so many events.
    Reset { after: usize },
    /// The body ends cleanly in the middle of the event after so many.
    Short { after: usize },
    /// Each byte is a packet of its own.
    Bytewise {},
    /// The connection is closed without an answer.
    Drop {},
    /// The answer is whole, and then the connection is closed without notice.
    Leave {},
}

impl Reply {
    pub fn text(text: &str) -> Reply {
        Reply { text: text.to_owned(), ..Reply::default() }
    }

    pub fn call(name: &str, args: Value) -> Reply {
        Reply::default().and_call(name, args)
    }

    pub fn and_call(mut self, name: &str, args: Value) -> Reply {
        self.calls.push(Call { name: name.to_owned(), args, ..Call::default() });
        self
    }

    pub fn fault(mut self, fault: Fault) -> Reply {
        self.fault = Some(fault);
        self
    }

    pub fn before(mut self, action: impl Fn(&Request) + Send + Sync + 'static) -> Reply {
        self.before = Some(Arc::new(action));
        self
    }

    fn finish_reason(&self) -> &str {
        let usual = if self.calls.is_empty() { "stop" } else { "tool_calls" };
        self.finish.as_deref().unwrap_or(usual)
    }

    /// The numbers a provider would report: four characters a token.
    fn tokens(&self, request: &Request) -> Value {
        let estimate = || {
            let calls: usize = self.calls.iter().map(|call| call.name.len() + call.arguments().len()).sum();
            let said = self.text.chars().count() + self.reasoning.chars().count() + calls;
            Tokens {
                prompt: request.raw.chars().count() as u64 / 4 + 1,
                cached: 0,
                completion: said as u64 / 4 + 1,
            }
        };
        let Tokens { prompt, cached, completion } = self.usage.unwrap_or_else(estimate);
        json!({
            "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
            "prompt_tokens_details": { "cached_tokens": cached },
        })
    }

    /// The answer as events of a stream, `[DONE]` included. Usage is told only to those who ask, as servers do.
    pub fn events(&self, request: &Request) -> Vec<String> {
        let mut deltas = vec![json!({ "role": "assistant", "content": "" })];
        deltas.extend(pieces(&self.reasoning, 12).map(|piece| json!({ "reasoning_content": piece })));
        deltas.extend(pieces(&self.text, 12).map(|piece| json!({ "content": piece })));
        for (index, call) in self.calls.iter().enumerate() {
            let function = json!({ "name": call.name, "arguments": "" });
            deltas.push(json!({ "tool_calls": [
                { "index": index, "id": call.id(request, index), "type": "function", "function": function }
            ] }));
            let fragment =
                |piece| json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] });
            deltas.extend(pieces(&call.arguments(), 24).map(fragment));
        }
        if let Some(odd) = &self.deltas {
            deltas.clone_from(odd);
        }
        let chunk = |choices: Value| {
            json!({
                "id": format!("chatcmpl-{}", request.number), "object": "chat.completion.chunk",
                "created": 1, "model": request.model, "choices": choices,
            })
        };
        let choice =
            |delta: Value, finish: Value| json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
        let mut chunks: Vec<Value> =
            deltas.into_iter().map(|delta| chunk(choice(delta, Value::Null))).collect();
        chunks.push(chunk(choice(json!({}), json!(self.finish_reason()))));
        let asked = self.usage.is_some() || request.body["stream_options"]["include_usage"] == true;
        if asked && !self.no_usage {
            let mut last = chunk(json!([]));
            last["usage"] = self.tokens(request);
            chunks.push(last);
        }
        let mut events: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        events.push("data: [DONE]\n\n".to_owned());
        events
    }

    /// The answer as one JSON body, for a request that did not ask for a stream.
    pub fn whole(&self, request: &Request) -> Value {
        let mut message = json!({ "role": "assistant", "content": self.text });
        if !self.reasoning.is_empty() {
            message["reasoning_content"] = json!(self.reasoning);
        }
        if !self.calls.is_empty() {
            let calls = self.calls.iter().enumerate().map(|(index, call)| {
                json!({
                    "id": call.id(request, index), "type": "function",
                    "function": { "name": call.name, "arguments": call.arguments() },
                })
            });
            message["tool_calls"] = calls.collect();
        }
        json!({
            "id": format!("chatcmpl-{}", request.number), "object": "chat.completion", "created": 1,
            "model": request.model, "usage": self.tokens(request),
            "choices": [{ "index": 0, "message": message, "finish_reason": self.finish_reason() }],
        })
    }
}

impl Call {
    fn arguments(&self) -> String {
        match (&self.raw, &self.args) {
            (Some(raw), _) => raw.clone(),
            (None, Value::Null) => "{}".to_owned(),
            (None, args) => args.to_string(),
        }
    }

    fn id(&self, request: &Request, index: usize) -> String {
        self.id.clone().unwrap_or_else(|| format!("call_{}_{index}", request.number))
    }
}

/// `text` in pieces of so many characters.
fn pieces(text: &str, size: usize) -> impl Iterator<Item = String> {
    let chars: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = chars.chunks(size).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}
