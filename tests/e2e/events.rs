//! The output formats for programs: `stream-json` is one event a line, `json` is one report.

use serde_json::Value;

use crate::sums;
use crate::support::script::Script;
use crate::support::server::Server;

#[test]
fn stream_json_numbers_its_events_and_ends_with_the_report() {
    let script = Script::new().say("planner", [sums::plan()]).say("executor", sums::execution());
    let server = Server::start(script);
    let world = sums::world();
    world.bind(&server, "");
    let ran =
        world.tandem(&["--output-format", "stream-json", "run", "--yes", "make it add"]).run().expect(0);
    let events = ran.events();
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], index as u64, "{event}");
        assert_eq!(event["id"], events[0]["id"], "{event}");
        assert!(event["type"].is_string() && event["ts"].as_u64() >= events[0]["ts"].as_u64(), "{event}");
    }
    let order: Vec<&str> = events
        .iter()
        .filter_map(|event| event["type"].as_str())
        .filter(|kind| ["session_opened", "plan", "plan_decided", "done"].contains(kind))
        .collect();
    assert_eq!(order.first(), Some(&"session_opened"));
    assert!(order.windows(2).any(|pair| pair == ["plan", "plan_decided"]), "{order:?}");
    let report = &ran.payloads("done").pop().unwrap()["report"];
    assert_eq!((&report["exit"], &report["answer"]), (&Value::from(0), &Value::from("add now adds.")));
    assert!(report["changed"]["src/lib.rs"].is_object(), "{report}");
    assert_eq!(report["spent"]["executor"]["requests"], 4, "{report}");
    assert_eq!(events.last().unwrap()["type"], "done");
}

#[test]
fn json_is_one_report() {
    let script = Script::new().say("planner", [sums::plan()]).say("executor", sums::execution());
    let server = Server::start(script);
    let world = sums::world();
    world.bind(&server, "");
    let ran = world.tandem(&["--output-format", "json", "run", "--yes", "make it add"]).run().expect(0);
    let report: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.all()));
    assert_eq!((&report["exit"], &report["answer"]), (&Value::from(0), &Value::from("add now adds.")));
    assert_eq!(report["steps"][0]["what"], "Fix the operator in add");
}
