//! A request as the scripted server got it, and the questions that tests ask of it.

use std::sync::Mutex;
use std::time::Instant;

use serde_json::Value;

use super::http::HttpRequest;

/// One request as it arrived.
pub struct Request {
    /// Counted from 1 on this server.
    pub number: usize,
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub raw: String,
    /// Null for a request without a body.
    pub body: Value,
    /// The model's name as the endpoint sees it.
    pub model: String,
    pub at: Instant,
    closed: Mutex<Option<Instant>>,
}

impl Request {
    pub fn new(number: usize, http: HttpRequest) -> Request {
        let raw = String::from_utf8_lossy(&http.body).into_owned();
        let body: Value = serde_json::from_str(&raw).unwrap_or_default();
        Request {
            number,
            method: http.method,
            path: http.path,
            headers: http.headers,
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            body,
            raw,
            at: Instant::now(),
            closed: Mutex::new(None),
        }
    }

    /// The role behind the model's name: what stands before the first dash.
    pub fn role(&self) -> &str {
        self.model.split('-').next().unwrap_or_default()
    }

    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// All that the model reads as conversation: the text of every message, in order.
    pub fn text(&self) -> String {
        self.messages().iter().map(content).collect::<Vec<_>>().join("\n")
    }

    /// The text of the last message.
    pub fn last(&self) -> String {
        self.messages().last().map(content).unwrap_or_default()
    }

    /// The texts of all tool results.
    pub fn results(&self) -> Vec<String> {
        self.messages().iter().filter(|message| message["role"] == "tool").map(content).collect()
    }

    /// Names of the tools on offer.
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect()
    }

    /// Notes that the client did not wait for the end of the answer.
    pub fn close(&self) {
        *self.closed.lock().unwrap() = Some(Instant::now());
    }

    /// When the client closed the connection before the answer was complete.
    pub fn closed_at(&self) -> Option<Instant> {
        *self.closed.lock().unwrap()
    }
}

/// A message's text, whether it is a string or a list of parts.
pub fn content(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
