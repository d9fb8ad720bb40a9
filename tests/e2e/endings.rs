//! How a run ends: answers that are none, parts of a cut answer, faults, and configuration errors for programs.

use serde_json::{Value, json};

use crate::sums;
use crate::support::reply::{Fault, Reply};
use crate::support::run::Ran;
use crate::support::script::Script;
use crate::support::server::Server;

fn cut(text: &str) -> Reply {
    Reply { finish: Some("length".into()), ..Reply::text(text) }
}

fn refused() -> Reply {
    Reply::default().fault(Fault::Status { status: 400, body: "no".into(), headers: [].into() })
}

/// `tandem ARGS` with these replies of planner and executor.
fn ran(args: &[&str], replies: &[Reply]) -> (Ran, Server) {
    let script = Script::new().say("planner", replies.to_vec()).say("executor", replies.to_vec());
    let server = Server::start(script);
    let world = sums::world();
    world.bind(&server, "");
    (world.tandem(args).run(), server)
}

#[test]
fn an_empty_a_withheld_and_a_cut_last_reply_are_no_success() {
    let withheld = Reply { finish: Some("content_filter".into()), ..Reply::text("I must") };
    let still_cut = Reply { repeat: 9, ..cut("and on ") };
    for (what, reply) in [("empty", Reply::text("")), ("withheld", withheld), ("cut", still_cut)] {
        for args in [&["-p", "say it"][..], &["run", "say it"], &["run", "--no-plan", "say it"]] {
            let (ran, _server) = ran(args, std::slice::from_ref(&reply));
            assert_eq!(ran.code, 1, "{what}\n{}", ran.all());
            assert!(ran.stderr.contains("the last reply was empty, withheld"), "{what}\n{}", ran.all());
        }
    }
}

#[test]
fn the_parts_of_a_cut_answer_are_one_answer() {
    let parts = [cut("one, two, "), cut("three, "), Reply::text("four.")];
    let (print, _server) = ran(&["-p", "count"], &parts);
    assert_eq!((print.code, print.stdout.as_str()), (0, "one, two, three, four.\n"), "{}", print.all());
    let (json, server) = ran(&["--output-format", "json", "run", "--no-plan", "count"], &parts);
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(report["answer"], "one, two, three, four.");
    let last = &server.of("executor")[2];
    assert!(last.last().contains("Go on from where it stopped"), "{}", last.last());
}

#[test]
fn a_fault_of_the_model_leaves_a_session_usable_at_a_pipe() {
    let replies = [refused(), Reply::text("It subtracts.")];
    let server = Server::start(Script::new().say("planner", replies));
    let world = sums::world();
    world.bind(&server, "");
    let ran = world.tandem(&[]).stdin("what does add do?\nand now?\nexit\n").run().expect(0);
    assert!(ran.stderr.contains("400") && ran.stdout.contains("It subtracts."), "{}", ran.all());
    let last = server.of("planner").pop().unwrap();
    assert!(last.text().contains("what does add do?"), "{}", last.text());
    // When the last turn is the one that failed, its code is that of the program.
    let server = Server::start(Script::new().say("planner", [Reply::text("It subtracts."), refused()]));
    world.bind(&server, "");
    world.tandem(&[]).stdin("what does add do?\nand now?\n").run().expect(5);
}

#[test]
fn programs_find_a_configuration_error_on_standard_output() {
    let world = sums::world();
    world.configure("[loop]\nno_such_key = 1\n");
    for format in ["json", "stream-json"] {
        for args in [&["run", "x"][..], &["-p", "x"], &["plan", "x"], &["resume"]] {
            let ran = world.tandem(&[&["--output-format", format], args].concat()).run();
            let said: Value =
                serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.all()));
            assert_eq!(said["exit"], json!(ran.code), "{}", ran.all());
            assert!(ran.code == 52 || args == ["resume"], "{}", ran.all());
            let error = said["error"].as_str().unwrap();
            assert!(ran.stderr.contains(error) && !error.is_empty(), "{}", ran.all());
        }
    }
    let text = world.tandem(&["run", "x"]).run().expect(52);
    assert_eq!(text.stdout, "");
}
