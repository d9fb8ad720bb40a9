//! Each reminder as the model reads it: a message of the user, after all results of its round, in the request it is for.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::sums;
use crate::support::reply::{Call, Reply};
use crate::support::request::{Request, content};
use crate::support::script::Script;
use crate::support::server::{Server, wait_until};
use crate::support::world::World;

/// The messages at the end of a request that come after its last reply and its results, if each is of the user.
fn notes(request: &Request) -> Vec<String> {
    let messages = request.messages();
    let past = messages.iter().rposition(|message| message["role"] != "user").unwrap();
    messages[past + 1..].iter().map(content).collect()
}

/// Which of `requests` are the first to end with a note that holds `text`.
fn first_with(requests: &[std::sync::Arc<Request>], text: &str) -> Option<usize> {
    requests.iter().position(|request| notes(request).iter().any(|note| note.contains(text)))
}

#[track_caller]
fn check_noted(request: &Request, text: &str) {
    let notes = notes(request);
    assert!(notes.iter().any(|note| note.contains(text)), "{text:?} does not end the request:\n{notes:#?}");
}

fn numbered() -> World {
    let world = sums::world();
    for number in 0..20 {
        world.write(&format!("notes/{number}.txt"), &format!("note {number}\n"));
    }
    world
}

fn read(number: usize) -> Reply {
    Reply::call("read_file", json!({ "path": format!("notes/{number}.txt") }))
}

/// The requests of the executor that made these calls, one a round, without a plan.
fn calling(calls: Vec<Call>) -> Vec<std::sync::Arc<Request>> {
    let replies = calls.into_iter().map(|call| Reply { calls: vec![call], ..Reply::default() });
    let server = Server::start(Script::new().say("executor", replies));
    let world = sums::world();
    world.bind(&server, "");
    world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).run();
    server.of("executor")
}

fn call(name: &str, args: Value) -> Call {
    Call { name: name.to_owned(), args, ..Call::default() }
}

#[test]
fn errors_of_each_kind_have_their_advice() {
    let malformed = Call { raw: Some("{\"path\": ".into()), ..call("read_file", Value::Null) };
    let outside = call("read_file", json!({ "path": "../outside.txt" }));
    let slow = call("run_command", json!({ "command": "sleep 300", "timeout": 1 }));
    for (call, advice) in [
        (malformed, "The arguments of read_file could not be read"),
        (call("read_file", json!({ "file": "x" })), "The arguments of read_file could not be read"),
        (outside, "That place cannot be used"),
        (call("read_file", json!({ "path": "none.txt" })), "That path does not exist"),
        (slow, "The command ran out of time and was stopped"),
        (call("run_command", json!({ "command": "exit 3" })), "The command failed"),
    ] {
        let requests = calling(vec![call]);
        check_noted(&requests[1], advice);
    }
}

#[test]
fn advice_on_one_kind_of_error_is_given_three_times_a_turn() {
    let calls = (0..5).map(|n| call("read_file", json!({ "path": format!("none{n}.txt") }))).collect();
    let last = calling(calls).pop().unwrap();
    assert_eq!(last.text().matches("That path does not exist. Take one").count(), 3);
}

#[test]
fn plan_mode_is_recalled_every_five_rounds_and_a_draft_asked_for_after_twelve() {
    let replies = (0..14).map(read).chain([Reply::text("Twenty notes.")]);
    let server = Server::start(Script::new().say("planner", replies));
    let world = numbered();
    world.bind(&server, "");
    world.tandem(&["-p", "how many notes?"]).run().expect(0);
    let requests = server.of("planner");
    let with = |text: &str| -> Vec<usize> {
        let noted = |at: &usize| notes(&requests[*at]).iter().any(|note| note.contains(text));
        (0..requests.len()).filter(noted).collect()
    };
    assert_eq!(with("This is plan mode"), [5, 10]);
    assert_eq!(with("You have looked around for many rounds"), [12]);
}

#[test]
fn an_executor_that_only_reads_is_asked_to_act() {
    let replies = (0..11).map(read).chain([Reply::text("Nothing to do.")]);
    let server = Server::start(Script::new().say("executor", replies));
    let world = numbered();
    world.bind(&server, "");
    world.tandem(&["run", "--no-plan", "go"]).run().expect(0);
    let requests = server.of("executor");
    let with: Vec<usize> = (0..requests.len())
        .filter(|at| notes(&requests[*at]).iter().any(|note| note.contains("rounds only read")))
        .collect();
    assert_eq!(with, [5, 10]);
    check_noted(&requests[5], "The last 5 rounds only read");
}

#[test]
fn the_plan_is_shown_again_after_fifteen_calls() {
    let replies = (0..16).map(read).chain(sums::execution());
    let server = Server::start(Script::new().say("planner", [sums::plan()]).say("executor", replies));
    let world = numbered();
    world.bind(&server, "");
    world.tandem(&["run", "--yes", "make it add"]).run().expect(0);
    let requests = server.of("executor");
    check_noted(&requests[0], "This plan was approved.");
    assert_eq!(first_with(&requests, "here is the approved plan again"), Some(15));
    check_noted(&requests[15], "Fix the operator in add");
    check_noted(&requests[15], "1. to do");
}

#[test]
fn the_last_request_before_a_limit_asks_for_words() {
    let server =
        Server::start(Script::new().say("executor", [read(0), read(1), Reply::text("One is left.")]));
    let world = numbered();
    world.bind(&server, "");
    let ran = world.tandem(&["--max-rounds", "2", "run", "--no-plan", "go"]).run().expect(53);
    assert!(ran.stdout.contains("One is left."), "{}", ran.all());
    check_noted(&server.of("executor")[2], "A limit of this task was reached: 2 rounds.");
}

#[test]
fn a_cut_reply_is_gone_on_with_three_times() {
    let cut = Reply { finish: Some("length".into()), repeat: 9, ..Reply::text("and so on ") };
    let server = Server::start(Script::new().say("executor", [cut]));
    let world = sums::world();
    world.bind(&server, "");
    world.tandem(&["run", "--no-plan", "go"]).run().expect(1);
    let requests = server.of("executor");
    assert_eq!(requests.len(), 4);
    for request in &requests[1..] {
        check_noted(request, "Your reply was cut off by the length limit.");
    }
}

#[test]
fn a_full_window_and_a_summary_are_told() {
    let world = sums::world();
    for number in 0..12 {
        world.write(&format!("notes/{number}.txt"), &format!("note {number}\n"));
    }
    let round = AtomicUsize::new(0);
    let mind = move |_: &Request| match round.fetch_add(1, Ordering::Relaxed) {
        number @ 0..12 => Reply { text: "It may matter. ".repeat(100), ..read(number) },
        _ => Reply::text("None matters."),
    };
    let server = Server::start(Script::new().think("executor", mind));
    world.bind(&server, "[roles.executor]\ncontext_window = 8192\n");
    world.tandem(&["run", "--no-plan", "read the notes"]).run().expect(0);
    let requests = server.of("executor");
    let pressed = first_with(&requests, "Most of the room for this conversation is used.").unwrap();
    let summarised = first_with(&requests, "was replaced by a summary").unwrap();
    assert!(0 < pressed && pressed <= summarised, "{pressed} {summarised}");
}

#[test]
fn repairs_are_counted_over_a_crash() {
    let edit = |old: &str, new: &str| {
        Reply::call("edit_file", json!({ "path": "src/lib.rs", "old": old, "new": new }))
    };
    let done = || Reply::call("update_step", json!({ "step": 1, "status": "done", "note": "done" }));
    let executor = vec![
        Reply::call("read_file", json!({ "path": "src/lib.rs" })),
        edit("a - b", "a * b"),
        done(),
        edit("a * b", "a / b"),
        done(),
        Reply::call("run_command", json!({ "command": "echo here > here.txt; sleep 30" })),
        edit("a / b", "a % b"),
        done(),
        edit("a % b", "a ^ b"),
        done(),
        edit("a ^ b", "a & b"),
        done(),
        edit("a & b", "a | b"),
        done(),
    ];
    let server = Server::start(Script::new().say("planner", [sums::plan()]).say("executor", executor));
    let world = sums::world();
    world.bind(&server, "");
    let mut running = world.tandem(&["run", "--yes", "--approval", "auto", "make it add"]).spawn();
    wait_until("the command", || world.root().join("here.txt").exists());
    running.kill();
    running.wait();
    let failed = "The check of step 1 fails after your work.";
    assert_eq!(server.of("executor").pop().unwrap().text().matches(failed).count(), 2);
    world.tandem(&["resume", "--approval", "auto"]).run().expect(6);
    let last = server.of("executor").pop().unwrap();
    assert_eq!(last.text().matches(failed).count(), 3, "three in all, not three again");
    assert_eq!(server.of("executor").len(), 10);
}
