//! What commands print: told while they run, held in flat memory, and kept as a whole.

use serde_json::json;

use crate::jobs::command;
use crate::support::peak::Peak;
use crate::support::reply::Reply;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::{World, files_holding};

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
    let id = &world.newest_session();
    let raw = world.tandem(&["sessions", "output", id, "output-2"]).output();
    assert_eq!(raw, b"a\xffb\n");
    let whole = world.tandem(&["sessions", "output", id, "output-1"]).output();
    assert_eq!(whole.iter().filter(|byte| **byte == b'\n').count(), 200_001);
    assert!(whole.windows(9).any(|part| part == b"needle \xff "));
    world.tandem(&["sessions", "output", id, "output-9"]).run().expect(1);
}

#[test]
fn no_secret_is_cut_in_two_at_the_border_of_a_long_output() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ0123456";
    let key = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ+/\\n".repeat(20);
    let world = World::new();
    world
        .write("one_line.py", &format!("import json\nprint(json.dumps([{{'token': '{token}'}}] * 60000))\n"));
    let keys = format!(
        "print('line\\n' * 300000 + '-----BEGIN PRIVATE KEY-----\\n{key}-----END PRIVATE KEY-----\\n' + 'last\\n' * 400)\n"
    );
    world.write("key.py", &keys);
    let server =
        Server::start(Script::new().say(
            "executor",
            [command("python3 one_line.py"), command("python3 key.py"), Reply::text("done")],
        ));
    world.bind(&server, "");
    let ran = world
        .tandem(&["--output-format", "stream-json", "run", "--no-plan", "--approval", "auto", "go"])
        .run()
        .expect(0);
    let results = server.of("executor").pop().unwrap().results().concat();
    for part in [&token[4..20], "ABCDEFGHIJ0123456", "0123456789ABCDEFG"] {
        assert!(!results.contains(part) && !ran.stdout.contains(part), "{part}");
        assert_eq!(files_holding(&world.state(), part), Vec::<std::path::PathBuf>::new());
    }
    let whole = world.tandem(&["sessions", "output", &world.newest_session(), "output-1"]).output();
    let whole = String::from_utf8(whole).unwrap();
    assert_eq!(whole.matches("ghp_***").count(), 60_000);
}
