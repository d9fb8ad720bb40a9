//! What odd servers stream, through the binary: calls in odd pieces, chunks without choices, text over packet borders.

use serde_json::{Value, json};

use crate::sums;
use crate::support::reply::{Call, Fault, Reply};
use crate::support::request::{Request, content};
use crate::support::run::Ran;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::{World, files_holding};

fn deltas(deltas: impl IntoIterator<Item = Value>) -> Reply {
    let deltas = deltas.into_iter().map(|fragment| json!({ "tool_calls": [fragment] })).collect();
    Reply { deltas: Some(deltas), finish: Some("tool_calls".into()), ..Reply::default() }
}

/// `tandem ARGS` with these replies of planner and executor.
fn ran(args: &[&str], replies: &[Reply]) -> (Ran, Server, World) {
    let script = Script::new().say("planner", replies.to_vec()).say("executor", replies.to_vec());
    let server = Server::start(script);
    let world = sums::world();
    world.bind(&server, "");
    (world.tandem(args).run(), server, world)
}

fn looked(replies: &[Reply]) -> (Ran, Server, World) {
    ran(&["-p", "what does add do?"], replies)
}

/// Ids, names and arguments of the calls in a request, with the text that answers each.
fn exchanges(request: &Request) -> Vec<(String, String, Value, String)> {
    let messages = request.messages();
    let calls = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    calls
        .map(|call| {
            let results: Vec<&Value> =
                messages.iter().filter(|message| message["tool_call_id"] == call["id"]).collect();
            assert_eq!(results.len(), 1, "{call}");
            let arguments = serde_json::from_str(call["function"]["arguments"].as_str().unwrap())
                .unwrap_or_else(|error| panic!("{call}: {error}"));
            let result = content(results[0]);
            (text(&call["id"]), text(&call["function"]["name"]), arguments, result)
        })
        .collect()
}

#[test]
fn a_call_whose_id_comes_only_with_its_first_piece_is_one_call() {
    let piece = |text: &str| json!({ "index": 0, "function": { "arguments": text } });
    let first = json!({ "index": 0, "id": "c1", "function": { "name": "read_file", "arguments": "" } });
    let reply = deltas([first, piece("{\"pa"), piece("th\":\"REA"), piece("DME.md\""), piece("}")]);
    let (ran, server, _world) = looked(&[reply, Reply::text("It adds.")]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "It adds.\n"), "{}", ran.all());
    let [(id, name, arguments, result)] = &exchanges(&server.of("planner")[1])[..] else {
        panic!("one call")
    };
    assert_eq!((id.as_str(), name.as_str()), ("c1", "read_file"));
    assert_eq!(*arguments, json!({ "path": "README.md" }));
    assert!(result.contains("Adds numbers."), "{result}");
}

#[test]
fn two_calls_on_one_index_or_on_none_are_two_calls() {
    for index in [Some(0), None] {
        let call = |id: &str, path: &str| {
            let arguments = json!({ "path": path }).to_string();
            let mut call = json!({ "id": id, "function": { "name": "read_file", "arguments": arguments } });
            if let Some(index) = index {
                call["index"] = json!(index);
            }
            call
        };
        let reply = deltas([call("c1", "README.md"), call("c2", "src/lib.rs")]);
        let (ran, server, _world) = looked(&[reply, Reply::text("It subtracts.")]);
        assert_eq!(ran.code, 0, "{}", ran.all());
        let exchanges = exchanges(&server.of("planner")[1]);
        let calls: Vec<(&str, &Value)> =
            exchanges.iter().map(|(id, _, arguments, _)| (id.as_str(), arguments)).collect();
        assert_eq!(
            calls,
            [("c1", &json!({ "path": "README.md" })), ("c2", &json!({ "path": "src/lib.rs" }))],
            "{index:?}"
        );
        assert!(exchanges[0].3.contains("Adds numbers.") && exchanges[1].3.contains("a - b"));
    }
}

#[test]
fn a_call_without_id_gets_one_that_its_result_has_too() {
    let arguments = json!({ "path": "README.md" }).to_string();
    let call = json!({ "index": 0, "function": { "name": "read_file", "arguments": arguments } });
    let (ran, server, _world) = looked(&[deltas([call]), Reply::text("It adds.")]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "It adds.\n"), "{}", ran.all());
    let [(id, _, _, result)] = &exchanges(&server.of("planner")[1])[..] else { panic!("one call") };
    assert!(!id.is_empty() && result.contains("Adds numbers."), "{id}: {result}");
}

#[test]
fn empty_arguments_are_none_and_refused_where_one_is_required() {
    let call = |name: &str, raw: &str| Reply {
        calls: vec![Call { name: name.into(), raw: Some(raw.into()), ..Call::default() }],
        ..Reply::default()
    };
    let replies =
        [call("list_dir", ""), call("list_dir", " "), call("read_file", ""), Reply::text("It adds.")];
    let (ran, server, _world) = looked(&replies);
    assert_eq!(ran.code, 0, "{}", ran.all());
    // Whatever was sent is valid JSON by now, or this would fail.
    let exchanges = exchanges(&server.of("planner")[3]);
    assert_eq!(exchanges[0].2, json!({}));
    assert!(exchanges[..2].iter().all(|exchange| exchange.3.contains("README.md")), "{exchanges:?}");
    assert!(exchanges[2].3.contains("path"), "{}", exchanges[2].3);
}

#[test]
fn a_finish_reason_is_not_believed() {
    let look =
        Reply { finish: Some("stop".into()), ..Reply::call("read_file", json!({ "path": "README.md" })) };
    let answer = Reply { finish: Some("tool_calls".into()), ..Reply::text("bye") };
    let (ran, server, _world) = looked(&[look, answer]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "bye\n"), "{}", ran.all());
    assert_eq!(server.chats().len(), 2);
    assert!(exchanges(&server.of("planner")[1])[0].3.contains("Adds numbers."));
}

#[test]
fn a_call_that_the_limit_cut_is_not_run_whatever_the_finish_reason() {
    for finish in ["length", "tool_calls"] {
        let cut = Reply {
            calls: vec![Call {
                name: "write_file".into(),
                raw: Some("{\"path\":\"big.md\",\"content\":\"one\\ntw".into()),
                ..Call::default()
            }],
            finish: Some(finish.into()),
            ..Reply::default()
        };
        let (ran, server, world) = ran(
            &["run", "--no-plan", "--approval=auto", "write big.md"],
            &[cut, Reply::text("I could not.")],
        );
        assert!(!world.root().join("big.md").exists(), "{finish}\n{}", ran.all());
        let exchanges = exchanges(&server.of("executor")[1]);
        assert!(exchanges[0].3.contains("not run"), "{finish}: {}", exchanges[0].3);
    }
}

#[test]
fn chunks_without_choices_or_delta_and_comments_are_passed_over() {
    let events = [
        json!({ "choices": [] }),
        json!({ "choices": [{ "index": 0 }] }),
        json!({ "choices": [{ "index": 0, "delta": { "content": "he" } }] }),
        json!({ "choices": [{ "index": 0, "delta": { "content": "llo" } }] }),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] }),
        json!({ "choices": [], "usage": { "prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13 } }),
    ];
    let body: String = events.iter().map(|event| format!(": still here\n\ndata: {event}\n\n")).collect();
    let body = (body + "data: [DONE]\n\n").into_bytes();
    let raw = Fault::Raw {
        headers: [("content-type".into(), "text/event-stream".into())].into(),
        body,
        cut: false,
    };
    let (ran, _server, _world) =
        ran(&["--output-format", "json", "-p", "say hello"], &[Reply::default().fault(raw)]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &report["answer"]), (0, &json!("hello")), "{}", ran.all());
    let spent = &report["spent"]["planner"];
    assert_eq!(
        (&spent["prompt"], &spent["completion"], &spent["estimated"]),
        (&json!(11), &json!(2), &json!(false))
    );
}

#[test]
fn characters_survive_packets_of_one_byte() {
    const TEXT: &str = "café 雪 🦀";
    let reply = Reply {
        deltas: Some(vec![json!({ "content": TEXT })]),
        ..Reply::default().fault(Fault::Bytewise {})
    };
    let (ran, _server, world) = looked(&[reply]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, format!("{TEXT}\n").as_str()), "{}", ran.all());
    assert_ne!(files_holding(&world.state(), TEXT), Vec::<std::path::PathBuf>::new());
    assert_eq!(files_holding(&world.state(), "\u{FFFD}"), Vec::<std::path::PathBuf>::new());
}

#[test]
fn text_that_was_shown_before_a_stream_broke_is_not_shown_again() {
    let answer = "It subtracts, although its name says that it adds.";
    let told = |replies: [Reply; 2]| {
        let args = [
            "--set",
            "network.retry_first_ms=1",
            "--output-format",
            "stream-json",
            "-p",
            "what does add do?",
        ];
        let (ran, _server, _world) = ran(&args, &replies);
        let ran = ran.expect(0);
        assert_eq!(ran.payloads("retry").len(), 1, "{}", ran.all());
        let text = |delta: &Value| delta["text"].as_str().unwrap().to_owned();
        ran.payloads("delta").iter().map(text).collect::<String>()
    };
    let broken = |text: &str| Reply::text(text).fault(Fault::Cut { after: 3 });
    assert_eq!(told([broken(answer), Reply::text(answer)]), answer);
    let other = told([broken(answer), Reply::text("It is wrong.")]);
    assert!(other.starts_with("It ") && other.ends_with("\nIt is wrong."), "{other:?}");
}
