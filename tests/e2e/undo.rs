//! Taking back: exactly the files that the agent changed, and nothing that anybody else did.

use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::support::reply::Reply;
use crate::support::run::Ran;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::{World, assert_same_tree};

pub const POEM: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

pub fn world() -> World {
    let world = World::with(&[("poem.txt", POEM), ("gone.txt", "going\n"), ("old/name.txt", "moving\n")]);
    world.write("tool.sh", "#!/bin/sh\necho one\n");
    std::fs::set_permissions(world.root().join("tool.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("poem.txt", world.root().join("link")).unwrap();
    world.write(".gitignore", "ignored.txt\n");
    world.write("ignored.txt", "not seen by git\n");
    world.git(&["init", "--quiet", "--initial-branch=main"]);
    world.git(&["add", "--all"]);
    world.git(&["commit", "--quiet", "--message=start"]);
    world.write("untracked.txt", "mine\n");
    world.write("staged.txt", "staged\n");
    world.git(&["add", "staged.txt"]);
    world.write("staged.txt", "staged and changed\n");
    world
}

/// One turn of the executor with these calls, all allowed.
pub fn turn(world: &World, calls: &[(&str, Value)]) -> Ran {
    let mut replies: Vec<Reply> = calls.iter().map(|(name, args)| Reply::call(name, args.clone())).collect();
    replies.push(Reply::text("Done."));
    let server = Server::start(Script::new().say("executor", replies));
    world.bind(&server, "");
    let before: &[&str] = if world.tandem(&["sessions", "list"]).run().stdout.is_empty() {
        &["run"]
    } else {
        // The turns of a test make one session.
        &["resume", ""]
    };
    world.tandem(&[before, &["--no-plan", "--approval", "auto", "go"]].concat()).run().expect(0)
}

fn read(path: &str) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit_file", json!({ "path": path, "old": old, "new": new }))
}

/// What git knows: the head, the staged content, the stash and all refs.
pub fn git_state(world: &World) -> String {
    [&["rev-parse", "HEAD"][..], &["ls-files", "--stage"], &["stash", "list"], &["for-each-ref"]]
        .map(|args| world.git(args))
        .concat()
}

#[test]
fn every_kind_of_change_is_taken_back_and_put_back_again() {
    let world = world();
    let (before, git) = (world.tree(), git_state(&world));
    turn(
        &world,
        &[
            read("link"),
            edit("link", "two", "zwei"),
            read("tool.sh"),
            edit("tool.sh", "one", "eins"),
            read("untracked.txt"),
            edit("untracked.txt", "mine", "yours"),
            read("ignored.txt"),
            edit("ignored.txt", "not seen", "seen"),
            read("staged.txt"),
            edit("staged.txt", "changed", "edited"),
            ("write_file", json!({ "path": "new/deep/file.txt", "content": "made\n" })),
            ("delete_file", json!({ "path": "gone.txt" })),
            ("delete_file", json!({ "path": "link" })),
            ("move_file", json!({ "from": "old/name.txt", "to": "new/name.txt" })),
        ],
    );
    let after = world.tree();
    assert_ne!(after, before);
    let told = world.tandem(&["undo", "--dry-run"]).run().expect(0);
    assert!(told.stdout.contains("gone.txt: would be as it was before"), "{}", told.all());
    assert_same_tree(&world.tree(), &after, "a dry run");
    let ran = world.tandem(&["undo"]).run().expect(0);
    assert_same_tree(&world.tree(), &before, "after undo");
    assert!(!world.root().join("new").exists(), "a folder that was made is gone\n{}", ran.all());
    assert!(ran.stdout.contains("new/deep/file.txt: removed"), "{}", ran.all());
    world.tandem(&["redo"]).run().expect(0);
    assert_same_tree(&world.tree(), &after, "after redo");
    world.tandem(&["undo"]).run().expect(0);
    assert_same_tree(&world.tree(), &before, "after undoing it again");
    assert_eq!(git_state(&world), git, "nothing of git's was touched");
    let nothing = world.tandem(&["undo"]).run().expect(1);
    assert!(nothing.stderr.contains("no change that could be taken back"), "{}", nothing.all());
}

#[test]
fn turns_and_calls_are_taken_back_on_their_own() {
    let world = world();
    turn(&world, &[read("poem.txt"), edit("poem.txt", "one", "1"), edit("poem.txt", "seven", "7")]);
    turn(&world, &[read("poem.txt"), edit("poem.txt", "four", "4")]);
    let listed = world.tandem(&["--output-format", "json", "undo", "--list"]).run().expect(0);
    let rows: Vec<Value> = listed.events();
    let turns: Vec<&Value> = rows.iter().map(|row| &row["turn"]).collect();
    assert_eq!(turns, [&json!(2), &json!(1), &json!(1)], "{}", listed.all());
    // The second change of the first turn alone: what was changed later, elsewhere, stays.
    let id = rows[1]["id"].as_str().unwrap();
    world.tandem(&["undo", "--step", id]).run().expect(0);
    assert_eq!(world.read("poem.txt"), POEM.replace("one", "1").replace("four", "4"));
    world.tandem(&["undo", "--turn", "1"]).run().expect(0);
    assert_eq!(world.read("poem.txt"), POEM.replace("four", "4"));
    let again = world.tandem(&["undo", "--turn", "1"]).run().expect(1);
    assert!(again.stderr.contains("turn 1 has no change that still stands"), "{}", again.all());
    let again = world.tandem(&["undo", "--step", id]).run().expect(1);
    assert!(again.stderr.contains("taken back already"), "{}", again.all());
    let unknown = world.tandem(&["undo", "--step", "nope"]).run().expect(1);
    assert!(unknown.stderr.contains("no call nope changed a file"), "{}", unknown.all());
    world.tandem(&["undo"]).run().expect(0);
    assert_eq!(world.read("poem.txt"), POEM);
}

#[test]
fn what_the_user_changed_since_is_merged_or_refused_and_never_lost() {
    let world = world();
    turn(
        &world,
        &[
            read("poem.txt"),
            edit("poem.txt", "two", "zwei"),
            ("write_file", json!({ "path": "made.txt", "content": "made\n" })),
            ("delete_file", json!({ "path": "gone.txt" })),
        ],
    );
    // In other lines: both are had.
    world.write("poem.txt", &world.read("poem.txt").replace("six", "SIX"));
    world.write("made.txt", "made, and changed\n");
    let tree = world.tree();
    let refused = world.tandem(&["undo"]).run().expect(1);
    assert!(refused.stdout.contains("made.txt: left as it is"), "{}", refused.all());
    assert!(refused.stdout.contains("the agent made it, and it was changed since"), "{}", refused.all());
    assert_same_tree(&world.tree(), &tree, "after an undo that was refused");
    let skipped = world.tandem(&["undo", "--skip-conflicts"]).run().expect(1);
    assert_eq!(world.read("poem.txt"), POEM.replace("six", "SIX"), "{}", skipped.all());
    assert_eq!(world.read("made.txt"), "made, and changed\n");
    assert_eq!(world.read("gone.txt"), "going\n");
}

#[test]
fn a_conflict_in_the_same_lines_is_shown() {
    let world = world();
    turn(&world, &[read("poem.txt"), edit("poem.txt", "two", "zwei")]);
    world.write("poem.txt", &world.read("poem.txt").replace("zwei", "deux"));
    let refused = world.tandem(&["undo"]).run().expect(1);
    for part in ["in the same lines", "as it stands now", "deux", "as it was before the agent", "two"] {
        assert!(refused.stdout.contains(part), "{part}\n{}", refused.all());
    }
    assert_eq!(world.read("poem.txt"), POEM.replace("two", "deux"));
}

#[test]
fn a_session_takes_back_and_tells_the_model() {
    let world = world();
    let replies = [
        Reply::call("read_file", json!({ "path": "poem.txt" })),
        Reply::call("edit_file", json!({ "path": "poem.txt", "old": "two", "new": "zwei" })),
        Reply::text("Done."),
        // Without reading it again: what it knows of the file is out of date.
        Reply::call("edit_file", json!({ "path": "poem.txt", "old": "one", "new": "eins" })),
        Reply::text("I have to read it first."),
    ];
    let server = Server::start(Script::new().say("executor", replies));
    world.bind(&server, "[session]\napproval = \"auto\"\n");
    let ran = world
        .tandem(&[])
        .stdin("/execute make it German\n/undo\n/redo\n/undo 1\n/execute go on\n/undo 9\n")
        .run();
    assert_eq!(world.read("poem.txt"), POEM, "{}", ran.all());
    assert!(ran.stderr.contains("poem.txt: as it was before"), "{}", ran.all());
    assert!(ran.stderr.contains("turn 9 has no change that still stands"), "{}", ran.all());
    let requests = server.of("executor");
    let told = requests[3].text();
    assert!(told.contains("were taken back") && told.contains("poem.txt"), "{told}");
    let result = requests[4].results().pop().unwrap();
    assert!(result.contains("has changed since"), "{result}");
}

#[test]
fn a_session_that_runs_is_not_undone_from_outside() {
    let world = world();
    turn(&world, &[read("poem.txt"), edit("poem.txt", "two", "zwei")]);
    let server = Server::start(Script::new());
    world.bind(&server, "");
    let mut running = world.tandem(&["-c"]).spawn();
    crate::support::server::wait_until("the session is open", || world.tandem(&["undo"]).run().code != 0);
    running.say("exit\n");
    running.wait();
}
