//! The scripted server itself, asked over plain TCP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::reply::{Fault, Reply};
use crate::support::script::Script;
use crate::support::server::Server;

fn connect(server: &Server) -> TcpStream {
    let address = server.url().replace("http://", "").replace("/v1", "");
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

fn send(stream: &mut TcpStream, method: &str, path: &str, body: &str) {
    let head = format!("{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
}

fn chat(model: &str, text: &str) -> String {
    json!({
        "model": model, "stream": true, "stream_options": { "include_usage": true },
        "messages": [{ "role": "system", "content": "s" }, { "role": "user", "content": text }],
    })
    .to_string()
}

/// Everything until the server closes the connection or the body ends.
fn read(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let mut buffer = [0; 1024];
    while !all.ends_with(b"\r\n0\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(count) => all.extend_from_slice(&buffer[..count]),
        }
    }
    String::from_utf8(all).unwrap()
}

/// The body of a chunked answer.
fn body(answer: &str) -> String {
    let (_, mut rest) = answer.split_once("\r\n\r\n").unwrap();
    let mut body = String::new();
    while let Some((size, more)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            break;
        }
        body.push_str(&more[..size]);
        rest = &more[size + 2..];
    }
    body
}

fn chunks(answer: &str) -> Vec<Value> {
    let body = body(answer);
    let events = body.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
    events.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn ask(server: &Server, model: &str) -> String {
    let mut stream = connect(server);
    send(&mut stream, "POST", "/v1/chat/completions", &chat(model, "hi"));
    read(&mut stream)
}

fn text(answer: &str) -> String {
    chunks(answer).iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect()
}

#[test]
fn each_model_gets_its_own_replies_in_order_and_then_done() {
    let script = Script::new()
        .say("planner", [Reply::text("one, in more than one delta"), Reply::text("two")])
        .say("executor", [Reply { repeat: 2, ..Reply::text("again") }]);
    let server = Server::start(script);
    let said = ["planner", "executor", "planner", "planner", "executor", "executor"]
        .map(|model| text(&ask(&server, model)));
    assert_eq!(said, ["one, in more than one delta", "again", "two", "done", "again", "done"]);
    assert_eq!(server.of("planner").len(), 3);
    assert_eq!(server.finish()[0].last(), "hi");
}

#[test]
fn calls_come_in_fragments_with_ids_and_usage_comes_last() {
    let call = Reply::call("grep", json!({ "pattern": "a long enough pattern to be split" }));
    let server = Server::start(Script::new().say("planner", [call]));
    let chunks = chunks(&ask(&server, "planner"));
    let calls: Vec<&Value> = chunks
        .iter()
        .map(|chunk| &chunk["choices"][0]["delta"]["tool_calls"][0])
        .filter(|call| !call.is_null())
        .collect();
    assert_eq!(calls[0]["id"], "call_1_0");
    assert!(calls.len() > 2, "arguments are split");
    let arguments: String = calls.iter().filter_map(|call| call["function"]["arguments"].as_str()).collect();
    assert_eq!(arguments, "{\"pattern\":\"a long enough pattern to be split\"}");
    let usage = &chunks.last().unwrap()["usage"];
    assert_eq!(usage["prompt_tokens"], chat("planner", "hi").len() as u64 / 4 + 1);
}

#[test]
fn one_connection_serves_several_requests() {
    let server = Server::start(Script::new().say("planner", [Reply::text("one"), Reply::text("two")]));
    let mut stream = connect(&server);
    for expect in ["one", "two"] {
        send(&mut stream, "POST", "/v1/chat/completions", &chat("planner", "hi"));
        assert_eq!(text(&read(&mut stream)), expect);
    }
    send(&mut stream, "GET", "/v1/models", "");
    let models: Value = serde_json::from_str(&body(&read(&mut stream))).unwrap();
    assert_eq!(models["data"][0]["id"], "planner");
    assert_eq!((server.all().len(), server.chats().len()), (3, 2));
}

#[test]
fn faults_are_as_scripted() {
    let replies = [
        Fault::Status {
            status: 429,
            body: "slow".into(),
            headers: [("retry-after".into(), "1".into())].into(),
        },
        Fault::Cut { after: 2 },
        Fault::Short { after: 2 },
        Fault::Drop {},
        Fault::Bytewise {},
    ]
    .map(|fault| Reply::text("a text of some length").fault(fault));
    let server = Server::start(Script::new().say("planner", replies));
    let limited = ask(&server, "planner");
    assert!(limited.starts_with("HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\n"), "{limited}");
    assert_eq!(body(&limited), "slow");
    let cut = ask(&server, "planner");
    assert!(!cut.ends_with("0\r\n\r\n") && !cut.contains("[DONE]"), "{cut}");
    let short = ask(&server, "planner");
    assert!(short.ends_with("0\r\n\r\n") && !short.contains("[DONE]"), "{short}");
    assert_eq!(ask(&server, "planner"), "");
    assert_eq!(text(&ask(&server, "planner")), "a text of some length");
}

#[test]
fn a_client_that_goes_away_is_noticed() {
    let hangs = Reply::text("a text of some length").fault(Fault::Hang { after: 2 });
    let server = Server::start(Script::new().say("planner", [hangs]));
    let mut stream = connect(&server);
    send(&mut stream, "POST", "/v1/chat/completions", &chat("planner", "hi"));
    stream.read_exact(&mut [0; 100]).unwrap();
    assert_eq!(server.chats()[0].closed_at(), None);
    drop(stream);
    server.wait_until("the close", |requests| requests[0].closed_at().is_some());
}

#[test]
#[should_panic(expected = "request 1 (thinking): a words-only request has `tools`")]
fn a_broken_rule_fails_the_test_when_the_server_ends() {
    let server = Server::start(Script::new());
    let tool = json!({ "type": "function", "function": { "name": "grep", "parameters": {} } });
    let mut body: Value = serde_json::from_str(&chat("thinking", "hi")).unwrap();
    body["tools"] = json!([tool]);
    let mut stream = connect(&server);
    send(&mut stream, "POST", "/v1/chat/completions", &body.to_string());
    read(&mut stream);
}

#[test]
#[should_panic(expected = "a planner is offered `write_file`")]
fn a_planner_that_is_offered_a_write_tool_fails_the_test() {
    let server = Server::start(Script::new());
    let tool = json!({ "type": "function", "function": { "name": "write_file", "parameters": {} } });
    let mut body: Value = serde_json::from_str(&chat("planner", "hi")).unwrap();
    body["tools"] = json!([tool]);
    let mut stream = connect(&server);
    send(&mut stream, "POST", "/v1/chat/completions", &body.to_string());
    read(&mut stream);
}
