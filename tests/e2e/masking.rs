//! Tokens that nobody told tandem of, and files that hold secrets: neither gets into a request, an event, the store or a
//! cassette without leave.

use std::path::PathBuf;

use serde_json::json;

use crate::sums;
use crate::support::reply::{Fault, Reply};
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::{KEY, World, files_holding};

/// A token of GitHub's form. Put together here, so that no scanner of sources takes it for a real one.
fn token() -> String {
    format!("ghp_{}", "a1B2".repeat(9))
}

/// Nothing that went out or was kept under `world` holds the token, save in the project's own files.
fn assert_masked(world: &World, server: &Server, secret: &str) {
    assert!(server.chats().iter().all(|chat| !chat.raw.contains(secret)), "a request holds it");
    assert_eq!(files_holding(&world.state(), secret), Vec::<PathBuf>::new());
}

#[test]
fn a_token_in_a_file_a_search_and_an_output_is_masked_everywhere() {
    let secret = token();
    let command = format!("cat notes.md; printf '%s%s\\n' {} {}", &secret[..12], &secret[12..]);
    let calls = [
        Reply::call("read_file", json!({ "path": "notes.md" })),
        Reply::call("grep", json!({ "pattern": "token" })),
        Reply::call("run_command", json!({ "command": command })),
        Reply::text("Seen."),
    ];
    let server = Server::start(Script::new().say("executor", calls.clone()).say("executor", calls));
    let world = sums::world();
    world.bind(&server, "");
    world.write("notes.md", &format!("The token is {secret}.\nThe key is {KEY}.\n"));
    let tape = world.path("tape.jsonl");
    for more in [&["-vv", "--record", tape.to_str().unwrap()][..], &["--output-format", "stream-json"]] {
        let args = [more, &["run", "--no-plan", "--approval", "auto", "look"]].concat();
        let ran = world.tandem(&args).run().expect(0);
        assert!(!ran.all().contains(&secret) && !ran.all().contains(KEY), "{}", ran.all());
    }
    let results = server.of("executor")[3].results().concat();
    assert!(results.contains("The token is ghp_***.") && results.contains("The key is ***."), "{results}");
    assert!(results.matches("ghp_***").count() >= 4, "{results}");
    assert_masked(&world, &server, &secret);
    assert_eq!(files_holding(&world.path(""), KEY), [world.root().join("notes.md")]);
    let cassette = std::fs::read_to_string(&tape).unwrap();
    assert!(cassette.contains("ghp_***") && !cassette.contains(&secret), "{cassette}");
}

#[test]
fn a_token_in_a_diff_is_masked_and_the_file_keeps_its_bytes() {
    let secret = token();
    let edit =
        |old: &str| Reply::call("edit_file", json!({ "path": "conf.txt", "old": old, "new": "b = 3" }));
    let calls = [
        Reply::call("read_file", json!({ "path": "conf.txt" })),
        edit("a = ghp_***\nb = 2"),
        edit("b = 2"),
        Reply::text("Changed."),
    ];
    let server = Server::start(Script::new().say("executor", calls));
    let world = sums::world();
    world.bind(&server, "");
    world.write("conf.txt", &format!("a = {secret}\nb = 2\n"));
    let args = ["--output-format", "stream-json", "run", "--no-plan", "--approval", "auto", "change b"];
    let ran = world.tandem(&args).run().expect(0);
    assert!(!ran.all().contains(&secret), "{}", ran.all());
    assert!(ran.stdout.contains("a = ghp_***"), "the diff is shown: {}", ran.all());
    assert_eq!(world.read("conf.txt"), format!("a = {secret}\nb = 3\n"));
    let results = server.of("executor")[3].results().concat();
    assert!(results.contains("stands for a secret that was masked"), "{results}");
    assert!(server.chats().iter().all(|chat| !chat.raw.contains(&secret)));
    // What stood there before is kept as it was, or it could not be put back.
    world.tandem(&["undo"]).run().expect(0);
    assert_eq!(world.read("conf.txt"), format!("a = {secret}\nb = 2\n"));
}

#[test]
fn a_token_in_a_prompt_or_a_providers_error_is_masked() {
    let secret = token();
    let body = format!("{{\"error\":{{\"message\":\"no access with {secret}\"}}}}");
    let refused = Reply::text("").fault(Fault::Status { status: 400, body, headers: Default::default() });
    let server = Server::start(Script::new().say("planner", [refused]));
    let world = sums::world();
    world.bind(&server, "");
    let ran = world.tandem(&["-vv", "run", &format!("push with {secret}")]).run();
    let shown = format!("{}{}", ran.stdout, ran.stderr);
    assert!(ran.code != 0 && shown.contains("no access with ghp_***"), "{}", ran.all());
    assert!(!shown.contains(&secret) && shown.contains("hold a token"), "{}", ran.all());
    assert_masked(&world, &server, &secret);
}

fn with_env() -> World {
    let world = sums::world();
    world.write(".env", "PLAIN_WORD=swordfish\n");
    world.write(".env.example", "PLAIN_WORD=\n");
    world
}

#[test]
fn a_file_of_secrets_is_not_read_where_nobody_can_give_leave() {
    let calls = [
        Reply::call("read_file", json!({ "path": ".env" }))
            .and_call("grep", json!({ "pattern": "PLAIN_WORD" }))
            .and_call("grep", json!({ "pattern": "PLAIN_WORD", "path": ".env" })),
        Reply::call("run_command", json!({ "command": "cat .e*" }))
            .and_call("run_command", json!({ "command": "grep -r PLAIN_WORD ." }))
            .and_call("run_command", json!({ "command": "grep -r --exclude=.env PLAIN_WORD ." })),
        Reply::call("move_file", json!({ "from": ".env", "to": "plain.txt" })),
        Reply::text("I could not."),
    ];
    let server = Server::start(Script::new().say("executor", calls));
    let world = with_env();
    world.bind(&server, "");
    world.tandem(&["run", "--no-plan", "--approval", "auto", "look"]).run();
    let results = server.of("executor").last().unwrap().results();
    let text = results.concat();
    assert_eq!(text.matches("person's leave").count(), 5, "{results:?}");
    assert!(text.contains("without naming it: .env (danger rule secret_below)"), "{text}");
    assert!(text.contains("./.env.example:PLAIN_WORD="), "{text}");
    assert!(text.contains("[1 file that may hold secrets was left out"), "{text}");
    assert!(text.contains(".env.example:1: PLAIN_WORD="), "{text}");
    assert_masked(&world, &server, "swordfish");
    // By hand it is the person's own act, and a known form is masked all the same.
    world.write(".env", &format!("TOKEN={}\nWORD=swordfish\n", token()));
    let ran = world.tandem(&["tool", "run", "read_file", "--args", "{\"path\":\".env\"}"]).run().expect(0);
    assert!(ran.stdout.contains("swordfish"), "{}", ran.all());
}

#[test]
fn a_command_that_reads_a_folder_is_asked_about_only_where_a_secret_lies_in_it() {
    let commands =
        ["grep -rn PLAIN_WORD .", "rg -uu PLAIN_WORD", "cat *", "grep -rn add src", "find . -type f"];
    let calls = commands.iter().fold(Reply::default(), |reply, command| {
        reply.and_call("run_command", json!({ "command": command }))
    });
    let server = Server::start(Script::new().say("executor", [calls, Reply::text("Looked.")]));
    let world = with_env();
    world.write("credentials.json", "{ \"word\": \"swordfish\" }\n");
    world.bind(&server, "");
    let mut running = world.tandem(&["run", "--no-plan", "look"]).terminal().spawn();
    for answer in ["n\n", "n\n", "n\n"] {
        running.wait_for("anything else is no: ");
        running.say(answer);
    }
    let ran = running.wait();
    let shown = ran.all();
    assert_eq!(shown.matches("without naming it: .env, credentials.json (").count(), 2, "{shown}");
    assert_eq!(shown.matches("without naming it: credentials.json (").count(), 1, "{shown}");
    let results = server.of("executor").last().unwrap().results();
    assert!(results[3].contains("pub fn add") && results[4].contains("./.env"), "{results:?}");
    assert_masked(&world, &server, "swordfish");
}

#[test]
fn a_yes_at_the_terminal_lets_it_be_read_once_and_always_for_the_session() {
    let read = || Reply::call("read_file", json!({ "path": ".env" }));
    let server = Server::start(Script::new().say("planner", [read(), read(), read(), Reply::text("Read.")]));
    let world = with_env();
    world.bind(&server, "");
    let mut running = world.tandem(&["run", "what is in .env?"]).terminal().spawn();
    for answer in ["y\n", "a\n"] {
        running.wait_for("anything else is no: ");
        running.say(answer);
    }
    let ran = running.wait();
    assert_eq!(
        ran.all().matches("may hold secrets, and the model would read it").count(),
        2,
        "{}",
        ran.all()
    );
    let results = server.of("planner").last().unwrap().results();
    assert!(results.iter().all(|result| result.contains("swordfish")), "{results:?}");
}
