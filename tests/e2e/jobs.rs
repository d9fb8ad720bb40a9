//! Commands on their way: their stages, their variables, servers in the background.

use serde_json::{Value, json};

use crate::support::reply::Reply;
use crate::support::run::Ran;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::World;

/// A call that runs this.
pub fn command(text: &str) -> Reply {
    Reply::call("run_command", json!({ "command": text }))
}

/// Runs these calls, all allowed, and answers the results that the model got.
pub fn played(world: &World, calls: Vec<Reply>) -> (Ran, Vec<String>) {
    let replies = calls.into_iter().chain([Reply::text("done")]);
    let server = Server::start(Script::new().say("executor", replies));
    world.bind(&server, "");
    let ran = world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).run().expect(0);
    let results = server.of("executor").pop().unwrap().results();
    (ran, results)
}

#[test]
fn a_server_goes_to_the_background_and_can_be_read_reached_and_stopped() {
    let world = World::with(&[
        (
            "server.py",
            "import http.server, socketserver\nprint('listening', flush=True)\nsocketserver.TCPServer(('127.0.0.1', 8731), http.server.SimpleHTTPRequestHandler).serve_forever()\n",
        ),
        ("page.txt", "the page\n"),
    ]);
    let fetch = "python3 -c \"import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:8731/page.txt').read().decode())\"";
    let (_, results) = played(
        &world,
        vec![
            command("echo $$ > pid; exec python3 server.py"),
            command(fetch),
            Reply::call("job_output", json!({ "id": 1 })),
            Reply::call("jobs", json!({})),
            Reply::call("job_stop", json!({ "id": 1 })),
            Reply::call("jobs", json!({})),
            Reply::call("job_output", json!({ "id": 7 })),
        ],
    );
    assert!(
        results[0].contains("goes on in the background as job 1") && results[0].contains("listening"),
        "{results:#?}"
    );
    assert!(results[1].contains("the page"), "{results:#?}");
    assert!(results[2].contains("GET /page.txt") && results[2].contains("[it runs]"), "{results:#?}");
    assert!(results[3].contains("server.py  (runs since"), "{results:#?}");
    assert!(results[4].contains("Job 1 was stopped"), "{results:#?}");
    assert!(results[5].contains("(was stopped)"), "{results:#?}");
    assert!(results[6].contains("There is no job 7"), "{results:#?}");
}

#[test]
fn a_job_does_not_change_what_git_runs_unseen() {
    let world = World::with(&[("app.sh", "echo evil > .githooks/pre-commit\necho up\nsleep 600\n")]);
    world.commit_all();
    world.git(&["config", "core.hooksPath", ".githooks"]);
    world.write(".githooks/pre-commit", "mine\n");
    let (_, results) = played(
        &world,
        vec![
            Reply::call("run_command", json!({ "command": "sh app.sh", "background": true })),
            Reply::call("write_file", json!({ "path": ".githooks/pre-push", "content": "approved\n" })),
            Reply::call("job_stop", json!({ "id": 1 })),
        ],
    );
    // Where the kernel does not keep it from that, it is said.
    assert!(
        world.read(".githooks/pre-commit") == "mine\n" || results[2].contains("which git runs or reads"),
        "{results:#?}"
    );
    assert_eq!(world.read(".githooks/pre-push"), "approved\n", "{results:#?}");
}

#[test]
fn a_command_goes_through_its_stages_in_order() {
    let all = ["Gates", "Preparation", "ServerDetection", "Execution", "TimeAndInterrupt", "Output"];
    let stages = |command: Value, approval: &str| {
        let world = World::with(&[("app.py", "import time\nprint('up', flush=True)\ntime.sleep(600)\n")]);
        let server = Server::start(
            Script::new().say("executor", [Reply::call("run_command", command), Reply::text("done")]),
        );
        world.bind(&server, "");
        let ran = world.tandem(&["-vv", "run", "--no-plan", "--approval", approval, "go"]).run();
        let named =
            ran.stderr.lines().filter_map(|line| line.split_once("stage=")?.1.split_whitespace().next());
        named.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(stages(json!({ "command": "echo x > y" }), "auto"), all);
    assert_eq!(
        stages(json!({ "command": "sleep 600", "timeout": 1 }), "auto"),
        all,
        "one that takes too long"
    );
    assert_eq!(stages(json!({ "command": "python3 app.py" }), "auto"), all[..4], "a server");
    assert_eq!(stages(json!({ "command": "sudo true" }), "auto"), all[..1], "one that is forbidden");
    assert_eq!(stages(json!({ "command": "echo x > y" }), "strict"), all[..1], "one without leave");
}

#[test]
fn a_person_sees_what_goes_on() {
    let world = World::with(&[("app.py", "import time\nprint('up', flush=True)\ntime.sleep(600)\n")]);
    let server =
        Server::start(Script::new().say("executor", [command("python3 app.py"), Reply::text("It is up.")]));
    world.bind(&server, "[session]\napproval = \"auto\"\n");
    let ran = world.tandem(&[]).stdin("/jobs\n/execute start it\n/jobs\n").run().expect(0);
    assert!(ran.stderr.contains("Nothing runs in the background."), "{}", ran.all());
    assert!(ran.stderr.contains("1  python3 app.py  (runs since"), "{}", ran.all());
}

#[test]
fn a_command_that_the_cage_kept_from_its_work_is_offered_a_run_outside_it() {
    let world = World::new();
    let beside = world.path("beside.txt");
    let write = || command(&format!("echo out > {}", beside.display()));
    let server = Server::start(
        Script::new().say("executor", [write(), Reply::text("Done."), write(), Reply::text("Not done.")]),
    );
    world.bind(&server, "");
    let offered = world.tandem(&["tool", "list"]).run().expect(0).stdout;
    if !offered.contains("inspect(") {
        println!("skipped: nothing on this system would keep a command from its work");
        return;
    }
    let mut running = world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).terminal().spawn();
    running.wait_for("yes runs it once more, outside the cage");
    running.wait_for("anything else is no");
    running.say("y\n");
    running.wait().expect(0);
    assert_eq!(std::fs::read_to_string(&beside).unwrap(), "out\n");
    // Leave to run it outside is another leave, and the log says so.
    let id = world.tandem(&["sessions", "list"]).run().stdout.split_whitespace().next().unwrap().to_owned();
    let log = world.tandem(&["sessions", "export", &id]).run().expect(0).stdout;
    let leaves: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let leaves: Vec<&Value> = leaves.iter().filter(|entry| entry["record"] == "started").collect();
    let by: Vec<&Value> = leaves.iter().map(|leave| &leave["by"]).collect();
    assert_eq!(by, ["mode", "person"]);
    assert_ne!(leaves[0]["effect_digest"], leaves[1]["effect_digest"]);
    std::fs::remove_file(&beside).unwrap();
    let mut running = world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).terminal().spawn();
    running.wait_for("outside the cage");
    running.wait_for("anything else is no");
    running.say("n\n");
    running.wait();
    assert!(!beside.exists(), "it stays in the cage");
    let result = server.of("executor").pop().unwrap().results().pop().unwrap();
    assert!(result.contains("Commands run in a cage"), "{result}");
}

#[test]
fn a_command_that_is_too_long_is_refused_and_says_what_to_do() {
    let world = World::new();
    let long = format!("cat > out.txt <<E\n{}E\n", "x\n".repeat(150_000));
    let just = format!("echo {} | wc -c", "x".repeat(100_000));
    let run = |command: &str| {
        let args = json!({ "command": command }).to_string();
        world.tandem(&["tool", "run", "run_command", "--args", "-"]).stdin(&args).run()
    };
    let refused = run(&long).expect(1);
    assert!(
        refused.all().contains("write_file") && refused.all().contains("Nothing was run"),
        "{}",
        refused.all()
    );
    assert!(!world.root().join("out.txt").exists());
    assert!(run(&just).expect(0).stdout.contains("100001"));
}

#[test]
fn what_runs_commands_is_the_program_that_was_started_whatever_stands_at_its_path() {
    let world = World::new();
    let binary = world.root().join("tandem");
    std::fs::copy(env!("CARGO_BIN_EXE_tandem"), &binary).unwrap();
    let beside = world.path("beside.txt");
    let replace = format!(
        "mv tandem old && printf '#!/bin/sh\\necho evil > {}\\n' > tandem && chmod +x tandem",
        beside.display()
    );
    let replies = [
        command(&replace),
        command("echo fine"),
        command("rm tandem"),
        command("echo fine"),
        Reply::text("done"),
    ];
    let server = Server::start(Script::new().say("executor", replies));
    world.bind(&server, "[commands]\nallow = [\"rm tandem\"]\n");
    let args = ["run", "--no-plan", "--approval", "auto", "go"];
    world.tandem(&args).program(&binary).run().expect(0);
    let results = server.of("executor").pop().unwrap().results();
    assert!(results[1].contains("fine") && results[3].contains("fine"), "{results:#?}");
    assert!(!beside.exists(), "{results:#?}");
}

#[test]
fn commands_get_the_variables_of_the_configuration() {
    let world = World::new();
    let server = Server::start(
        Script::new()
            .say("executor", [command("echo ci=$CI yes=$npm_config_yes mine=$MINE"), Reply::text("done")]),
    );
    world.bind(&server, "[commands.env]\nMINE = \"1\"\nCI = \"\"\n");
    world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).run().expect(0);
    let result = server.of("executor")[1].results().pop().unwrap();
    assert!(result.contains("ci= yes=true mine=1"), "{result}");
    let shown = world.tandem(&["config", "show"]).run().expect(0).stdout;
    assert!(shown.contains("commands.env.npm_config_yes"), "{shown}");
}

#[test]
fn a_command_in_the_background_changes_nothing_that_git_runs() {
    for (sandbox, written) in [("off", true), ("auto", false)] {
        let world = World::with(&[("evil.sh", "echo evil > .git/hooks/pre-commit; echo tried; sleep 600\n")]);
        world.commit_all();
        let start = Reply::call("run_command", json!({ "command": "sh evil.sh", "background": true }));
        let stop = Reply::call("job_stop", json!({ "id": 1 }));
        let server = Server::start(Script::new().say("executor", [start, stop, Reply::text("done")]));
        world.bind(&server, &format!("[commands]\nsandbox = \"{sandbox}\"\n"));
        let ran = world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).run().expect(0);
        let results = server.of("executor").pop().unwrap().results();
        assert!(results[0].contains("tried"), "{results:#?}\n{}", ran.all());
        assert_eq!(world.root().join(".git/hooks/pre-commit").exists(), written, "{sandbox}: {results:#?}");
    }
}
