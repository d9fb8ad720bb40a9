//! Server-sent events from bytes, by the WHATWG rules, however the bytes are cut.

/// The byte order mark, which may stand once at the very start.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// One dispatched event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// The event's name; `message` when the stream gives none.
    pub(crate) name: String,
    /// The data lines, joined by line feeds.
    pub(crate) data: String,
    /// The last id the stream has set, which stays for later events.
    pub(crate) id: Option<String>,
}

/// Turns bytes into events. Lines may end in LF, CR or CRLF, and any of it may be cut anywhere.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    line: Vec<u8>,
    past_first_line: bool,
    /// The last byte was a CR, so that an LF right after it belongs to the same line end.
    after_cr: bool,
    name: String,
    data: Option<String>,
    id: Option<String>,
}

impl Scanner {
    /// Takes the next bytes, and answers the events that they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, tail) = rest.split_at(at);
            self.line.extend_from_slice(line);
            rest = match tail {
                [b'\r', b'\n', after @ ..] => after,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, after @ ..] => after,
                [] => &[],
            };
            events.extend(self.end_line());
        }
        self.line.extend_from_slice(rest);
        events
    }

    /// What was begun when the stream ended without a blank line. By the rules it is no event.
    pub(crate) fn unfinished(mut self) -> Option<Event> {
        if !self.line.is_empty() {
            // An unfinished line cannot be the blank one that dispatches.
            let _ = self.end_line();
        }
        self.dispatch()
    }

    /// Bytes held for an event that is not complete yet.
    pub(crate) fn held(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, String::len)
    }

    fn end_line(&mut self) -> Option<Event> {
        let mut line = std::mem::take(&mut self.line);
        if !self.past_first_line {
            self.past_first_line = true;
            if line.starts_with(BOM) {
                line.drain(..BOM.len());
            }
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let text = String::from_utf8_lossy(&line);
        let (field, value) = match text.split_once(':') {
            Some((field, value)) => (field, value.strip_prefix(' ').unwrap_or(value)),
            None => (text.as_ref(), ""),
        };
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut self.name),
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            // Comments (an empty field), `retry`, and fields that nobody has defined.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let data = self.data.take()?;
        let name = if name.is_empty() { "message".to_owned() } else { name };
        let id = self.id.clone().filter(|id| !id.is_empty());
        Some(Event { name, data, id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::cases::{failing, load};

    fn base64(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let (mut bits, mut count) = (0_u32, 0);
        for byte in text.bytes().filter(|byte| *byte != b'=') {
            let digit = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                other => panic!("{other} is no base64 digit"),
            };
            bits = (bits << 6) | u32::from(digit);
            count += 6;
            if count >= 8 {
                count -= 8;
                bytes.push(u8::try_from((bits >> count) & 0xFF).unwrap());
            }
        }
        bytes
    }

    fn as_json(events: &[Event]) -> Value {
        let list = events.iter().map(|event| match &event.id {
            Some(id) => json!({ "event": event.name, "data": event.data, "id": id }),
            None => json!({ "event": event.name, "data": event.data }),
        });
        json!({ "events": list.collect::<Vec<_>>() })
    }

    #[test]
    fn cases_sse() {
        let failures = failing(load("sse"), |case| {
            let chunks = case["chunks"].as_array().unwrap();
            let mut scanner = Scanner::default();
            let mut events = Vec::new();
            for chunk in chunks {
                events.extend(scanner.feed(&base64(chunk.as_str().unwrap())));
            }
            as_json(&events)
        });
        assert_eq!(failures, Vec::<String>::new());
    }

    #[test]
    fn an_unfinished_event_is_given_only_when_asked_for() {
        let mut scanner = Scanner::default();
        assert_eq!(scanner.feed(b"data: a\ndata: b"), []);
        let expect = Event { name: "message".to_owned(), data: "a\nb".to_owned(), id: None };
        assert_eq!(scanner.unfinished(), Some(expect));
    }

    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"data: {\"a\":\"\xC3\xA9\xF0\x9F\x98\x80\"}".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"\n\n".to_vec()),
            Just(b"\xEF\xBB\xBF".to_vec()),
            Just(b"event: e".to_vec()),
            Just(b"id: 1".to_vec()),
            Just(b": comment".to_vec()),
            Just(b"data".to_vec()),
            proptest::collection::vec(any::<u8>(), 0..6),
        ];
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_events(
            bytes in pieces(),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..12),
        ) {
            let mut whole = Scanner::default();
            let expect = whole.feed(&bytes);

            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let mut cut = Scanner::default();
            let mut got = Vec::new();
            for pair in places.windows(2) {
                got.extend(cut.feed(&bytes[pair[0]..pair[1]]));
            }
            prop_assert_eq!(got, expect);
            prop_assert_eq!(cut.unfinished(), whole.unfinished());
        }
    }
}
