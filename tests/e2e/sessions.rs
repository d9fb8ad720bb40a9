//! `tandem sessions`: the store, readable, and closed to other users of the machine.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::sums;
use crate::support::reply::Reply;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::World;

/// A world with one session in which one question was answered, and the session's id.
fn asked() -> (Server, World, String) {
    let replies = [Reply::text("It subtracts."), Reply::text("You asked about add.")];
    let server = Server::start(Script::new().say("planner", replies));
    let world = sums::world();
    world.bind(&server, "");
    let ran = world.tandem(&["--output-format", "stream-json", "run", "what does add do?"]).run().expect(0);
    let id = ran.events()[0]["id"].as_str().unwrap().to_owned();
    (server, world, id)
}

#[test]
fn a_session_is_listed_shown_exported_and_deleted() {
    let (_server, world, id) = asked();
    let listed = world.tandem(&["sessions", "list"]).run().expect(0).stdout;
    assert!(listed.contains(&id) && listed.contains("what does add do?"), "{listed}");
    let shown = world.tandem(&["sessions", "show", &id]).run().expect(0).stdout;
    assert!(shown.contains("what does add do?") && shown.contains("It subtracts."), "{shown}");
    let exported = world.tandem(&["sessions", "export", &id]).run().expect(0).stdout;
    let lines: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() > 2 && exported.contains("It subtracts."), "{exported}");
    world.tandem(&["sessions", "delete", ""]).run().expect(2);
    world.tandem(&["sessions", "delete", &id]).run().expect(0);
    let listed = world.tandem(&["sessions", "list"]).run().expect(0).stdout;
    assert!(!listed.contains(&id), "{listed}");
    assert_ne!(world.tandem(&["sessions", "show", &id]).run().code, 0);
}

#[test]
fn going_on_with_a_session_remembers_it() {
    let (server, world, id) = asked();
    let ran = world.tandem(&["resume", &id, "what did I ask?"]).run().expect(0);
    assert!(ran.stdout.contains("You asked about add."), "{}", ran.all());
    let last = server.chats().pop().unwrap().text();
    assert!(last.contains("what does add do?") && last.contains("It subtracts."), "{last}");
}

#[test]
fn nobody_else_can_read_the_store() {
    let (_server, world, _) = asked();
    let mut folders = vec![world.state()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let mode = path.metadata().unwrap().permissions().mode() & 0o777;
                assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
                files += 1;
            }
        }
    }
    assert!(files >= 2, "a session and a project");
}
