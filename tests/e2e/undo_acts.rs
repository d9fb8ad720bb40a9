//! Taking back what commands and plan steps changed, and what happens when that fails.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::reply::Reply;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::{World, assert_same_tree};
use crate::undo::{POEM, git_state, turn, world};

#[test]
fn what_a_command_changed_is_taken_back_too() {
    let world = world();
    let (before, git) = (world.tree(), git_state(&world));
    let command = "printf 'made\\n' > made.txt && mkdir -p a/b && echo deep > a/b/c && sed -i s/two/zwei/ poem.txt && \
                   mv gone.txt went.txt && chmod -x tool.sh && ln -sf tool.sh link && echo more >> untracked.txt && \
                   echo gone > ignored.txt";
    let ran = turn(&world, &[("run_command", json!({ "command": command }))]);
    assert!(ran.stderr.contains("+zwei"), "the difference is shown\n{}", ran.all());
    let listed = world.tandem(&["undo", "--list"]).run().expect(0);
    assert!(listed.stdout.contains("run_command") && listed.stdout.contains("a/b/c"), "{}", listed.all());
    let after = world.tree();
    let undone = world.tandem(&["undo"]).run().expect(0);
    assert!(undone.all().contains("files that git ignores are not covered"), "{}", undone.all());
    let mut expected = before.clone();
    // Git ignores it, so a command's change of it is not covered.
    expected.insert("ignored.txt".into(), after["ignored.txt"].clone());
    assert_same_tree(&world.tree(), &expected, "after undo");
    world.tandem(&["redo"]).run().expect(0);
    assert_same_tree(&world.tree(), &after, "after redo");
    assert_eq!(git_state(&world), git, "nothing of git's was touched");
}

#[test]
fn folders_links_and_files_that_changed_places_come_back() {
    for command in [
        "mv a lib && ln -s lib a",
        "mkdir -p a/deep && mv gone.txt a/deep/ && mv a lib && ln -s lib/deep a",
        "mv poem.txt t && mkdir poem.txt && mv t poem.txt/x",
        "mv poem.txt t && mkdir -p poem.txt/in/side && mv t poem.txt/in/x",
        "mv a c && echo file > a",
        "mv a b && mv poem.txt a && mkdir poem.txt && cp b/* poem.txt/",
        "mv a c && ln -s poem.txt a && mv poem.txt d && mkdir poem.txt && echo new > poem.txt/new",
    ] {
        let world = world();
        world.write("a/one", "one of a\n");
        world.write("a/two", "two of a\n");
        let before = world.tree();
        turn(&world, &[("run_command", json!({ "command": command }))]);
        let after = world.tree();
        let undone = world.tandem(&["undo"]).run().expect(0);
        assert_same_tree(&world.tree(), &before, &format!("after undo of {command}\n{}", undone.all()));
        world.tandem(&["redo"]).run().expect(0);
        assert_same_tree(&world.tree(), &after, &format!("after redo of {command}"));
    }
}

#[test]
fn what_finds_no_room_stays_with_its_only_copy() {
    let world = world();
    let command = "mv poem.txt t && mkdir poem.txt && mv t poem.txt/x";
    turn(&world, &[("run_command", json!({ "command": command }))]);
    world.write("poem.txt/mine", "mine\n");
    let refused = world.tandem(&["undo"]).run();
    assert!(
        refused.code != 0 && refused.all().contains("a folder with other files stands in its place"),
        "{}",
        refused.all()
    );
    world.tandem(&["undo", "--skip-conflicts"]).run();
    assert_eq!((world.read("poem.txt/x").as_str(), world.read("poem.txt/mine").as_str()), (POEM, "mine\n"));
}

#[test]
fn a_command_that_fails_is_covered_and_its_files_are_reported() {
    let world = world();
    let replies = [
        Reply::call(
            "run_command",
            json!({ "command": "echo x > half.txt; sed -i s/one/1/ poem.txt; exit 3" }),
        ),
        Reply::text("It failed."),
    ];
    let server = Server::start(Script::new().say("executor", replies));
    world.bind(&server, "");
    let args = ["--output-format", "json", "run", "--no-plan", "--approval", "auto", "go"];
    let ran = world.tandem(&args).run();
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let changed: Vec<&String> = report["changed"].as_object().unwrap().keys().collect();
    assert_eq!(changed, ["half.txt", "poem.txt"], "{}", ran.all());
    let result = server.of("executor")[1].results().pop().unwrap();
    assert!(result.contains("[files changed: half.txt, poem.txt]"), "{result}");
    world.tandem(&["undo"]).run().expect(0);
    assert_eq!(world.read("poem.txt"), POEM);
    assert!(!world.root().join("half.txt").exists());
}

#[test]
fn what_a_job_changed_as_it_started_is_taken_back_and_the_rest_is_said() {
    let world = world();
    let before = world.tree();
    let command = "echo made > made.txt; sed -i s/two/zwei/ poem.txt; echo up; sleep 600";
    let ran = turn(&world, &[("run_command", json!({ "command": command, "background": true }))]);
    assert!(ran.stderr.contains("what job 1 changes in the background is not known"), "{}", ran.all());
    assert_eq!(world.read("poem.txt"), POEM.replace("two", "zwei"));
    let undone = world.tandem(&["undo"]).run().expect(0);
    assert!(undone.all().contains("what job 1 changes in the background is not known"), "{}", undone.all());
    assert_same_tree(&world.tree(), &before, "after undo");
}

#[test]
fn what_a_check_changed_is_taken_back_too() {
    let world = world();
    let before = world.tree();
    let step =
        json!({ "what": "Begin", "files": ["new.txt"], "check": "date +%s%N >> seen.txt; test -f new.txt" });
    let plan = Reply::call("submit_plan", json!({ "goal": "Begin", "steps": [step] }));
    let executor = [
        Reply::call("write_file", json!({ "path": "new.txt", "content": "new\n" })),
        Reply::call("update_step", json!({ "step": 1, "status": "done", "note": "done" })),
        Reply::text("Done."),
    ];
    let server = Server::start(Script::new().say("planner", [plan]).say("executor", executor));
    world.bind(&server, "");
    world.tandem(&["run", "--yes", "--approval", "auto", "begin"]).run().expect(0);
    assert_eq!(world.read("seen.txt").lines().count(), 2, "the check ran twice");
    let listed = world.tandem(&["undo", "--list"]).run().expect(0);
    assert!(listed.stdout.contains("check-2"), "{}", listed.all());
    world.tandem(&["undo"]).run().expect(0);
    assert_same_tree(&world.tree(), &before, "after undo");
}

#[test]
fn what_is_not_covered_is_said() {
    let world = world();
    let replies = [
        Reply::call(
            "run_command",
            json!({ "command": "head -c 2000 /dev/zero > big.bin && echo x > small.txt" }),
        ),
        Reply::call("run_command", json!({ "command": "head -c 2000 /dev/zero >> big.bin" })),
        Reply::text("Done."),
    ];
    let server = Server::start(Script::new().say("executor", replies));
    world.bind(&server, "[edits]\ncover_file_bytes = 1000\n");
    let ran = world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).run().expect(0);
    let notice =
        "Not all that this command changed can be taken back: big.bin is larger than edits.cover_file_bytes.";
    assert_eq!(ran.stderr.matches(notice).count(), 1, "{}", ran.all());
    let undone = world.tandem(&["undo"]).run().expect(0);
    assert!(
        undone.stdout.contains("not known, so not taken back") && undone.stdout.contains("big.bin"),
        "{}",
        undone.all()
    );
    assert!(world.root().join("big.bin").exists() && !world.root().join("small.txt").exists());
}

#[test]
fn without_git_the_edits_are_taken_back_and_the_rest_is_said() {
    let world = World::with(&[("poem.txt", POEM)]);
    let bin = world.path("bin");
    std::fs::create_dir(&bin).unwrap();
    for name in ["sh", "touch"] {
        let found = ["/bin", "/usr/bin"].map(|dir| std::path::Path::new(dir).join(name));
        symlink(found.iter().find(|path| path.exists()).unwrap(), bin.join(name)).unwrap();
    }
    let replies = [
        Reply::call("read_file", json!({ "path": "poem.txt" })),
        Reply::call("edit_file", json!({ "path": "poem.txt", "old": "two", "new": "zwei" })),
        Reply::call("run_command", json!({ "command": "touch made" })),
        Reply::text("Done."),
    ];
    let server = Server::start(Script::new().say("executor", replies));
    world.bind(&server, "");
    let ran =
        world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).env("PATH", &bin).run().expect(0);
    assert!(ran.stderr.contains("git was not found"), "{}", ran.all());
    let undone = world.tandem(&["undo"]).env("PATH", &bin).run().expect(0);
    assert_eq!(world.read("poem.txt"), POEM, "{}", undone.all());
    assert!(undone.stdout.contains("git was not found"), "{}", undone.all());
    assert!(world.root().join("made").exists());
}

#[test]
fn a_step_whose_check_keeps_failing_is_rolled_back() {
    let world = world();
    let tree = world.tree();
    let step = json!({ "what": "Translate", "files": ["poem.txt"], "check": "grep -q drei poem.txt" });
    let first = json!({ "what": "Begin", "files": ["new.txt"], "check": "test -f new.txt" });
    let plan = Reply::call("submit_plan", json!({ "goal": "German", "steps": [first, step] }));
    let done =
        |step: usize| Reply::call("update_step", json!({ "step": step, "status": "done", "note": "done" }));
    let change = |from: &str, to: &str| {
        Reply::call("edit_file", json!({ "path": "poem.txt", "old": from, "new": to }))
    };
    let executor = [
        Reply::call("write_file", json!({ "path": "new.txt", "content": "new\n" })),
        done(1),
        Reply::call("read_file", json!({ "path": "poem.txt" })),
        change("two", "a"),
        done(2),
        change("a\n", "b\n"),
        done(2),
        Reply::call("run_command", json!({ "command": "echo c > c.txt" })),
        done(2),
        change("b\n", "d\n"),
        done(2),
    ];
    let server = Server::start(Script::new().say("planner", [plan]).say("executor", executor));
    world.bind(&server, "");
    let ran = world.tandem(&["run", "--yes", "--approval", "auto", "translate"]).run().expect(6);
    let mut expected = tree.clone();
    expected.insert("new.txt".into(), (0o644, "new\n".into()));
    assert_same_tree(&world.tree(), &expected, "the first step stands, the second is taken back");
    assert!(
        ran.stderr.contains("The changes of step 2 are taken back, because its check kept failing"),
        "{}",
        ran.all()
    );
    world.tandem(&["redo"]).run().expect(0);
    assert_eq!(world.read("poem.txt"), POEM.replace("two", "d"));
    assert_eq!(world.read("c.txt"), "c\n");
}

#[test]
fn when_taking_back_fails_nothing_more_is_written_until_it_succeeds() {
    let world = world();
    let replies = [
        Reply::call("read_file", json!({ "path": "poem.txt" })),
        Reply::call("edit_file", json!({ "path": "poem.txt", "old": "two", "new": "zwei" })),
        Reply::text("Done."),
        Reply::call("write_file", json!({ "path": "more.txt", "content": "more\n" })),
        Reply::text("I may not."),
    ];
    let server = Server::start(Script::new().say("executor", replies));
    world.bind(&server, "[session]\napproval = \"auto\"\n");
    world.tandem(&["run", "--no-plan", "go"]).run().expect(0);
    // What the restored file is called until it is whole stands there as a folder, so that it cannot be made.
    let digest = tandem_shared::digest::Digest::of(POEM);
    let name = tandem_shared::digest::Digest::of(format!("undo-1\npoem.txt\n{}", digest.as_str()));
    let blocked = world.root().join(format!(".tandem-{}", name.short()));
    std::fs::create_dir(&blocked).unwrap();
    let failed = world.tandem(&["undo"]).run().expect(1);
    assert!(failed.stderr.contains("ALERT: taking back failed at poem.txt"), "{}", failed.all());
    let denied = world.tandem(&["resume", "", "--no-plan", "write more"]).run().expect(3);
    assert!(!world.root().join("more.txt").exists(), "{}", denied.all());
    let result = server.of("executor").pop().unwrap().results().pop().unwrap();
    assert!(result.starts_with("Denied: Nothing more is changed in this session, because "), "{result}");
    std::fs::remove_dir(&blocked).unwrap();
    world.tandem(&["undo"]).run().expect(0);
    assert_eq!(world.read("poem.txt"), POEM);
}
