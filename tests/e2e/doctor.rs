//! `tandem doctor` at servers with habits of their own: what it sees, and the settings that it derives.

use serde_json::{Value, json};

use crate::sums;
use crate::support::reply::{Fault, Reply, Tokens};
use crate::support::request::{Request, content};
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::{KEY, World};

/// A model that does what it is asked, at a server without habits.
fn obedient(request: &Request) -> Reply {
    let last = request.messages().last().unwrap();
    let asked = |words: &str| last["role"] == "user" && content(last).contains(words);
    let note = |reply: Reply, word: &str| reply.and_call("note_word", json!({ "word": word }));
    if request.body.get("response_format").is_some() {
        return Reply::text("{\"colour\": \"red\"}");
    }
    if request.tools().is_empty() {
        return Reply::text("ready");
    }
    if asked("two times") {
        return note(note(Reply::default(), "red"), "blue");
    }
    if asked("note_word") {
        return note(Reply::default(), "ready");
    }
    if asked("ping") {
        return Reply::call("ping", json!({}));
    }
    Reply::text("ready")
}

fn refuse(words: &str) -> Reply {
    let body = json!({ "error": { "message": words } }).to_string();
    Reply::default().fault(Fault::Status { status: 400, body, headers: [].into() })
}

/// The last message of an assistant that calls.
fn calling(request: &Request) -> Option<&Value> {
    request.messages().iter().find(|message| message.get("tool_calls").is_some())
}

/// One endpoint for all roles, with one model.
fn bound(mind: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> (Server, World) {
    let server = Server::start_unchecked(Script::new().think("planner", mind));
    let world = World::new();
    let url = server.url();
    world.configure(&format!(
        "[providers.test]\nbase_url = \"{url}\"\napi_key_env = \"TANDEM_TEST_KEY\"\n\
         [roles.planner]\nmodel = \"test/planner\"\n"
    ));
    (server, world)
}

/// What the doctor says of that endpoint, for programs.
fn examined(code: i32, mind: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Value {
    let (_server, world) = bound(mind);
    let ran = world.tandem(&["doctor", "--output-format", "json"]).run().expect(code);
    let all: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}\n{}", ran.all()));
    assert_eq!(all["endpoints"].as_array().map(Vec::len), Some(1), "{}", ran.all());
    all["endpoints"][0].clone()
}

/// The verdict on a probe, and what was found.
fn found(endpoint: &Value, probe: &str) -> (String, String) {
    let findings = endpoint["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["probe"] == probe);
    let finding = finding.unwrap_or_else(|| panic!("no {probe} in {endpoint:#}"));
    (finding["verdict"].as_str().unwrap().to_owned(), finding["found"].as_str().unwrap().to_owned())
}

/// The quirks of a server without habits, with `changes` laid over them; null takes one out.
fn quirks(changes: Value) -> Value {
    let mut all = json!({
        "note_after_tool": "user", "content_without_text": "null", "reasoning_echo": "none",
        "parallel_calls": "default", "system_role": "system", "max_tokens_field": "max_tokens",
        "stream_usage": "ask",
    });
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => _ = all.as_object_mut().unwrap().remove(name),
            value => all[name] = value.clone(),
        }
    }
    all
}

#[track_caller]
fn check(mind: impl Fn(&Request) -> Reply + Send + Sync + 'static, changes: Value, probe: &str, saw: &str) {
    let endpoint = examined(0, mind);
    assert_eq!(endpoint["quirks"], quirks(changes), "{endpoint:#}");
    assert_eq!(endpoint["tool_protocol"], "native", "{endpoint:#}");
    let (verdict, found) = found(&endpoint, probe);
    assert_eq!(verdict, "odd", "{endpoint:#}");
    assert!(found.contains(saw), "{found}");
}

#[test]
fn an_endpoint_without_habits_is_fine_in_every_point() {
    let (server, world) = bound(obedient);
    let ran = world.tandem(&["doctor"]).run().expect(0);
    let probes = [
        "models",
        "streaming",
        "reasoning",
        "usage",
        "limit",
        "system",
        "json schema",
        "tool calls",
        "call form",
        "parallel calls",
        "empty arguments",
        "call in history",
        "calls without tools",
        "note after a tool",
        "keep-alive",
    ];
    for probe in probes {
        let line = ran.stdout.lines().find(|line| line.trim_start().starts_with(&format!("ok   {probe} ")));
        assert!(line.is_some(), "{probe} is not in\n{}", ran.all());
    }
    assert!(
        ran.stdout.contains("planner, thinking, executor, critique, compaction: test/planner"),
        "{}",
        ran.all()
    );
    for name in ["git version", "cage: namespaces", "cage: Landlock", "user namespaces", "standard output"] {
        assert!(ran.stdout.contains(name), "{name} is not in\n{}", ran.all());
    }
    let block = "[providers.test.quirks]\ncontent_without_text = \"null\"\n";
    assert!(ran.stdout.contains(block), "{}", ran.all());
    assert!(server.all().len() <= 16, "one model is examined once, by {} requests", server.all().len());
    let harmless = |name: &&str| ["note_word", "ping"].contains(name);
    assert!(server.chats().iter().all(|chat| chat.tools().iter().all(harmless)));
}

#[test]
fn what_is_printed_can_be_pasted_into_the_configuration() {
    let (_server, world) = bound(|request| match calling(request) {
        Some(call) if call["content"].is_null() => refuse("content must be a string"),
        _ => obedient(request),
    });
    let ran = world.tandem(&["doctor"]).run().expect(0);
    let at = ran.stdout.find("# as found with test/planner").unwrap_or_else(|| panic!("{}", ran.all()));
    let file = world.path("config/tandem/config.toml");
    let before = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, before + &ran.stdout[at..]).unwrap();
    let shown = world.tandem(&["config", "show"]).run().expect(0).stdout;
    let line = shown.lines().find(|line| line.contains("providers.test.quirks.content_without_text"));
    assert!(line.is_some_and(|line| line.contains("empty")), "{shown}");
}

#[test]
fn an_endpoint_that_refuses_null_content_gets_empty_content() {
    let mind = |request: &Request| match calling(request) {
        Some(call) if call["content"].is_null() => refuse("content must be a string"),
        _ => obedient(request),
    };
    check(mind, json!({ "content_without_text": "empty" }), "call in history", "content must be a string");
}

#[test]
fn an_endpoint_that_refuses_a_note_after_a_tool_gets_it_folded() {
    let mind = |request: &Request| {
        let mut pairs = request.messages().windows(2);
        match pairs.any(|pair| pair[0]["role"] == "tool" && pair[1]["role"] == "user") {
            true => refuse("a user message cannot follow a tool message"),
            false => obedient(request),
        }
    };
    check(mind, json!({ "note_after_tool": "fold" }), "note after a tool", "cannot follow");
}

#[test]
fn an_endpoint_that_wants_reasoning_back_gets_it() {
    let mind = |request: &Request| match calling(request) {
        Some(call) if call.get("reasoning_content").is_none() => refuse("reasoning_content is missing"),
        _ => Reply { reasoning: "I shall".to_owned(), ..obedient(request) },
    };
    check(
        mind,
        json!({ "reasoning_echo": "reasoning_content" }),
        "call in history",
        "reasoning_content is missing",
    );
}

#[test]
fn an_endpoint_with_other_names_is_called_by_them() {
    let mind = |request: &Request| {
        if request.body.get("max_tokens").is_some() {
            return refuse("use max_completion_tokens");
        }
        match request.messages()[0]["role"] == "system" {
            true => refuse("unknown role system"),
            false => obedient(request),
        }
    };
    let changes = json!({ "max_tokens_field": "max_completion_tokens", "system_role": "developer" });
    check(mind, changes, "limit", "max_completion_tokens is taken");
}

#[test]
fn an_endpoint_that_counts_nothing_or_refuses_to_be_asked_is_told_apart() {
    let silent = |request: &Request| Reply { no_usage: true, ..obedient(request) };
    check(silent, json!({}), "usage", "not reported");
    let refusing = |request: &Request| match request.body.get("stream_options") {
        Some(_) => refuse("unknown field stream_options"),
        None => obedient(request),
    };
    check(refusing, json!({ "stream_usage": "never" }), "usage", "stream_options refused");
    let cached = |request: &Request| {
        let usage = Some(Tokens { prompt: 90, cached: 64, completion: 2 });
        Reply { usage, ..obedient(request) }
    };
    assert_eq!(found(&examined(0, cached), "usage").1, "90 prompt tokens, 64 of them cached");
}

#[test]
fn calls_without_index_or_id_are_seen_as_such() {
    let mind = |request: &Request| {
        let mut reply = obedient(request);
        let calls = std::mem::take(&mut reply.calls);
        if !calls.is_empty() {
            let function = |call: &crate::support::reply::Call| json!({ "tool_calls": [{ "function": { "name": call.name, "arguments": call.args.to_string() } }] });
            reply.deltas = Some(calls.iter().map(function).collect());
        }
        reply
    };
    check(mind, json!({}), "call form", "no index, no id, finish_reason is not tool_calls");
}

#[test]
fn calls_that_cannot_be_told_apart_are_switched_off() {
    let mind = |request: &Request| {
        let two = request.last().contains("two times") && !request.tools().is_empty();
        if !two {
            return obedient(request);
        }
        let name = || json!({ "tool_calls": [{ "function": { "name": "note_word" } }] });
        let piece = |text: &str| json!({ "tool_calls": [{ "function": { "arguments": text } }] });
        let deltas = vec![
            name(),
            name(),
            piece("{\"word\":"),
            piece("{\"word\":"),
            piece("\"red\"}"),
            piece("\"blue\"}"),
        ];
        Reply { deltas: Some(deltas), ..Reply::default() }
    };
    check(mind, json!({ "parallel_calls": "off" }), "parallel calls", "mixed up");
}

#[test]
fn a_server_that_closes_connections_without_notice_is_asked_again() {
    let mind = |request: &Request| obedient(request).fault(Fault::Leave {});
    check(mind, json!({}), "keep-alive", "connections for");
}

#[test]
fn a_busy_server_is_waited_for() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let mind = move |request: &Request| match asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) % 2 {
        0 => {
            let headers = [("retry-after".to_owned(), "0.01".to_owned())].into();
            Reply::default().fault(Fault::Status { status: 429, body: String::new(), headers })
        }
        _ => obedient(request),
    };
    let endpoint = examined(0, mind);
    assert_eq!(endpoint["quirks"], quirks(json!({})), "{endpoint:#}");
}

#[test]
fn an_endpoint_that_refuses_calls_without_tools_needs_no_setting() {
    let mind = |request: &Request| match calling(request) {
        Some(_) if request.tools().is_empty() => refuse("tools must be given"),
        _ => obedient(request),
    };
    check(mind, json!({}), "calls without tools", "tools must be given");
}

#[test]
fn a_model_without_tools_is_asked_by_a_schema_where_that_works() {
    let measured = json!({
        "note_after_tool": null, "content_without_text": null, "reasoning_echo": null, "parallel_calls": null,
    });
    let no_tools = |request: &Request| match request.tools().is_empty() {
        true => obedient(request),
        false => refuse("this model does not support tools"),
    };
    let endpoint = examined(0, no_tools);
    assert_eq!((&endpoint["tool_protocol"], &endpoint["quirks"]), (&json!("schema"), &quirks(measured)));
    assert!(endpoint["config"].as_str().unwrap().contains("tool_protocol = \"schema\""), "{endpoint:#}");

    let words_only = |request: &Request| match request.tools().is_empty() {
        true => Reply::text("ready"),
        false => refuse("this model does not support tools"),
    };
    let endpoint = examined(5, words_only);
    assert_eq!((&endpoint["tool_protocol"], &endpoint["works"]), (&Value::Null, &json!(false)));
    assert_eq!(found(&endpoint, "tool calls").0, "bad");
}

#[test]
fn a_role_of_words_is_asked_about_words_only() {
    let server = Server::start_unchecked(Script::new().think("thinking", |request| {
        assert!(request.tools().is_empty());
        Reply::text("ready")
    }));
    let world = World::new();
    world.bind(&server, "");
    world.tandem(&["doctor", "--role", "thinking"]).run().expect(0);
    assert!(server.chats().iter().all(|chat| chat.model == "thinking" && chat.tools().is_empty()));
}

#[test]
fn a_key_goes_to_its_own_endpoint_only() {
    let own = Server::start_unchecked(Script::new().think("planner", obedient));
    let other = Server::start_unchecked(Script::new().think("executor", obedient));
    let world = World::new();
    world.bind(
        &own,
        &format!(
            "[providers.other]\nbase_url = \"{}\"\napi_key_env = \"OTHER_KEY\"\n[roles.executor]\nmodel = \"other/executor\"\n\
             [providers.open]\nbase_url = \"{}\"\n[roles.critique]\nmodel = \"open/executor\"\n",
            other.url(),
            other.url()
        ),
    );
    let ran = world.tandem(&["doctor"]).env("OTHER_KEY", "other-key-1234567").run();
    assert!(!ran.stdout.contains("other-key-1234567"), "{}", ran.all());
    let keys = |server: &Server| {
        let header = |request: &Request| {
            let found = request.headers.iter().find(|(name, _)| name == "authorization");
            found.map(|(_, value)| value.clone())
        };
        server.all().iter().map(|request| header(request)).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(keys(&own), [Some(format!("Bearer {KEY}"))].into());
    assert_eq!(keys(&other), [None, Some("Bearer other-key-1234567".to_owned())].into());
}

#[test]
fn what_keeps_a_role_from_working_gives_the_exit_code() {
    let refused = |_: &Request| {
        let body = "{\"error\": {\"message\": \"bad key\"}}".to_owned();
        Reply::default().fault(Fault::Status { status: 401, body, headers: [].into() })
    };
    let endpoint = examined(4, refused);
    assert!(endpoint["fault"].as_str().unwrap().contains("TANDEM_TEST_KEY"), "{endpoint:#}");
    let html = |_: &Request| {
        let body = "<html>hello</html>".to_owned();
        Reply::default().fault(Fault::Status { status: 200, body, headers: [].into() })
    };
    examined(5, html);
    let world = sums::world();
    world.configure(
        "[providers.dead]\nbase_url = \"http://127.0.0.1:1/v1\"\n[roles.planner]\nmodel = \"dead/m\"\n",
    );
    let ran = world.tandem(&["doctor"]).run().expect(5);
    assert!(ran.stdout.contains("does not work"), "{}", ran.all());
    let ran = World::new().tandem(&["doctor"]).run().expect(52);
    assert!(
        ran.stdout.contains("git version") && ran.stderr.contains("no model is configured"),
        "{}",
        ran.all()
    );
}

/// Answers prompts of up to `most` words of filling.
fn windowed(most: usize) -> impl Fn(&Request) -> Reply + Send + Sync {
    move |request| match request.last().split_whitespace().filter(|word| *word == "word").count() {
        words if words > most => refuse("the prompt exceeds the context window"),
        0 => obedient(request),
        words => {
            let usage = Some(Tokens { prompt: words as u64, cached: 0, completion: 1 });
            Reply { usage, ..Reply::text("ready") }
        }
    }
}

fn measured(mind: impl Fn(&Request) -> Reply + Send + Sync + 'static, expected: u64) -> (Value, String) {
    let (_server, world) = bound(mind);
    let window = format!("roles.planner.context_window={expected}");
    let args = ["doctor", "--window", "--set", &window, "--output-format", "json"];
    let ran = world.tandem(&args).run().expect(0);
    let all: Value = serde_json::from_str(&ran.stdout).unwrap();
    (all["endpoints"][0].clone(), ran.stderr)
}

#[test]
fn the_window_is_measured_by_halving_and_its_cost_told_first() {
    let (endpoint, told) = measured(windowed(6_000), 8_000);
    let window = endpoint["context_window"].as_u64().unwrap();
    assert!((5_780..=6_000).contains(&window), "{window}");
    assert!(told.contains("at most 8 requests with 105000 prompt tokens"), "{told}");
    assert!(
        endpoint["config"].as_str().unwrap().contains(&format!("context_window = {window}")),
        "{endpoint:#}"
    );
    let (endpoint, _) = measured(windowed(40_000), 4_000);
    let window = endpoint["context_window"].as_u64().unwrap();
    assert!((7_900..=8_000).contains(&window), "{window}");
    assert!(found(&endpoint, "window").1.starts_with("at least"), "{endpoint:#}");
}

#[test]
fn a_server_that_cuts_prompts_without_a_word_is_found_out() {
    let cutting = |request: &Request| {
        let words = request.last().split_whitespace().filter(|word| *word == "word").count();
        let usage = Tokens { prompt: words.min(2_048) as u64, cached: 0, completion: 1 };
        if words == 0 { obedient(request) } else { Reply { usage: Some(usage), ..Reply::text("ready") } }
    };
    let (endpoint, _) = measured(cutting, 8_000);
    assert_eq!(endpoint["context_window"], 2_048, "{endpoint:#}");
    assert_eq!(found(&endpoint, "window").0, "odd");
}
