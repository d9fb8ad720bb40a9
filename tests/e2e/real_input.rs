//! This very repository as the project: the read tools must see what git sees, and an approved plan must change it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::demo::with_cargo;
use crate::recall::id_in;
use crate::support::reply::Reply;
use crate::support::request::Request;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::World;

/// A copy of what git would commit here, as a repository of its own.
fn copy() -> World {
    let world = World::new();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(here)
        .output()
        .expect("git runs");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout).expect("file names are text");
    for name in names.split('\0').filter(|name| here.join(name).is_file()) {
        let target = world.root().join(name);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(here.join(name), target).unwrap();
    }
    world.commit_all();
    world
}

/// The one result of one call by the planner.
fn asked(world: &World, name: &str, args: serde_json::Value) -> String {
    let script = Script::new().say("planner", [Reply::call(name, args), Reply::text("seen")]);
    let server = Server::start(script);
    world.bind(&server, "[tools]\nmatches = 100000\nmatch_chars = 10000000\n[context]\noffload_chars = 10000000\nwindow = 100000000\n");
    world.tandem(&["-p", "look around"]).run().expect(0);
    let results = server.of("planner").pop().unwrap().results();
    assert_eq!(results.len(), 1);
    results.concat()
}

fn lines(text: &str) -> BTreeSet<&str> {
    text.lines().collect()
}

#[test]
fn grep_finds_what_git_grep_finds() {
    let world = copy();
    let found = asked(&world, "grep", json!({ "pattern": "Outcome::Denied" }));
    let git = world.git(&["grep", "-n", "--full-name", "-I", "Outcome::Denied"]);
    assert!(git.lines().count() > 3, "{git}");
    let missing: Vec<&str> = git
        .lines()
        .filter(|line| {
            let mut parts = line.splitn(3, ':');
            let (path, number, text) =
                (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap().trim());
            // The file is named once or in each line; its lines stand with their numbers.
            !(found.contains(path) && found.lines().any(|line| line.contains(number) && line.contains(text)))
        })
        .collect();
    assert_eq!(missing, Vec::<&str>::new(), "\nfound:\n{found}");
    let texts = git.lines().filter_map(|line| line.splitn(3, ':').nth(2)).count();
    assert_eq!(found.matches("Outcome::Denied").count(), texts, "{found}");
}

#[test]
fn glob_lists_what_git_lists() {
    let world = copy();
    let found = asked(&world, "glob", json!({ "pattern": "**/*.rs" }));
    let git = world.git(&["ls-files", "*.rs"]);
    let found: BTreeSet<&str> =
        lines(&found).into_iter().map(str::trim).filter(|line| line.ends_with(".rs")).collect();
    assert_eq!(found, lines(&git));
}

#[test]
fn the_other_read_tools_see_the_repository() {
    let world = copy();
    let before = world.tree();
    let listed = asked(&world, "list_dir", json!({ "path": "shared/src" }));
    for entry in std::fs::read_dir(world.root().join("shared/src")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(listed.contains(&name), "{name} is not in:\n{listed}");
    }
    let read = asked(&world, "read_file", json!({ "path": "shared/src/secret.rs" }));
    for line in world.read("shared/src/secret.rs").lines() {
        assert!(read.contains(line), "{line} is not in:\n{read}");
    }
    let range = json!({ "path": "shared/src/secret.rs", "start_line": 1, "end_line": 1 });
    let first = asked(&world, "read_file", range);
    assert!(first.contains("A key that cannot be printed") && !first.contains("struct Secret"), "{first}");
    let outline = asked(&world, "outline", json!({ "path": "shared/src/secret.rs" }));
    assert!(outline.contains("Secret") && outline.contains("expose"), "{outline}");

    // The syntax search knows the file of every such call in code.
    let searched = asked(
        &world,
        "ast_search",
        json!({ "pattern": "Digest::of($X)", "lang": "rust", "path": "shared/src" }),
    );
    let git = world.git(&["grep", "-n", "-E", "Digest::of\\(", "--", "shared/src/*.rs"]);
    let code = git.lines().filter(|line| !line.contains("//"));
    for line in code {
        let path = line.split(':').next().unwrap();
        assert!(searched.contains(path), "{line} is not in:\n{searched}");
    }
    assert_eq!(world.tree(), before, "plan mode changed nothing");
}

/// `path:line` of each line that begins with the two, as `git grep -n` and the tool write it.
fn places(text: &str) -> Vec<&str> {
    let place = |line: &'_ str| {
        let (path, rest) = line.split_once(':')?;
        let (number, _) = rest.split_once(':')?;
        number.parse::<usize>().ok().map(|_| path.len() + 1 + number.len())
    };
    text.lines().filter_map(|line| place(line).map(|end| &line[..end])).collect()
}

#[test]
fn a_planner_that_uses_every_read_tool_sees_what_git_sees_and_changes_nothing() {
    const NAMES: [&str; 9] = [
        "read_file",
        "list_dir",
        "glob",
        "ast_search",
        "outline",
        "ask_user",
        "grep",
        "recall",
        "submit_plan",
    ];
    let world = copy();
    let before = world.tree();
    let git = world.git(&["grep", "-n", "--full-name", "-I", "impl.* for "]);
    let step = json!({ "what": "Say it", "files": ["README.md"], "check": "grep -q said README.md" });
    let mind = move |request: &Request| {
        let results = request.results();
        let Some(name) = NAMES.get(results.len()) else { return Reply::text("That is the plan.") };
        let args = match *name {
            "read_file" => json!({ "path": "shared/src/secret.rs" }),
            "list_dir" => json!({ "path": "shared/src" }),
            "glob" => json!({ "pattern": "shared/src/**/*.rs" }),
            "ast_search" => json!({ "pattern": "Digest::of($X)", "lang": "rust", "path": "shared/src" }),
            "outline" => json!({ "path": "shared/src/secret.rs" }),
            "ask_user" => json!({ "question": "Which way?", "options": ["left", "right"] }),
            "grep" => json!({ "pattern": "impl.* for " }),
            "recall" => json!({ "id": id_in(&results[6]) }),
            _ => json!({ "goal": "Say it", "steps": [step.clone()] }),
        };
        Reply::call(name, args)
    };
    let server = Server::start(Script::new().think("planner", mind));
    world.bind(&server, "[tools]\nmatches = 100000\nmatch_chars = 10000000\n");
    let plan = world.path("plan.md");
    world.tandem(&["plan", "say it", "-o", &plan.display().to_string()]).run().expect(0);
    assert_eq!(world.tree(), before, "planning changed nothing");
    assert!(std::fs::read_to_string(plan).unwrap().contains("Say it"));

    let request = server.of("planner").pop().unwrap();
    let mut offered = request.tools();
    // It has tests of its own, and is offered only where the kernel holds a command to looking.
    offered.retain(|name| *name != "inspect");
    offered.sort_unstable();
    let mut called = NAMES;
    called.sort_unstable();
    assert_eq!(offered, called, "every tool that is offered is called");
    let results = request.results();
    let [read, listed, globbed, searched, outlined, answer, cut, found, ..] = &results[..] else {
        panic!("a result for each call: {results:#?}")
    };
    assert!(world.read("shared/src/secret.rs").lines().all(|line| read.contains(line)), "{read}");
    assert!(listed.contains("secret.rs") && listed.contains("agent/"), "{listed}");
    let files: BTreeSet<&str> = globbed.lines().filter(|line| line.ends_with(".rs")).collect();
    assert_eq!(files, lines(&world.git(&["ls-files", "shared/src/*.rs"])));
    assert!(places(searched).iter().any(|place| place.starts_with("shared/src/doom_loop.rs:")), "{searched}");
    assert!(outlined.contains("Secret") && outlined.contains("expose"), "{outlined}");
    assert!(answer.contains("assum"), "nobody is there: {answer}");
    assert!(places(cut).len() < places(found).len(), "the output was offloaded:\n{cut}");
    assert_eq!(places(found), places(&git));
}

#[test]
fn an_approved_plan_changes_the_repository_with_a_real_check() {
    let world = copy();
    let manifest = world.read("Cargo.toml");
    let name = "[package]\nname = \"tandem\"";
    assert_eq!(manifest.matches(name).count(), 1, "the root package is named once");
    let check = "cargo metadata --offline --no-deps --format-version 1 | grep -q '\"name\":\"tandem-copy\"'";
    let step =
        json!({ "what": "Name the root package tandem-copy", "files": ["Cargo.toml"], "check": check });
    let plan = Reply::call("submit_plan", json!({ "goal": "Rename the root package", "steps": [step] }));
    let edit = json!({ "path": "Cargo.toml", "old": name, "new": "[package]\nname = \"tandem-copy\"" });
    let execution = [
        Reply::call("read_file", json!({ "path": "Cargo.toml" })),
        Reply::call("edit_file", edit),
        Reply::call("update_step", json!({ "step": 1, "status": "done" })),
        Reply::text("The package is renamed."),
    ];
    let server = Server::start(Script::new().say("planner", [plan]).say("executor", execution));
    world.bind(&server, "");
    let ran = with_cargo(world.tandem(&["run", "--yes", "rename the root package"])).run().expect(0);
    assert!(format!("{}{}", ran.stdout, ran.stderr).contains("1. proven: "), "{}", ran.all());
    assert_eq!(world.read("Cargo.toml"), manifest.replace(name, "[package]\nname = \"tandem-copy\""));
    assert_eq!(world.git(&["status", "--porcelain"]).trim(), "M Cargo.toml");
}
