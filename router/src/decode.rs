//! From the bytes of a response body to a reply: the scanner and the assembler joined, with the rules for the end.

use serde_json::Value;
use tandem_shared::model::Delta;

use crate::assemble::{Draft, StreamFault};
use crate::sse::{Event, Scanner};

/// The closing event.
const DONE: &str = "[DONE]";

/// Bytes of one event at most: far over any real one, and a bound on what a broken server can make us hold.
const EVENT_LIMIT: usize = 16 * 1024 * 1024;

/// Bytes of a body without events that are kept: enough for a whole reply of a server that ignores `stream`.
const HEAD_LIMIT: usize = 4 * 1024 * 1024;

/// Whether more is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The reply goes on.
    More,
    /// `[DONE]` came; whatever follows is not part of the reply.
    Done,
}

/// Decodes one response body.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    scanner: Scanner,
    draft: Draft,
    /// The body so far, while it holds no event.
    head: Vec<u8>,
    events: usize,
    done: bool,
}

impl Decoder {
    /// Takes the next bytes and tells `sink` what they add to the reply.
    pub(crate) fn feed(&mut self, bytes: &[u8], sink: &dyn Fn(Delta)) -> Result<Progress, StreamFault> {
        if self.done {
            return Ok(Progress::Done);
        }
        if self.events == 0 && self.head.len() < HEAD_LIMIT {
            self.head.extend_from_slice(bytes);
        }
        for event in self.scanner.feed(bytes) {
            if self.take(&event, sink)? == Progress::Done {
                return Ok(Progress::Done);
            }
        }
        if self.scanner.held() > EVENT_LIMIT {
            return Err(StreamFault::Malformed(format!("one event is longer than {EVENT_LIMIT} bytes")));
        }
        Ok(Progress::More)
    }

    /// Whether an event came, so that the reply has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.events > 0
    }

    /// The body has ended. A reply is whole after `[DONE]`, or after a finish reason and a clean close.
    pub(crate) fn end(&mut self, sink: &dyn Fn(Delta)) -> Result<(), StreamFault> {
        if !self.done {
            self.take_unfinished(sink)?;
        }
        self.draft.end(sink);
        if self.events == 0 {
            return Err(StreamFault::NotAStream(String::from_utf8_lossy(&self.head).into_owned()));
        }
        let whole = self.done || self.draft.finish_reason.is_some();
        if whole && self.draft.answered { Ok(()) } else { Err(StreamFault::Cut) }
    }

    /// What came, whole or not.
    pub(crate) fn into_draft(self) -> Draft {
        self.draft
    }

    /// Some servers leave out the last blank line, and some answer with plain JSON instead of events. Neither is taken
    /// unless it is whole: a half event means that the stream was cut.
    fn take_unfinished(&mut self, sink: &dyn Fn(Delta)) -> Result<(), StreamFault> {
        let is_whole = |data: &str| data.trim() == DONE || serde_json::from_str::<Value>(data).is_ok();
        match std::mem::take(&mut self.scanner).unfinished() {
            Some(event) if is_whole(&event.data) => {
                self.take(&event, sink)?;
            }
            Some(_) if self.events == 0 => return Err(StreamFault::Cut),
            Some(_) => {}
            None if self.events == 0 => {
                let body = String::from_utf8_lossy(&self.head).into_owned();
                let event = Event { name: "message".to_owned(), data: body, id: None };
                if is_whole(&event.data) {
                    self.take(&event, sink)?;
                    if !self.draft.answered {
                        return Err(StreamFault::NotAStream(event.data));
                    }
                }
            }
            None => {}
        }
        Ok(())
    }

    fn take(&mut self, event: &Event, sink: &dyn Fn(Delta)) -> Result<Progress, StreamFault> {
        self.events += 1;
        self.head.clear();
        if event.data.trim() == DONE {
            self.done = true;
            return Ok(Progress::Done);
        }
        self.draft.feed(event, sink)?;
        Ok(Progress::More)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Mutex;

    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use tandem_shared::model::Usage;

    use crate::cases::{failing, load};

    /// Decodes `stream` in pieces of `size` bytes, into the form of the case files.
    fn decode(stream: &str, size: usize) -> Value {
        decode_pieces(stream.as_bytes().chunks(size))
    }

    fn decode_pieces<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Value {
        let mut decoder = Decoder::default();
        let heard = Mutex::new(String::new());
        let sink = |delta: Delta| {
            if let Delta::Text(text) = delta {
                heard.lock().unwrap().push_str(&text);
            }
        };
        let mut ended = Ok(Progress::More);
        for piece in pieces {
            ended = decoder.feed(piece, &sink);
            if ended != Ok(Progress::More) {
                break;
            }
        }
        let ended = ended.and_then(|_| decoder.end(&sink));
        let draft = decoder.into_draft();
        assert_eq!(draft.text, *heard.lock().unwrap(), "what is heard is what is kept");

        let finish = draft.finish();
        let (calls, _) = draft.calls.settle(finish, &HashSet::new(), || "made".to_owned(), |_| false);
        let calls: Vec<Value> = calls
            .iter()
            .map(|call| {
                let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
                json!({ "id": call.id, "name": call.name, "arguments": arguments })
            })
            .collect();
        let error = match &ended {
            Err(StreamFault::Provider { message, .. }) => json!({ "kind": "provider", "message": message }),
            Err(StreamFault::Malformed(_)) => json!({ "kind": "malformed_chunk" }),
            Err(StreamFault::Cut) => json!({ "kind": "cut" }),
            Err(StreamFault::NotAStream(_)) => json!({ "kind": "not_a_stream" }),
            Ok(()) if calls.iter().any(|call| call["arguments"].is_null()) => {
                json!({ "kind": "invalid_arguments" })
            }
            Ok(()) => Value::Null,
        };
        let some = |text: String| if text.is_empty() { Value::Null } else { Value::String(text) };
        json!({
            "content": some(draft.text),
            "reasoning": some(draft.reasoning),
            "tool_calls": calls,
            "finish_reason": draft.finish_reason,
            "usage": draft.usage.map(|Usage { prompt, cached, completion, .. }| json!({
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
                "cached_tokens": cached,
                "prompt_tokens_details": { "cached_tokens": cached },
            })),
            "complete": ended.is_ok(),
            "error": error,
        })
    }

    #[test]
    fn cases_openai_stream() {
        for size in [1, 7, usize::MAX] {
            let failures =
                failing(load("openai-stream"), |case| decode(case["stream"].as_str().unwrap(), size));
            assert_eq!(failures, Vec::<String>::new(), "in pieces of {size} bytes");
        }
    }

    #[test]
    fn a_body_that_is_no_stream_is_named_and_quoted() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.feed(b"<html>502</html>\n\n", &|_| {}), Ok(Progress::More));
        assert_eq!(decoder.end(&|_| {}), Err(StreamFault::NotAStream("<html>502</html>\n\n".to_owned())));
        assert_eq!(Decoder::default().end(&|_| {}), Err(StreamFault::NotAStream(String::new())));
    }

    #[test]
    fn a_plain_json_reply_is_a_reply() {
        let body = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],
                       "usage":{"prompt_tokens":1,"completion_tokens":2}}"#;
        let got = decode(body, 5);
        assert_eq!((&got["content"], &got["complete"]), (&json!("hi"), &json!(true)));
        assert_eq!(got["usage"]["completion_tokens"], 2);
    }

    #[test]
    fn a_plain_json_error_is_an_error() {
        let got = decode("{\"error\":{\"message\":\"bad key\",\"code\":401}}\n", 5);
        assert_eq!(got["error"], json!({ "kind": "provider", "message": "bad key" }));
    }

    #[test]
    fn a_plain_json_body_without_reply_is_quoted() {
        let body = "{\"detail\":\"no such route\"}";
        let mut decoder = Decoder::default();
        assert_eq!(decoder.feed(body.as_bytes(), &|_| {}), Ok(Progress::More));
        assert_eq!(decoder.end(&|_| {}), Err(StreamFault::NotAStream(body.to_owned())));
    }

    #[test]
    fn a_stream_cut_anywhere_before_its_finish_is_never_whole() {
        let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n\
                      data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\n";
        let finish = stream.rfind("}\n\n").unwrap() + 1;
        for cut in 0..finish {
            assert_eq!(decode(&stream[..cut], 3)["complete"], json!(false), "cut after {cut} bytes");
        }
        for cut in finish..=stream.len() {
            assert_eq!(decode(&stream[..cut], 3)["complete"], json!(true), "cut after {cut} bytes");
        }
    }

    #[test]
    fn done_without_any_choice_is_no_reply() {
        assert_eq!(decode("data: [DONE]\n\n", 4)["error"], json!({ "kind": "cut" }));
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_reply(
            case in any::<proptest::sample::Index>(),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..9),
        ) {
            let cases = load("openai-stream");
            let stream = case.get(&cases)["stream"].as_str().unwrap().as_bytes();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            places.extend([0, stream.len()]);
            places.sort_unstable();
            let pieces = places.windows(2).map(|pair| &stream[pair[0]..pair[1]]);
            prop_assert_eq!(decode_pieces(pieces), decode_pieces(std::iter::once(stream)));
        }
    }
}
