//! A long output is kept whole under an id that the model can read back.

use serde_json::json;

use crate::support::reply::Reply;
use crate::support::request::Request;
use crate::support::script::Script;
use crate::support::server::Server;
use crate::support::world::World;

/// The first word of the text that looks like an id after `recall`.
pub fn id_in(text: &str) -> String {
    let (_, rest) = text.split_once("recall").unwrap_or_default();
    let words = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
    words
        .filter(|word| word.len() >= 6 && word.contains(|c: char| c.is_ascii_digit()))
        .map(str::to_owned)
        .next()
        .unwrap_or_default()
}

/// What the model reads of the command's output, and what `recall` then reads back.
fn counted_to(lines: usize) -> (String, String) {
    let command = format!("i=0; while [ $i -lt {lines} ]; do echo line-$i; i=$((i+1)); done");
    let mind = move |request: &Request| match request.results().as_slice() {
        [] => Reply::call("run_command", json!({ "command": command })),
        [long] => Reply::call("recall", json!({ "id": id_in(long) })),
        _ => Reply::text("done"),
    };
    let server = Server::start(Script::new().think("executor", mind));
    let world = World::new();
    world.bind(&server, "");
    world.tandem(&["run", "--no-plan", "--approval", "auto", "count"]).run().expect(0);
    let mut results = server.of("executor").pop().unwrap().results();
    (results.remove(0), results.remove(0))
}

#[test]
fn a_long_output_is_cut_in_the_conversation_and_whole_behind_its_id() {
    let (cut, whole) = counted_to(1400);
    assert!(cut.contains("line-0\n") && cut.contains("line-1399") && !cut.contains("line-700\n"), "{cut}");
    let lost: Vec<usize> = (0..1400).filter(|line| !whole.contains(&format!("line-{line}\n"))).collect();
    assert_eq!(lost, Vec::<usize>::new());
}
#[test]
fn the_middle_of_a_very_long_output_is_not_lost() {
    let (cut, first_page) = counted_to(20_000);
    assert!(cut.contains("line-0\n") && cut.contains("line-19999"), "{cut}");
    assert!(cut.chars().count() < 16_000, "{} characters", cut.chars().count());
    let lost: Vec<usize> = (0..1500).filter(|line| !first_page.contains(&format!("line-{line}\n"))).collect();
    assert_eq!(lost, Vec::<usize>::new());
}
