//! Ctrl+C: the connection is closed, the partial text is kept, nothing is left running, and the exit code is 130.

use serde_json::json;

use crate::sums;
use crate::support::reply::{Fault, Reply};
use crate::support::script::Script;
use crate::support::server::{Server, wait_until};

#[test]
fn while_the_model_speaks_the_connection_is_closed_and_the_partial_text_kept() {
    let half = Reply::text("It subtracts, and I was about to say why").fault(Fault::Hang { after: 3 });
    let server = Server::start(Script::new().say("planner", [half, Reply::text("As I said, it subtracts.")]));
    let world = sums::world();
    world.bind(&server, "");
    let before = world.tree();
    let mut running = world.tandem(&["--output-format", "stream-json", "run", "what does add do?"]).spawn();
    server.wait_until("a request", |requests| !requests.is_empty());
    running.wait_for(", and I was");
    running.signal("INT");
    let ran = running.wait().expect(130);
    server.wait_until("the close", |requests| requests[0].closed_at().is_some());
    assert_eq!(ran.payloads("done").len(), 1, "{}", ran.all());
    // What was heard before the interrupt is part of the conversation that goes on.
    world.tandem(&["resume", "", "and what else?"]).run().expect(0);
    let next = server.of("planner").pop().unwrap().text();
    assert!(next.contains("It subtracts, and I was"), "{next}");
    assert!(next.contains("and what else?"), "{next}");
    assert_eq!(world.tree(), before);
}

#[test]
fn while_a_command_runs_it_is_stopped_with_all_that_it_started() {
    let command = "sh -c 'echo $$ > inner.pid; exec sleep 300' & echo $$ > outer.pid; wait";
    let call = Reply::call("run_command", json!({ "command": command }));
    let server = Server::start(Script::new().say("executor", [call, Reply::text("It was stopped.")]));
    let world = sums::world();
    world.bind(&server, "");
    let running = world.tandem(&["run", "--no-plan", "--approval", "auto", "run it"]).spawn();
    let files = ["inner.pid", "outer.pid"];
    let written =
        |file: &str| std::fs::read_to_string(world.root().join(file)).is_ok_and(|id| id.ends_with('\n'));
    wait_until("both processes", || files.iter().all(|file| written(file)));
    running.signal("INT");
    running.wait().expect(130);
    for file in files {
        let id = world.read(file).trim().to_owned();
        wait_until("its end", || !is_running(&id));
    }
    // The next request answers the call all the same, and says that it was interrupted.
    world.tandem(&["resume"]).run().expect(0);
    let next = server.of("executor").pop().unwrap();
    assert_eq!(next.results().len(), 1);
    assert!(next.results()[0].to_lowercase().contains("interrupt"), "{}", next.results()[0]);
}

/// Whether the process is there and no corpse.
fn is_running(id: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn while_a_retry_is_waited_for_the_wait_is_broken_off() {
    // Longer than any run of a test may take.
    let headers = [("retry-after".to_owned(), "300".to_owned())].into();
    let refusal = Reply::default().fault(Fault::Status { status: 429, body: "slow down".into(), headers });
    let server = Server::start(Script::new().say("planner", [refusal]));
    let world = sums::world();
    world.bind(&server, "[network]\nretry_max_s = 600\n");
    let mut running = world.tandem(&["--output-format", "stream-json", "run", "what does add do?"]).spawn();
    running.wait_for("\"type\":\"retry\"");
    running.signal("INT");
    let ran = running.wait().expect(130);
    assert!(ran.payloads("retry")[0]["wait_ms"].as_u64() >= Some(300_000), "{}", ran.all());
    assert_eq!(server.of("planner").len(), 1);
}

#[test]
fn a_request_to_terminate_is_an_interrupt() {
    let call = Reply::call("run_command", json!({ "command": "echo $$ > shell.pid; sleep 300" }));
    for signal in ["TERM", "HUP"] {
        let replies = [call.clone(), Reply::text("It was stopped.")];
        let server = Server::start(Script::new().say("executor", replies));
        let world = sums::world();
        world.bind(&server, "");
        let running = world.tandem(&["run", "--no-plan", "--approval", "auto", "run it"]).spawn();
        let file = world.root().join("shell.pid");
        wait_until("the command", || std::fs::read_to_string(&file).is_ok_and(|id| id.ends_with('\n')));
        running.signal(signal);
        running.wait().expect(130);
        let id = world.read("shell.pid").trim().to_owned();
        wait_until("its end", || !is_running(&id));
        world.tandem(&["resume"]).run().expect(0);
        let next = server.of("executor").pop().unwrap();
        assert!(next.results()[0].to_lowercase().contains("interrupt"), "{}", next.results()[0]);
    }
}

#[test]
fn the_second_ctrl_c_ends_at_once() {
    // The command does not mind being asked to end, so an orderly end takes its time.
    let command = "trap '' TERM INT HUP; echo here > here.txt; while true; do sleep 1; done";
    let call = Reply::call("run_command", json!({ "command": command }));
    let server = Server::start(Script::new().say("executor", [call, Reply::text("I look first.")]));
    let world = sums::world();
    world.bind(&server, "");
    let mut running = world.tandem(&["run", "--no-plan", "run it"]).terminal().spawn();
    running.wait_for("anything else is no: ");
    running.say("y\n");
    wait_until("the command", || world.root().join("here.txt").exists());
    running.say("\x03");
    std::thread::sleep(std::time::Duration::from_millis(300));
    running.say("\x03");
    running.wait().expect(130);
    // It was not waited for, so the session finds the call in flight.
    world.tandem(&["resume"]).run().expect(0);
    let next = server.of("executor").pop().unwrap();
    assert!(next.text().contains("In flight at that moment: run_command."), "{}", next.text());
}

#[test]
fn ctrl_c_at_a_question_is_no_leave() {
    let write = Reply::call("write_file", json!({ "path": "a.txt", "content": "a" }));
    let server = Server::start(Script::new().say("planner", [sums::plan()]).say("executor", [write]));
    let world = sums::world();
    world.bind(&server, "");
    let before = world.tree();
    for (args, question) in [
        (&["run", "--no-plan", "write it"][..], "anything else is no: "),
        (&["run", "make it add"], "what to change: "),
    ] {
        let mut running = world.tandem(args).terminal().spawn();
        running.wait_for(question);
        running.say("\x03");
        running.wait().expect(130);
        assert_eq!(world.tree(), before);
    }
    assert_eq!(server.of("executor").len(), 1);
}
