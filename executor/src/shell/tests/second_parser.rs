//! Another parser of the shell's language finds no program that ours does not.

use std::collections::BTreeSet;
use std::path::Path;

use brush_parser::{Parser, ParserOptions, unquote_str, word};
use serde_json::Value;

use super::composed::{ACTING, Choices, composed};
use crate::shell::{Judgement, Place, Rules, judge, parse};

/// Compositions that are compared beside the shared cases.
const COMPOSED: u64 = 1_500;
/// Words inside words that are looked into.
const DEPTH: usize = 12;

/// Names of the programs that the other parser finds; `None` when it cannot read the text.
fn names(text: &str, depth: usize) -> Option<BTreeSet<String>> {
    let program = Parser::new(text.as_bytes(), &ParserOptions::default()).parse_program().ok()?;
    let mut found = BTreeSet::new();
    walk(&serde_json::to_value(&program).ok()?, depth, &mut found);
    Some(found)
}

fn walk(node: &Value, depth: usize, found: &mut BTreeSet<String>) {
    match node {
        Value::Object(members) => {
            let text = |name: &str| members.get(name)?.get("value")?.as_str();
            let known = |name: &&str| !name.contains(['$', '`', '*', '?', '[', '{', '~']);
            if let Some(name) = text("word_or_name").filter(known) {
                let name = unquote_str(name);
                found.insert(name.rsplit('/').next().unwrap_or_default().to_owned());
            }
            let quoted_heredoc =
                members.contains_key("here_end") && !members.contains_key("requires_expansion");
            for (name, member) in members {
                if !(quoted_heredoc && name == "doc") {
                    walk(member, depth, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, depth, found)),
        Value::String(text) if text.contains(['$', '`']) && depth > 0 => {
            let pieces = word::parse(text, &ParserOptions::default()).ok();
            let pieces = pieces.and_then(|pieces| serde_json::to_value(pieces).ok());
            pieces.iter().for_each(|pieces| walk_pieces(pieces, depth - 1, found));
        }
        _ => {}
    }
}

/// The pieces of a word: scripts are parsed, quoted text is nothing, and what else holds a text may be a word again.
fn walk_pieces(node: &Value, depth: usize, found: &mut BTreeSet<String>) {
    match node {
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), member) {
                    ("CommandSubstitution" | "BackquotedCommandSubstitution", Value::String(script)) => {
                        found.extend(names(script, depth).unwrap_or_default());
                    }
                    ("Text" | "SingleQuotedText" | "AnsiCQuotedText" | "EscapeSequence", _) => {}
                    (_, Value::String(_)) => walk(member, depth, found),
                    _ => walk_pieces(member, depth, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk_pieces(item, depth, found)),
        _ => {}
    }
}

#[test]
fn a_second_parser_finds_no_program_that_ours_does_not() {
    let cases =
        crate::cases::load("shell-policy").into_iter().map(|case| case["cmd"].as_str().unwrap().to_owned());
    let made = (0..COMPOSED).map(|seed| {
        let mut choices = Choices(seed);
        let core = choices.of(ACTING);
        composed(core, usize::try_from(seed % 5).unwrap(), &mut choices)
    });
    let (mut compared, mut differing) = (0, Vec::new());
    for command in cases.chain(made) {
        let Some(theirs) = names(&command, DEPTH) else { continue };
        compared += 1;
        let script = parse(&command);
        let ours: BTreeSet<String> = script.commands.iter().map(|simple| simple.name().to_owned()).collect();
        let missed: Vec<&String> = theirs.difference(&ours).collect();
        if !missed.is_empty() && script.odd.is_empty() {
            let judged = judge(&command, &Rules::default(), Place { root: Path::new("/srv/project") });
            differing.push(format!(
                "{command:?}: {missed:?} not in {ours:?} ({judged:?}, looks: {})",
                judged == Judgement::Looks
            ));
        }
    }
    println!("{compared} commands compared");
    assert!(compared > 800, "only {compared} commands could be compared");
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}
