//! What the program says of itself, of its settings and of its models.

use serde_json::Value;

use crate::sums;
use crate::support::script::Script;
use crate::support::server::Server;

#[test]
fn help_names_every_command_and_every_exit_code() {
    let world = sums::world();
    let help = world.tandem(&["--help"]).run().expect(0).stdout;
    for command in [
        "plan", "exec", "run", "resume", "undo", "redo", "why", "sessions", "tool", "config", "models",
        "doctor", "demo", "trust",
    ] {
        assert!(
            help.lines().any(|line| line.trim_start().starts_with(command)),
            "{command} is not in:\n{help}"
        );
    }
    for code in ["0", "1", "2", "3", "4", "5", "6", "52", "53", "54", "130"] {
        let named = help.lines().any(|line| line.split_whitespace().next() == Some(code));
        assert!(named, "exit code {code} is not in:\n{help}");
    }
}

#[test]
fn the_version_names_its_commit() {
    let version = sums::world().tandem(&["--version"]).run().expect(0).stdout;
    let words: Vec<&str> = version.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').collect();
    assert!(words.contains(&env!("CARGO_PKG_VERSION")), "{version}");
    let is_commit = |word: &&&str| word.len() >= 7 && word.chars().all(|c| c.is_ascii_hexdigit());
    assert!(words.iter().any(|word| is_commit(&word)), "{version}");
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    let world = sums::world();
    for args in
        [&["no-such-command", "x"][..], &["--no-such-flag"], &["run", "--approval", "never", "x"], &["exec"]]
    {
        let ran = world.tandem(args).run().expect(2);
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{}", ran.all());
    }
}

#[test]
fn every_value_is_shown_with_where_it_came_from() {
    let server = Server::start(Script::new());
    let world = sums::world();
    world.bind(&server, "");
    let shown = world.tandem(&["--set", "loop.planner_rounds=7", "config", "show"]).run().expect(0).stdout;
    let line = |key: &str| {
        shown.lines().find(|line| line.contains(key)).unwrap_or_else(|| panic!("{key}:\n{shown}"))
    };
    assert!(
        line("loop.planner_rounds").contains('7') && line("loop.planner_rounds").contains("--set"),
        "{shown}"
    );
    assert!(line("roles.planner.model").contains("config.toml"), "{shown}");
    assert!(line("loop.executor_rounds").contains("default"), "{shown}");
    let explained = world.tandem(&["config", "explain", "loop.planner_rounds"]).run().expect(0).stdout;
    assert!(explained.contains("40"), "{explained}");
    let path = world.tandem(&["config", "path"]).run().expect(0).stdout;
    assert!(path.contains(&world.path("config/tandem/config.toml").display().to_string()), "{path}");
    let schema = world.tandem(&["config", "schema"]).run().expect(0).stdout;
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert!(schema["properties"]["loop"].is_object(), "{schema}");
    assert!(server.all().is_empty(), "settings are looked at without a request");
}

#[test]
fn models_says_what_each_role_is_bound_to_and_whether_it_answers() {
    let server = Server::start(Script::new());
    let world = sums::world();
    world.bind(
        &server,
        "[providers.dead]\nbase_url = \"http://127.0.0.1:1/v1\"\n[roles.critique]\nmodel = \"dead/critic\"\n",
    );
    let ran = world.tandem(&["models"]).run();
    for role in ["planner", "thinking", "executor", "compaction"] {
        let line = ran.stdout.lines().find(|line| line.contains(&format!("test/{role}")));
        assert!(line.is_some_and(|line| line.contains(role)), "{}", ran.all());
    }
    let dead = ran.stdout.lines().find(|line| line.contains("dead/critic"));
    let alive = ran.stdout.lines().find(|line| line.contains("test/planner"));
    assert_ne!(
        dead.map(|line| line.replace("dead/critic", "").replace("critique", "")),
        alive.map(|line| line.replace("test/planner", "").replace("planner", "")),
        "a model that does not answer is told apart\n{}",
        ran.all()
    );
}

#[test]
fn another_folder_can_be_named() {
    let world = sums::world();
    let root = world.root().display().to_string();
    let args = ["-C", &root, "tool", "run", "read_file", "--args", "{\"path\":\"src/lib.rs\"}"];
    let ran = world.tandem(&args).cwd(&world.path("home")).run().expect(0);
    assert!(ran.stdout.contains("a - b"), "{}", ran.all());
}
