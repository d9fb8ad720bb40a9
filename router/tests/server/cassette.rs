//! Cassettes: what was recorded from a server is played back without it, byte for byte.

use std::io::Write;

use super::*;
use tandem_router::{Head, Recorder, RouterError};

/// Keeps what is written, as a file would.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Tape {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// The entries, without the head.
    fn entries(&self) -> Vec<Value> {
        self.text().lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn head() -> Head {
    Head { cassette: 1, root: Some("/old".to_owned()), started_ms: Some(7), pause_ms: 0 }
}

fn recording(base: &str, tape: &Tape) -> Router {
    let recorder = Arc::new(Recorder::new(tape.clone(), &head()).unwrap());
    router(Provider { transport: Transport::Recorded(recorder), ..provider(base) })
}

fn replaying(text: &str) -> Router {
    let transport = Transport::Replayed(Arc::new(Cassette::parse(text).unwrap()));
    router(Provider { key: Arc::new(Missing), transport, ..provider("not looked at") })
}

async fn two(router: &Router) -> [(String, Vec<Delta>); 2] {
    let first = say(router).await;
    let second = say(router).await;
    [first, second].map(|(reply, heard)| (reply.map(|reply| format!("{reply:?}")).unwrap_or_default(), heard))
}

/// Without the waits, which are spread at random.
fn deltas(heard: &[Delta]) -> Vec<String> {
    let shown = |delta: &Delta| match delta {
        Delta::Retry { attempt, reason, .. } => format!("retry {attempt}: {reason}"),
        other => format!("{other:?}"),
    };
    heard.iter().map(shown).collect()
}

#[tokio::test]
async fn what_was_recorded_is_played_back_without_server_and_key() {
    let cut = Answer::stream("data: {\"choices\": [{\"delta\": {\"content\": \"ha\"");
    let busy = Answer::status("429 Too Many Requests", "Retry-After: 0.01\r\n", &format!("busy, {KEY}"));
    let whole = word("né");
    let (left, right) = whole.split_at(whole.find('é').unwrap());
    let chunk = |bytes: &[u8]| {
        let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.extend_from_slice(b"\r\n");
        framed
    };
    // The second chunk begins in the middle of a character.
    let (e, rest) = right.as_bytes().split_at(1);
    let first = [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(),
        chunk(&[left.as_bytes(), e].concat()),
    ];
    let second = [chunk(rest), b"0\r\n\r\n".to_vec()];
    let split = Answer::KeepBytes(vec![first.concat(), second.concat()]);
    let server = Server::start(vec![busy, cut, split, Answer::chunked(&word("bye"))]).await;
    let tape = Tape::default();
    let recorded = two(&recording(&server.base, &tape)).await;
    assert_eq!(recorded[0].0, format!("{:?}", a_reply("né")));

    let text = tape.text();
    assert!(!text.contains(KEY) && text.contains("busy, «key»"), "{text}");
    let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(head, json!({ "cassette": 1, "root": "/old", "started_ms": 7 }));
    let entries = tape.entries();
    assert_eq!(entries.len(), 4);
    assert_eq!(entries[0]["request"], server.seen()[0].json());
    assert_eq!(entries[0]["response"]["status"], 429);
    assert_eq!(entries[0]["response"]["headers"], json!([["retry-after", "0.01"]]));
    assert!(entries[2]["response"]["body"][0]["base64"].is_string(), "{}", entries[2]);
    assert_eq!(entries[3]["response"]["body"].as_array().unwrap().len(), 1, "{}", entries[3]);

    let replayed = two(&replaying(&text)).await;
    for (recorded, replayed) in recorded.iter().zip(&replayed) {
        assert_eq!(replayed.0, recorded.0);
        let (recorded, replayed) = (deltas(&recorded.1), deltas(&replayed.1));
        assert_eq!(replayed.len(), recorded.len(), "{replayed:?} {recorded:?}");
    }
}

#[tokio::test]
async fn a_request_that_nobody_answered_is_recorded_as_such_and_fails_again() {
    let tape = Tape::default();
    let base = Server::nobody().await;
    let recorder = Arc::new(Recorder::new(tape.clone(), &head()).unwrap());
    let refused = router(Provider {
        transport: Transport::Recorded(recorder),
        retry: Retry { times: 0, ..RETRY },
        ..provider(&base)
    });
    assert!(matches!(say(&refused).await.0, Err(ModelError::Network { .. })));
    let entries = tape.entries();
    assert_eq!(entries.len(), 1);
    assert!(entries[0]["fault"].as_str().is_some_and(|fault| fault.contains("refused")), "{entries:?}");
    let cassette = Arc::new(Cassette::parse(&tape.text()).unwrap());
    let again = router(Provider {
        transport: Transport::Replayed(cassette),
        retry: Retry { times: 0, ..RETRY },
        ..provider("")
    });
    assert!(matches!(say(&again).await.0, Err(ModelError::Network { .. })));
}

#[tokio::test]
async fn an_exchange_that_is_broken_off_is_still_written() {
    let event = "data: {\"choices\": [{\"delta\": {\"content\": \"ha\"}}]}\n\n";
    let server = Server::start(vec![Answer::Hold(raw::head() + event)]).await;
    let tape = Tape::default();
    let router = recording(&server.base, &tape);
    let begun = tokio::sync::Notify::new();
    let message = PlainMessage { speaker: Speaker::User, text: "hello".to_owned() };
    let request = PlainRequest { system: String::new(), messages: vec![message], max_tokens: None };
    let sink = |_| begun.notify_one();
    let model = router.words(WordsRole::Thinking);
    tokio::select! {
        _ = model.say(request, &sink) => unreachable!("the answer never ends"),
        () = begun.notified() => {}
    }
    let entries = tape.entries();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["response"]["broken"], "the client went away before the end");
    assert_eq!(entries[0]["response"]["body"], json!([event]));
}

#[tokio::test]
async fn the_first_request_that_differs_is_named() {
    let server = Server::start(vec![Answer::chunked(&word("hi"))]).await;
    let tape = Tape::default();
    say(&recording(&server.base, &tape)).await.0.unwrap();
    let changed = tape.text().replace("be brief", "be brisk");
    let replaying = replaying(&changed);
    let error = say(&replaying).await.0.unwrap_err();
    let expect = "p/m: the server broke the protocol, after 1 try: the request differs from the recorded one \
                  (line 2 of the cassette, role thinking) at /messages/0/content\n  recorded: \"be brisk\"\n  \
                  sent now: \"be brief\"";
    assert_eq!(error.to_string(), expect);
    let again = say(&replaying).await.0.unwrap_err();
    assert_eq!(again.to_string(), expect, "whatever is asked later, the first difference is the reason");
}

/// Takes one line, and no more.
struct Full(bool);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match std::mem::replace(&mut self.0, true) {
            true => Err(std::io::Error::other("no space left")),
            false => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_recording_that_cannot_be_written_ends_the_run_instead_of_having_gaps() {
    let server = Server::start(vec![Answer::chunked(&word("hi"))]).await;
    let recorder = Arc::new(Recorder::new(Full(false), &head()).unwrap());
    let router = router(Provider { transport: Transport::Recorded(recorder), ..provider(&server.base) });
    say(&router).await.0.unwrap();
    let error = say(&router).await.0.unwrap_err().to_string();
    assert!(error.ends_with("the recording could not be written: no space left"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_cassette_that_cannot_be_read_names_the_line() {
    let wrong = |text: &str| match Cassette::parse(text) {
        Err(RouterError::Cassette { line, reason }) => (line, reason),
        other => unreachable!("{other:?}"),
    };
    let planner = "{\"role\":\"planner\",\"text\":\"hi\"}";
    assert_eq!(wrong(&format!("{planner}\n\n{{\"role\":\"cook\"}}\n")).0, 3);
    assert_eq!(wrong("{\"role\":\"planner\",\"txt\":\"hi\"}").0, 1);
    assert!(wrong("{\"cassette\":2}").1.contains("form 2"));
    assert_eq!(wrong("{\"role\":\"planner\",\"text\":\"a\",\"fault\":\"b\"}").0, 1);
    assert_eq!(wrong("{\"role\":\"planner\",\"te\n").0, 1);
    let body = json!({ "role": "planner", "response": { "status": 200, "body": [{ "base64": "?" }] } });
    assert_eq!(wrong(&body.to_string()).0, 1);
    assert!(Cassette::parse(&format!("{planner}\n{{\"role\":\"pla")).is_ok(), "a crash cut the last line");
}
