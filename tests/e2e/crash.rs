//! A process that is killed in the middle of a tool: the session goes on, and nothing is silently repeated.

use serde_json::json;

use crate::sums;
use crate::support::reply::{Fault, Reply};
use crate::support::script::Script;
use crate::support::server::{Server, wait_until};

#[test]
fn a_command_in_flight_is_marked_interrupted_and_not_repeated() {
    let call = Reply::call("run_command", json!({ "command": "echo ran >> ran.txt; sleep 4" }));
    let server =
        Server::start(Script::new().say("executor", [call, Reply::text("I look before I repeat it.")]));
    let world = sums::world();
    world.bind(&server, "");
    let mut running = world.tandem(&["run", "--no-plan", "--approval", "auto", "run it once"]).spawn();
    wait_until("the command", || world.root().join("ran.txt").exists());
    running.kill();
    assert_eq!(running.wait().code, 128 + 9);

    world.tandem(&["resume"]).run().expect(0);
    assert_eq!(world.read("ran.txt"), "ran\n");
    let next = server.of("executor").pop().unwrap();
    assert_eq!(next.results().len(), 1, "the call has its one result");
    assert!(next.results()[0].contains("interrupted"), "{}", next.results()[0]);
    for text in ["run it once", "taken up again after it had ended"] {
        assert!(next.text().contains(text), "{text:?} is not in:\n{}", next.text());
    }

    // What was found out at the first resume is saved: a second one says the same, and counts no second interruption.
    world.tandem(&["resume", "--no-plan", "", "and on"]).run().expect(0);
    let last = server.of("executor").pop().unwrap();
    assert_eq!(last.results(), next.results());
    assert_eq!(world.read("ran.txt"), "ran\n");
}

#[test]
fn an_executed_plan_survives_the_crash_with_its_steps() {
    let mut replies = sums::execution();
    replies.insert(2, Reply::call("run_command", json!({ "command": "echo here > here.txt; sleep 4" })));
    let server = Server::start(Script::new().say("planner", [sums::plan()]).say("executor", replies));
    let world = sums::world();
    world.bind(&server, "");
    let mut running =
        world.tandem(&["run", "--yes", "--approval", "auto", "add subtracts; make it add"]).spawn();
    wait_until("the command", || world.root().join("here.txt").exists());
    running.kill();
    running.wait();
    assert_eq!(world.read("src/lib.rs"), sums::mended(), "the edit before the crash stands");

    let ran = world.tandem(&["resume", "--approval", "auto"]).run().expect(0);
    assert!(format!("{}{}", ran.stdout, ran.stderr).contains("1. proven: "), "{}", ran.all());
    let next = &server.of("executor")[3];
    for text in ["Make add add", "Fix the operator in add", "taken up again after it had ended"] {
        assert!(next.text().contains(text), "{text:?} is not in:\n{}", next.text());
    }
}

#[test]
fn a_kill_while_the_model_is_asked_loses_nothing_that_was_said() {
    let replies = [
        Reply::call("read_file", json!({ "path": "src/lib.rs" })),
        Reply::text("never heard").fault(Fault::Hang { after: 0 }),
        Reply::text("It subtracts."),
    ];
    let server = Server::start(Script::new().say("planner", replies));
    let world = sums::world();
    world.bind(&server, "");
    let mut running = world.tandem(&["-p", "what does add do?"]).spawn();
    server.wait_until("the second request", |requests| requests.len() == 2);
    running.kill();
    running.wait();
    let ran = world.tandem(&["resume"]).run().expect(0);
    assert!(ran.stdout.contains("It subtracts."), "{}", ran.all());
    let last = server.of("planner").pop().unwrap();
    assert_eq!(last.results(), server.of("planner")[1].results(), "the read is still there");
    assert!(last.text().contains("what does add do?"), "{}", last.text());
}
