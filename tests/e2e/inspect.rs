//! The planner's one way to a shell: it looks, and nothing that is disguised as looking changes anything.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::demo::with_cargo;
use crate::sums;
use crate::support::reply::Reply;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::{World, assert_same_tree};

/// Commands that would write, run something, or reach out, most of them in the clothes of ones that look.
const DISGUISED: &[&str] = &[
    "touch new",
    "echo x > new",
    "echo x >> README.md",
    "cat README.md > copy",
    "ls; touch new",
    "ls && rm README.md",
    "ls | tee new",
    "ls & touch new",
    "ls\ntouch new",
    "(touch new)",
    "{ touch new; }",
    "echo $(touch new)",
    "echo `touch new`",
    "cat <(touch new)",
    "cat <<EOF\n$(touch new)\nEOF",
    "cat <<< $(touch new)",
    "f() { touch new; }; f",
    "X=$(touch new) ls",
    "for f in a; do touch $f; done",
    "while touch new; do break; done",
    "if touch new; then ls; fi",
    "[[ $(touch new) ]]",
    "echo ${X:-$(touch new)}",
    "echo $((a[$(touch new)]))",
    "bash -c 'touch new'",
    "eval touch new",
    "env touch new",
    "xargs touch < README.md",
    "timeout 5 touch new",
    "find . -exec touch new \\;",
    "find . -delete",
    "find . -fprint new",
    "sed -i s/a/b/ README.md",
    "sort -o new README.md",
    "git diff --output=new",
    "git config user.name x",
    "git stash",
    "git -c core.pager=touch log",
    "git grep -O touch a",
    "rg --pre touch a",
    "python3 -c 'open(\"new\",\"w\")'",
    "awk 'BEGIN { print > \"new\" }'",
    "perl -e 'open F, \">new\"'",
    "tar cf new src",
    "curl -o new http://127.0.0.1:1",
    "make",
    "make -n",
    "make --dry-run",
    "cargo build",
    "./cargo metadata",
    "cargo metadata --config build.rustc-wrapper=./wrapper",
    "rustc --print link-args src/lib.rs",
    "npm view left-pad",
    "go list -toolexec ./wrapper",
    "uniq README.md new",
];

/// Commands that look, and what they must print.
const HARMLESS: &[(&str, &str)] = &[
    ("git log --oneline", "start"),
    ("git log -S 'a - b' --format=%s", "start"),
    ("git show HEAD:src/lib.rs | head -n 2", "pub fn add"),
    ("git status --short", "printed nothing"),
    ("git diff HEAD --stat", "printed nothing"),
    ("git ls-files", "src/lib.rs"),
    ("git blame -s src/lib.rs", "a - b"),
    ("wc -l src/lib.rs", "4 src/lib.rs"),
    ("ls -la", "README.md"),
    ("cat README.md", "Adds numbers."),
    ("head -n 1 README.md", "# sums"),
    ("tail -n 1 README.md", "Adds numbers."),
    ("find . -name '*.rs'", "./src/lib.rs"),
    ("grep -rn Adds src README.md", "README.md:3:Adds numbers."),
    ("sort README.md | uniq -c", "1 # sums"),
    ("cut -c1-3 README.md | sort", "Add"),
    ("cd src && ls", "lib.rs"),
    ("du -a src", "src/lib.rs"),
    ("stat -c %s README.md", "22"),
    ("test -f README.md && echo yes", "yes"),
    ("pwd", "project"),
    ("cat README.md | tr a-z A-Z", "ADDS NUMBERS."),
];

/// Whether the kernel holds a command to looking here; without that there is no such tool.
fn is_offered(world: &World) -> bool {
    let offered = world.tandem(&["tool", "list"]).run().expect(0).stdout.contains("inspect(");
    if !offered {
        println!("skipped: nothing on this system would hold a command to looking");
    }
    offered
}

/// What a planner that may inspect is told of each command.
fn inspected(world: &World, commands: &[&str]) -> Vec<String> {
    let calls = commands
        .iter()
        .fold(Reply::default(), |reply, command| reply.and_call("inspect", json!({ "command": command })));
    let server = Server::start(Script::new().say("planner", [calls, Reply::text("I looked.")]));
    world.bind(&server, "");
    world.tandem(&["run", "look around"]).run().expect(0);
    server.of("planner").pop().unwrap().results()
}

#[test]
fn what_is_disguised_as_looking_changes_nothing() {
    let world = sums::world();
    if !is_offered(&world) {
        return;
    }
    let (tree, git) = (world.tree(), world.git(&["ls-files", "--stage"]));
    let results = inspected(&world, DISGUISED);
    assert_eq!(results.len(), DISGUISED.len());
    for (command, result) in DISGUISED.iter().zip(&results) {
        assert!(result.contains("Not run: inspect only runs"), "{command}: {result}");
    }
    assert_same_tree(&world.tree(), &tree, "the project");
    assert_eq!(world.git(&["ls-files", "--stage"]), git);
}

#[test]
fn what_looks_is_run() {
    let world = sums::world();
    if !is_offered(&world) {
        return;
    }
    let tree = world.tree();
    let commands: Vec<&str> = HARMLESS.iter().map(|(command, _)| *command).collect();
    let results = inspected(&world, &commands);
    for ((command, part), result) in HARMLESS.iter().zip(&results) {
        assert!(result.contains(part), "{command}: {result}");
    }
    assert_same_tree(&world.tree(), &tree, "the project");
}

#[test]
fn what_reads_a_file_of_secrets_on_its_way_is_refused_by_its_name() {
    let world = sums::world();
    if !is_offered(&world) {
        return;
    }
    world.write(".env", "PLAIN_WORD=swordfish\n");
    let refused = ["cat .env", "grep -r PLAIN_WORD .", "rg -uu PLAIN_WORD", "git grep --no-index PLAIN_WORD"];
    for result in inspected(&world, &refused) {
        assert!(result.contains("Not run: the command reads"), "{result}");
        assert!(!result.contains("swordfish"), "{result}");
    }
    let run = ["grep -rn Adds --exclude=.env .", "git grep -n Adds", "grep -rn 'a - b' src"];
    for (result, part) in inspected(&world, &run).iter().zip(["Adds numbers", "Adds numbers", "a - b"]) {
        assert!(result.contains(part), "{result}");
    }
}

/// A small crate that names a compiler's wrapper of its own.
fn crate_with_a_wrapper() -> World {
    let manifest = "[package]\nname = \"small-sums\"\nversion = \"0.3.0\"\nedition = \"2024\"\n";
    // As cargo writes it, so that it has nothing to write.
    let lock = "# This file is automatically @generated by Cargo.\n# It is not intended for manual editing.\n\
                version = 4\n\n[[package]]\nname = \"small-sums\"\nversion = \"0.3.0\"\n";
    let world = World::with(&[
        ("Cargo.toml", manifest),
        ("Cargo.lock", lock),
        ("src/lib.rs", sums::LIB),
        (".cargo/config.toml", "[build]\nrustc-wrapper = \"./wrapper\"\n"),
        ("wrapper", "#!/bin/sh\necho the wrapper ran >&2\nexit 1\n"),
    ]);
    let wrapper = world.root().join("wrapper");
    std::fs::set_permissions(wrapper, PermissionsExt::from_mode(0o755)).unwrap();
    world.commit_all();
    world
}

#[test]
fn cargo_answers_about_a_crate_and_changes_nothing() {
    let world = crate_with_a_wrapper();
    if !is_offered(&world) {
        return;
    }
    let tree = world.tree();
    for (command, part) in [
        ("cargo metadata --offline --format-version 1 --no-deps", "\"name\":\"small-sums\""),
        ("cargo metadata --format-version 1 | head -c 4000", "\"name\":\"small-sums\""),
        ("cargo tree", "small-sums v0.3.0"),
        ("cargo pkgid", "small-sums@0.3.0"),
        ("cargo --version && rustc --version", "rustc 1."),
    ] {
        let args = json!({ "command": command }).to_string();
        let launch = world.tandem(&["tool", "run", "inspect", "--args", &args]);
        let ran = with_cargo(launch).run().expect(0);
        assert!(ran.stdout.contains(part), "{command}: {}", ran.all());
        assert!(!ran.all().contains("the wrapper ran"), "{command}: {}", ran.all());
    }
    assert_same_tree(&world.tree(), &tree, "the project");

    std::fs::remove_file(world.root().join("Cargo.lock")).unwrap();
    let tree = world.tree();
    let command = json!({ "command": "cargo metadata --format-version 1 --no-deps" }).to_string();
    let ran = with_cargo(world.tandem(&["tool", "run", "inspect", "--args", &command])).run().expect(0);
    assert!(ran.stdout.contains("small-sums"), "{}", ran.all());
    assert_same_tree(&world.tree(), &tree, "the project without a lock file");
}

#[test]
fn a_plan_ends_with_a_line_of_evidence() {
    let world = sums::world();
    if !is_offered(&world) {
        return;
    }
    let look = Reply::call("inspect", json!({ "command": "git log --oneline" }));
    let server = Server::start(Script::new().say("planner", [look, sums::plan()]));
    world.bind(&server, "");
    let ran = world.tandem(&["plan", "add subtracts"]).run().expect(0);
    let line = ran
        .stderr
        .lines()
        .find(|line| line.starts_with("evidence: 2 files, tree "))
        .unwrap_or_else(|| panic!("{}", ran.all()));
    assert!(line.ends_with("after planning: 0 files changed"), "{line}");
    let digests: Vec<&str> = line
        .split_whitespace()
        .filter(|word| word.len() == 12 && word.bytes().all(|b| b.is_ascii_hexdigit()))
        .collect();
    assert!(digests.len() == 2 && digests[0] == digests[1], "{line}");
}

#[test]
fn evidence_names_what_somebody_else_changed() {
    let world = sums::world();
    let file = world.root().join("README.md");
    let plan = sums::plan().before(move |_| std::fs::write(&file, "changed by somebody\n").unwrap());
    let server = Server::start(Script::new().say("planner", [plan]));
    world.bind(&server, "");
    let ran = world.tandem(&["plan", "add subtracts"]).run().expect(0);
    assert!(ran.stderr.contains("changed meanwhile by somebody else: README.md"), "{}", ran.all());
}

#[test]
fn without_a_cage_there_is_no_shell_for_a_planner() {
    let world = sums::world();
    let server = Server::start(Script::new().say("planner", [Reply::text("It subtracts.")]));
    world.bind(&server, "[commands]\nsandbox = \"off\"\n");
    world.tandem(&["run", "what does it do?"]).run().expect(0);
    assert!(!server.of("planner")[0].tools().contains(&"inspect"));
}
