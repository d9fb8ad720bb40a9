//! What is decided on, and which plan the next words belong to.

use serde_json::{Value, json};

use crate::sums;
use crate::support::reply::{Fault, Reply};
use crate::support::script::Script;
use crate::support::server::{Server, wait_until};
use crate::support::world::World;

fn plan(goal: &str, check: &str) -> Reply {
    let step = json!({ "what": goal, "files": ["src/lib.rs"], "check": check });
    Reply::call("submit_plan", json!({ "goal": goal, "steps": [step] }))
}

fn refused() -> Reply {
    Reply::default().fault(Fault::Status { status: 400, body: "no".into(), headers: [].into() })
}

fn started(script: Script) -> (World, Server) {
    let server = Server::start(script);
    let world = sums::world();
    world.bind(&server, "");
    (world, server)
}

#[test]
fn a_yes_from_a_pipe_is_a_prompt_and_approves_nothing() {
    let replies = [sums::plan(), Reply::text("Yes to what?")];
    let (world, server) = started(Script::new().say("planner", replies));
    let before = world.tree();
    let ran = world.tandem(&[]).stdin("/plan make it add\ny\nexit\n").run();
    assert!(ran.stderr.contains("The plan waits; /execute approves it."), "{}", ran.all());
    assert_eq!((server.of("planner").len(), server.of("executor").len()), (2, 0));
    assert_eq!(world.tree(), before);
}

#[test]
fn a_plan_that_still_waits_at_the_end_of_a_pipe_is_not_approved() {
    let (world, server) = started(Script::new().say("planner", [sums::plan()]));
    world.tandem(&[]).stdin("/plan make it add\n").run().expect(3);
    assert!(server.of("executor").is_empty());
}

#[test]
fn a_question_of_the_gate_is_denied_at_a_pipe() {
    let write = Reply::call("write_file", json!({ "path": "a.txt", "content": "a" }));
    let replies = [write, Reply::text("It is not written.")];
    let (world, server) = started(Script::new().say("executor", replies));
    let before = world.tree();
    let ran = world.tandem(&[]).stdin("/execute write a.txt\ny\n").run();
    let result = server.of("executor")[1].results()[0].to_owned();
    assert!(result.starts_with("Denied: This needs a person's leave, because it writes a.txt"), "{result}");
    // A person and a program are told the same once, each in their own form.
    assert!(ran.stderr.contains("  denied: This needs a person's leave, because "), "{}", ran.all());
    assert_eq!(world.tree(), before);
}

#[test]
fn execute_approves_the_plan_that_was_shown_last() {
    let planner = [plan("First goal", "true"), plan("Second goal", "grep -q 'a + b' src/lib.rs")];
    let (world, server) = started(Script::new().say("planner", planner).say("executor", sums::execution()));
    world.tandem(&[]).stdin("/plan first\n/plan second\n/execute\nexit\n").run().expect(0);
    let first = &server.of("executor")[0];
    assert!(first.last().contains("Second goal") && !first.last().contains("First goal"), "{}", first.last());
    assert_eq!(world.read("src/lib.rs"), sums::mended());
}

#[test]
fn a_plan_is_carried_out_once() {
    let (world, server) =
        started(Script::new().say("planner", [sums::plan()]).say("executor", sums::execution()));
    let ran = world.tandem(&[]).stdin("/plan make it add\n/execute\n/execute\nexit\n").run().expect(0);
    assert!(ran.stderr.contains("There is no plan that waits"), "{}", ran.all());
    assert_eq!(server.of("executor").len(), 4);
}

#[test]
fn a_plan_that_waits_is_shown_again_when_its_session_is_taken_up() {
    let (world, server) =
        started(Script::new().say("planner", [sums::plan()]).say("executor", sums::execution()));
    world.tandem(&["plan", "make it add"]).run().expect(0);
    let ran = world.tandem(&["-c"]).stdin("/execute\n").run().expect(0);
    assert!(ran.stderr.contains("# Plan: Make add add"), "{}", ran.all());
    assert_eq!((server.of("executor").len(), world.read("src/lib.rs")), (4, sums::mended()));
}

#[test]
fn of_two_plans_in_one_reply_the_first_is_shown_and_the_second_an_error() {
    let step = |what: &str| json!([{ "what": what, "files": ["src/lib.rs"], "check": "true" }]);
    let both = Reply::call("submit_plan", json!({ "goal": "First goal", "steps": step("one") }))
        .and_call("submit_plan", json!({ "goal": "Second goal", "steps": step("two") }));
    let (world, _server) = started(Script::new().say("planner", [both]));
    let ran = world.tandem(&["--output-format", "stream-json", "plan", "do it"]).run().expect(0);
    let goals: Vec<Value> = ran.payloads("plan").iter().map(|plan| plan["plan"]["goal"].clone()).collect();
    assert_eq!(goals, ["First goal"], "{}", ran.all());
    let results = ran.payloads("tool_result");
    let outcomes: Vec<&Value> = results.iter().map(|result| &result["outcome"]).collect();
    assert_eq!(outcomes, ["ok", "error"], "{results:?}");
    assert!(results[1]["preview"].as_str().unwrap().contains("second one was not taken"), "{results:?}");
}

#[test]
fn a_plan_that_stopped_does_not_reach_into_a_new_prompt() {
    // The step is never done, so the plan stops with it open.
    let executor = [
        Reply { repeat: 3, ..Reply::text("No.") },
        Reply::call("read_file", json!({ "path": "README.md" })),
        Reply::text("It is called sums."),
    ];
    let planner = [sums::plan(), Reply::text("It subtracts.")];
    let (world, server) = started(Script::new().say("planner", planner).say("executor", executor));
    world.tandem(&["run", "--yes", "make it add"]).run().expect(6);
    let sent = server.of("executor").len();

    let ran = world.tandem(&["-c", "-p", "what does add do?"]).run().expect(0);
    assert_eq!((ran.stdout.as_str(), server.of("executor").len()), ("It subtracts.\n", sent));

    let args = ["--output-format", "json", "resume", "--no-plan", "", "what is it called?"];
    let ran = world.tandem(&args).run().expect(0);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&report["answer"], &report["steps"]), (&json!("It is called sums."), &json!([])));
    for request in &server.of("executor")[sent..] {
        let text = request.text();
        let (_, new) = text.split_once("what is it called?").unwrap();
        assert!(!new.contains("Make add add"), "{new}");
    }
}

#[test]
fn a_plan_that_was_cut_off_goes_on_with_the_next_prompt() {
    let read = || Reply::call("read_file", json!({ "path": "src/lib.rs" }));
    let hang = || Reply::text("never heard").fault(Fault::Hang { after: 0 });
    let look = || Reply::call("list_dir", json!({}));
    // How it is cut off, and the replies until then.
    let ways: [(&str, Vec<Reply>, &[&str], i32); 4] = [
        ("interrupt", vec![read(), hang()], &[], 130),
        ("crash", vec![read(), hang()], &[], 128 + 9),
        ("limit", vec![read(), look(), Reply::text("Not done.")], &["--max-rounds", "2"], 53),
        ("fault", vec![read(), refused()], &[], 5),
    ];
    for (way, mut executor, args, code) in ways {
        let cut_off = executor.len();
        executor.extend(sums::execution().into_iter().skip(1));
        let (world, server) = started(Script::new().say("planner", [sums::plan()]).say("executor", executor));
        let mut running = world.tandem(&[&["run", "--yes", "make it add"], args].concat()).spawn();
        running.close();
        if code > 128 {
            server.wait_until(way, |all| all.iter().filter(|one| one.role() == "executor").count() == 2);
            match way {
                "crash" => running.kill(),
                _ => running.signal("INT"),
            }
        }
        running.wait().expect(code);
        let ran = world.tandem(&["resume", "", "go on, quokka"]).run().expect(0);
        assert!(ran.stdout.contains("1. proven: "), "{way}\n{}", ran.all());
        assert_eq!((server.of("planner").len(), world.read("src/lib.rs")), (1, sums::mended()), "{way}");
        let next = server.of("executor")[cut_off].text();
        assert!(next.contains("go on, quokka") && next.contains("Make add add"), "{way}\n{next}");
    }
}

#[test]
fn an_interrupted_plan_in_a_session_goes_on_with_the_next_line() {
    let mut executor = sums::execution();
    executor.insert(1, Reply::text("never heard").fault(Fault::Hang { after: 0 }));
    let (world, server) = started(Script::new().say("planner", [sums::plan()]).say("executor", executor));
    let mut running = world.tandem(&[]).terminal().spawn();
    running.wait_for("> ");
    running.say("/plan make it add\n");
    running.wait_for("what to change: ");
    running.say("y\n");
    server.wait_until("the second", |all| all.iter().filter(|one| one.role() == "executor").count() == 2);
    running.say("\x03");
    running.wait_for("Interrupted.");
    running.wait_for("> ");
    running.say("go on\n");
    running.wait_for("1. proven: ");
    running.wait_for("> ");
    running.say("exit\n");
    running.wait().expect(0);
    wait_until("the edit", || world.read("src/lib.rs") == sums::mended());
}
