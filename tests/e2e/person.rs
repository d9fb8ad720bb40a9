//! A person at a terminal: questions of the gate and of the model, and what was typed before they were shown.

use std::sync::Mutex;
use std::sync::mpsc;

use serde_json::json;

use crate::sums;
use crate::support::reply::Reply;
use crate::support::run::Running;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::World;

fn write(path: &str) -> Reply {
    Reply::call("write_file", json!({ "path": path, "content": "new\n" }))
}

/// A run of the executor at a terminal, under approval `ask`.
fn asked(replies: impl IntoIterator<Item = Reply>) -> (World, Server, Running) {
    let server = Server::start(Script::new().say("executor", replies));
    let world = sums::world();
    world.bind(&server, "");
    let running = world.tandem(&["run", "--no-plan", "write it"]).terminal().spawn();
    (world, server, running)
}

#[test]
fn yes_lets_one_call_go_ahead_and_the_next_is_asked_for_again() {
    let (world, _server, mut running) =
        asked([write("a.txt"), write("b.txt"), Reply::text("Only a.txt is written.")]);
    for answer in ["y\n", "n\n"] {
        running.wait_for("anything else is no: ");
        running.say(answer);
    }
    running.wait().expect(3);
    assert_eq!(world.read("a.txt"), "new\n");
    assert!(!world.root().join("b.txt").exists());
}

#[test]
fn what_is_asked_for_is_shown_with_its_effect() {
    let edit = json!({ "path": "src/lib.rs", "old": "a - b", "new": "a + b" });
    let read = Reply::call("read_file", json!({ "path": "src/lib.rs" }));
    let (world, _server, mut running) = asked([read, Reply::call("edit_file", edit), Reply::text("Mended.")]);
    running.wait_for("edit_file wants to go ahead (it writes src/lib.rs)");
    running.wait_for("-    a - b");
    running.wait_for("+    a + b");
    running.wait_for("anything else is no: ");
    running.say("yes\n");
    running.wait().expect(0);
    assert_eq!(world.read("src/lib.rs"), sums::mended());
}

#[test]
fn a_no_with_a_reason_reaches_the_model_word_for_word() {
    let (world, server, mut running) = asked([write("a.txt"), Reply::text("Then I leave it.")]);
    running.wait_for("anything else is no: ");
    running.say("put it into docs instead\n");
    running.wait().expect(3);
    let next = server.of("executor").pop().unwrap();
    assert!(
        next.results()[0].contains("The user said no: put it into docs instead"),
        "{}",
        next.results()[0]
    );
    assert!(next.last().contains("A call was not allowed"), "{}", next.last());
    assert!(!world.root().join("a.txt").exists());
}

#[test]
fn always_lasts_over_turns_for_exactly_what_was_shown() {
    let command = |text: &str| Reply::call("run_command", json!({ "command": text }));
    let replies = [
        command("echo x >> log.txt"),
        Reply::text("First is done."),
        command("echo x >> log.txt"),
        Reply::text("Second is done."),
        command("echo y >> log.txt"),
        Reply::text("Third is done."),
    ];
    let server = Server::start(Script::new().say("executor", replies));
    let world = sums::world();
    world.bind(&server, "");
    let mut running = world.tandem(&[]).terminal().spawn();
    running.wait_for("> ");
    running.say("/execute append\n");
    running.wait_for("anything else is no: ");
    running.say("a\n");
    running.wait_for("First is done.");
    running.wait_for("> ");
    running.say("/execute append again\n");
    running.wait_for("Second is done.");
    running.wait_for("> ");
    running.say("/execute append something else\n");
    running.wait_for("anything else is no: ");
    running.say("n\n");
    running.wait_for("Third is done.");
    running.wait_for("> ");
    running.say("exit\n");
    let ran = running.wait().expect(0);
    assert_eq!(world.read("log.txt"), "x\nx\n");
    assert_eq!(ran.stdout.matches("anything else is no: ").count(), 2, "{}", ran.all());
}

#[test]
fn a_question_of_the_model_is_answered_by_number_or_in_words() {
    let ask = json!({ "question": "Which way?", "options": ["left", "right"] });
    let free = json!({ "question": "What name?" });
    let replies = [Reply::call("ask_user", ask), Reply::call("ask_user", free), Reply::text("Right, Ada.")];
    let server = Server::start(Script::new().say("planner", replies));
    let world = sums::world();
    world.bind(&server, "");
    let mut running = world.tandem(&["run", "which way?"]).terminal().spawn();
    running.wait_for("? Which way?");
    running.wait_for("2. right");
    running.say("2\n");
    running.wait_for("? What name?");
    running.say("Ada\n");
    running.wait().expect(0);
    let results = server.of("planner").pop().unwrap().results();
    assert_eq!(results, ["The user answers: right", "The user answers: Ada"]);
}

#[test]
fn what_was_typed_before_a_question_answers_nothing() {
    let (typed, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    // The plan is handed in only after the person has typed a yes to nothing.
    let plan = sums::plan().before(move |_| {
        _ = wait.lock().unwrap().recv();
        std::thread::sleep(std::time::Duration::from_millis(700));
    });
    let server = Server::start(Script::new().say("planner", [plan]).say("executor", sums::execution()));
    let world = sums::world();
    world.bind(&server, "");
    let before = world.tree();
    let mut running = world.tandem(&["run", "make it add"]).terminal().spawn();
    server.wait_until("a request", |requests| !requests.is_empty());
    running.say("y\ny\n");
    typed.send(()).unwrap();
    running.wait_for("what to change: ");
    running.say("n\n");
    running.wait().expect(3);
    assert!(server.of("executor").is_empty());
    assert_eq!(world.tree(), before);
}

#[test]
fn a_command_typed_at_the_question_leaves_the_plan_waiting() {
    let server =
        Server::start(Script::new().say("planner", [sums::plan()]).say("executor", sums::execution()));
    let world = sums::world();
    world.bind(&server, "");
    let mut running = world.tandem(&[]).terminal().spawn();
    running.wait_for("> ");
    running.say("/plan make it add\n");
    running.wait_for("what to change: ");
    running.say("/status\n");
    running.wait_for("(drafted): Make add add");
    running.wait_for("> ");
    running.say("/execute\n");
    running.wait_for("1. proven: ");
    running.wait_for("> ");
    running.say("exit\n");
    running.wait().expect(0);
    assert_eq!(world.read("src/lib.rs"), sums::mended());
}

#[test]
fn leave_given_before_does_not_cover_a_stale_plan_at_a_terminal() {
    let server =
        Server::start(Script::new().say("planner", [sums::plan()]).say("executor", sums::execution()));
    let world = sums::world();
    world.bind(&server, "");
    let plan = world.path("plan.md").display().to_string();
    world.tandem(&["plan", "make it add", "-o", &plan]).run().expect(0);
    world.write("src/lib.rs", &sums::LIB.replace("Adds", "Sums"));
    let ran = world.tandem(&["exec", "--yes", &plan]).terminal().run().expect(3);
    assert!(ran.stdout.contains("changed since the plan was made: src/lib.rs"), "{}", ran.all());
    assert!(server.of("executor").is_empty());
    world.tandem(&["exec", "--yes", "--stale-ok", &plan]).terminal().run().expect(0);
    assert!(world.read("src/lib.rs").contains("a + b"));
}

#[test]
fn the_critique_of_a_revision_sees_the_first_words_too() {
    let accept = || Reply::text("ACCEPT: it will do.");
    let server = Server::start(
        Script::new()
            .say("planner", [sums::plan(), sums::plan()])
            .say("critique", [accept(), accept()])
            .say("executor", sums::execution()),
    );
    let world = sums::world();
    world.bind(&server, "[thinking]\nmode = \"off\"\ncritique = true\n");
    let mut running = world.tandem(&["run", "add subtracts, said the quokka"]).terminal().spawn();
    for answer in ["only touch the operator\n", "y\n"] {
        running.wait_for("what to change: ");
        running.say(answer);
    }
    running.wait().expect(0);
    let critiques = server.of("critique");
    assert_eq!(critiques.len(), 2);
    for text in ["add subtracts, said the quokka", "only touch the operator"] {
        assert!(critiques[1].text().contains(text), "{text:?} is not in:\n{}", critiques[1].text());
    }
}

#[test]
fn the_end_of_input_at_a_question_is_a_no() {
    let replies = [write("a.txt"), Reply::text("It is not written.")];
    let server = Server::start(Script::new().say("planner", [sums::plan()]).say("executor", replies));
    let world = sums::world();
    world.bind(&server, "");
    let before = world.tree();
    for (args, question) in [
        (&["run", "--no-plan", "write it"][..], "anything else is no: "),
        (&["run", "make it add"], "what to change: "),
    ] {
        let mut running = world.tandem(args).terminal().spawn();
        running.wait_for(question);
        running.say("\x04");
        running.wait().expect(3);
        assert_eq!(world.tree(), before);
    }
}

#[test]
fn a_check_that_deletes_is_asked_for_and_a_no_is_not_asked_again() {
    let check = "rm -f built.txt; grep -q 'a + b' src/lib.rs";
    let step = json!({ "what": "Fix the operator in add", "files": ["src/lib.rs"], "check": check });
    let plan = || Reply::call("submit_plan", json!({ "goal": "Make add add", "steps": [step.clone()] }));
    for (answer, verdict) in [("n\n", "1. unproven: "), ("a\n", "1. proven: ")] {
        let script = Script::new().say("planner", [plan()]).say("executor", sums::execution());
        let server = Server::start(script);
        let world = sums::world();
        world.bind(&server, "");
        let mut running = world.tandem(&["run", "--yes", "make it add"]).terminal().spawn();
        running.wait_for("danger rule");
        running.wait_for("anything else is no: ");
        running.say(answer);
        let ran = running.wait();
        assert_eq!(ran.stdout.matches("anything else is no: ").count(), 1, "{}", ran.all());
        assert!(ran.stdout.contains(verdict), "{}", ran.all());
    }
}

#[test]
fn ctrl_c_at_a_question_ends_the_turn_and_not_the_session() {
    let replies = [write("a.txt"), Reply::text("It is called sums.")];
    let server = Server::start(Script::new().say("executor", replies));
    let world = sums::world();
    world.bind(&server, "");
    let mut running = world.tandem(&[]).terminal().spawn();
    running.wait_for("> ");
    running.say("/execute write it\n");
    running.wait_for("anything else is no: ");
    running.say("\x03");
    running.wait_for("Interrupted.");
    running.wait_for("> ");
    running.say("/execute what is it called?\n");
    running.wait_for("It is called sums.");
    running.wait_for("> ");
    running.say("exit\n");
    running.wait().expect(0);
    assert!(!world.root().join("a.txt").exists());
}
