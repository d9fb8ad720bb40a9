//! Cancelling in every state: it is over within a second or so, nothing is half done, and nothing is left running.
//!
//! The milliseconds are printed (`-- --nocapture cancel`). What is asserted is far more, because a test must not fail on
//! a machine that is busy.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sums;
use crate::support::reply::{Fault, Reply};
use crate::support::run::Running;
use crate::support::script::Script;
use crate::support::server::{Server, wait_until};
use crate::support::world::{Tree, World};

/// No cancel may take longer, however busy the machine is.
const BOUND: Duration = Duration::from_secs(5);

/// A run that is cancelled.
struct State {
    name: &'static str,
    script: Script,
    config: &'static str,
    args: &'static [&'static str],
    world: fn() -> World,
    reached: fn(&mut Running, &World, &Server),
}

const STREAM: [&str; 3] = ["--output-format", "stream-json", "run"];
const ACTING: [&str; 6] = ["--output-format", "stream-json", "--approval", "auto", "run", "--no-plan"];

impl State {
    fn new(name: &'static str, script: Script, reached: fn(&mut Running, &World, &Server)) -> State {
        State { name, script, config: "", args: &STREAM, world: sums::world, reached }
    }

    /// A command of the executor, which has begun when it has written `here.pid`.
    fn command(name: &'static str, command: &str) -> State {
        let args = json!({ "command": command });
        State { args: &ACTING, world: scripts, ..State::new(name, calling("run_command", args), begun) }
    }

    fn check(self) -> World {
        let world = (self.world)();
        let server = Server::start(self.script);
        world.bind(&server, self.config);
        let before = standing(&world);
        let launch = world.tandem(self.args).and(&["go"]).env("PATH", world_path(&world));
        let mut running = launch.spawn();
        (self.reached)(&mut running, &world, &server);
        let began = Instant::now();
        running.signal("INT");
        let ran = running.wait();
        told(self.name, began);
        let ran = ran.expect(130);
        assert_eq!(standing(&world), before, "{}: {}", self.name, ran.all());
        nothing_runs(&world, self.name);
        // The session can be read, and nothing in it waits to be taken back.
        world.tandem(&["sessions", "show", &world.newest_session()]).run().expect(0);
        world
    }
}

const DEAF: &str = "trap '' TERM INT HUP\necho $$ > here.pid\necho up\nwhile true; do sleep 1; done\n";
const LOUD: &str = "trap '' TERM\necho $$ > here.pid\nwhile true; do echo more and more of it; done\n";
const FLEES: &str =
    "setsid sh -c 'trap \"\" TERM; echo $$ > fled.pid; sleep 300 & echo $! > inner.pid; wait' &
while ! test -s inner.pid; do sleep 0.01; done
echo $$ > here.pid
sleep 300
";

/// A project whose scripts do not end well. What they do is no business of the gate's, which judges commands.
fn scripts() -> World {
    let world = sums::world();
    for (name, script) in [("deaf.sh", DEAF), ("loud.sh", LOUD), ("flees.sh", FLEES)] {
        world.write(name, script);
    }
    world
}

/// Says how long it took since then.
fn told(name: &str, began: Instant) {
    let took = began.elapsed();
    eprintln!("cancel, {name}: {} ms", took.as_millis());
    assert!(took < BOUND, "{name}: {took:?}");
}

/// The project without the marks that the commands leave.
fn standing(world: &World) -> Tree {
    let mut tree = world.tree();
    tree.retain(|path, _| !path.ends_with(".pid"));
    tree
}

fn nothing_runs(world: &World, name: &str) {
    for path in world.tree().into_keys().filter(|path| path.ends_with(".pid")) {
        let id = world.read(&path).trim().to_owned();
        wait_until(&format!("{name}: the end of {path}"), || !is_running(&id));
    }
}

/// Whether the process is there and no corpse.
fn is_running(id: &str) -> bool {
    fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// With programs of the test's own before the others, if it has any.
fn world_path(world: &World) -> String {
    format!("{}:{}", world.path("programs").display(), std::env::var("PATH").unwrap())
}

fn calling(tool: &str, args: Value) -> Script {
    Script::new().say("executor", [Reply::call(tool, args), Reply::text("It was stopped.")])
}

fn hanging(after: usize) -> Reply {
    Reply::text("It subtracts, and I was about to say why").fault(Fault::Hang { after })
}

fn asked(_: &mut Running, _: &World, server: &Server) {
    server.wait_until("a request", |requests| !requests.is_empty());
    // The answer's head is on its way; what is meant is the silence after it.
    std::thread::sleep(Duration::from_millis(100));
}

fn begun(_: &mut Running, world: &World, _: &Server) {
    let file = world.root().join("here.pid");
    wait_until("the command", || fs::read_to_string(&file).is_ok_and(|id| id.ends_with('\n')));
}

#[test]
fn while_a_model_is_waited_for() {
    State::new("before the first token", Script::new().say("planner", [hanging(0)]), asked).check();
    State::new("in the middle of a stream", Script::new().say("planner", [hanging(3)]), |running, _, _| {
        running.wait_for(", and I was");
    })
    .check();
    let thinks = Script::new().say("thinking", [hanging(3)]);
    State { config: "[thinking]\nmode = \"always\"\n", ..State::new("while it thinks", thinks, asked) }
        .check();
}

#[test]
fn while_a_retry_is_waited_for() {
    let headers = [("retry-after".to_owned(), "300".to_owned())].into();
    let refusal = Reply::default().fault(Fault::Status { status: 429, body: "slow down".into(), headers });
    let state = State::new("in a retry pause", Script::new().say("planner", [refusal]), |running, _, _| {
        running.wait_for("\"type\":\"retry\"");
    });
    State { config: "[network]\nretry_max_s = 600\n", ..state }.check();
}

#[test]
fn while_a_summary_is_waited_for() {
    let read = || Reply {
        text: "It may matter. ".repeat(400),
        repeat: 40,
        ..Reply::call("read_file", json!({ "path": "README.md" }))
    };
    let script = Script::new().say("executor", [read()]).say("compaction", [hanging(2)]);
    let state = State::new("while a summary is made", script, |_, _, server| {
        let summary = |requests: &[std::sync::Arc<crate::support::request::Request>]| {
            requests.iter().any(|request| request.role() == "compaction")
        };
        server.wait_until("the request for a summary", summary);
        std::thread::sleep(Duration::from_millis(100));
    });
    let config = "[roles.executor]\ncontext_window = 8192\n[loop]\nguard_repeats = 100\n";
    State { config, args: &ACTING, ..state }.check();
}

#[test]
fn while_a_search_goes_through_many_files() {
    // One file under many names: much to read, and little to write.
    let world = || {
        let world = sums::world();
        world.write("notes/0.txt", &"nothing to see here, and much of it\n".repeat(27_000));
        for number in 1..100 {
            let (first, other) = ("notes/0.txt", format!("notes/{number}.txt"));
            fs::hard_link(world.root().join(first), world.root().join(other)).unwrap();
        }
        world
    };
    let call = Reply::call("grep", json!({ "pattern": "(?i)(see|much|here).*\\d{3}[^a-z]*$" }));
    let script = Script::new().say("planner", [call, hanging(0)]);
    let state = State::new("in a slow search", script, |running, _, _| {
        running.wait_for("\"type\":\"tool_call\"");
        std::thread::sleep(Duration::from_millis(300));
    });
    State { world, ..state }.check();
}

#[test]
fn while_a_command_runs() {
    State::command("in a command", "echo $$ > here.pid; sleep 300").check();
    State::command("in a command that ignores the request to end", "exec sh deaf.sh").check();
    State::command("in a command whose children left the group", "exec sh flees.sh").check();
    State::command("in a command that floods its output", "exec sh loud.sh").check();
}

#[test]
fn while_a_command_is_set_up() {
    // The look at the tree before a command asks git, which hangs here.
    let world = || slow_git("true");
    State { world, ..State::command("in the look before a command", "touch half-done.txt") }.check();
}

#[test]
fn while_what_a_command_changed_is_looked_for() {
    // That is what taking back needs, so it is given a moment, but no more.
    let world = || slow_git("test -e ran.pid");
    let world = State { world, ..State::command("in the look after a command", "echo 0 > ran.pid") }.check();
    let undo = world.tandem(&["undo"]).run();
    assert!(undo.all().contains("an interrupt broke off the look"), "{}", undo.all());
}

/// A project in which git hangs where this is so.
fn slow_git(when: &str) -> World {
    let world = sums::world();
    let git = world.path("programs/git");
    fs::create_dir(world.path("programs")).unwrap();
    let real = Command::new("sh").args(["-c", "command -v git"]).output().unwrap().stdout;
    let (root, real) = (world.root(), String::from_utf8(real).unwrap());
    let hang = "echo $$ > here.pid; exec sleep 300";
    let text =
        format!("#!/bin/sh\ncd {}; {when} && {{ {hang}; }}\nexec {} \"$@\"\n", root.display(), real.trim());
    fs::write(&git, text).unwrap();
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    world
}

#[test]
fn while_a_job_starts() {
    for (name, command) in [
        ("while a job starts", "echo $$ > here.pid; echo up; sleep 300"),
        ("while a job starts that ignores the request to end", "exec sh deaf.sh"),
    ] {
        let args = json!({ "command": command, "background": true });
        let script = calling("run_command", args);
        State { args: &ACTING, world: scripts, ..State::new(name, script, begun) }.check();
    }
}

#[test]
fn while_a_job_runs_or_is_stopped() {
    let start = || Reply::call("run_command", json!({ "command": "exec sh deaf.sh", "background": true }));
    let script = Script::new().say("executor", [start(), hanging(3)]);
    let state = State::new("in a stream, while a deaf job runs", script, |running, _, _| {
        running.wait_for(", and I was");
    });
    State { args: &ACTING, world: scripts, ..state }.check();
    let stop = Reply::call("job_stop", json!({ "id": 1 }));
    let script = Script::new().say("executor", [start(), stop, Reply::text("It was stopped.")]);
    let state = State::new("while a deaf job is stopped", script, |running, _, _| {
        running.wait_for("job_stop");
        std::thread::sleep(Duration::from_millis(100));
    });
    State { args: &ACTING, world: scripts, ..state }.check();
}

#[test]
fn while_the_check_of_a_step_runs() {
    let check = "echo $$ > here.pid; sleep 300";
    let step = json!({ "what": "Fix the operator", "files": ["src/lib.rs"], "check": check });
    let plan = Reply::call("submit_plan", json!({ "goal": "Make add add", "steps": [step] }));
    let script = || Script::new().say("planner", [plan.clone()]);
    let args = &["--yes", "--approval", "auto", "run"];
    State { args, ..State::new("in the check of a step", script(), begun) }.check();
    // The planner has looked by then, so git hangs only in what the check needs.
    let world = || slow_git("test -e half.pid");
    let plan = Reply::call(
        "submit_plan",
        json!({ "goal": "Make add add", "steps": [{ "what": "Fix it", "files": ["src/lib.rs"], "check": "echo 0 > half.pid" }] }),
    );
    let script = Script::new().say("planner", [plan]);
    State { args, world, ..State::new("in the look after a check", script, begun) }.check();
}

/// A session at a terminal, in which this is said, and which is left when it is ready again.
fn in_session(name: &str, script: Script, said: &str, reached: impl Fn(&mut Running, &World, &Server)) {
    let server = Server::start(script);
    let world = scripts();
    world.bind(&server, "");
    let before = standing(&world);
    let mut running = world.tandem(&["--approval", "ask"]).terminal().spawn();
    running.wait_for("> ");
    running.say(said);
    reached(&mut running, &world, &server);
    let began = Instant::now();
    running.say("\x03");
    running.wait_for("Interrupted.");
    running.wait_for("> ");
    told(name, began);
    // While the session goes on, not only when it is over.
    nothing_runs(&world, name);
    running.say("exit\n");
    running.wait();
    assert_eq!(standing(&world), before, "{name}");
}

#[test]
fn in_a_session_the_prompt_is_back() {
    let yes = |running: &mut Running, world: &World, server: &Server| {
        running.wait_for("anything else is no: ");
        running.say("y\n");
        begun(running, world, server);
    };
    let script = Script::new().say("planner", [hanging(3)]);
    in_session("in a session, in a stream", script, "what?\n", |running, _, _| running.wait_for("and I was"));
    let write = json!({ "path": "half-done.txt", "content": "x" });
    in_session(
        "in a session, at a question",
        calling("write_file", write),
        "/execute go\n",
        |running, _, _| {
            running.wait_for("anything else is no: ");
        },
    );
    let script = calling("run_command", json!({ "command": "exec sh deaf.sh" }));
    in_session("in a session, in a deaf command", script, "/execute go\n", yes);
    let script = calling("run_command", json!({ "command": "exec sh deaf.sh", "background": true }));
    in_session("in a session, while a job starts", script, "/execute go\n", yes);
}

#[test]
fn while_much_is_taken_back_it_can_be_finished_later() {
    let command = "for i in $(seq 1500); do echo $i > file-$i.txt; done";
    let server = Server::start(calling("run_command", json!({ "command": command })));
    let world = sums::world();
    world.bind(&server, "");
    let before = world.tree();
    world.tandem(&ACTING).and(&["go"]).run().expect(0);
    let count = || fs::read_dir(world.root()).unwrap().count();
    let changed = count();
    let running = world.tandem(&["undo"]).spawn();
    wait_until("the first file", || count() < changed);
    let began = Instant::now();
    running.signal("INT");
    let ran = running.wait();
    told("while much is taken back", began);
    if ran.code != 0 {
        ran.expect(130);
        world.tandem(&["undo"]).run().expect(0);
    }
    assert_eq!(world.tree(), before);
}
