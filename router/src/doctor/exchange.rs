//! One request of an examination, and everything that its answer shows, looked at before any tolerance of ours.

use std::net::SocketAddr;

use http::header::CONTENT_TYPE;
use hyper_util::client::legacy::connect::HttpInfo;
use reqwest::Response;
use serde_json::Value;

use crate::sse::Scanner;

/// The names under which reasoning comes.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

/// Bytes of an answer at most.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// What an answer shows.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) content_type: String,
    /// Events with a JSON object.
    pub(super) events: usize,
    /// The closing `[DONE]` came.
    pub(super) done: bool,
    /// The whole answer was one JSON object instead of events.
    pub(super) whole: bool,
    pub(super) text: String,
    /// Under which of [`REASONING`], and what.
    pub(super) reasoning: Option<(&'static str, String)>,
    /// Fragments of calls as they came.
    pub(super) fragments: Vec<Value>,
    pub(super) finish: Option<String>,
    pub(super) usage: Option<Value>,
    /// An error inside the stream.
    pub(super) error: Option<String>,
    /// This end of the connection.
    pub(super) local: Option<SocketAddr>,
}

/// One call, put together from its fragments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) index: Option<u64>,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

impl Answer {
    /// Reads a whole answer.
    pub(super) async fn read(mut response: Response) -> Result<Answer, reqwest::Error> {
        let text = |value: &http::HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let mut answer = Answer {
            content_type: response.headers().get(CONTENT_TYPE).map(text).unwrap_or_default(),
            local: response.extensions().get::<HttpInfo>().map(HttpInfo::local_addr),
            ..Answer::default()
        };
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await? {
            if body.len() < ANSWER_BYTES {
                body.extend_from_slice(&bytes);
            }
        }
        let mut scanner = Scanner::default();
        let mut events = scanner.feed(&body);
        events.extend(scanner.unfinished());
        for event in events {
            if event.data.trim() == "[DONE]" {
                answer.done = true;
            } else if let Ok(chunk @ Value::Object(_)) = serde_json::from_str(&event.data) {
                answer.events += 1;
                answer.take(&chunk);
            }
        }
        if answer.events == 0
            && let Ok(chunk @ Value::Object(_)) = serde_json::from_slice(&body)
        {
            answer.whole = true;
            answer.take(&chunk);
        }
        Ok(answer)
    }

    fn take(&mut self, chunk: &Value) {
        if chunk["usage"].is_object() {
            self.usage = Some(chunk["usage"].clone());
        }
        if chunk["error"].is_object() || chunk["error"].is_string() {
            let message = chunk["error"]["message"].as_str().map(str::to_owned);
            self.error = Some(message.unwrap_or_else(|| chunk["error"].to_string()));
        }
        let choice = &chunk["choices"][0];
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        self.text.push_str(delta["content"].as_str().unwrap_or_default());
        let reasoning = REASONING.iter().find_map(|name| Some((*name, delta[*name].as_str()?)));
        if let Some((name, text)) = reasoning {
            self.reasoning.get_or_insert((name, String::new())).1.push_str(text);
        }
        self.fragments.extend(delta["tool_calls"].as_array().into_iter().flatten().cloned());
        if let Some(finish) = choice["finish_reason"].as_str() {
            self.finish = Some(finish.to_owned());
        }
    }

    /// The answer ended as the protocol has it.
    pub(super) fn is_complete(&self) -> bool {
        self.done || self.finish.is_some()
    }

    /// The calls. A fragment with a name begins one, any other goes on with that of its index, else with the last one.
    pub(super) fn calls(&self) -> Vec<Call> {
        let mut calls: Vec<Call> = Vec::new();
        for fragment in &self.fragments {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let (name, id, index) =
                (text(&fragment["function"]["name"]), text(&fragment["id"]), fragment["index"].as_u64());
            let arguments = match &fragment["function"]["arguments"] {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                value => value.to_string(),
            };
            let known = calls.iter_mut().rev().find(|call| {
                let same = if id.is_empty() { call.index == index } else { call.id == id };
                same && (name.is_empty() || (!id.is_empty() && call.name == name))
            });
            match known {
                Some(call) => call.arguments.push_str(&arguments),
                None => calls.push(Call { index, id, name, arguments }),
            }
        }
        calls
    }

    /// Prompt tokens as the server counts them.
    pub(super) fn prompt_tokens(&self) -> Option<u64> {
        self.usage.as_ref()?["prompt_tokens"].as_u64().filter(|tokens| *tokens > 0)
    }

    /// Prompt tokens from a cache, where the server tells of them.
    pub(super) fn cached_tokens(&self) -> Option<u64> {
        let usage = self.usage.as_ref()?;
        let places = [
            &usage["prompt_tokens_details"]["cached_tokens"],
            &usage["prompt_cache_hit_tokens"],
            &usage["cached_tokens"],
        ];
        places.into_iter().find_map(Value::as_u64)
    }
}
