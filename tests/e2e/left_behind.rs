//! What commands leave behind: it holds nothing up, nobody gets away, and all of it ends.

use std::time::Duration;

use serde_json::{Value, json};

use crate::jobs::{command, played};
use crate::support::processes::{lives, living_in};
use crate::support::reply::Reply;
use crate::support::script::Script;
use crate::support::server::{Server, wait_until};
use crate::support::world::World;

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
    let log = world.tandem(&["sessions", "export", &world.newest_session()]).run().expect(0).stdout;
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
