//! Models as the loop knows them: one that exchanges words, one that also calls tools.

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::call::ToolCall;
use crate::tool::ToolSpec;

/// A model that answers in words. The phase that holds it cannot offer a tool:
///
/// ```compile_fail
/// use tandem_shared::model::PlainRequest;
/// let request = PlainRequest { system: String::new(), messages: vec![], max_tokens: None, tools: vec![] };
/// ```
///
/// ```
/// use tandem_shared::model::PlainRequest;
/// let request = PlainRequest { system: String::new(), messages: vec![], max_tokens: None };
/// ```
pub trait PlainModel: Send + Sync {
    /// Sends one request. Dropping the future closes the connection.
    fn say<'a>(
        &'a self,
        request: PlainRequest,
        sink: DeltaSink<'a>,
    ) -> BoxFuture<'a, Result<PlainReply, ModelError>>;
    /// What the role is bound to.
    fn info(&self) -> ModelInfo;
}

/// A model that is offered tools.
pub trait ToolUseModel: Send + Sync {
    /// Sends one request. Dropping the future closes the connection.
    fn act<'a>(
        &'a self,
        request: ActionRequest,
        sink: DeltaSink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;
    /// What the role is bound to.
    fn info(&self) -> ModelInfo;
}

/// Hears a reply as it arrives.
pub type DeltaSink<'a> = &'a (dyn Fn(Delta) + Send + Sync);

/// A piece of a reply, or news of the connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// Text of the answer.
    Text(String),
    /// Text of the model's own reasoning.
    Reasoning(String),
    /// The request failed and is sent again after `wait`. Text already heard belongs to the failed try.
    Retry {
        /// Counted from 1.
        attempt: u32,
        /// Until the next try.
        wait: Duration,
        /// What went wrong.
        reason: String,
    },
    /// The retries are spent and another model is asked. Text already heard belongs to the one that failed.
    Fallback {
        /// `provider/model` of the other one, from which the reply comes.
        to: String,
        /// What went wrong with the one before.
        reason: String,
    },
    /// Something about the endpoint that a person should know; the reply goes on.
    Alarm {
        /// For a person.
        text: String,
    },
}

/// What a role is bound to.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelInfo {
    /// `provider/model`, as configured.
    pub name: String,
    /// In tokens; `None` when nobody said.
    pub context_window: Option<u64>,
    /// The limit on an answer in tokens, when one is sent.
    pub max_tokens: Option<u32>,
    /// Prices, when known.
    pub price: Option<Price>,
}

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// For prompt tokens that were not cached.
    pub input: f64,
    /// For cached prompt tokens; the input price when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// For answer tokens.
    pub output: f64,
}

/// A message as a provider wants it. Derived from history for each request, never stored.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// From the user, or a reminder in the user role.
    User {
        /// The text.
        text: String,
    },
    /// From the model.
    Assistant {
        /// The text, possibly empty.
        text: String,
        /// The model's reasoning as it came, for providers that want it back.
        reasoning: Option<String>,
        /// What the provider sent beside the known fields.
        own: OwnFields,
        /// `provider/model` that said it, since reasoning and its own fields are sent back to nobody else.
        origin: Option<String>,
        /// The calls, possibly none.
        calls: Vec<ToolCall>,
    },
    /// The result of a call; follows the message with the call.
    Tool {
        /// The call's id.
        call_id: String,
        /// The result.
        text: String,
    },
}

/// Fields of a reply that are a provider's own, such as signatures of its reasoning. They mean nothing here, and some
/// providers want them back with the turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnFields {
    /// Those of the message.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub message: Map<String, Value>,
    /// Those of each call, in the order of the calls. Calls at the end that have none may be missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Map<String, Value>>,
}

impl OwnFields {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.message.is_empty() && self.calls.iter().all(Map::is_empty)
    }
}

/// A request that offers tools.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionRequest {
    /// The system prompt.
    pub system: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The tools on offer; the key is left out on the wire when empty.
    pub tools: Vec<ToolSpec>,
}

/// Who says a plain message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The user role.
    User,
    /// The assistant role.
    Assistant,
}

/// A message of words only.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainMessage {
    /// Who says it.
    pub speaker: Speaker,
    /// The text; earlier tool calls and results are quoted in it.
    pub text: String,
}

/// A request that offers no tools and has no field for them.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainRequest {
    /// The system prompt.
    pub system: String,
    /// The conversation, with earlier calls quoted as text.
    pub messages: Vec<PlainMessage>,
    /// A limit on the answer in tokens that goes before the role's own.
    pub max_tokens: Option<u32>,
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done, or calls tools.
    Stop,
    /// The limit on the answer was reached: the reply is cut.
    Length,
    /// The provider withheld the rest.
    Filter,
}

/// Tokens of one request, as the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// All prompt tokens, cached ones included.
    pub prompt: u64,
    /// Prompt tokens served from the provider's cache.
    pub cached: u64,
    /// Answer tokens, reasoning included.
    pub completion: u64,
    /// Whether the count is far below what was sent, so that it says nothing of the size of a request.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubtful: bool,
}

/// A whole reply of a model that may call tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The text, possibly empty.
    pub text: String,
    /// Reasoning that came beside the text.
    pub reasoning: Option<String>,
    /// What the provider sent beside the known fields.
    pub own: OwnFields,
    /// Complete calls with unique, non-empty ids.
    pub calls: Vec<ToolCall>,
    /// Why it ended.
    pub finish: Finish,
    /// Missing when the provider did not say.
    pub usage: Option<Usage>,
}

/// A whole reply in words.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainReply {
    /// The text.
    pub text: String,
    /// Why it ended.
    pub finish: Finish,
    /// Missing when the provider did not say.
    pub usage: Option<Usage>,
}

/// Why a request failed for good. The texts are for a person.
#[derive(Debug, Error)]
pub enum ModelError {
    /// No usable binding or key.
    #[error("{0}")]
    NotConfigured(String),
    /// 401 or 403.
    #[error("{model}: authentication failed: API error ({status}): {body}\nThe key comes from {key_source}.")]
    Authentication {
        /// `provider/model`.
        model: String,
        /// HTTP status.
        status: u16,
        /// The server's words, cut.
        body: String,
        /// The variable or command, never the key.
        key_source: String,
    },
    /// The request does not fit into the model's window.
    #[error("{model}: the request is too long for the model: API error ({status}): {body}")]
    ContextOverflow {
        /// `provider/model`.
        model: String,
        /// HTTP status.
        status: u16,
        /// The server's words, cut.
        body: String,
    },
    /// Another 4xx: sending it again would not help.
    #[error("{model}: API error ({status}): {body}")]
    BadRequest {
        /// `provider/model`.
        model: String,
        /// HTTP status.
        status: u16,
        /// The server's words, cut.
        body: String,
    },
    /// 429 after all retries.
    #[error("{model}: rate limit, after {}: API error ({status}): {body}", tries(*attempts))]
    RateLimit {
        /// `provider/model`.
        model: String,
        /// HTTP status.
        status: u16,
        /// The server's words, cut.
        body: String,
        /// Requests sent.
        attempts: u32,
    },
    /// 5xx, 408 or 409 after all retries.
    #[error("{model}: the server failed, after {}: API error ({status}): {body}", tries(*attempts))]
    Server {
        /// `provider/model`.
        model: String,
        /// HTTP status.
        status: u16,
        /// The server's words, cut.
        body: String,
        /// Requests sent.
        attempts: u32,
    },
    /// No connection, or it broke.
    #[error("{model}: network fault at {url}, after {}: {reason}", tries(*attempts))]
    Network {
        /// `provider/model`.
        model: String,
        /// The endpoint.
        url: String,
        /// What the system said.
        reason: String,
        /// Requests sent.
        attempts: u32,
    },
    /// The server went silent.
    #[error("{model}: no answer within {limit:?} ({phase}), after {}", tries(*attempts))]
    Timeout {
        /// `provider/model`.
        model: String,
        /// `connecting`, `waiting for the first token` or `between tokens`.
        phase: &'static str,
        /// The limit that ran out.
        limit: Duration,
        /// Requests sent.
        attempts: u32,
    },
    /// The stream was not what the protocol says.
    #[error("{model}: the server broke the protocol, after {}: {reason}", tries(*attempts))]
    Protocol {
        /// `provider/model`.
        model: String,
        /// What was wrong with it.
        reason: String,
        /// Requests sent.
        attempts: u32,
    },
}

fn tries(attempts: u32) -> String {
    if attempts == 1 { "1 try".to_owned() } else { format!("{attempts} tries") }
}

/// The text behind the thoughts that some models write in front of it, which were shown apart as they came.
pub fn without_thoughts(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>").and_then(|rest| rest.split_once("</think>")) {
        Some((_, answer)) => answer.trim_start(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::without_thoughts;

    #[test]
    fn only_thoughts_in_front_of_the_answer_are_left_out() {
        assert_eq!(without_thoughts("<think>a\nb</think>\n\nYes."), "Yes.");
        assert_eq!(without_thoughts("Write <think>x</think> first."), "Write <think>x</think> first.");
        assert_eq!(without_thoughts("<think>never closed"), "<think>never closed");
    }
}
