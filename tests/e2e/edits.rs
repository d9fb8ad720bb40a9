//! Edits through a whole run: the bytes that people reported lost by agents of this kind, and the tools on several files.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::support::peak::Peak;
use crate::support::reply::Reply;
use crate::support::run::Ran;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::World;

/// A project with one file of these bytes.
fn world(name: &str, bytes: &[u8]) -> World {
    let world = World::new();
    std::fs::write(world.root().join(name), bytes).unwrap();
    world.commit_all();
    world
}

/// Runs these calls, all allowed, and answers the results that the model got.
fn played(world: &World, calls: &[(&str, Value)]) -> (Ran, Vec<String>) {
    let replies = calls.iter().map(|(name, args)| Reply::call(name, args.clone())).collect();
    played_with(world, replies)
}

fn played_with(world: &World, mut replies: Vec<Reply>) -> (Ran, Vec<String>) {
    replies.push(Reply::text("done"));
    let server = Server::start(Script::new().say("executor", replies));
    world.bind(&server, "");
    let ran = world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).run().expect(0);
    let results = server.of("executor").pop().unwrap().results();
    (ran, results)
}

fn read(path: &str) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit_file", json!({ "path": path, "old": old, "new": new }))
}

/// Edits the only file of a project, which was read before, and checks all its bytes. Answers the edit's result.
fn check(name: &str, before: &[u8], old: &str, new: &str, after: &[u8]) -> String {
    let world = world(name, before);
    let (ran, results) = played(&world, &[read(name), edit(name, old, new)]);
    let found = std::fs::read(world.root().join(name)).unwrap();
    assert_eq!(found.escape_ascii().to_string(), after.escape_ascii().to_string(), "{}", ran.all());
    results.last().unwrap().clone()
}

#[test]
fn line_ends_stay() {
    check(
        "a.txt",
        b"alpha\r\nbeta\r\ngamma\r\n",
        "beta",
        "BETA\nDELTA",
        b"alpha\r\nBETA\r\nDELTA\r\ngamma\r\n",
    );
}

#[test]
fn a_byte_order_mark_stays() {
    check(
        "c.ini",
        b"\xEF\xBB\xBFname=ol\xC3\xA1\nport=1\n",
        "name=olá",
        "name=oi",
        b"\xEF\xBB\xBFname=oi\nport=1\n",
    );
}

#[test]
fn a_missing_last_newline_stays_missing() {
    check("s.json", b"{\"a\":1,\n\"b\":2}", "\"a\":1", "\"a\":9", b"{\"a\":9,\n\"b\":2}");
}

#[test]
fn bytes_of_another_encoding_stay() {
    check("l.txt", b"caf\xe9\none\nend\xff\n", "one", "zwei", b"caf\xe9\nzwei\nend\xff\n");
}

#[test]
fn mode_and_link_stay() {
    let world = world("run.sh", b"#!/bin/sh\necho one\n");
    let file = world.root().join("run.sh");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("run.sh", world.root().join("link")).unwrap();
    played(&world, &[read("link"), edit("link", "one", "two")]);
    assert_eq!(world.read("run.sh"), "#!/bin/sh\necho two\n");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o755);
    assert_eq!(std::fs::read_link(world.root().join("link")).unwrap(), std::path::Path::new("run.sh"));
    assert_eq!(std::fs::read_dir(world.root()).unwrap().count(), 3, "run.sh, link and .git");
}

#[test]
fn a_new_text_takes_the_files_tabs_and_the_answer_says_so() {
    let before = b"fn a() {\n\tlet x = 1;\n}\n";
    let result = check("t.rs", before, "    let x = 1;", "    let x = 2;", b"fn a() {\n\tlet x = 2;\n}\n");
    assert!(result.contains("It was not an exact match"), "{result}");
}

#[test]
fn the_files_own_quotes_and_dashes_stay() {
    let before = "title: “Ada — notes”\nyear: 1843\n";
    let (old, new) = ("title: \"Ada - notes\"\nyear: 1843", "title: \"Ada - notes\"\nyear: 1844");
    check("m.txt", before.as_bytes(), old, new, before.replace("1843", "1844").as_bytes());
}

#[test]
fn two_equal_lines_are_refused_with_their_numbers() {
    let before = b"use a;\nuse a;\nfn f() {}\n";
    let result = check("u.rs", before, "use a;\n", "", before);
    assert!(result.contains("lines 1, 2"), "{result}");
}

#[test]
fn a_time_stamp_is_no_change_and_other_content_is() {
    let edited = |before: fn(&std::path::Path)| {
        let world = world("k.txt", b"v=1\n");
        let file = world.root().join("k.txt");
        let path = file.clone();
        let replies = vec![
            Reply::call("read_file", json!({ "path": "k.txt" })),
            Reply::call("edit_file", json!({ "path": "k.txt", "old": "v=1", "new": "v=2" }))
                .before(move |_| before(&path)),
        ];
        let (_, results) = played_with(&world, replies);
        (world.read("k.txt"), results.last().unwrap().clone())
    };
    let (text, _) = edited(|path| {
        let later = SystemTime::now() + Duration::from_secs(3600);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
    });
    assert_eq!(text, "v=2\n");
    let (text, result) = edited(|path| std::fs::write(path, "v=7\n").unwrap());
    assert_eq!(text, "v=7\n");
    assert!(result.contains("Read it again"), "{result}");
}

#[test]
fn files_are_patched_moved_and_deleted_in_one_run() {
    let world = World::with(&[("a.txt", "one\ntwo\n"), ("b.txt", "bee\n"), ("c.txt", "sea\n")]);
    world.commit_all();
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+zwei\n*** Add File: n/new.txt\n+new\n*** End Patch\n";
    let edits = json!([{ "old": "one", "new": "eins" }, { "old": "zwei", "new": "drei" }]);
    let (ran, results) = played(
        &world,
        &[
            read("a.txt"),
            ("apply_patch", json!({ "patch": patch })),
            ("multi_edit", json!({ "path": "a.txt", "edits": edits })),
            ("move_file", json!({ "from": "b.txt", "to": "n/b.txt" })),
            ("delete_file", json!({ "path": "c.txt" })),
        ],
    );
    let tree: Vec<String> = world.tree().into_keys().collect();
    assert_eq!(tree, ["a.txt", "n/b.txt", "n/new.txt"], "{results:?}");
    assert_eq!(world.read("a.txt"), "eins\ndrei\n");
    // A person sees the same differences.
    for part in ["+zwei", "-two", "rename from b.txt", "--- a/c.txt"] {
        assert!(ran.stderr.contains(part), "{part}\n{}", ran.all());
    }
    let report = world.tandem(&["sessions", "show", &world.newest_session()]).run().expect(0).stdout;
    assert!(report.contains("apply_patch: ok"), "{report}");
}

#[test]
fn a_sweep_over_many_files_is_asked_for_with_a_summary_in_every_mode() {
    let files: Vec<String> = (0..21).map(|n| format!("f{n}.txt")).collect();
    let patch: String =
        files.iter().map(|file| format!("--- /dev/null\n+++ b/{file}\n@@ -0,0 +1 @@\n+x\n")).collect();
    let world = World::new();
    let replies = [Reply::call("apply_patch", json!({ "patch": patch })), Reply::text("Not allowed.")];
    let server = Server::start(Script::new().say("executor", replies));
    world.bind(&server, "");
    world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).run().expect(3);
    assert!(world.tree().is_empty());
    let result = server.of("executor").pop().unwrap().results().pop().unwrap();
    assert!(result.contains("21 files change, +21 -0 lines, risk low"), "{result}");
    assert!(result.contains("edits.ask_over_files"), "{result}");
    // By hand, and where the bound is higher, it goes ahead.
    let args = json!({ "patch": patch }).to_string();
    world.tandem(&["tool", "run", "apply_patch", "--args", &args]).run().expect(0);
    assert_eq!(world.tree().len(), 21);
}

#[test]
fn a_person_allows_a_sweep_after_seeing_its_summary() {
    let patch: String =
        (0..3).map(|n| format!("--- /dev/null\n+++ b/f{n}.txt\n@@ -0,0 +1 @@\n+x\n")).collect();
    let world = World::new();
    let replies = [Reply::call("apply_patch", json!({ "patch": patch })), Reply::text("Done.")];
    let server = Server::start(Script::new().say("executor", replies));
    world.bind(&server, "[edits]\nask_over_files = 2\n");
    let mut running = world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).terminal().spawn();
    running.wait_for("3 files change, +3 -0 lines, risk low");
    running.wait_for("anything else is no");
    running.say("y\n");
    let ran = running.wait().expect(0);
    assert_eq!(world.tree().len(), 3, "{}", ran.all());
}

#[test]
fn a_syntax_error_that_an_edit_brings_is_told_and_reminded_of() {
    let world = world("a.rs", b"fn a() {}\nfn b() {}\n");
    let (_, results) = played(&world, &[read("a.rs"), edit("a.rs", "fn b() {}", "fn b( {}"), read("a.rs")]);
    assert!(results[1].contains("a.rs has a syntax error at line 2"), "{results:?}");
    let log = world.tandem(&["sessions", "show", &world.newest_session()]).run().expect(0).stdout;
    assert!(log.contains("reminder error_syntax") && log.contains("a.rs:2"), "{log}");
}

#[test]
fn internals_of_git_and_tandem_are_no_tools_to_write() {
    let world = world("a.txt", b"a\n");
    let calls = [
        ("write_file", json!({ "path": ".git/hooks/pre-commit", "content": "x" })),
        ("move_file", json!({ "from": "a.txt", "to": ".git/a" })),
        ("delete_file", json!({ "path": ".git/HEAD" })),
        ("write_file", json!({ "path": ".tandem/config.toml", "content": "x" })),
        ("apply_patch", json!({ "patch": "--- /dev/null\n+++ b/.git/x\n@@ -0,0 +1 @@\n+x\n" })),
    ];
    let (_, results) = played(&world, &calls[..4]);
    assert!(results.iter().all(|result| result.contains("cannot be written by a tool")), "{results:?}");
    let args = calls[4].1.to_string();
    let ran = world.tandem(&["tool", "run", "--json", "apply_patch", "--args", &args]).run().expect(1);
    assert!(ran.stdout.contains("outside_root"), "{}", ran.all());
}

#[test]
fn a_file_of_fifty_megabytes_is_edited_in_bounded_memory() {
    let line = "a line of some length, as logs and data have them\n";
    let mut text = line.repeat(50_000_000 / line.len());
    text.push_str("the one place\n");
    text.push_str(&line.repeat(100));
    let world = World::new();
    world.write("big.txt", &text);
    let replies = [
        Reply::call("read_file", json!({ "path": "big.txt", "start_line": 1, "end_line": 2 })),
        Reply::call(
            "edit_file",
            json!({ "path": "big.txt", "old": "the one place\n", "new": "another place\n" }),
        ),
        Reply::text("done"),
    ];
    let server = Server::start(Script::new().say("executor", replies));
    world.bind(&server, "");
    let mut running = world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).spawn();
    let peak = Peak::of(running.id());
    running.close();
    let ran = running.wait().expect(0);
    let peak = peak.kib() * 1024 / text.len() as u64;
    println!("the peak is {peak} times the file");
    assert!(world.read("big.txt").contains("another place\n"), "{}", ran.all());
    assert!(peak < 8, "the peak is {peak} times the file");
}
