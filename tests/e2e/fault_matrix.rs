//! Every way in which a model server can fail, through the binary: the exit code, the number of requests, and the words.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::support::black_hole::BlackHole;
use crate::support::reply::{Fault, Reply};
use crate::support::run::Ran;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::{World, all_roles, merge};

const ANSWER: &str = "It subtracts.";

/// With three retries, a fault that may pass is met four times.
const TRIES: usize = 4;

/// Three faults of the protocol in a row are enough.
const PROTOCOL: usize = 3;

struct Row {
    name: &'static str,
    fault: Fault,
    /// When the fault stays: the exit code, the requests, and what standard error says.
    stays: (i32, usize, &'static [&'static str]),
    /// When the fault goes after the first request: the exit code and the requests.
    passes: (i32, usize),
}

fn status(status: u16, headers: &[(&str, &str)], message: &str) -> Fault {
    let body = format!("{{\"error\":{{\"message\":\"{message}\"}}}}");
    Fault::Status { status, body, headers: owned(headers) }
}

fn raw(headers: &[(&str, &str)], body: impl Into<Vec<u8>>, cut: bool) -> Fault {
    Fault::Raw { headers: owned(headers), body: body.into(), cut }
}

fn owned(headers: &[(&str, &str)]) -> std::collections::BTreeMap<String, String> {
    headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

const STREAM: (&str, &str) = ("content-type", "text/event-stream");
const HALF: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It multi\"}}]}\n\n";
const WHOLE: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It subtracts.\"},\
                     \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
/// The beginning of a packed stream.
const GZIP: [u8; 12] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x4B, 0x49];

#[rustfmt::skip]
fn rows() -> Vec<Row> {
    let row = |name, fault, stays, passes| Row { name, fault, stays, passes };
    vec![
        row("401", status(401, &[], "bad key"), (4, 1, &["(401)", "bad key", "TANDEM_TEST_KEY"]), (4, 1)),
        row("403", status(403, &[], "not yours"), (4, 1, &["(403)", "not yours", "TANDEM_TEST_KEY"]), (4, 1)),
        row("404", status(404, &[], "no such model"), (5, 1, &["(404)", "no such model"]), (5, 1)),
        row("400", status(400, &[], "odd field"), (5, 1, &["(400)", "odd field"]), (5, 1)),
        // With nothing to summarise yet, there is no second try.
        row("400 overflow", status(400, &[], "maximum context length is 8192"),
            (5, 1, &["(400)", "maximum context length is 8192", "too long"]), (5, 1)),
        row("408", status(408, &[], "slow"), (5, TRIES, &["(408)", "slow", "4 tries"]), (0, 2)),
        row("409", status(409, &[], "busy"), (5, TRIES, &["(409)", "busy", "4 tries"]), (0, 2)),
        row("429 without Retry-After", status(429, &[], "slow down"), (5, TRIES, &["(429)", "slow down", "4 tries"]), (0, 2)),
        row("429 with Retry-After", status(429, &[("retry-after-ms", "20")], "slow down"),
            (5, TRIES, &["(429)", "slow down", "4 tries"]), (0, 2)),
        row("429 with a Retry-After of a day", status(429, &[("retry-after", "86400")], "come back"),
            (5, 1, &["(429)", "come back"]), (5, 1)),
        row("500", status(500, &[], "kaput"), (5, TRIES, &["(500)", "kaput", "4 tries"]), (0, 2)),
        row("503", status(503, &[], "overloaded"), (5, TRIES, &["(503)", "overloaded", "4 tries"]), (0, 2)),
        row("stall before the first token", Fault::Hang { after: 0 },
            (5, TRIES, &["waiting for the first token", "4 tries"]), (0, 2)),
        row("stall in mid-stream", Fault::Hang { after: 2 }, (5, TRIES, &["between tokens", "4 tries"]), (0, 2)),
        row("cut in mid-event", Fault::Cut { after: 2 }, (5, TRIES, &["network fault", "4 tries"]), (0, 2)),
        row("reset in mid-stream", Fault::Reset { after: 2 }, (5, TRIES, &["reset", "4 tries"]), (0, 2)),
        row("cut between events", raw(&[STREAM], HALF, true), (5, TRIES, &["network fault", "4 tries"]), (0, 2)),
        row("end in mid-event", Fault::Short { after: 2 },
            (5, PROTOCOL, &["ended before the reply was complete", "3 tries"]), (0, 2)),
        row("end between events", raw(&[STREAM], HALF, false),
            (5, PROTOCOL, &["ended before the reply was complete", "3 tries"]), (0, 2)),
        // A connection that closes unheard is opened once more at once, whatever the retries.
        row("dropped connection", Fault::Drop {}, (5, TRIES + 1, &["network fault", "4 tries"]), (0, 2)),
        row("HTML error page with 200", raw(&[("content-type", "text/html")], "<html>502 Bad Gateway</html>", false),
            (5, PROTOCOL, &["is base_url right?", "<html>502 Bad Gateway</html>", "3 tries"]), (0, 2)),
        row("empty 200", raw(&[STREAM], "", false), (5, PROTOCOL, &["the reply is empty", "3 tries"]), (0, 2)),
        row("truncated gzip", raw(&[STREAM, ("content-encoding", "gzip")], GZIP, true),
            (5, PROTOCOL, &["compressed (gzip)", "3 tries"]), (0, 2)),
        row("wrong content type with a good body", raw(&[("content-type", "text/plain")], WHOLE, false),
            (0, 1, &[]), (0, 1)),
    ]
}

/// One question to the planner, and the requests that it took.
fn asked(replies: Vec<Reply>) -> (Ran, usize) {
    let server = Server::start(Script::new().say("planner", replies));
    let ran = ask(&server.url(), &["-p"]);
    (ran, server.of("planner").len())
}

fn ask(url: &str, command: &[&str]) -> Ran {
    let world = World::with(&[("README.md", "# sums\n")]);
    let mut table = all_roles(url);
    // Long enough for a busy machine, and met only by rows that stall.
    let network = "[network]\nretries = 3\nretry_first_ms = 1\nconnect_timeout_s = 1\nfirst_token_timeout_s = 2\nidle_timeout_s = 2\n";
    merge(&mut table, network.parse().unwrap());
    world.configure(&table.to_string());
    world.tandem(&[command, &["what does add do?"]].concat()).run()
}

fn problems(row: &Row) -> Vec<String> {
    let faulty = Reply::text(ANSWER).fault(row.fault.clone());
    let (code, requests, words) = row.stays;
    let (ran, sent) = asked(vec![Reply { repeat: 99, ..faulty.clone() }]);
    let mut problems = Vec::new();
    if (ran.code, sent) != (code, requests) || !words.iter().all(|word| ran.stderr.contains(word)) {
        problems.push(format!("{} stays: {sent} requests, {}", row.name, ran.all()));
    }
    let (code, requests) = row.passes;
    let (ran, sent) = asked(vec![faulty, Reply::text(ANSWER)]);
    let said = if code == 0 { format!("{ANSWER}\n") } else { String::new() };
    if (ran.code, sent) != (code, requests) || ran.stdout != said {
        problems.push(format!("{} passes: {sent} requests, {}", row.name, ran.all()));
    }
    problems
}

#[test]
fn each_fault_has_its_exit_code_its_number_of_requests_and_its_words() {
    let rows = rows();
    let problems: Vec<String> = thread::scope(|scope| {
        let played: Vec<_> = rows.iter().map(|row| scope.spawn(|| problems(row))).collect();
        played.into_iter().flat_map(|row| row.join().expect("a row is played to its end")).collect()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_port_that_nobody_listens_at_is_named() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ran = ask(&format!("http://{free}/v1"), &["-p"]).expect(5);
    for words in ["refused", &format!("http://{free}/v1"), "4 tries"] {
        assert!(ran.stderr.contains(words), "{words:?}\n{}", ran.all());
    }
}

#[test]
fn a_server_that_never_takes_the_connection_is_given_up() {
    let hole = BlackHole::open();
    let ran = ask(&hole.url(), &["run"]).expect(5);
    // No request arrives that could be counted; each try is one connect that ran into its limit.
    assert_eq!(ran.stderr.matches("failed, next in").count(), TRIES - 1, "{}", ran.all());
    for words in ["test/planner", "no answer within 1s (connecting)", "4 tries"] {
        assert!(ran.stderr.contains(words), "{words:?}\n{}", ran.all());
    }
}

#[test]
fn a_server_that_asks_to_wait_is_not_asked_before() {
    for (name, value, least) in
        [("retry-after", "1", Duration::from_secs(1)), ("retry-after-ms", "300", Duration::from_millis(300))]
    {
        let refusal = Reply::default().fault(status(429, &[(name, value)], "slow down"));
        let server = Server::start(Script::new().say("planner", [refusal, Reply::text(ANSWER)]));
        let ran = ask(&server.url(), &["run"]).expect(0);
        assert!(
            ran.stderr.contains("try 1 failed, next in") && ran.stderr.contains("slow down"),
            "{}",
            ran.all()
        );
        let [first, second] = &server.of("planner")[..] else { panic!("two requests\n{}", ran.all()) };
        assert!(second.at - first.at >= least, "{name}: {:?}", second.at - first.at);
    }
}

/// Looks at files until the history is worth a summary; then the server says that it is too long, so many times.
fn overflown(times: usize) -> (Ran, String) {
    let look = |file: usize| Reply::call("read_file", json!({ "path": format!("{file}.txt") }));
    let overflow = Reply::default().fault(status(400, &[], "maximum context length is 8192"));
    let replies = (0..8).map(look).chain([Reply { repeat: times, ..overflow }, Reply::text(ANSWER)]);
    let server = Server::start(Script::new().say("executor", replies.collect::<Vec<_>>()));
    let world = World::new();
    for file in 0..8 {
        world.write(&format!("{file}.txt"), &"nothing to see here\n".repeat(200));
    }
    world.bind(&server, "");
    let ran = world.tandem(&["run", "--no-plan", "what is in the files?"]).run();
    let order = server.chats().iter().skip(8).map(|chat| &chat.role()[..1]).collect::<String>();
    (ran, order)
}

#[test]
fn a_request_that_is_too_long_is_summarised_and_sent_once_more() {
    let (ran, order) = overflown(1);
    assert_eq!((ran.code, order.as_str()), (0, "ece"), "{}", ran.all());
    let (ran, order) = overflown(9);
    assert_eq!((ran.code, order.as_str()), (5, "ece"), "{}", ran.all());
    assert!(ran.stderr.contains("maximum context length is 8192"), "{}", ran.all());
}
