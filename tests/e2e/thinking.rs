//! The thinking phase: how long it may get, when it runs, and what becomes of a turn when it cannot.

use serde_json::json;

use crate::sums;
use crate::support::reply::{Fault, Reply};
use crate::support::request::Request;
use crate::support::script::Script;
use crate::support::server::Server;

fn think() -> Reply {
    Reply { repeat: 50, ..Reply::text("A thought.") }
}

#[test]
fn depth_is_the_answers_limit_on_the_wire() {
    for (depth, limit) in [("low", 512), ("medium", 2048), ("high", 8192)] {
        let server = Server::start(Script::new().say("thinking", [think()]));
        let world = sums::world();
        world.bind(&server, "");
        let set = format!("thinking.depth={depth}");
        world.tandem(&["--set", "thinking.mode=always", "--set", &set, "-p", "what?"]).run().expect(0);
        assert_eq!(server.of("thinking")[0].body["max_tokens"], limit, "{depth}");
        assert!(server.of("planner")[0].body.get("max_tokens").is_none(), "the role has no limit");
    }
}

#[test]
fn each_step_that_begins_is_thought_about_once() {
    let step = |what: &str| json!({ "what": what, "files": [], "check": "test -f README.md" });
    let steps = [step("First step"), step("Second step"), step("Third step")];
    let plan = Reply::call("submit_plan", json!({ "goal": "Three steps", "steps": steps }));
    let report = |step: usize, status: &str| {
        Reply::call("update_step", json!({ "step": step, "status": status, "note": "so far" }))
    };
    let executor = [
        report(1, "doing"),
        report(1, "doing"),
        report(1, "done"),
        report(2, "doing"),
        report(2, "done"),
        report(3, "doing"),
        report(3, "done"),
        Reply::text("All three are done."),
    ];
    let server = Server::start(
        Script::new().say("planner", [plan]).say("thinking", [think()]).say("executor", executor),
    );
    let world = sums::world();
    world.bind(&server, "[thinking]\nmode = \"auto\"\n");
    world.tandem(&["run", "--yes", "do three things"]).run().expect(0);
    // The task and its first step begin together; the second begins when the first is done, the third likewise.
    let order: String = server.chats().iter().map(|chat| &chat.role()[..1]).collect::<String>();
    assert_eq!(order, "pteeetee".to_owned() + "teee");
}

#[test]
fn a_thinking_model_that_fails_is_tried_once_a_turn() {
    let refused = Reply {
        repeat: 50,
        fault: Some(Fault::Status { status: 400, body: "no".into(), headers: [].into() }),
        ..Reply::default()
    };
    let replies = [
        Reply::call("list_dir", json!({})),
        Reply::call("list_dir", json!({ "path": "src" })),
        Reply::text("It subtracts."),
        Reply::text("Because of a typing error."),
    ];
    let server = Server::start(Script::new().say("thinking", [refused]).say("planner", replies));
    let world = sums::world();
    world.bind(&server, "[thinking]\nmode = \"always\"\n");
    let ran = world.tandem(&[]).stdin("what does add do?\nwhy?\n").run().expect(0);
    let order: String = server.chats().iter().map(|chat| &chat.role()[..1]).collect();
    assert_eq!(order, "tppptp", "{}", ran.all());
    assert!(ran.stderr.contains("this turn goes on without it"), "{}", ran.all());
}

/// What each thinking request of `tandem run ARGS` ends with.
fn thought_about(args: &[&str], planner: Vec<Reply>, executor: Vec<Reply>) -> Vec<String> {
    let script = Script::new().say("planner", planner).say("thinking", [think()]).say("executor", executor);
    let server = Server::start(script);
    let world = sums::world();
    world.bind(&server, "[thinking]\nmode = \"auto\"\n");
    world.tandem(&[&["run"], args].concat()).run();
    server.of("thinking").iter().map(|request| occasion(request)).collect()
}

fn occasion(request: &Request) -> String {
    let last = request.last();
    let (_, occasion) = last.rsplit_once("Think before the next step: ").unwrap_or_else(|| panic!("{last}"));
    occasion.trim().to_owned()
}

#[test]
fn what_went_wrong_is_what_is_thought_about() {
    let look = || Reply::call("list_dir", json!({}));
    let done = || Reply::text("done");
    let missing = Reply::call("read_file", json!({ "path": "none.txt" }));
    let write = Reply::call("write_file", json!({ "path": "a.txt", "content": "a" }));
    let begins = "the task begins.";
    for (calls, occasions) in [
        (vec![look(), done()], vec![begins]),
        (vec![look(), missing, done()], vec![begins, "a call failed."]),
        (vec![look(), write, done()], vec![begins, "a call was denied."]),
        // The third time is the first strike; the fourth call is refused, which is the second.
        (
            vec![look(), look(), look(), look(), done()],
            vec![begins, "the same call was asked for again and again, and was refused."],
        ),
    ] {
        assert_eq!(thought_about(&["--no-plan", "go"], vec![], calls), occasions);
    }
}

#[test]
fn a_check_that_failed_is_thought_about() {
    let finished = Reply::call("update_step", json!({ "step": 1, "status": "done" }));
    let executor = vec![finished, Reply::text("It is not mended.")];
    let occasions = thought_about(&["--yes", "make it add"], vec![sums::plan()], executor);
    assert_eq!(occasions, ["the task begins.", "a plan step's check failed."]);
}
