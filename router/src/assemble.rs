//! Puts a reply together from the chunks of a chat completion, whichever of them a provider sends.

use std::collections::HashSet;

use serde_json::{Map, Value};
use tandem_shared::model::{Delta, Finish, OwnFields, Reply, Usage};

use crate::calls::Calls;
use crate::own::{OF_MESSAGE, gather};
use crate::sse::Event;
use crate::think::Thoughts;

/// What has arrived of one reply.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// As it came, with thoughts that stand in it.
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Calls,
    /// The provider's own fields of the message.
    pub(crate) own: Map<String, Value>,
    /// As the provider wrote it: it is not to be relied on, some say `stop` for calls and some say nothing.
    pub(crate) finish_reason: Option<String>,
    pub(crate) usage: Option<Usage>,
    /// Whether any choice came, be it an empty one.
    pub(crate) answered: bool,
    thoughts: Thoughts,
}

/// What was wrong with a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StreamFault {
    /// The provider reports an error in the middle of the stream.
    Provider {
        /// An HTTP status or a word, as text; empty when there is none.
        code: String,
        /// The provider's words.
        message: String,
    },
    /// An event that is not JSON, or no object.
    Malformed(String),
    /// The stream ended before the reply did.
    Cut,
    /// The body is no event stream: the start of it.
    NotAStream(String),
}

impl Draft {
    /// Takes one event that is not the closing `[DONE]`, and tells `sink` what it adds.
    pub(crate) fn feed(&mut self, event: &Event, sink: &dyn Fn(Delta)) -> Result<(), StreamFault> {
        if event.data.trim().is_empty() {
            return Ok(());
        }
        let chunk = match serde_json::from_str::<Value>(&event.data) {
            Ok(chunk @ Value::Object(_)) => chunk,
            // `event: ping` and the like carry what they want.
            _ if !matches!(event.name.as_str(), "message" | "error") => return Ok(()),
            _ if event.name == "error" => {
                return Err(StreamFault::Provider { code: String::new(), message: event.data.clone() });
            }
            _ => return Err(StreamFault::Malformed(event.data.chars().take(200).collect())),
        };
        self.take(&chunk, sink);
        match provider_error(&chunk, &event.name) {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    fn take(&mut self, chunk: &Value, sink: &dyn Fn(Delta)) {
        // Groq puts usage into a corner of its own.
        for usage in [&chunk["usage"], &chunk["x_groq"]["usage"]] {
            if usage.is_object() {
                self.usage = Some(read_usage(usage));
            }
        }
        // Only the first choice is ours; nobody asked for more.
        let choices = chunk["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
        for choice in choices.iter().filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
            self.answered = true;
            // A server that ignores `stream` sends one whole message instead of deltas.
            let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
            self.take_delta(delta, sink);
            if let Some(reason) = choice["finish_reason"].as_str() {
                self.finish_reason = Some(reason.to_owned());
            }
        }
    }

    fn take_delta(&mut self, delta: &Value, sink: &dyn Fn(Delta)) {
        gather(&mut self.own, delta, &OF_MESSAGE);
        // Some send both names with the same text.
        let reasoning = [&delta["reasoning_content"], &delta["reasoning"]]
            .into_iter()
            .filter_map(Value::as_str)
            .find(|text| !text.is_empty());
        if let Some(text) = reasoning {
            self.reasoning.push_str(text);
            sink(Delta::Reasoning(text.to_owned()));
        }
        for text in [read_text(&delta["content"]), read_text(&delta["refusal"])] {
            if !text.is_empty() {
                self.text.push_str(&text);
                self.thoughts.feed(&text).into_iter().for_each(sink);
            }
        }
        if let Some(fragments) = delta["tool_calls"].as_array() {
            self.calls.feed(fragments);
        }
        if delta["function_call"].is_object() {
            self.calls.feed_legacy(&delta["function_call"]);
        }
    }

    /// The body has ended: tells `sink` what was held back.
    pub(crate) fn end(&mut self, sink: &dyn Fn(Delta)) {
        self.thoughts.end().into_iter().for_each(sink);
    }

    /// Whether it ends in the middle of an object, as a call that was cut off does.
    pub(crate) fn ends_open(&self) -> bool {
        let text = self.calls.last_arguments().unwrap_or(&self.text).trim();
        text.starts_with('{') && serde_json::from_str::<Value>(text).is_err()
    }

    /// Why the reply ended. What is unknown counts as done.
    pub(crate) fn finish(&self) -> Finish {
        match self.finish_reason.as_deref() {
            Some("length" | "max_tokens") => Finish::Length,
            Some("content_filter") => Finish::Filter,
            _ => Finish::Stop,
        }
    }

    /// The reply with its calls as they are to be run. `taken` are ids that calls may not have; `make_id` makes up those
    /// that are missing; `may_change` says which tools change something by their names.
    pub(crate) fn into_reply(
        self,
        finish: Finish,
        taken: &HashSet<&str>,
        make_id: impl FnMut() -> String,
        may_change: impl Fn(&str) -> bool,
    ) -> Reply {
        let (calls, mut of_calls) = self.calls.settle(finish, taken, make_id, may_change);
        while of_calls.last().is_some_and(Map::is_empty) {
            of_calls.pop();
        }
        let reasoning = Some(self.reasoning).filter(|text| !text.is_empty());
        let own = OwnFields { message: self.own, calls: of_calls };
        Reply { text: self.text, reasoning, own, calls, finish, usage: self.usage }
    }
}

/// Text as a string, or as an array of parts.
fn read_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn read_usage(usage: &Value) -> Usage {
    let count = |value: &Value| value.as_u64();
    let cached = count(&usage["prompt_tokens_details"]["cached_tokens"])
        .or_else(|| count(&usage["prompt_cache_hit_tokens"]))
        .or_else(|| count(&usage["cached_tokens"]));
    Usage {
        prompt: count(&usage["prompt_tokens"]).unwrap_or(0),
        cached: cached.unwrap_or(0),
        completion: count(&usage["completion_tokens"]).unwrap_or(0),
        doubtful: false,
    }
}

fn provider_error(chunk: &Value, name: &str) -> Option<StreamFault> {
    let reported = match &chunk["error"] {
        Value::Null | Value::Bool(false) if name == "error" || chunk["object"] == "error" => chunk,
        Value::Null | Value::Bool(false) => {
            let ended_so = chunk["choices"][0]["finish_reason"] == "error";
            return ended_so.then(|| StreamFault::Provider {
                code: String::new(),
                message: "the reply ended with finish_reason \"error\" and no more words".to_owned(),
            });
        }
        error => error,
    };
    let code = [&reported["code"], &reported["status"], &reported["type"]]
        .into_iter()
        .find_map(|code| match code {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
        .unwrap_or_default();
    let message = match (reported, reported["message"].as_str()) {
        (_, Some(message)) => message.to_owned(),
        (Value::String(text), None) => text.clone(),
        (other, None) => other.to_string(),
    };
    Some(StreamFault::Provider { code, message })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn usage_of(usage: Value) -> Option<Usage> {
        let mut draft = Draft::default();
        let data = json!({ "choices": [], "usage": usage }).to_string();
        draft.feed(&Event { name: "message".to_owned(), data, id: None }, &|_| {}).unwrap();
        draft.usage
    }

    #[test]
    fn usage_is_read_from_every_known_place() {
        let expect = Some(Usage { prompt: 10, cached: 4, completion: 3, doubtful: false });
        let told = |extra: (&str, Value)| {
            let mut usage = json!({ "prompt_tokens": 10, "completion_tokens": 3 });
            usage[extra.0] = extra.1;
            usage_of(usage)
        };
        assert_eq!(told(("prompt_tokens_details", json!({ "cached_tokens": 4 }))), expect);
        assert_eq!(told(("prompt_cache_hit_tokens", json!(4))), expect);
        assert_eq!(told(("cached_tokens", json!(4))), expect);
        assert_eq!(usage_of(Value::Null), None);
    }

    #[test]
    fn reasoning_is_heard_under_either_name_and_once() {
        let check = |delta: Value, expect: &str| {
            let mut draft = Draft::default();
            let data = json!({ "choices": [{ "delta": delta }] }).to_string();
            draft.feed(&Event { name: "message".to_owned(), data, id: None }, &|_| {}).unwrap();
            assert_eq!(draft.reasoning, expect);
        };
        check(json!({ "reasoning_content": "a" }), "a");
        check(json!({ "reasoning_content": "", "reasoning": "b" }), "b");
        check(json!({ "reasoning_content": "a", "reasoning": "" }), "a");
        check(json!({ "reasoning_content": "a", "reasoning": "a" }), "a");
    }
}
