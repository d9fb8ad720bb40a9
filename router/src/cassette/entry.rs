//! The lines of a cassette: a head, then one exchange a line.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tandem_shared::role::Role;

use crate::error::RouterError;
use crate::script::Planned;

/// What stands where a key stood.
pub(super) const REDACTED: &str = "«key»";

/// The headers of a response that change what is made of it.
pub(super) const HEADERS: [&str; 4] = ["content-type", "retry-after", "retry-after-ms", "location"];

/// The first line of a cassette; a script can go without.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The form of the lines; there is only form 1.
    pub cassette: u32,
    /// The project's folder when it was recorded: requests name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// When the recording began, in milliseconds since 1970: requests name the day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<u64>,
    /// The wait before each piece of an answer, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pause_ms: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands in a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One exchange. One of `response`, `fault` and a planned reply answers it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// Who asked.
    pub(super) role: Role,
    /// The body as it was sent, without keys. An entry without one answers any request of its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) request: Option<Value>,
    /// What came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<Recorded>,
    /// Why nothing came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<String>,
    /// A reply in words and calls instead of bytes. Its members stand beside the others.
    #[serde(skip)]
    pub(super) planned: Planned,
}

/// A response as it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recorded {
    /// HTTP status.
    pub(super) status: u16,
    /// Those of [`HEADERS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) headers: Vec<(String, String)>,
    /// The bytes in the pieces in which they arrived.
    pub(super) body: Vec<Piece>,
    /// Why the body did not end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) broken: Option<String>,
}

/// Some bytes of a body: text, or base64 where they are none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Piece {
    /// Whole characters.
    Text(String),
    /// Anything else: a piece may end in the middle of a character.
    Base64 {
        /// The bytes.
        base64: String,
    },
}

impl Piece {
    pub(super) fn of(bytes: &[u8]) -> Piece {
        match std::str::from_utf8(bytes) {
            Ok(text) => Piece::Text(text.to_owned()),
            Err(_) => Piece::Base64 { base64: STANDARD.encode(bytes) },
        }
    }

    pub(super) fn bytes(&self) -> Result<Bytes, String> {
        match self {
            Piece::Text(text) => Ok(Bytes::copy_from_slice(text.as_bytes())),
            Piece::Base64 { base64 } => {
                STANDARD.decode(base64).map(Bytes::from).map_err(|error| format!("base64: {error}"))
            }
        }
    }
}

/// The lines of a cassette, each entry with the number of its line. A last line that a crash cut short is left out.
pub(super) fn read(text: &str) -> Result<(Head, Vec<(usize, Entry)>), RouterError> {
    let mut head = Head::default();
    let mut entries = Vec::new();
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect();
    for (at, line) in &lines {
        let number = at + 1;
        let is_cut = number == text.lines().count() && !text.ends_with('\n') && lines.len() > 1;
        let wrong = |reason: String| RouterError::Cassette { line: number, reason };
        let value: Value = match serde_json::from_str(line) {
            Ok(value) => value,
            Err(error) if error.is_eof() && is_cut => break,
            Err(error) => return Err(wrong(error.to_string())),
        };
        if value.get("cassette").is_some() && entries.is_empty() {
            head = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
            if head.cassette != 1 {
                let form = head.cassette;
                return Err(wrong(format!("it is of form {form}, and this version of tandem reads form 1")));
            }
            continue;
        }
        let entry = Entry::from_value(value).map_err(|error| wrong(error.to_string()))?;
        entry.check().map_err(wrong)?;
        entries.push((number, entry));
    }
    Ok((head, entries))
}

impl Entry {
    /// What is no part of a recording must be part of a planned reply.
    fn from_value(mut value: Value) -> Result<Entry, serde_json::Error> {
        let mut recorded = Map::new();
        for name in ["role", "request", "response", "fault"] {
            if let Some(member) = value.as_object_mut().and_then(|members| members.remove(name)) {
                recorded.insert(name.to_owned(), member);
            }
        }
        let planned = serde_json::from_value(value)?;
        Ok(Entry { planned, ..serde_json::from_value(Value::Object(recorded))? })
    }

    fn check(&self) -> Result<(), String> {
        let answers = [self.response.is_some(), self.fault.is_some(), !self.planned.is_empty()]
            .into_iter()
            .filter(|is| *is);
        if answers.count() > 1 {
            return Err("an entry has one of: response, fault, or text, reasoning and calls".to_owned());
        }
        for piece in self.response.iter().flat_map(|response| &response.body) {
            piece.bytes()?;
        }
        Ok(())
    }
}
