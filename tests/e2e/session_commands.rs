//! A session's commands at a pipe, local servers that are offered, and which sessions are kept and found.

use serde_json::json;

use crate::sums;
use crate::support::reply::Reply;
use crate::support::run::Ran;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::{self, World};

fn piped(script: Script, config: &str, lines: &str) -> (Ran, Server) {
    let server = Server::start(script);
    let world = sums::world();
    world.bind(&server, config);
    (world.tandem(&[]).stdin(lines).run(), server)
}

#[test]
fn help_lists_every_command() {
    let (ran, server) = piped(Script::new(), "", "/help\n/no-such-command\n");
    for command in [
        "/plan",
        "/execute",
        "/model",
        "/profile",
        "/thinking",
        "/status",
        "/context",
        "/compact",
        "/help",
        "exit",
    ] {
        assert!(ran.stderr.lines().any(|line| line.starts_with(command)), "{command}\n{}", ran.all());
    }
    assert!(ran.stderr.contains("there is no command /no-such-command"), "{}", ran.all());
    assert_eq!((ran.code, server.all().len()), (0, 0));
}

#[test]
fn status_tells_session_models_and_cost() {
    let script = Script::new().say("planner", [Reply::text("It subtracts.")]);
    let (ran, _server) = piped(script, "", "what does add do?\n/status\n");
    for text in ["test/planner", "test/thinking", "test/executor", "test/critique", "test/compaction"] {
        assert!(ran.stderr.contains(text), "{text}\n{}", ran.all());
    }
    assert!(ran.stderr.contains("approval ask, plan auto"), "{}", ran.all());
    assert!(ran.stderr.contains("planner: 1 request"), "{}", ran.all());
}

#[test]
fn context_tells_what_fills_the_window() {
    let (ran, server) = piped(Script::new(), "", "/context\n");
    // The window less the tenth that is kept for the answer.
    for text in ["of 115200 tokens in use", "system message", "tools", "0 rounds, 0 summaries"] {
        assert!(ran.stderr.contains(text), "{text}\n{}", ran.all());
    }
    assert!(server.all().is_empty());
}

#[test]
fn a_model_is_bound_for_one_role_or_for_both_acting_roles() {
    let asked = |lines: &str| {
        let (ran, server) = piped(Script::new(), "", lines);
        let models: Vec<String> = server.chats().iter().map(|chat| chat.model.clone()).collect();
        (models, ran)
    };
    let (models, ran) = asked("/model planner test/planner-b\nwhat?\n/execute do\n");
    assert_eq!(models, ["planner-b", "executor"], "{}", ran.all());
    // The server takes the name of a role before the dash for what that role may be offered.
    let (models, ran) = asked("/model test/executor-c\n/model planner test/planner-b\nwhat?\n/execute do\n");
    assert_eq!(models, ["planner-b", "executor-c"], "{}", ran.all());
    let (models, ran) = asked("/model driver test/x\n/execute do\n");
    assert_eq!(models, ["executor"], "{}", ran.all());
    assert!(ran.stderr.contains("there is no role driver"), "{}", ran.all());
}

#[test]
fn a_profile_goes_before_models_that_were_chosen_earlier() {
    let config = "[profiles.cheap.roles.executor]\nmodel = \"test/executor-cheap\"\n";
    let lines = "/model executor test/executor-b\n/profile cheap\n/execute do\n/model executor test/executor-b\n/execute do\n";
    let (ran, server) = piped(Script::new(), config, lines);
    let asked: Vec<String> = server.chats().iter().map(|chat| chat.model.clone()).collect();
    assert_eq!(asked, ["executor-cheap", "executor-b"], "{}", ran.all());
}

#[test]
fn thinking_is_switched_in_a_session() {
    let lines = "one?\n/thinking always\ntwo?\n/thinking off\nthree?\n/thinking sometimes\n";
    let (ran, server) = piped(Script::new(), "", lines);
    let asked: Vec<&str> = server
        .chats()
        .iter()
        .map(|chat| if chat.role() == "thinking" { "thinking" } else { "planner" })
        .collect();
    assert_eq!(asked, ["planner", "thinking", "planner", "planner"]);
    assert!(ran.stderr.contains("sometimes"), "{}", ran.all());
}

#[test]
fn compact_summarises_now() {
    let summary = Reply::text("Goal: find out what add does. Done so far: it subtracts.");
    let (ran, server) = piped(Script::new(), "", "/compact\n");
    assert!(ran.stderr.contains("There is nothing to summarise yet."), "{}", ran.all());
    assert!(server.chats().is_empty());

    let script = Script::new()
        .say("planner", [Reply::text("It subtracts."), Reply::text("Because of a typing error.")])
        .say("compaction", [summary]);
    let (ran, server) = piped(script, "", "what does add do?\n/compact\nwhy?\n");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.stderr.contains("context compact"), "{}", ran.all());
    assert_eq!(server.of("compaction").len(), 1);
    let last = server.of("planner").pop().unwrap();
    assert!(last.text().contains("what does add do?") && last.text().contains("why?"), "{}", last.text());
}

/// A world in which nothing is bound and a local server answers at Ollama's place.
fn unbound(server: &Server) -> World {
    let world = sums::world();
    world.configure(&format!(
        "[providers.ollama]\nbase_url = \"{}\"\n[thinking]\nmode = \"off\"\n",
        server.url()
    ));
    world
}

#[test]
fn a_local_server_is_offered_and_used_after_a_yes() {
    let server = Server::start(Script::new().say("planner", [Reply::text("It subtracts.")]));
    let world = unbound(&server);
    let mut running = world.tandem(&[]).terminal().spawn();
    running.wait_for("ollama answers at");
    running.wait_for("anything else is no: ");
    let before: Vec<String> = server.all().iter().map(|one| format!("{} {}", one.method, one.path)).collect();
    assert_eq!(before, ["GET /v1/models"]);
    running.say("y\n");
    running.wait_for("> ");
    running.say("what does add do?\n");
    running.wait_for("It subtracts.");
    running.wait_for("> ");
    running.say("exit\n");
    running.wait().expect(0);
    assert_eq!(server.chats().len(), 1);
}

#[test]
fn a_local_server_gets_nothing_after_a_no() {
    let server = Server::start(Script::new());
    let world = unbound(&server);
    let mut running = world.tandem(&[]).terminal().spawn();
    running.wait_for("anything else is no: ");
    running.say("no\n");
    let ran = running.wait().expect(52);
    assert!(ran.stdout.contains("no model is configured"), "{}", ran.all());
    assert!(server.chats().is_empty());
}

#[test]
fn nothing_is_looked_for_where_nobody_can_say_yes() {
    let server = Server::start(Script::new());
    let world = unbound(&server);
    world.tandem(&[]).stdin("what does add do?\n").run().expect(52);
    world.tandem(&["run", "what does add do?"]).run().expect(52);
    assert!(server.all().is_empty());
}

#[test]
fn a_session_in_which_nothing_was_said_is_not_kept() {
    let server = Server::start(Script::new());
    let world = sums::world();
    world.bind(&server, "");
    world.tandem(&[]).stdin("/help\n/status\nexit\n").run().expect(0);
    assert_eq!(world.tandem(&["sessions", "list"]).run().expect(0).stdout.matches("01").count(), 0);
    assert_eq!(world::tree_paths(&world.state().join("sessions")), Vec::<String>::new());
    world.tandem(&["resume", "", "x"]).run().expect(2);
}

#[test]
fn print_goes_on_with_the_newest_session() {
    let replies = [Reply::text("It subtracts."), Reply::text("You asked about add.")];
    let server = Server::start(Script::new().say("planner", replies));
    let world = sums::world();
    world.bind(&server, "");
    world.tandem(&["-c", "-p", "what?"]).run().expect(2);
    world.tandem(&["-p", "what does add do?"]).run().expect(0);
    let ran = world.tandem(&["-c", "-p", "what did I ask?"]).run().expect(0);
    assert_eq!(ran.stdout, "You asked about add.\n");
    assert!(server.of("planner")[1].text().contains("what does add do?"));
}

#[test]
fn a_session_is_found_in_its_own_project_only() {
    let server = Server::start(Script::new().say("planner", [Reply::text("It subtracts.")]));
    let world = sums::world();
    world.bind(&server, "");
    let ran = world.tandem(&["--output-format", "json", "run", "what does add do?"]).run().expect(0);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let id = report["session"].as_str().unwrap();
    let other = world.path("other");
    std::fs::create_dir(&other).unwrap();
    for args in [&["resume", id, "and now?"][..], &["resume", "", "and now?"], &["sessions", "show", id]] {
        let ran = world.tandem(args).cwd(&other).run();
        assert!(ran.code == 2 && !ran.stdout.contains("It subtracts."), "{}", ran.all());
    }
    assert_eq!((server.chats().len(), json!(report["exit"])), (1, json!(0)));
    world.tandem(&["resume", id, "and now?"]).run().expect(0);
}
