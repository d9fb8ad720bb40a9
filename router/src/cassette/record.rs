//! Records a cassette: hands responses on as they come, and writes each exchange down when it is over.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::{Stream, StreamExt};
use reqwest::Response;
use serde::Serialize;
use serde_json::Value;
use tandem_shared::role::Role;
use tandem_shared::secret::mask_tokens;

use super::entry::{Entry, HEADERS, Head, Piece, REDACTED, Recorded};
use crate::fault::Fault;
use crate::script::Planned;

/// Writes exchanges down as they end, so that a crash loses the one that was going on and no other.
pub struct Recorder {
    out: Mutex<Out>,
}

struct Out {
    writer: Box<dyn Write + Send>,
    /// Why an exchange could not be written.
    fault: Option<io::Error>,
}

impl Recorder {
    /// Begins a cassette.
    ///
    /// # Errors
    /// When the head cannot be written.
    pub fn new(writer: impl Write + Send + 'static, head: &Head) -> io::Result<Recorder> {
        let mut writer: Box<dyn Write + Send> = Box::new(writer);
        write_line(&mut writer, head)?;
        Ok(Recorder { out: Mutex::new(Out { writer, fault: None }) })
    }

    /// Begins an exchange. `secrets` are taken out of everything that is written.
    pub(crate) fn begin(
        self: &Arc<Recorder>,
        role: Role,
        body: &Value,
        secrets: Vec<String>,
    ) -> Result<Take, Fault> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = out.fault.take() {
            return Err(Fault::Cassette(format!("the recording could not be written: {fault}")));
        }
        drop(out);
        let gone = "the client went away before an answer came";
        Ok(Take {
            recorder: self.clone(),
            role,
            request: redacted(body, &secrets),
            secrets,
            outcome: Err(gone.to_owned()),
            chunks: Vec::new(),
        })
    }

    fn write(&self, entry: &Entry) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = write_line(&mut out.writer, entry) {
            out.fault = Some(error);
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

/// One write for a line: what a crash leaves behind is whole lines.
fn write_line(writer: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    writer.write_all(text.as_bytes())?;
    writer.flush()
}

/// An exchange that goes on. It is written when it is dropped, however it ended.
pub(crate) struct Take {
    recorder: Arc<Recorder>,
    role: Role,
    request: Value,
    secrets: Vec<String>,
    /// The response without its body, or why there is none.
    outcome: Result<Recorded, String>,
    chunks: Vec<Bytes>,
}

impl Take {
    /// Gives back the same answer; the body of a response is noted as it is read.
    pub(crate) fn note(mut self, answer: Result<Response, Fault>) -> Result<Response, Fault> {
        match answer {
            Ok(response) => Ok(self.pass_on(response)),
            Err(fault) => {
                self.outcome = Err(redact(&fault.reason(), &self.secrets));
                Err(fault)
            }
        }
    }

    fn pass_on(mut self, response: Response) -> Response {
        let (status, version, headers) = (response.status(), response.version(), response.headers().clone());
        let extensions = response.extensions().clone();
        let kept = HEADERS.iter().filter_map(|name| {
            let value = headers.get(*name)?.to_str().ok()?;
            Some(((*name).to_owned(), redact(value, &self.secrets)))
        });
        self.outcome = Ok(Recorded {
            status: status.as_u16(),
            headers: kept.collect(),
            body: Vec::new(),
            broken: Some("the client went away before the end".to_owned()),
        });
        let mut passed = http::Response::new(reqwest::Body::wrap_stream(self.tee(response.bytes_stream())));
        *passed.status_mut() = status;
        *passed.version_mut() = version;
        *passed.headers_mut() = headers;
        *passed.extensions_mut() = extensions;
        passed.into()
    }

    fn tee(
        self,
        body: impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
    ) -> impl Stream<Item = reqwest::Result<Bytes>> + Send + 'static {
        let state = Some((self, Box::pin(body)));
        futures::stream::unfold(state, |state| async move {
            let (mut take, mut body) = state?;
            match body.next().await {
                Some(Ok(bytes)) => {
                    take.chunks.push(bytes.clone());
                    Some((Ok(bytes), Some((take, body))))
                }
                Some(Err(error)) => {
                    take.end(Some(error.to_string()));
                    Some((Err(error), None))
                }
                None => {
                    take.end(None);
                    None
                }
            }
        })
    }

    fn end(mut self, broken: Option<String>) {
        if let Ok(recorded) = &mut self.outcome {
            recorded.broken = broken;
        }
    }

    /// The body in its pieces. Where a key stands in it, perhaps over two pieces, it becomes one piece without the key.
    fn body(&self) -> Vec<Piece> {
        let whole = self.chunks.concat();
        let text = String::from_utf8_lossy(&whole);
        let clean = redact(&text, &self.secrets);
        if clean == text {
            self.chunks.iter().map(|chunk| Piece::of(chunk)).collect()
        } else {
            vec![Piece::Text(clean)]
        }
    }
}

impl Drop for Take {
    fn drop(&mut self) {
        let body = self.body();
        let outcome = std::mem::replace(&mut self.outcome, Err(String::new()));
        let (response, fault) = match outcome {
            Ok(recorded) => (Some(Recorded { body, ..recorded }), None),
            Err(reason) => (None, Some(reason)),
        };
        let request = Some(std::mem::take(&mut self.request));
        let entry = Entry { role: self.role, request, response, fault, planned: Planned::default() };
        self.recorder.write(&entry);
    }
}

fn redact(text: &str, secrets: &[String]) -> String {
    let text = secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), REDACTED));
    mask_tokens(&text).into_owned()
}

fn redacted(value: &Value, secrets: &[String]) -> Value {
    match value {
        Value::String(text) => Value::String(redact(text, secrets)),
        Value::Array(items) => items.iter().map(|item| redacted(item, secrets)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (redact(name, secrets), redacted(value, secrets))).collect()
        }
        other => other.clone(),
    }
}
