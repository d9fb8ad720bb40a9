//! `tandem why`: the same judge as the gate's, for people and scripts.

use serde_json::{Value, json};

use crate::support::reply::Reply;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::World;

fn world(config: &str) -> (World, Server) {
    let world = World::with(&[("a.txt", "a\n")]);
    let server = Server::start(Script::new());
    world.bind(&server, config);
    (world, server)
}

#[test]
fn the_exit_code_and_the_words_tell_the_verdict() {
    let (world, _server) =
        world("[commands]\nallow = [\"cargo test *\"]\nask = [\"cargo publish\"]\ndeny = [\"touch\"]\n");
    for (command, code, part) in [
        ("ls -la | head -3", 0, "read-only: every part only looks"),
        ("cargo test --lib", 0, "allowed"),
        ("make all", 3, "no rule names it"),
        ("git push", 3, "danger rule git_push"),
        ("cargo publish", 3, "`cargo publish` of commands.ask"),
        ("echo 'a", 3, "not understood"),
        ("sudo ls", 1, "danger rule root_rights"),
        ("ls && touch x", 1, "`touch` of commands.deny"),
    ] {
        let ran = world.tandem(&["why", command]).run().expect(code);
        assert!(ran.stdout.contains(part), "{command}: {}", ran.all());
    }
    let planner = world.tandem(&["why", "--role", "planner", "cargo test"]).run().expect(1);
    assert!(planner.stdout.contains("the planner only runs what only looks"), "{}", planner.all());
    world.tandem(&["why", "--role", "planner", "git log -S x"]).run().expect(0);
    assert!(world.tandem(&["why"]).run().expect(2).stderr.contains("which command?"));
}

#[test]
fn every_part_stands_in_its_place_in_the_tree() {
    let (world, _server) = world("");
    let command =
        "cd sub && env X=1 timeout 5 make \"$(git rev-parse HEAD)\" | tee log.txt; bash -c 'rm -r x' &";
    let shown = world.tandem(&["why", command]).run().expect(3).stdout;
    for line in [
        "cd sub: read-only",
        "git rev-parse HEAD",
        "started by",
        "reads a pipe",
        "in the background",
        "rm -r x",
        "danger rule delete",
    ] {
        assert!(shown.contains(line), "{line} is not in:\n{shown}");
    }
    let told = world.tandem(&["why", "--json", command]).run().expect(3).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["verdict"], "needs approval");
    let parts = told["parts"].as_array().unwrap();
    let inner = parts.iter().find(|part| part["command"] == "git rev-parse HEAD").unwrap();
    assert!(inner["depth"].as_u64().unwrap() > 0 && inner["ruling"] == "read-only", "{told}");
}

#[test]
fn always_keeps_a_rule_that_is_listed_and_can_be_forgotten() {
    let world = World::with(&[("Makefile", "all:\n\t@echo made\n")]);
    let replies = || {
        let call = Reply::call("run_command", json!({ "command": "make all" }));
        [call, Reply::text("Done.")]
    };
    let server =
        Server::start(Script::new().say("executor", replies().into_iter().chain(replies()).chain(replies())));
    world.bind(&server, "");
    let mut running = world.tandem(&["run", "--no-plan", "make it"]).terminal().spawn();
    running.wait_for("[a]lways in this project: `make all *`");
    running.wait_for("anything else is no");
    running.say("a\n");
    running.wait().expect(0);
    // Another session, without a person: the rule lets it through.
    world.tandem(&["run", "--no-plan", "make it"]).run().expect(0);
    let rules = world.tandem(&["why", "--rules"]).run().expect(0).stdout;
    assert!(rules.contains("allow  make all *  (kept for this project"), "{rules}");
    world.tandem(&["why", "make all -B"]).run().expect(0);
    world.tandem(&["why", "--forget", "make all *"]).run().expect(0);
    world.tandem(&["why", "--forget", "make all *"]).run().expect(2);
    world.tandem(&["run", "--no-plan", "make it"]).run().expect(3);
    assert!(!world.root().join(".tandem").exists(), "nothing is kept in the project");
}

#[test]
fn the_approval_mode_has_its_say() {
    let world = World::new();
    let said = |mode: &str, command: &str| world.tandem(&["--approval", mode, "why", command]).run().code;
    assert_eq!([said("ask", "touch x"), said("auto", "touch x"), said("strict", "touch x")], [3, 0, 1]);
    assert_eq!([said("ask", "cat a"), said("auto", "cat a"), said("strict", "cat a")], [0, 0, 1]);
    assert_eq!([said("ask", "rm a"), said("auto", "rm a"), said("strict", "rm a")], [3, 3, 1]);
    assert_eq!([said("ask", "sudo a"), said("auto", "sudo a"), said("plan", "touch x")], [1, 1, 1]);
}
