//! Leave is for exactly what was shown: the log names it by its digest, which anybody can work out again.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tandem_shared::digest::Digest;

use crate::sums;
use crate::support::reply::Reply;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::World;

/// The digest of an effect as an event told it: of its JSON without blanks and with sorted keys.
fn digest(effect: &Value) -> String {
    let sorted: BTreeMap<&String, &Value> = effect.as_object().unwrap().iter().collect();
    Digest::of(serde_json::to_string(&sorted).unwrap()).as_str().to_owned()
}

/// The only session, as `sessions export` or `sessions show` prints it.
fn session(world: &World, how: &str) -> String {
    let list = world.tandem(&["sessions", "list"]).run().expect(0).stdout;
    let id = list.split_whitespace().next().unwrap();
    world.tandem(&["sessions", how, id]).run().expect(0).stdout
}

/// The log of the only session.
fn log(world: &World) -> Vec<Value> {
    session(world, "export").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rows of a log of one kind.
fn rows<'a>(log: &'a [Value], kind: &str) -> Vec<&'a Value> {
    log.iter().filter(|entry| entry["record"] == kind).collect()
}

#[test]
fn leave_for_an_edit_and_a_command_carries_the_digest_of_what_the_person_saw() {
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let command = format!("cp README.md copy.md # {secret}");
    let replies = [
        Reply::call("read_file", json!({ "path": "src/lib.rs" })),
        Reply::call("edit_file", json!({ "path": "src/lib.rs", "old": "a - b", "new": "a + b" })),
        Reply::call("run_command", json!({ "command": command })),
        Reply::text("Mended and copied."),
    ];
    let server = Server::start(Script::new().say("executor", replies));
    let world = sums::world();
    world.bind(&server, "");
    let args = ["--output-format", "stream-json", "run", "--no-plan", "mend it"];
    let mut running = world.tandem(&args).terminal().spawn();
    for _ in 0..2 {
        running.wait_for("anything else is no: ");
        running.say("y\n");
    }
    let ran = running.wait().expect(0);
    assert_eq!(world.read("src/lib.rs"), sums::mended());

    // What was asked, from the screen: an event may stand behind the question before it.
    let events = ran.stdout.lines().filter_map(|line| line.get(line.find("{\"id\"")?..));
    let events = events.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let shown: Vec<Value> = events
        .filter(|event| event["type"] == "asked")
        .map(|event| event["payload"]["question"]["effect"].clone())
        .collect();
    assert_eq!(shown.len(), 2, "{}", ran.all());
    assert!(shown[0]["diff"].as_str().unwrap().contains("+    a + b"), "{shown:?}");
    assert_eq!(shown[1], json!({ "effect": "command", "command": "cp README.md copy.md # ghp_***" }));

    let log = log(&world);
    let started: Vec<&Value> = rows(&log, "started").iter().map(|row| &row["effect_digest"]).collect();
    assert_eq!(started, [&json!(digest(&shown[0])), &json!(digest(&shown[1]))]);
    let audits: Vec<&Value> = rows(&log, "stepped").iter().map(|row| &row["audit"]).collect();
    let leave = |audit: &Value| (audit["approved_by"].clone(), audit["effect_digest"].clone());
    assert_eq!(leave(audits[0]), (Value::Null, Value::Null), "what only looks needs no leave");
    assert_eq!(leave(audits[1]), (json!("person"), started[0].clone()));
    assert_eq!(leave(audits[2]), (json!("person"), started[1].clone()));
    let told = format!("acts, leave given by person for effect {}", &digest(&shown[0])[..12]);
    let show = session(&world, "show");
    assert!(show.contains(&told), "{told} is not in:\n{show}");
    for field in ["tool", "args_hash", "path_scope", "result", "duration_ms", "rollback_of"] {
        assert!(audits.iter().all(|audit| audit.get(field).is_some()), "{field} is not in {audits:?}");
    }
}

#[test]
fn what_a_rule_a_mode_or_a_plan_allows_is_named_too() {
    let plan = {
        let step = json!({ "what": "Fix it", "files": ["src/lib.rs"], "check": "test -f README.md" });
        Reply::call("submit_plan", json!({ "goal": "Fix it", "steps": [step] }))
    };
    let replies = [
        Reply::call("run_command", json!({ "command": "ls" })),
        Reply::call("run_command", json!({ "command": "touch new.txt" })),
        Reply::text("Not more."),
    ];
    let server = Server::start(Script::new().say("planner", [plan]).say("executor", replies));
    let world = sums::world();
    world.bind(&server, "");
    world.tandem(&["run", "--yes", "--approval", "auto", "fix it"]).run();
    let log = log(&world);
    let of = |command: &str| json!(digest(&json!({ "effect": "command", "command": command })));
    let leaves: Vec<(&Value, &Value)> =
        rows(&log, "started").iter().map(|row| (&row["by"], &row["effect_digest"])).collect();
    assert_eq!(leaves, [(&json!("rule"), &of("ls")), (&json!("mode"), &of("touch new.txt"))]);
    let checks = rows(&log, "checked");
    assert!(!checks.is_empty(), "{log:?}");
    assert!(checks.iter().all(|row| row["effect_digest"] == of("test -f README.md")), "{checks:?}");
}
