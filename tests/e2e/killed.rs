//! A session of edits that is killed at many moments: every file is wholly old or wholly new, the log knows which, and
//! everything can be taken back.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tandem_shared::digest::Digest;

use crate::support::reply::Reply;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::{World, assert_same_tree};

/// Moments at which the session is killed, a fraction of a round apart.
const MOMENTS: usize = 200;
const STEP: Duration = Duration::from_micros(350);
/// Worlds that run side by side.
const SIDE_BY_SIDE: usize = 2;
const FILES: usize = 3;
/// Lines of a file: enough that a write takes a while.
const LINES: usize = 1_500;

fn content(version: usize) -> String {
    format!("version {version}\n").repeat(LINES)
}

#[test]
fn a_kill_at_any_moment_leaves_whole_files_and_a_log_that_agrees() {
    let in_flight = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for part in 0..SIDE_BY_SIDE {
            let in_flight = &in_flight;
            scope.spawn(move || {
                for moment in (part..MOMENTS).step_by(SIDE_BY_SIDE) {
                    let hit = kill_after(STEP * u32::try_from(moment).unwrap());
                    in_flight.fetch_add(usize::from(hit), Ordering::Relaxed);
                }
            });
        }
    });
    let in_flight = in_flight.into_inner();
    println!("{in_flight} of {MOMENTS} kills met a change in flight");
    assert!(in_flight > 0, "no kill met a change in flight, so nothing was shown");
}

/// Answers whether a change was in flight.
fn kill_after(wait: Duration) -> bool {
    let names: Vec<String> = (0..FILES).map(|n| format!("f{n}.txt")).collect();
    let world = World::new();
    for name in &names {
        world.write(name, &content(0));
    }
    let before = world.tree();
    let count = AtomicUsize::new(0);
    let mind = move |_: &crate::support::request::Request| {
        let n = count.fetch_add(1, Ordering::Relaxed);
        let path = format!("f{}.txt", n % FILES);
        if n < FILES {
            return Reply::call("read_file", json!({ "path": path }));
        }
        Reply::call("write_file", json!({ "path": path, "content": content(n) }))
    };
    let server = Server::start(Script::new().think("executor", mind));
    world.bind(&server, "");
    let args = ["--output-format", "stream-json", "run", "--no-plan", "--approval", "auto", "go"];
    let mut running = world.tandem(&args).spawn();
    running.wait_for("\"write_file\"");
    std::thread::sleep(wait);
    running.kill();
    running.wait();
    for name in &names {
        let text = world.read(name);
        let first = text.lines().next().unwrap_or_default().to_owned();
        assert_eq!(text, format!("{first}\n").repeat(LINES), "{name} is torn after {wait:?}");
    }
    // The planner takes the session up, and says that it is done.
    world.tandem(&["-c", "-p", "how far did it come?"]).run().expect(0);
    let known = images(&world);
    for name in &names {
        let now = Digest::of(world.read(name));
        if let Some((before, after, settled)) = known.get(name) {
            let found = now.as_str() == before || now.as_str() == after;
            assert!(found, "{name} is not as the log says after {wait:?}");
            if let Some(settled) = settled {
                assert_eq!(settled, now.as_str(), "{name} was settled as something else");
            }
        }
    }
    let left: Vec<String> = world.tree().into_keys().filter(|name| name.contains(".tandem-")).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    if !known.is_empty() {
        world.tandem(&["undo"]).run().expect(0);
    }
    assert_same_tree(&world.tree(), &before, "after undo");
    known.values().any(|(_, _, settled)| settled.is_some())
}

/// By path, what the log says of its newest change: digests before, after, and as it was found after the crash.
fn images(world: &World) -> BTreeMap<String, (String, String, Option<String>)> {
    let exported = world.tandem(&["sessions", "export", &world.newest_session()]).run().expect(0).stdout;
    let mut known = BTreeMap::new();
    for line in exported.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let text = |value: &Value| value["content"].as_str().unwrap_or_default().to_owned();
        let path = || entry["path"].as_str().unwrap().to_owned();
        match entry["record"].as_str() {
            Some("imaged") => _ = known.insert(path(), (text(&entry["before"]), text(&entry["after"]), None)),
            Some("settled") => {
                let settled = text(&entry["now"]);
                known.entry(path()).and_modify(|image| image.2 = Some(settled));
            }
            _ => {}
        }
    }
    known
}
