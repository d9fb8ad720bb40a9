//! `tandem tool`: one tool without a model, on the same path, with a contract that programs can rely on.

use serde_json::{Value, json};

use crate::sums;
use crate::support::run::Ran;
use crate::support::server::wait_until;
use crate::support::world::World;

fn tool(world: &World, name: &str, args: Value, more: &[&str]) -> Ran {
    let args = args.to_string();
    world.tandem(&[&["tool", "run", name, "--args", &args, "--json"], more].concat()).run()
}

/// Runs the tool and checks the exit code, `outcome` and `kind` (null for none), and hands back `content`.
#[track_caller]
fn check(world: &World, name: &str, args: Value, code: i32, outcome: &str, kind: Value) -> String {
    let ran = tool(world, name, args, &[]).expect(code);
    let said: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.all()));
    assert_eq!((&said["outcome"], &said["kind"]), (&json!(outcome), &kind), "{}", ran.all());
    said["content"].as_str().unwrap_or_else(|| panic!("no content: {}", ran.all())).to_owned()
}

#[test]
fn every_tool_is_listed() {
    let world = sums::world();
    let listed = world.tandem(&["tool", "list"]).run().expect(0).stdout;
    for name in [
        "read_file",
        "list_dir",
        "glob",
        "grep",
        "ast_search",
        "outline",
        "recall",
        "ask_user",
        "submit_plan",
        "edit_file",
        "write_file",
        "run_command",
        "update_step",
    ] {
        assert!(listed.lines().any(|line| line.contains(name)), "{name} is not in:\n{listed}");
    }
}

#[test]
fn looking_is_ok_and_says_what_it_sees() {
    let world = sums::world();
    let read = check(&world, "read_file", json!({ "path": "src/lib.rs" }), 0, "ok", Value::Null);
    assert!(read.contains("a - b"), "{read}");
    let found = check(&world, "grep", json!({ "pattern": "a - b" }), 0, "ok", Value::Null);
    assert!(found.contains("src/lib.rs") && found.contains('3'), "{found}");
    let pattern = json!({ "pattern": "pub fn $F($$$A) -> i64 { $$$B }", "lang": "rust" });
    assert!(check(&world, "ast_search", pattern, 0, "ok", Value::Null).contains("src/lib.rs"));
    assert!(check(&world, "outline", json!({ "path": "src/lib.rs" }), 0, "ok", Value::Null).contains("add"));
    assert!(
        check(&world, "glob", json!({ "pattern": "**/*.md" }), 0, "ok", Value::Null).contains("README.md")
    );
    assert!(check(&world, "list_dir", json!({}), 0, "ok", Value::Null).contains("src"));
}

#[test]
fn errors_have_their_kind_and_change_nothing() {
    let world = sums::world();
    let before = world.tree();
    let edit = |old: &str, new: &str| json!({ "path": "src/lib.rs", "old": old, "new": new });
    let file = |path: &str| json!({ "path": path });
    for (name, args, kind) in [
        ("read_file", file("src/none.rs"), "not_found"),
        ("read_file", file("../outside"), "outside_root"),
        ("read_file", json!({ "file": "src/lib.rs" }), "invalid_arguments"),
        ("no_such_tool", json!({}), "unknown_tool"),
        ("grep", json!({ "pattern": "(" }), "invalid_pattern"),
        ("edit_file", edit("a / b", "a + b"), "not_found"),
        ("edit_file", edit("a", "b"), "ambiguous"),
        ("edit_file", edit("a - b", "a - b"), "identical"),
        ("edit_file", json!({ "path": "../outside", "old": "a", "new": "b" }), "outside_root"),
        ("write_file", json!({ "path": "../outside", "content": "x" }), "outside_root"),
        ("run_command", json!({ "command": "echo seen; exit 3" }), "command_failed"),
    ] {
        let content = check(&world, name, args, 1, "error", json!(kind));
        assert!(name != "run_command" || (content.contains("seen") && content.contains('3')), "{content}");
    }
    assert_eq!(world.tree(), before);
    assert!(!world.path("outside").exists());
}

#[test]
fn the_persons_own_act_counts_as_having_read_and_as_approved() {
    let world = sums::world();
    let edit = json!({ "path": "src/lib.rs", "old": "a - b", "new": "a + b" });
    let receipt = check(&world, "edit_file", edit, 0, "ok", Value::Null);
    assert!(receipt.contains("src/lib.rs"), "{receipt}");
    assert_eq!(world.read("src/lib.rs"), sums::mended());
    check(&world, "write_file", json!({ "path": "docs/new.md", "content": "new\n" }), 0, "ok", Value::Null);
    assert_eq!(world.read("docs/new.md"), "new\n");
    let said = check(&world, "run_command", json!({ "command": "echo seen" }), 0, "ok", Value::Null);
    assert!(said.contains("seen"), "{said}");
}

#[test]
fn an_edit_under_an_earlier_reads_digest_is_stale_when_the_file_changed() {
    let world = sums::world();
    let digest = "0".repeat(64);
    let edit = json!({ "path": "src/lib.rs", "old": "a - b", "new": "a + b" });
    let ran = tool(&world, "edit_file", edit, &["--read-digest", &digest]).expect(1);
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(said["kind"], "stale", "{}", ran.all());
    assert_eq!(world.read("src/lib.rs"), sums::LIB);
}

#[test]
fn the_danger_list_holds_for_the_person_too() {
    let world = sums::world();
    let denied = check(&world, "run_command", json!({ "command": "rm -rf /" }), 3, "denied", Value::Null);
    assert!(denied.starts_with("The danger rule ") && denied.contains("rm"), "{denied}");
}

#[test]
fn an_interrupted_tool_exits_with_130() {
    let world = sums::world();
    let args = json!({ "command": "echo begun > begun.txt; sleep 300" }).to_string();
    let running = world.tandem(&["tool", "run", "run_command", "--args", &args, "--json"]).spawn();
    wait_until("the command", || world.root().join("begun.txt").exists());
    running.signal("INT");
    let ran = running.wait().expect(130);
    let said: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.all()));
    assert_eq!(said["outcome"], "interrupted");
}
