//! Commands that go on: servers in the background, what commands leave behind, and what is told while they run.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::peak::Peak;
use crate::support::reply::Reply;
use crate::support::run::Ran;
use crate::support::script::Script;
use crate::support::server::{Server, wait_until};
use crate::support::world::World;

fn command(text: &str) -> Reply {
    Reply::call("run_command", json!({ "command": text }))
}

/// Runs these calls, all allowed, and answers the results that the model got.
fn played(world: &World, calls: Vec<Reply>) -> (Ran, Vec<String>) {
    let replies = calls.into_iter().chain([Reply::text("done")]);
    let server = Server::start(Script::new().say("executor", replies));
    world.bind(&server, "");
    let ran = world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).run().expect(0);
    let results = server.of("executor").pop().unwrap().results();
    (ran, results)
}

/// Whether a process of that number lives and is no zombie.
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| {
        let rest = rest.trim_start();
        !rest.is_empty() && !rest.starts_with(['Z', 'X'])
    })
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
fn what_a_session_started_ends_with_it() {
    let world = World::with(&[("app.py", "import time\nprint('up', flush=True)\ntime.sleep(600)\n")]);
    let (_, results) = played(
        &world,
        vec![
            command("echo $$ > job.pid; exec python3 app.py"),
            command("sleep 600 & echo $! > left.pid; echo ok"),
            command("setsid sh -c 'echo $$ > fled.pid; sleep 600' & sleep 0.3; echo ok2"),
        ],
    );
    assert!(
        results[1].contains("ok") && results[1].contains("still running as job 2: sleep"),
        "{results:#?}"
    );
    assert!(results[2].contains("ok2"), "{results:#?}");
    for file in ["job.pid", "left.pid", "fled.pid"] {
        let pid = world.read(file);
        wait_until(&format!("the end of {file}"), || !lives(&pid));
    }
}

#[test]
fn a_background_child_does_not_hold_up_the_result() {
    let world = World::new();
    let (_, results) =
        played(&world, vec![command("sleep 60 & echo ok"), command("setsid sleep 60 & echo ok2")]);
    assert!(results[0].contains("ok\n") && results[0].contains("[exit code 0]"), "{results:#?}");
    assert!(results[1].contains("ok2\n") && results[1].contains("[exit code 0]"), "{results:#?}");
    let took = durations(&world);
    assert!(took.len() == 2 && took.iter().all(|took| *took < 3_000), "{took:?} ms");
}

/// Milliseconds that each call of the newest session took, by its log.
fn durations(world: &World) -> Vec<u64> {
    let sessions = world.tandem(&["sessions", "list"]).run().expect(0).stdout;
    let id = sessions.split_whitespace().next().unwrap().to_owned();
    let log = world.tandem(&["sessions", "export", &id]).run().expect(0).stdout;
    let entries = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries.filter_map(|entry| find(&entry, "duration_ms")?.as_u64()).collect()
}

/// The value of that name, wherever it stands.
fn find<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    let object = value.as_object()?;
    object.get(name).or_else(|| object.values().find_map(|value| find(value, name)))
}

/// Leaves its group, its session, its parents and its environment.
fn flees(script: &str) -> String {
    format!(
        "env -i PATH=$PATH setsid sh -c 'setsid sh -c \"{script}\" &' >/dev/null 2>&1 & while ! test -s pid; do sleep 0.01; done"
    )
}

#[test]
fn nobody_gets_away_from_the_end_of_a_command() {
    for sandbox in ["off", "auto"] {
        let world = World::new();
        let flees = flees("echo \\$\\$ > pid; sleep 3; touch canary; sleep 600");
        let hangs = json!({ "command": format!("{flees}; sleep 600"), "timeout": 1 });
        let server = Server::start(
            Script::new().say("executor", [Reply::call("run_command", hangs), Reply::text("done")]),
        );
        world.bind(&server, &format!("[commands]\nsandbox = \"{sandbox}\"\n"));
        let ran = world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).run().expect(0);
        let result = server.of("executor")[1].results().pop().unwrap();
        assert!(result.contains("was stopped after 1 s"), "{sandbox}: {result}\n{}", ran.all());
        let pid = world.read("pid");
        wait_until("the end of the one that fled", || !lives(&pid));
        std::thread::sleep(Duration::from_secs(3));
        assert!(!world.root().join("canary").exists(), "nothing of it acts later ({sandbox})");
    }
}

#[test]
fn nothing_outlives_a_tandem_that_was_killed() {
    for sandbox in ["off", "auto"] {
        let world = World::new();
        let flees = flees("echo \\$\\$ > pid; sleep 600");
        let server = Server::start(
            Script::new().say("executor", [command(&format!("{flees}; echo $$ > own; sleep 600"))]),
        );
        world.bind(&server, &format!("[commands]\nsandbox = \"{sandbox}\"\n"));
        let running = world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).spawn();
        wait_until("the command", || {
            world.root().join("own").exists() && !world.read("own").trim().is_empty()
        });
        let pids = [world.read("pid"), world.read("own")];
        assert!(pids.iter().all(|pid| lives(pid)));
        running.signal("KILL");
        for pid in pids {
            wait_until("the end of what the command started", || !lives(&pid));
        }
    }
}

#[test]
fn what_is_left_running_is_a_job_that_stays_in_the_cage() {
    for (sandbox, written) in [("off", true), ("auto", false)] {
        let world = World::new();
        let beside = world.path("beside.txt");
        let server = Server::start(Script::new().say(
            "executor",
            [
                command(&format!(
                    "sh -c 'sleep 1; echo new > {}; echo tried; touch done; sleep 600' 2>&1 & echo ok",
                    beside.display()
                )),
                command("while ! test -e done; do sleep 0.05; done"),
                Reply::call("job_output", json!({ "id": 1 })),
                Reply::call("job_stop", json!({ "id": 1 })),
                Reply::text("done"),
            ],
        ));
        world.bind(&server, &format!("[commands]\nsandbox = \"{sandbox}\"\n"));
        let offered = world.tandem(&["tool", "list"]).run().expect(0).stdout;
        if !written && !offered.contains("inspect(") {
            println!("left out: nothing on this system would hold a command");
            continue;
        }
        world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).run().expect(0);
        let results = server.of("executor").pop().unwrap().results();
        assert!(results[0].contains("still running as job 1: sh"), "{results:#?}");
        assert!(results[2].contains("tried") && results[2].contains("[it runs]"), "{results:#?}");
        assert!(results[3].contains("Job 1 was stopped"), "{results:#?}");
        assert_eq!(beside.exists(), written, "{sandbox}: {results:#?}");
    }
}

/// Processes, zombies included, whose current folder is this one.
fn living_in(folder: &std::path::Path) -> Vec<String> {
    let folder = std::fs::canonicalize(folder).unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let there =
        entries.filter(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder));
    there.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_hundred_commands_leave_no_process_behind() {
    let world = World::new();
    let kinds = [
        "true",
        "sleep 600 &",
        "setsid sleep 600 &",
        "sh -c 'sleep 600' | cat &",
        "(exec env -i sleep 600) &",
    ];
    let calls = (0..100)
        .map(|at| command(&format!("{} echo {at}", kinds[at % kinds.len()].replace("true", "true;"))));
    let (_, results) = played(&world, calls.collect());
    assert_eq!(results.iter().filter(|result| result.contains("[exit code 0]")).count(), 100, "{results:#?}");
    assert_eq!(
        results.iter().filter(|result| result.contains("still running as job")).count(),
        80,
        "{results:#?}"
    );
    wait_until("the end of all of them", || living_in(&world.root()).is_empty());
}

#[test]
fn what_a_command_prints_is_told_while_it_runs() {
    let world = World::new();
    let server = Server::start(
        Script::new().say("executor", [command("echo first; sleep 2; echo second"), Reply::text("done")]),
    );
    world.bind(&server, "");
    let args = ["--output-format", "stream-json", "run", "--no-plan", "--approval", "auto", "go"];
    let mut running = world.tandem(&args).spawn();
    running.wait_for("\"type\":\"output\"");
    running.wait_for("first");
    assert_eq!(server.of("executor").len(), 1, "the command has not ended yet");
    let ran = running.wait().expect(0);
    let told: String =
        ran.payloads("output").iter().map(|output| output["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(told, "first\nsecond\n");
}

#[test]
fn a_flood_is_held_in_flat_memory_and_leaves_no_process() {
    let world = World::new();
    let server = Server::start(
        Script::new().say("executor", [command("yes | head -c 2G; echo; echo end"), Reply::text("done")]),
    );
    world.bind(&server, "[commands]\nmax_output_mb = 32\n");
    let mut running = world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).spawn();
    let peak = Peak::of(running.id());
    running.close();
    running.wait().expect(0);
    let peak = peak.kib();
    println!("peak {peak} KiB");
    assert!(peak < 64 * 1024, "{peak} KiB");
    let result = server.of("executor")[1].results().pop().unwrap();
    assert!(result.contains("end\n[exit code 0]"), "{result}");
}

#[test]
fn a_long_output_can_be_read_back_by_the_model_and_by_a_person() {
    let world = World::new();
    let print = "import sys\nfor n in range(200000):\n    sys.stdout.buffer.write(b'needle \\xff ghp_0123456789abcdefghijABCDEFGHIJ0123456\\n' if n == 100000 else b'line number %d\\n' % n)\n";
    world.write("print.py", print);
    let page = json!({ "id": "output-1", "start_line": 100_000, "end_line": 100_002 });
    let server = Server::start(Script::new().say(
        "executor",
        [
            command("python3 print.py; echo error: at the end >&2; false"),
            Reply::call("recall", page),
            command("printf 'a\\377b\\n'"),
            Reply::text("done"),
        ],
    ));
    world.bind(&server, "");
    world.tandem(&["run", "--no-plan", "--approval", "auto", "go"]).run().expect(0);
    let results = server.of("executor").pop().unwrap().results();
    assert!(
        results[0].contains("line number 0\n") && results[0].contains("error: at the end"),
        "{}",
        results[0]
    );
    assert!(results[0].contains("left out; recall(\"output-1\") reads the whole"), "{}", results[0]);
    assert!(results[0].contains("ended with exit code 1"), "{}", &results[0][..500]);
    assert!(
        results[1].contains("line number 99999\nneedle \u{fffd} ghp_***\nline number 100001"),
        "{}",
        results[1]
    );
    assert!(
        results[2].contains("a\u{fffd}b") && results[2].contains("output-2 is what came"),
        "{}",
        results[2]
    );
    let id = world.tandem(&["sessions", "list"]).run().expect(0).stdout;
    let id = id.split_whitespace().next().unwrap();
    let raw = world.tandem(&["sessions", "output", id, "output-2"]).output();
    assert_eq!(raw, b"a\xffb\n");
    let whole = world.tandem(&["sessions", "output", id, "output-1"]).output();
    assert_eq!(whole.iter().filter(|byte| **byte == b'\n').count(), 200_001);
    assert!(whole.windows(9).any(|part| part == b"needle \xff "));
    world.tandem(&["sessions", "output", id, "output-9"]).run().expect(1);
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
