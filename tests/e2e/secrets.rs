//! What must not get out: keys into commands and files, other people's files into prompts.

use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;

use tandem_shared::digest::Digest;

use crate::sums;
use crate::support::reply::Reply;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::{KEY, KEY_VARIABLE, files_holding};

#[test]
fn the_variable_that_holds_a_key_never_reaches_a_command_whatever_its_name() {
    let command = "env; sh -c 'echo found:$ACME_ACCESS:'; echo seen:$HARMLESS:";
    let server = Server::start(
        Script::new().say("executor", [Reply::call("run_command", json!({ "command": command }))]),
    );
    let world = sums::world();
    world.configure(&format!(
        "[providers.acme]\nbase_url = \"{}\"\napi_key_env = \"ACME_ACCESS\"\n[roles.executor]\nmodel = \"acme/executor\"\n\
         [thinking]\nmode = \"off\"\n",
        server.url()
    ));
    for verbose in [&[][..], &["-vv"], &["--output-format", "stream-json"]] {
        let args = [verbose, &["run", "--no-plan", "--approval", "auto", "show the variables"]].concat();
        let ran = world.tandem(&args).env("ACME_ACCESS", KEY).env("HARMLESS", "yes").run().expect(0);
        assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY), "{}", ran.all());
    }
    let request = &server.of("executor")[1];
    assert_eq!(
        request.headers.iter().find(|(name, _)| name == "authorization").unwrap().1,
        format!("Bearer {KEY}")
    );
    let result = request.results().concat();
    assert!(
        result.contains("found::") && result.contains("seen:yes:") && !result.contains("ACME"),
        "{result}"
    );
    assert_eq!(files_holding(&world.path(""), KEY), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_key_that_a_command_finds_elsewhere_is_masked() {
    // Its parent is the keeper, whose parent is tandem.
    let command = "tr '\\0' '\\n' < /proc/$(cut -d' ' -f4 /proc/$PPID/stat)/environ; echo looked";
    let server = Server::start(
        Script::new().say("executor", [Reply::call("run_command", json!({ "command": command }))]),
    );
    let world = sums::world();
    world.bind(&server, "");
    // The cage would keep it from finding any.
    let args = ["--set", "commands.sandbox=off", "run", "--no-plan", "look"];
    let mut running = world.tandem(&args).terminal().spawn();
    running.wait_for("anything else is no: ");
    running.say("y\n");
    running.wait().expect(0);
    let result = server.of("executor")[1].results().concat();
    assert!(result.contains(&format!("{KEY_VARIABLE}=")) && result.contains("looked"), "{result}");
    assert!(!result.contains(KEY), "{result}");
    assert_eq!(files_holding(&world.path(""), KEY), Vec::<std::path::PathBuf>::new());
}

#[test]
fn variables_that_look_like_secrets_reach_neither_commands_nor_checks() {
    let step = json!({ "what": "Look", "files": [], "check": "env | grep -q GITHUB_TOKEN" });
    let plan = Reply::call("submit_plan", json!({ "goal": "Look", "steps": [step] }));
    let executor = [Reply::call("run_command", json!({ "command": "env" })), Reply::text("I looked.")];
    let server = Server::start(Script::new().say("planner", [plan]).say("executor", executor));
    let world = sums::world();
    world.bind(&server, "");
    let ran = world
        .tandem(&["run", "--yes", "--approval", "auto", "look"])
        .env("GITHUB_TOKEN", "gh-12345678")
        .run();
    assert!(!ran.stdout.contains("1. proven") && ran.code != 0, "{}", ran.all());
    assert_eq!(files_holding(&world.path(""), "gh-12345678"), Vec::<std::path::PathBuf>::new());
    assert!(server.chats().iter().all(|chat| !chat.raw.contains("GITHUB_TOKEN=")));
}

#[test]
fn notes_that_are_links_or_pipes_are_not_read() {
    let server = Server::start(Script::new());
    let world = sums::world();
    world.bind(&server, "");
    std::fs::write(world.path("beside.md"), "the hidden word\n").unwrap();
    let notes = world.root().join("AGENTS.md");
    symlink("../beside.md", &notes).unwrap();
    world.tandem(&["-p", "what?"]).run().expect(0);
    std::fs::remove_file(&notes).unwrap();
    assert!(Command::new("mkfifo").arg(&notes).status().unwrap().success());
    world.tandem(&["-p", "what?"]).run().expect(0);
    std::fs::remove_file(&notes).unwrap();
    world.write("AGENTS.md", "Always whistle while working.\n");
    world.tandem(&["-p", "what?"]).run().expect(0);
    let texts: Vec<String> = server.of("planner").iter().map(|request| request.text()).collect();
    assert_eq!(texts.iter().map(|text| text.contains("the hidden word")).collect::<Vec<_>>(), [false; 3]);
    assert_eq!(
        texts.iter().map(|text| text.contains("whistle while working")).collect::<Vec<_>>(),
        [false, false, true]
    );
}

#[test]
fn each_call_is_logged_as_a_row_of_the_audit_on_request() {
    let replies = || {
        [
            Reply::call("read_file", json!({ "path": "README.md" })),
            Reply::call("run_command", json!({ "command": "cp README.md copy.md" })),
            Reply::text("Done."),
        ]
    };
    let server = Server::start(Script::new().say("executor", replies()).say("executor", replies()));
    let world = sums::world();
    world.bind(&server, "");
    let args = ["run", "--no-plan", "--approval", "auto", "copy it"];
    let ran = world.tandem(&[&["-v"], &args[..]].concat()).run().expect(0);
    let rows: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("tandem::audit")).collect();
    assert_eq!(rows.len(), 2, "{}", ran.all());
    for (row, tool) in rows.iter().zip(["read_file", "run_command"]) {
        for part in
            [&format!("tool={tool}"), "call_id=", "args_hash=", "duration_ms=", "result=ok", "role=executor"]
        {
            assert!(row.contains(part), "{part} is not in: {row}");
        }
    }
    let effect = Digest::of(r#"{"command":"cp README.md copy.md","effect":"command"}"#);
    let leave = format!("approved_by=Some(Mode) effect_digest=Some(\"{effect}\")");
    assert!(rows[1].contains(&leave), "who gave leave, and to what: {}", rows[1]);
    let id = |row: &str| Some(row.split_once("session=\"")?.1.split_once('"')?.0.to_owned());
    let session = world.tandem(&["sessions", "list"]).run().expect(0).stdout;
    for row in &rows {
        assert!(id(row).is_some_and(|id| id.len() > 8 && session.contains(&id)), "{row}\n{session}");
        for part in ["turn=1 ", "rollback_of=None"] {
            assert!(row.contains(part), "{part} is not in: {row}");
        }
    }
    assert!(rows[0].contains("path_scope=[\"README.md\"]"), "{}", rows[0]);
    assert!(rows[1].contains("path_scope=[\"copy.md\"]"), "{}", rows[1]);
    let quiet = world.tandem(&args).run().expect(0);
    assert!(!quiet.stderr.contains("tandem::audit"), "{}", quiet.all());
}
