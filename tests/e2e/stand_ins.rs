//! What stands in for a thing that is missing: another model for one that is down, an estimate for a count.

use serde_json::{Value, json};

use crate::sums;
use crate::support::reply::{Fault, Reply, Tokens};
use crate::support::run::Ran;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::KEY_VARIABLE;

/// `tandem ARGS` where the planner's server is down and a second server stands in; with how often each was asked.
fn with_a_stand_in(args: &[&str]) -> (Ran, usize, usize) {
    let kaput = Fault::Status { status: 500, body: "kaput".into(), headers: [].into() };
    let down =
        Server::start(Script::new().say("planner", [Reply { repeat: 99, ..Reply::default().fault(kaput) }]));
    let spare = Server::start(Script::new().say("planner-b", [Reply::text("It subtracts.")]));
    let world = sums::world();
    let more = format!(
        "[network]\nretries = 2\nretry_first_ms = 1\n[roles.planner]\nfallback = [\"spare/planner-b\"]\n\
         [providers.spare]\nbase_url = \"{}\"\napi_key_env = \"{KEY_VARIABLE}\"\n",
        spare.url()
    );
    world.bind(&down, &more);
    let ran = world.tandem(args).run().expect(0);
    (ran, down.of("planner").len(), spare.of("planner").len())
}

#[test]
fn where_the_retries_are_spent_the_fallback_answers_and_is_named() {
    let (ran, down, spare) = with_a_stand_in(&["--output-format", "stream-json", "run", "what does add do?"]);
    assert_eq!((down, spare), (3, 1), "{}", ran.all());
    let notices: Vec<String> =
        ran.payloads("notice").iter().map(|notice| notice["text"].as_str().unwrap().to_owned()).collect();
    let [notice] = &notices[..] else { panic!("one notice: {notices:#?}") };
    assert!(notice.contains("kaput") && notice.ends_with("; asking spare/planner-b instead"), "{notice}");
    let report = &ran.payloads("done")[0]["report"];
    assert_eq!(report["answer"], "It subtracts.");
    assert_eq!(report["spent"]["planner"]["models"], json!(["spare/planner-b"]));

    let (ran, ..) = with_a_stand_in(&["run", "what does add do?"]);
    assert!(ran.stderr.contains("asking spare/planner-b instead"), "{}", ran.all());
    let spent = ran.stderr.lines().find(|line| line.contains("planner: 1 request")).unwrap();
    assert!(spent.ends_with("(spare/planner-b)"), "{}", ran.all());
}

#[test]
fn a_server_that_cuts_long_requests_is_told_of_once() {
    let few = Some(Tokens { prompt: 100, cached: 0, completion: 5 });
    let look = |path: &str| Reply { usage: few, ..Reply::call("list_dir", json!({ "path": path })) };
    let replies = [look("."), look("src"), Reply { usage: few, ..Reply::text("It subtracts.") }];
    let server = Server::start(Script::new().say("planner", replies));
    let world = sums::world();
    world.bind(&server, "");
    let task = format!("what does add do? {}", "Look closely. ".repeat(2_000));
    let ran = world.tandem(&["--output-format", "stream-json", "run", &task]).run().expect(0);
    assert_eq!(server.of("planner").len(), 3);
    let notices = ran.payloads("notice");
    let [notice] = &notices[..] else { panic!("one notice\n{}", ran.all()) };
    let text = notice["text"].as_str().unwrap();
    assert!(text.starts_with("test/planner counted 100 prompt tokens where about "), "{text}");
    assert!(text.contains("seems to cut long requests"), "{text}");
}

#[test]
fn tokens_that_no_server_counted_are_marked() {
    for (no_usage, marked) in [(true, true), (false, false)] {
        let answer = Reply { no_usage, ..Reply::text("It subtracts.") };
        let server = Server::start(Script::new().say("planner", [answer.clone(), answer]));
        let world = sums::world();
        world.bind(&server, "");
        let ran = world.tandem(&["--output-format", "json", "-p", "what does add do?"]).run().expect(0);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        let spent = &report["spent"]["planner"];
        assert_eq!(spent["estimated"], marked, "{}", ran.all());
        assert!(spent["prompt"].as_u64() > Some(0) && spent["completion"].as_u64() > Some(0), "{spent}");
        let ran = world.tandem(&["run", "what does add do?"]).run().expect(0);
        let spent = ran.stderr.lines().find(|line| line.contains("planner: 1 request, ")).unwrap();
        assert_eq!(spent.matches("about ").count(), if marked { 2 } else { 0 }, "{}", ran.all());
    }
}
