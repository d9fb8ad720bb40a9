//! Budgets of a task in time, tokens and money: the run ends with 53, and `tandem resume` goes on.

use serde_json::{Value, json};

use crate::sums;
use crate::support::reply::{Fault, Reply, Tokens};
use crate::support::script::Script;
use crate::support::server::Server;

/// What each reply is said to have taken.
const TAKEN: Tokens = Tokens { prompt: 4000, cached: 0, completion: 200 };

/// A budget in money needs the price of every model.
fn prices() -> String {
    let price = |role: &&str| format!("[roles.{role}.price]\ninput = 100.0\noutput = 500.0\n");
    ["planner", "thinking", "executor", "critique", "compaction"].iter().map(price).collect()
}

fn look(path: &str) -> Reply {
    Reply { usage: Some(TAKEN), ..Reply::call("list_dir", json!({ "path": path })) }
}

/// A planner that looks twice and then answers, each reply at the cost of 4,000 and 200 tokens.
fn spender() -> Script {
    Script::new().say(
        "planner",
        [look("."), look("src"), Reply { usage: Some(TAKEN), ..Reply::text("It subtracts.") }],
    )
}

#[test]
fn each_budget_stops_the_task_once_it_is_used_up_and_resume_goes_on() {
    // A request costs 4,000 prompt tokens, 4,200 in all, and 50 cents.
    for (flags, says) in [
        (&["--max-tokens-total", "8400"][..], "8400 tokens a task"),
        (&["--max-budget-usd", "1.00"], "$1 a task"),
        (&["--set", "loop.input_tokens=8000"], "8000 prompt tokens a task"),
    ] {
        let server = Server::start(spender());
        let world = sums::world();
        world.bind(&server, &prices());
        let ran = world.tandem(&[flags, &["run", "what does add do?"]].concat()).run().expect(53);
        assert!(ran.stderr.contains(says), "{says}\n{}", ran.all());
        assert_eq!(server.of("planner").len(), 2, "{says}");
        let ran = world.tandem(&[flags, &["resume"]].concat()).run().expect(0);
        assert!(ran.stdout.contains("It subtracts."), "{says}\n{}", ran.all());
        assert_eq!(server.of("planner")[2].results().len(), 2, "{says}");
    }
}

#[test]
fn a_budget_that_is_not_used_up_stops_nothing() {
    let flags =
        ["--max-tokens-total", "12600", "--max-budget-usd", "1.50", "--set", "loop.input_tokens=12000"];
    let server = Server::start(spender());
    let world = sums::world();
    world.bind(&server, &prices());
    let ran = world
        .tandem(&[&flags[..], &["--output-format", "json", "run", "what does add do?"]].concat())
        .run()
        .expect(0);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["spent"]["planner"]["prompt"], 12_000);
    let cost = report["spent"]["planner"]["cost"].as_f64().unwrap();
    assert!((cost - 1.5).abs() < 1e-9, "{cost}");
}

#[test]
fn a_budget_counts_all_roles_and_planning_and_executing_together() {
    let paid = |reply: Reply| Reply { usage: Some(TAKEN), ..reply };
    let executor = sums::execution().into_iter().map(paid);
    let script = Script::new()
        .say("planner", [paid(sums::plan())])
        .say("thinking", [Reply { repeat: 9, ..paid(Reply::text("I think.")) }])
        .say("executor", executor);
    let server = Server::start(script);
    let world = sums::world();
    world.bind(&server, "[thinking]\nmode = \"always\"\n");
    world.tandem(&["--max-tokens-total", "16800", "run", "--yes", "make it add"]).run().expect(53);
    assert_eq!(server.chats().len(), 4, "planning and executing, with a thought each");
}

#[test]
fn time_stops_a_silent_server() {
    let server =
        Server::start(Script::new().say("planner", [Reply::text("x").fault(Fault::Hang { after: 0 })]));
    let world = sums::world();
    world.bind(&server, "");
    let ran = world.tandem(&["--timeout", "1", "run", "what does add do?"]).run().expect(53);
    assert!(ran.stderr.contains("the time budget of 1 s"), "{}", ran.all());
    server.wait_until("the close", |requests| requests[0].closed_at().is_some());
}

#[test]
fn time_stops_a_command() {
    let call = Reply::call("run_command", json!({ "command": "sleep 300" }));
    let server = Server::start(Script::new().say("executor", [call]));
    let world = sums::world();
    world.bind(&server, "");
    let args = ["--timeout", "1s", "run", "--no-plan", "--approval", "auto", "sleep"];
    world.tandem(&args).run().expect(53);
}

#[test]
fn time_stops_a_run_while_a_question_is_open() {
    let write = Reply::call("write_file", json!({ "path": "a.txt", "content": "a" }));
    let ask = Reply::call("ask_user", json!({ "question": "Which way?" }));
    for (call, question) in [(write, "anything else is no: "), (ask, "? Which way?")] {
        let server = Server::start(Script::new().say("executor", [call]));
        let world = sums::world();
        world.bind(&server, "");
        let mut running =
            world.tandem(&["--timeout", "2", "run", "--no-plan", "write it"]).terminal().spawn();
        running.wait_for(question);
        running.wait().expect(53);
        assert!(!world.root().join("a.txt").exists());
        assert_eq!(server.chats().len(), 1);
    }
}
