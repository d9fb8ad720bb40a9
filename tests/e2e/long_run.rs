//! Forty rounds in a window of 8,192 tokens: every stage of cutting is crossed, and what matters is never lost.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::sums;
use crate::support::reply::{Fault, Reply};
use crate::support::script::Script;
use crate::support::server::Server;

/// Tokens that the executor's model can take.
const WINDOW: u64 = 8192;

/// Which of the notes are long.
const LONG_NOTES: std::ops::Range<usize> = 20..27;

#[test]
fn all_five_stages_are_crossed_with_plan_and_goal_in_the_last_request() {
    let world = sums::world();
    // First many small notes, so that older ones can be masked; then long ones, so that what masking keeps is pruned; then
    // small ones again with many words, which no cutting of results makes room for.
    for number in 0..37 {
        let lines = if LONG_NOTES.contains(&number) { 64 } else { 7 };
        let line = |line: usize| format!("note {number} line {line}: nothing to see here\n");
        world.write(&format!("notes/{number}.txt"), &(0..lines).map(line).collect::<String>());
    }
    let round = AtomicUsize::new(0);
    let mind = move |_: &_| match round.fetch_add(1, Ordering::Relaxed) {
        number @ 0..37 => Reply {
            text: "It may matter for the fix. ".repeat(if number < LONG_NOTES.end { 1 } else { 40 }),
            ..Reply::call("read_file", json!({ "path": format!("notes/{number}.txt") }))
        },
        37 => Reply::call("read_file", json!({ "path": "src/lib.rs" })),
        38 => Reply::call("edit_file", json!({ "path": "src/lib.rs", "old": "a - b", "new": "a + b" })),
        39 => Reply::call("update_step", json!({ "step": 1, "status": "done", "note": "mended" })),
        _ => Reply::text("add now adds."),
    };
    let script =
        Script::new().say("planner", [sums::plan()]).think("executor", mind).think("compaction", |_| {
            Reply::text("Goal: make add add. Done so far: notes were read, none matters.")
        });
    let server = Server::start(script);
    world.bind(&server, &format!("[roles.executor]\ncontext_window = {WINDOW}\n"));
    let args = [
        "--output-format",
        "stream-json",
        "run",
        "--yes",
        "add subtracts; make it add, and mind the word quokka",
    ];
    let ran = world.tandem(&args).run().expect(0);
    assert_eq!(world.read("src/lib.rs"), sums::mended());

    let stages: BTreeSet<String> = ran
        .payloads("context")
        .iter()
        .map(|context| context["stage"].as_str().unwrap_or_default().to_owned())
        .collect();
    let all = ["aggressive", "compact", "mask", "prune", "warn"].map(str::to_owned).into();
    assert_eq!(stages, all, "{:#?}", ran.payloads("context"));
    assert!(!server.of("compaction").is_empty());
    let reminders = ran.payloads("reminder");
    for id in ["plan_approved", "context_pressure", "compacted", "plan_restated"] {
        assert!(reminders.iter().any(|reminder| reminder["id"] == id), "{id} is not in {reminders:?}");
    }

    let requests = server.of("executor");
    assert_eq!(requests.len(), 41);
    let too_long: Vec<u64> = requests
        .iter()
        .map(|request| request.raw.chars().count() as u64 / 4)
        .filter(|tokens| *tokens > WINDOW)
        .collect();
    assert_eq!(too_long, Vec::<u64>::new(), "no request is larger than the window");
    let last = requests.last().unwrap().text();
    for text in ["quokka", "Make add add", "Fix the operator in add", "grep -q 'a + b' src/lib.rs"] {
        assert!(last.contains(text), "{text:?} is not in the last request:\n{last}");
    }
}

#[test]
fn a_summary_that_fails_is_made_from_facts() {
    let world = sums::world();
    for number in 0..30 {
        world.write(&format!("notes/{number}.txt"), &format!("note {number}\n").repeat(40));
    }
    let round = AtomicUsize::new(0);
    let mind = move |_: &_| match round.fetch_add(1, Ordering::Relaxed) {
        number @ 0..30 => Reply {
            text: format!("Round {number}. {}", "I think aloud about it. ".repeat(20)),
            ..Reply::call("read_file", json!({ "path": format!("notes/{number}.txt") }))
        },
        _ => Reply::text("None of them matters."),
    };
    let broken =
        |_: &_| Reply::default().fault(Fault::Status { status: 400, body: "no".into(), headers: [].into() });
    let server = Server::start(Script::new().think("executor", mind).think("compaction", broken));
    world.bind(&server, &format!("[roles.executor]\ncontext_window = {WINDOW}\n"));
    world.tandem(&["run", "--no-plan", "read every note, quokka"]).run().expect(0);
    let last = server.of("executor").pop().unwrap().text();
    assert!(last.contains("quokka") && last.contains("notes/29.txt"), "{last}");
    assert!(!server.of("compaction").is_empty());
}
