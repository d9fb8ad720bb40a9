//! Plays a cassette: answers each request of a role with the next entry of that role.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::Value;
use tandem_shared::role::Role;

use super::differ::{self, Moved};
use super::entry::{self, Entry, Head, Recorded};
use crate::error::RouterError;
use crate::fault::Fault;

/// Answers by role, each given once, in order.
#[derive(Debug)]
pub struct Cassette {
    head: Head,
    /// The project's folder now.
    root: Option<String>,
    tracks: Mutex<Tracks>,
}

#[derive(Debug, Default)]
struct Tracks {
    waiting: HashMap<Role, VecDeque<Numbered>>,
    /// Why the cassette cannot be played on. It stays so: after a request that differs nothing is as it was recorded.
    stopped: Option<String>,
}

#[derive(Debug)]
struct Numbered {
    /// Of the line, from 1.
    line: usize,
    /// Among all entries, from 1.
    number: usize,
    entry: Entry,
}

impl Cassette {
    /// Reads a cassette: JSON lines, the first of which may be `{"cassette": 1, "pause_ms": 3}`. Each further one is
    /// `{"role", "request", "response": {"status", "headers", "body"}}` as recorded, or, written by hand,
    /// `{"role", "text", "reasoning", "calls": [{"name", "arguments"}]}`, of which only `role` is needed. `arguments` that
    /// are a string are sent as that very text, which need not be JSON. Without a `request`, an entry answers any request
    /// of its role.
    ///
    /// # Errors
    /// [`RouterError::Cassette`] with the line.
    pub fn parse(text: &str) -> Result<Cassette, RouterError> {
        let (head, entries) = entry::read(text)?;
        let mut tracks = Tracks::default();
        for (index, (line, entry)) in entries.into_iter().enumerate() {
            let numbered = Numbered { line, number: index + 1, entry };
            tracks.waiting.entry(numbered.entry.role).or_default().push_back(numbered);
        }
        Ok(Cassette { head, root: None, tracks: Mutex::new(tracks) })
    }

    /// The same cassette for a project in the folder `root`: where a recorded request names its own folder, this one is
    /// expected.
    #[must_use]
    pub fn played_in(self, root: &str) -> Cassette {
        Cassette { root: Some(root.to_owned()), ..self }
    }

    /// Where and when it was recorded.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The next answer for `role`, as a response that streams.
    pub(crate) fn answer(&self, role: Role, body: &Value) -> Result<reqwest::Response, Fault> {
        let mut tracks = self.tracks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reason) = &tracks.stopped {
            return Err(Fault::Cassette(reason.clone()));
        }
        let next = tracks.waiting.get_mut(&role).and_then(VecDeque::pop_front);
        let next = next.ok_or_else(|| format!("the cassette has no answer left for the role {role}"));
        let compared = next.and_then(|next| self.compare(&next, body).map(|()| next));
        let Numbered { number, entry, .. } = compared.map_err(|reason| {
            tracks.stopped = Some(reason.clone());
            Fault::Cassette(reason)
        })?;
        drop(tracks);
        match (entry.fault, entry.response) {
            (Some(reason), _) => Err(Fault::Network(reason)),
            (None, Some(recorded)) => self.response(&recorded),
            (None, None) => {
                let body = entry.planned.pieces(number, body).into_iter().map(Ok).collect();
                self.stream(StatusCode::OK, body)
            }
        }
    }

    fn compare(&self, next: &Numbered, body: &Value) -> Result<(), String> {
        let Numbered { line, entry, .. } = next;
        let Some(recorded) = &entry.request else { return Ok(()) };
        let moved = match (&self.head.root, &self.root) {
            (Some(from), Some(to)) if from != to => Some(Moved { from, to }),
            _ => None,
        };
        let Some(difference) = differ::first(recorded, body, moved) else { return Ok(()) };
        let role = entry.role;
        let elsewhere =
            moved.map(|moved| format!("\n  it was recorded in {}, and this is {}", moved.from, moved.to));
        Err(format!(
            "the request differs from the recorded one (line {line} of the cassette, role {role}) at {}\n  recorded: {}\n  \
             sent now: {}{}",
            if difference.pointer.is_empty() { "its root" } else { &difference.pointer },
            difference.recorded,
            difference.sent,
            elsewhere.unwrap_or_default(),
        ))
    }

    fn response(&self, recorded: &Recorded) -> Result<reqwest::Response, Fault> {
        let wrong =
            |error: String| Fault::Cassette(format!("the recorded response cannot be played: {error}"));
        let status = StatusCode::from_u16(recorded.status).map_err(|error| wrong(error.to_string()))?;
        let mut pieces = Vec::new();
        for piece in &recorded.body {
            pieces.push(Ok(piece.bytes().map_err(wrong)?));
        }
        if let Some(reason) = &recorded.broken {
            pieces.push(Err(std::io::Error::other(reason.clone())));
        }
        let mut response = self.stream(status, pieces)?;
        for (name, value) in &recorded.headers {
            let name = HeaderName::try_from(name).map_err(|error| wrong(error.to_string()))?;
            let value = HeaderValue::try_from(value).map_err(|error| wrong(error.to_string()))?;
            response.headers_mut().append(name, value);
        }
        Ok(response)
    }

    /// A body that comes in these pieces, at the cassette's pace.
    fn stream(
        &self,
        status: StatusCode,
        pieces: Vec<std::io::Result<Bytes>>,
    ) -> Result<reqwest::Response, Fault> {
        let pause = Duration::from_millis(self.head.pause_ms);
        let paced = futures::stream::iter(pieces).then(move |piece| async move {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            piece
        });
        let mut response = http::Response::new(reqwest::Body::wrap_stream(paced));
        *response.status_mut() = status;
        Ok(response.into())
    }
}
