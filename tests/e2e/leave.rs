//! Leave to act: what is asked for in which mode, and what checks may do.

use serde_json::json;

use crate::sums;
use crate::support::reply::Reply;
use crate::support::run::Ran;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::World;

/// One command by the executor without a person, under this approval mode.
fn ran(world: &World, approval: &str, config: &str, command: &str, code: i32) -> String {
    let call = Reply::call("run_command", json!({ "command": command }));
    let server = Server::start(Script::new().say("executor", [call, Reply::text("That is all.")]));
    world.bind(&server, config);
    world.tandem(&["run", "--no-plan", "--approval", approval, "run it"]).run().expect(code);
    server.of("executor").pop().unwrap().results().concat()
}

/// Carries out a plan with one step and this check; the executor only reports the step.
fn checked(world: &World, check: &str, args: &[&str]) -> (Ran, Server) {
    let step = json!({ "what": "Do it", "files": ["src/lib.rs"], "check": check });
    let plan = Reply::call("submit_plan", json!({ "goal": "Do it", "steps": [step] }));
    let done = Reply::call("update_step", json!({ "step": 1, "status": "done", "note": "did it" }));
    let executor = [done, Reply::text("It is done.")];
    let server = Server::start(Script::new().say("planner", [plan]).say("executor", executor));
    world.bind(&server, "");
    (world.tandem(&[&["run", "--yes", "do it"], args].concat()).run(), server)
}

#[test]
fn deleting_is_asked_for_in_every_mode_unless_a_rule_names_it() {
    let world = sums::world();
    let every_git = "[commands]\nallow = [\"git *\"]\n";
    for (approval, config, command) in [
        ("ask", "", "rm README.md"),
        ("auto-edit", "", "rm README.md"),
        ("auto", "", "rm README.md"),
        ("auto", every_git, "git clean -fd"),
        ("auto", "[commands]\nask = [\"cat\"]\n", "cat README.md"),
    ] {
        let result = ran(&world, approval, config, command, 3);
        assert!(result.starts_with("Denied: This needs a person's leave, because "), "{approval}: {result}");
    }
    assert_eq!(world.read("README.md"), "# sums\n\nAdds numbers.\n");
    ran(&world, "ask", "[commands]\nallow = [\"rm README.md\"]\n", "rm README.md", 0);
    assert!(!world.root().join("README.md").exists());
}

#[test]
fn no_chain_gets_around_a_rule() {
    let world = sums::world();
    let rules = "[commands]\nallow = [\"git status\"]\ndeny = [\"touch\"]\n";
    for command in [
        "git status && touch n1",
        "git status; touch n2",
        "git status | touch n3",
        "git status & touch n4",
        "git status\ntouch n5",
        "(git status; touch n6)",
    ] {
        let result = ran(&world, "auto", rules, command, 3);
        assert!(
            result.starts_with("Denied: The rule `touch` of commands.deny forbids it."),
            "{command}: {result}"
        );
    }
    // In mode ask, nobody is there to allow what no rule names.
    ran(&world, "ask", rules, "git status || make", 3);
    // Where nothing goes ahead but what a rule names, it must name every part.
    ran(&world, "strict", rules, "git status || true", 3);
    ran(&world, "strict", rules, "git status", 0);
    assert!(world.tree().keys().all(|name| !name.starts_with('n')));
    let result = ran(&world, "ask", rules, "git status", 0);
    assert!(result.contains("nothing to commit"), "{result}");
    let by_hand =
        world.tandem(&["tool", "run", "run_command", "--args", "{\"command\":\"touch n7\"}"]).run().expect(3);
    assert!(
        by_hand.stderr.starts_with("denied: The rule `touch` of commands.deny forbids it."),
        "{}",
        by_hand.all()
    );
}

#[test]
fn looking_inside_the_root_is_free_and_outside_it_is_asked_for() {
    let world = sums::world();
    std::fs::write(world.path("beside.txt"), "the hidden word\n").unwrap();
    for inside in ["cat README.md", "grep -rn Adds .", "git log --oneline"] {
        ran(&world, "ask", "", inside, 0);
    }
    for outside in
        ["cat ../beside.txt", "grep -rn hidden ..", "cd .. && cat beside.txt", "cat < ../beside.txt"]
    {
        let result = ran(&world, "ask", "", outside, 3);
        assert!(result.starts_with("Denied: This needs a person's leave, "), "{outside}: {result}");
        assert!(!result.contains("the hidden word"), "{outside}: {result}");
    }
}

#[test]
fn the_danger_list_holds_for_checks_of_an_approved_plan() {
    let world = sums::world();
    let before = world.tree();
    for check in ["rm -rf src", "sudo true", "git push --force origin main"] {
        let (ran, server) = checked(&world, check, &["--approval", "auto"]);
        assert!(ran.code != 0 && !ran.stdout.contains("1. proven"), "{check}\n{}", ran.all());
        assert!(!server.of("executor").is_empty());
        assert_eq!(world.tree(), before, "{check}");
    }
}

#[test]
fn a_check_that_was_shown_and_approved_needs_no_further_leave() {
    let world = sums::world();
    let (ran, _server) = checked(&world, "echo x >> checked.txt; test -f checked.txt", &[]);
    assert!(world.read("checked.txt").len() >= 4, "before and after the work\n{}", ran.all());
}

#[test]
fn approval_plan_runs_no_check() {
    let world = sums::world();
    let before = world.tree();
    let (ran, _server) = checked(&world, "echo x >> checked.txt", &["--approval", "plan"]);
    assert_ne!(ran.code, 0, "{}", ran.all());
    assert_eq!(world.tree(), before);
}

#[test]
fn a_check_that_a_command_rewrote_proves_nothing() {
    let world = sums::world();
    world.write("check.sh", "exit 1\n");
    let step = json!({ "what": "Mend it", "files": ["src/lib.rs"], "check": "sh check.sh" });
    let plan = Reply::call("submit_plan", json!({ "goal": "Make the check pass", "steps": [step] }));
    let executor = [
        Reply::call("run_command", json!({ "command": "echo exit 0 > check.sh" })),
        Reply::call("update_step", json!({ "step": 1, "status": "done", "note": "mended" })),
        Reply::text("It passes."),
    ];
    let server = Server::start(Script::new().say("planner", [plan]).say("executor", executor));
    world.bind(&server, "");
    let ran = world.tandem(&["run", "--yes", "--approval", "auto", "make it pass"]).run().expect(1);
    assert!(ran.stdout.contains("1. unproven: ") && ran.stdout.contains("check.sh"), "{}", ran.all());
}

#[test]
fn a_check_that_writes_its_own_output_proves_all_the_same() {
    for check in [
        "cat src/lib.rs > out.txt; grep -q 'a + b' out.txt",
        "rm -rf out.txt; cp src/lib.rs out.txt; grep -q 'a + b' out.txt",
    ] {
        let step = json!({ "what": "Fix the operator", "files": ["src/lib.rs"], "check": check });
        let plan = Reply::call("submit_plan", json!({ "goal": "Make add add", "steps": [step] }));
        let server = Server::start(Script::new().say("planner", [plan]).say("executor", sums::execution()));
        let world = sums::world();
        world.bind(&server, "");
        let mut running =
            world.tandem(&["run", "--yes", "--approval", "auto", "make it add"]).terminal().spawn();
        if check.starts_with("rm") {
            running.wait_for("anything else is no: ");
            running.say("a\n");
        }
        let ran = running.wait().expect(0);
        assert!(ran.stdout.contains("1. proven: "), "{}", ran.all());
    }
}

#[test]
fn a_check_that_was_not_allowed_is_no_success() {
    let check = "rm -f built.txt; grep -q 'a + b' src/lib.rs";
    let step = json!({ "what": "Fix the operator in add", "files": ["src/lib.rs"], "check": check });
    let plan = Reply::call("submit_plan", json!({ "goal": "Make add add", "steps": [step] }));
    let server = Server::start(Script::new().say("planner", [plan]).say("executor", sums::execution()));
    let world = sums::world();
    world.bind(&server, "");
    let ran = world.tandem(&["run", "--yes", "make it add"]).run().expect(3);
    assert!(ran.stdout.contains("1. unproven: "), "{}", ran.all());
}
