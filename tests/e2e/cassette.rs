//! `--record` and `--replay`: a session that was recorded runs again without a server, a key or a network.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sums;
use crate::support::reply::{Fault, Reply};
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::{KEY, World, assert_same_tree};

const TASK: [&str; 3] = ["run", "--yes", "make add add"];

/// Records the whole job, and gives the world after it with the cassette's path.
fn recorded() -> (World, PathBuf) {
    let script = Script::new()
        .say("planner", [Reply::call("read_file", json!({ "path": "src/lib.rs" })), sums::plan()]);
    let server = Server::start(script.say("executor", sums::execution()));
    let world = sums::world();
    world.bind(&server, "");
    let tape = world.path("tape.jsonl");
    world.tandem(&["--record", &tape.display().to_string()]).and(&TASK).run().expect(0);
    (world, tape)
}

/// The same project and roles elsewhere, with nobody at the endpoint and no key.
fn elsewhere() -> World {
    let world = sums::world();
    let roles = ["planner", "thinking", "executor", "critique", "compaction"]
        .map(|role| format!("[roles.{role}]\nmodel = \"test/{role}\"\ncontext_window = 128000\n"));
    world.configure(&format!(
        "[providers.test]\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key_env = \"NO_SUCH_KEY\"\n{}\
         [thinking]\nmode = \"off\"\n",
        roles.concat()
    ));
    world
}

fn lines(tape: &PathBuf) -> Vec<Value> {
    fs::read_to_string(tape).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_recorded_session_runs_again_elsewhere_without_server_and_key() {
    let (first, tape) = recorded();
    assert_eq!(fs::metadata(&tape).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!fs::read_to_string(&tape).unwrap().contains(KEY));
    assert_eq!(lines(&tape).len(), 1 + 2 + sums::execution().len());
    let second = elsewhere();
    let ran = second.tandem(&["--replay", &tape.display().to_string()]).and(&TASK).run().expect(0);
    assert!(ran.stdout.contains("add now adds."), "{}", ran.all());
    assert_same_tree(&second.tree(), &first.tree(), "the replay does what the recorded run did");
}

#[test]
fn a_recording_of_another_day_is_played_at_its_own_time() {
    let (_first, tape) = recorded();
    let text = fs::read_to_string(&tape).unwrap();
    let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let today = &text[text.find("The date is ").unwrap() + 12..][..10];
    // 1970-01-12, in the head and in the requests alike.
    let old = text
        .replace(&head["started_ms"].to_string(), "1000000000")
        .replace(&format!("The date is {today}"), "The date is 1970-01-12");
    fs::write(&tape, old).unwrap();
    elsewhere().tandem(&["--replay", &tape.display().to_string()]).and(&TASK).run().expect(0);
}

#[test]
fn the_first_request_that_differs_ends_the_replay() {
    let (_first, tape) = recorded();
    let world = elsewhere();
    world.write("src/lib.rs", &sums::LIB.replace("Adds two", "Sums two"));
    let ran = world.tandem(&["--replay", &tape.display().to_string()]).and(&TASK).run().expect(5);
    for words in ["line 3 of the cassette, role planner", "/messages/3/content", "Adds two", "Sums two"] {
        assert!(ran.stderr.contains(words), "{words}\n{}", ran.all());
    }
    assert_eq!(world.read("src/lib.rs"), sums::LIB.replace("Adds two", "Sums two"));
}

#[test]
fn a_killed_run_leaves_a_cassette_that_can_be_read() {
    let look = Reply::call("read_file", json!({ "path": "src/lib.rs" }));
    let hang = Reply::text("I wait").fault(Fault::Hang { after: 2 });
    let server = Server::start(Script::new().say("planner", [look, hang]));
    let world = sums::world();
    world.bind(&server, "");
    let tape = world.path("tape.jsonl");
    let mut run = world.tandem(&["--record", &tape.display().to_string(), "-p", "what does add do?"]).spawn();
    run.close();
    server.wait_until("the second request", |requests| requests.len() == 2);
    run.kill();
    run.wait();
    assert_eq!(lines(&tape).len(), 2, "the head and the exchange that had ended");
    let ran = elsewhere()
        .tandem(&["--replay", &tape.display().to_string(), "-p", "what does add do?"])
        .run()
        .expect(5);
    assert!(ran.stderr.contains("no answer left for the role planner"), "{}", ran.all());
}

#[test]
fn files_that_are_no_use_are_refused_before_any_request() {
    let world = elsewhere();
    world.write("notes.txt", "mine\n");
    let refused = |args: &[&str], words: &str| {
        let ran = world.tandem(args).and(&["-p", "hi"]).run().expect(2);
        assert!(ran.stderr.contains(words), "{}", ran.all());
    };
    refused(&["--record", "notes.txt"], "already there");
    refused(&["--replay", "notes.txt"], "line 1");
    refused(&["--replay", "nothing.jsonl"], "cannot be read");
    refused(&["--replay", "a", "--record", "b"], "cannot be used with");
    assert_eq!(world.read("notes.txt"), "mine\n");
}

#[test]
fn the_doctor_can_be_recorded_too() {
    let server = Server::start_unchecked(Script::new());
    let world = sums::world();
    world.bind(&server, "");
    let tape = world.path("tape.jsonl").display().to_string();
    let doctor = ["doctor", "--role", "thinking", "--output-format", "json"];
    let findings = |stdout: &str| {
        let all: Value = serde_json::from_str(stdout).unwrap();
        let mut findings = all["endpoints"][0]["findings"].as_array().unwrap().clone();
        // A cassette has neither a list of models nor connections.
        findings.retain(|finding| finding["probe"] != "models" && finding["probe"] != "keep-alive");
        findings
    };
    let first = world.tandem(&["--record", &tape]).and(&doctor).run().expect(0);
    let again = elsewhere().tandem(&["--replay", &tape]).and(&doctor).run().expect(0);
    assert_eq!(findings(&again.stdout), findings(&first.stdout));
    assert!(!findings(&first.stdout).is_empty());
}
