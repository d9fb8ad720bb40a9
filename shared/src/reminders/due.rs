//! Which reminders are due, by the facts alone.

use super::row::{Demand, Note, Row};
use super::table::{TABLE, THINKING_TRACE};
use crate::facts::Facts;
use crate::settings::LoopSettings;
use crate::template::fill;

/// Reminders in one round at most, besides the thinking trace: more would drown each other.
const AT_MOST: usize = 2;

/// The reminders to place now, the higher rows of the table first. After an answer in words only those count that ask
/// for another round.
pub fn due(facts: &Facts, settings: &LoopSettings) -> Vec<Note> {
    let in_words = facts.round.finish.is_some() && facts.round.calls == 0;
    let rows = TABLE.iter().filter(|row| !in_words || row.demand == Demand::AnotherRound);
    rows.filter_map(|row| place(row, facts, settings)).take(AT_MOST).collect()
}

/// The note that carries what the thinking phase said.
pub fn trace(facts: &Facts, text: &str) -> Note {
    Note {
        id: THINKING_TRACE.id,
        occasion: facts.rounds.to_string(),
        text: fill(THINKING_TRACE.text, &[("trace", text.trim())]),
    }
}

fn place(row: &Row, facts: &Facts, settings: &LoopSettings) -> Option<Note> {
    let due = (row.when)(facts)?;
    let placed = facts.placed(row.id, &due.occasion);
    let rested = placed.times == 0 || facts.rounds >= placed.round + row.cool_down;
    if placed.times >= (row.cap)(settings) || !rested {
        return None;
    }
    let values: Vec<(&str, &str)> = due.values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Some(Note { id: row.id, text: fill(row.text, &values), occasion: due.occasion })
}
