//! The window: summaries that make room for long, what they replaced, and an estimate that learns from the provider.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::sums;
use crate::support::reply::{Reply, Tokens};
use crate::support::request::Request;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::World;

const WINDOW: u64 = 8192;

fn notes(count: usize, lines: usize) -> World {
    let world = sums::world();
    for number in 0..count {
        let line = |line: usize| format!("note {number} line {line}: nothing to see here\n");
        world.write(&format!("notes/{number}.txt"), &(0..lines).map(line).collect::<String>());
    }
    world
}

fn read(number: usize, aloud: usize) -> Reply {
    Reply {
        text: "It may matter. ".repeat(aloud),
        ..Reply::call("read_file", json!({ "path": format!("notes/{number}.txt") }))
    }
}

/// Reads the notes one after the other, thinking aloud so many times at each.
fn reader(count: usize, aloud: usize) -> impl Fn(&Request) -> Reply {
    let round = AtomicUsize::new(0);
    move |_| match round.fetch_add(1, Ordering::Relaxed) {
        number if number < count => read(number, aloud),
        _ => Reply::text("None matters."),
    }
}

#[test]
fn a_summary_makes_room_for_several_rounds() {
    for aloud in [60, 150, 400] {
        let script = Script::new()
            .think("executor", reader(40, aloud))
            .think("compaction", |_| Reply::text("Goal: read the notes. Done so far: none matters."));
        let server = Server::start(script);
        let world = notes(40, 7);
        world.bind(&server, &format!("[roles.executor]\ncontext_window = {WINDOW}\n"));
        world.tandem(&["run", "--no-plan", "read the notes"]).run().expect(0);
        let (rounds, summaries) = (server.of("executor").len(), server.of("compaction").len());
        assert_eq!(rounds, 41, "{aloud}");
        let order: String = server.chats().iter().map(|chat| &chat.role()[..1]).collect();
        assert!(summaries > 0 && !order.contains("cc"), "{aloud}: {order}");
        // Room for one round costs a summary a round: that is thrashing.
        assert!(!order.contains("ecec"), "{aloud}: {order}");
    }
}

#[test]
fn what_a_summary_replaced_is_read_back_by_its_id() {
    const MARK: &str = "can be read with `recall` and the id ";
    let round = AtomicUsize::new(0);
    let mind = move |request: &Request| {
        let text = request.text();
        if let Some((_, rest)) = text.split_once(MARK) {
            let id: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
            let recalled = text.contains("[recalled already]");
            return match recalled {
                false => {
                    Reply { text: "[recalled already]".into(), ..Reply::call("recall", json!({ "id": id })) }
                }
                true => Reply::text("I read it again."),
            };
        }
        read(round.fetch_add(1, Ordering::Relaxed), 60)
    };
    let server = Server::start(Script::new().think("executor", mind));
    let world = notes(60, 3);
    world.bind(&server, "[roles.executor]\ncontext_window = 16384\n");
    world.tandem(&["run", "--no-plan", "read the notes"]).run().expect(0);
    let last = server.of("executor").pop().unwrap();
    let recalled = last.results().pop().unwrap();
    for text in ["read the notes", "notes/0.txt", "note 0 line 2: nothing to see here"] {
        assert!(recalled.contains(text), "{text:?} is not in:\n{recalled}");
    }
    let earlier = &server.of("executor")[server.of("executor").len() - 2];
    assert!(!earlier.text().contains("note 0 line 2"), "it was gone before");
}

/// The round at which the first warning comes when the provider counts `factor` tokens for each of the usual ones.
fn first_warning(factor: u64) -> usize {
    let reading = reader(30, 30);
    let mind = move |request: &Request| {
        let prompt = factor * (request.raw.chars().count() as u64 / 4 + 1);
        Reply { usage: Some(Tokens { prompt, cached: 0, completion: 100 }), ..reading(request) }
    };
    let server = Server::start(Script::new().think("executor", mind));
    let world = notes(30, 7);
    world.bind(&server, "[roles.executor]\ncontext_window = 16384\n");
    let ran = world
        .tandem(&["--output-format", "stream-json", "run", "--no-plan", "read the notes"])
        .run()
        .expect(0);
    let events = ran.events();
    let warned = events.iter().position(|event| event["payload"]["stage"] == "warn").expect("a warning");
    events[..warned].iter().filter(|event| event["type"] == "tool_result").count()
}

#[test]
fn a_provider_that_counts_more_tokens_makes_the_stages_come_earlier() {
    let (usual, doubled) = (first_warning(1), first_warning(2));
    assert!(doubled < usual, "{doubled} against {usual} rounds");
    assert!(doubled <= usual / 2, "{doubled} against {usual} rounds");
}

#[test]
fn no_request_is_larger_than_a_window_whose_tokens_are_counted_double() {
    let reading = reader(30, 30);
    let mind = move |request: &Request| {
        let prompt = 2 * (request.raw.chars().count() as u64 / 4 + 1);
        Reply { usage: Some(Tokens { prompt, cached: 0, completion: 100 }), ..reading(request) }
    };
    let server = Server::start(Script::new().think("executor", mind));
    let world = notes(30, 7);
    world.bind(&server, "[roles.executor]\ncontext_window = 16384\n");
    world.tandem(&["run", "--no-plan", "read the notes"]).run().expect(0);
    let counted = |request: &Arc<Request>| request.raw.chars().count() as u64 / 2;
    let too_long: Vec<u64> =
        server.of("executor").iter().map(counted).filter(|tokens| *tokens > 16384).collect();
    assert_eq!(too_long, Vec::<u64>::new());
}
