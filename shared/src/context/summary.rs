//! The last stage: the middle of the conversation becomes a summary, written by a model or put together from facts.

use super::wire::result_text;
use crate::facts::Facts;
use crate::history::{History, Round, Shown};
use crate::model::{PlainMessage, PlainRequest, Speaker};
use crate::record::Summary;
use crate::template::fill;

/// Characters of one result in the text that is summarised.
const RESULT_CHARS: usize = 1500;
const SYSTEM: &str = include_str!("../../../prompts/system/compaction.md");
const REQUEST: &str = include_str!("../../../prompts/notes/compaction_request.md");
/// The headings of a summary, in order, as the prompt asks for them.
const HEADINGS: [&str; 5] = ["goal", "changes done", "confirmed", "guesses", "open"];

/// The number of the last round that a summary would replace: all but the newest `keep`. `None` when that is nothing
/// new. Rounds are whole, so no call is parted from its result.
pub fn fold_point(history: &History, keep: usize) -> Option<u64> {
    let rounds = history.rounds().count() as u64;
    let upto = rounds.saturating_sub(keep as u64);
    (upto > history.compacted_rounds()).then_some(upto)
}

/// The rounds up to `upto` in full, for the archive.
pub fn transcript(history: &History, upto: u64) -> String {
    render(history, upto, usize::MAX)
}

/// Asks for a summary of the rounds up to `upto`; `room` is what the text may take, in bytes.
pub fn compaction_request(history: &History, upto: u64, room: usize) -> PlainRequest {
    let earlier = match history.compaction() {
        Some(earlier) => write(&earlier.summary),
        None => "(none)".to_owned(),
    };
    let mut text = render(history, upto, RESULT_CHARS);
    if text.len() > room {
        // The newest rounds matter most to what comes next.
        let start =
            (text.len() - room..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        text = format!("[… the beginning does not fit …]\n{}", text.get(start..).unwrap_or_default());
    }
    PlainRequest {
        system: fill(SYSTEM, &[]),
        messages: vec![PlainMessage {
            speaker: Speaker::User,
            text: fill(REQUEST, &[("earlier", &earlier), ("rounds", &text)]),
        }],
        max_tokens: None,
    }
}

/// Reads a model's summary by its headings. `None` when one of goal, changes and open is missing: then it is no
/// summary that work can go on from.
pub fn parse(text: &str) -> Option<Summary> {
    let mut parts: [Option<String>; 5] = Default::default();
    let mut at = None;
    for line in text.lines() {
        let heading =
            line.trim().strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim().to_lowercase());
        match heading.and_then(|name| HEADINGS.iter().position(|known| name.starts_with(known))) {
            Some(index) => {
                at = Some(index);
                parts[index].get_or_insert_default();
            }
            None => {
                if let Some(part) = at.and_then(|index| parts.get_mut(index)).and_then(Option::as_mut) {
                    part.push_str(line);
                    part.push('\n');
                }
            }
        }
    }
    let [goal, changes, confirmed, guesses, open] = parts.map(|part| part.map(|text| text.trim().to_owned()));
    Some(Summary {
        goal: goal.filter(|goal| !goal.is_empty())?,
        changes: changes?,
        confirmed: confirmed.unwrap_or_default(),
        guesses: guesses.unwrap_or_default(),
        open: open?,
        by_model: true,
    })
}

/// A summary from facts alone, for when no model gave a usable one.
pub fn fallback(facts: &Facts, history: &History, upto: u64) -> Summary {
    let goal = match &facts.plan {
        Some(plan) => plan.plan.goal().to_owned(),
        None => history.turns().first().map(|turn| turn.prompt.clone()).unwrap_or_default(),
    };
    let changes = facts.changed.iter().map(|(path, c)| format!("- {path}: +{} −{}", c.added, c.removed));
    let read: Vec<String> = facts.seen.keys().map(|path| format!("- {path}")).collect();
    let calls = history.rounds().filter(|round| round.number <= upto).flat_map(|round| &round.steps);
    let failed = calls
        .filter(|step| step.outcome.as_str() != "ok")
        .map(|step| format!("- {} {}: {}", step.call.name, step.call.arguments, step.outcome.as_str()));
    let open = facts.open_steps().iter().map(|number| format!("- plan step {number}")).collect::<Vec<_>>();
    Summary {
        goal,
        changes: or_none(changes.collect()),
        confirmed: format!(
            "Files read or written so far:\n{}\nCalls that failed:\n{}",
            or_none(read),
            or_none(last(failed, 20))
        ),
        guesses: String::new(),
        open: or_none(open),
        by_model: false,
    }
}

fn last(lines: impl Iterator<Item = String>, most: usize) -> Vec<String> {
    let all: Vec<String> = lines.collect();
    all.get(all.len().saturating_sub(most)..).unwrap_or_default().to_vec()
}

fn or_none(lines: Vec<String>) -> String {
    if lines.is_empty() { "(none)".to_owned() } else { lines.join("\n") }
}

fn write(summary: &Summary) -> String {
    let parts = [&summary.goal, &summary.changes, &summary.confirmed, &summary.guesses, &summary.open];
    HEADINGS.iter().zip(parts).map(|(name, part)| format!("## {name}\n{part}\n")).collect()
}

fn render(history: &History, upto: u64, result_chars: usize) -> String {
    let from = if result_chars == usize::MAX { 0 } else { history.compacted_rounds() };
    let wanted = |round: &&Round| round.number > from && round.number <= upto;
    let mut text = String::new();
    for turn in history.turns() {
        let mut rounds = turn.rounds.iter().filter(wanted).peekable();
        if rounds.peek().is_some() && !turn.prompt.is_empty() {
            text.push_str(&format!("USER: {}\n", turn.prompt));
        }
        for round in rounds {
            if !round.text.is_empty() {
                text.push_str(&format!("ASSISTANT: {}\n", round.text));
            }
            for step in &round.steps {
                let result = result_text(step, Shown::Full);
                let cut: String = result.chars().take(result_chars).collect();
                let more = if cut.len() < result.len() { " […]" } else { "" };
                text.push_str(&format!(
                    "CALL {} {}\nRESULT: {cut}{more}\n",
                    step.call.name, step.call.arguments
                ));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_read_by_its_headings() {
        let text = "Sure:\n## Goal\nFix add\n## Changes done\n- none\n### Confirmed\n- a\n- b\n## Guesses\n## Open\nall";
        let expect = Summary {
            goal: "Fix add".into(),
            changes: "- none".into(),
            confirmed: "- a\n- b".into(),
            guesses: String::new(),
            open: "all".into(),
            by_model: true,
        };
        assert_eq!(parse(text), Some(expect));
    }

    #[test]
    fn words_without_the_fields_are_no_summary() {
        assert_eq!(parse("We fixed it."), None);
        assert_eq!(parse("## Goal\n\n## Changes done\nx\n## Open\ny"), None);
    }
}
