//! What a reminder is: an id, a text, a condition on the facts, and limits.

use crate::facts::Facts;
use crate::settings::LoopSettings;

/// A row of the table. There is none without a cap:
///
/// ```compile_fail
/// use tandem_shared::reminders::{Category, Demand, Row};
/// let row = Row {
///     id: "endless", category: Category::Limits, text: "Again.", demand: Demand::Nothing, cool_down: 0, when: |_| None,
/// };
/// ```
///
/// ```
/// use tandem_shared::reminders::{Category, Demand, Row};
/// let row = Row {
///     id: "once", category: Category::Limits, text: "Once.", demand: Demand::Nothing, cap: |_| 1, cool_down: 0, when: |_| None,
/// };
/// ```
#[derive(Clone, Copy)]
pub struct Row {
    /// Its name, which is also that of its prompt file.
    pub id: &'static str,
    /// The group it belongs to.
    pub category: Category,
    /// Its prompt file.
    pub text: &'static str,
    /// Whether an answer in words that it meets is sent back.
    pub demand: Demand,
    /// Times it is placed on one occasion.
    pub cap: fn(&LoopSettings) -> u32,
    /// Rounds between two placings on one occasion.
    pub cool_down: u64,
    /// Its condition.
    pub when: fn(&Facts) -> Option<Due>,
}

/// The groups of reminders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Loops, windows, budgets.
    Limits,
    /// After a tool error.
    ErrorRecovery,
    /// Before a turn ends.
    Completion,
    /// Where a task stands.
    TaskLifecycle,
    /// Planning, thinking, acting.
    PhaseControl,
    /// Ways of looking.
    Exploration,
}

/// Whether a reminder asks for another round where the model ended in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// It waits for the next round, if there is one.
    Nothing,
    /// The words are no answer yet: the model is asked again.
    AnotherRound,
}

/// A condition that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// What the cap counts by.
    pub occasion: String,
    /// For the places of the text.
    pub values: Vec<(&'static str, String)>,
}

/// A reminder to be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The row's id.
    pub id: &'static str,
    /// What the cap counts by.
    pub occasion: String,
    /// As the model reads it.
    pub text: String,
}
