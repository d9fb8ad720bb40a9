//! The conversation: turns, rounds and steps, folded from the log.

use std::collections::{BTreeMap, HashMap};

use crate::call::{Outcome, Step, ToolCall};
use crate::model::OwnFields;
use crate::record::{Record, ReplyEnd, Stage, Summary, TurnEnd};
use crate::role::ActingRole;

/// The whole conversation. A call and its outcome are one [`Step`], so neither can be without the other:
///
/// ```compile_fail
/// use tandem_shared::{call::{Step, ToolCall}, history::Round};
/// fn orphan(call: ToolCall) -> Step {
///     Step { call }
/// }
/// ```
///
/// ```
/// use tandem_shared::call::{Outcome, Step, ToolCall};
/// fn whole(call: ToolCall) -> Step {
///     Step { call, outcome: Outcome::text("done") }
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct History {
    turns: Vec<Turn>,
    open: Option<OpenRound>,
    shown: HashMap<String, Shown>,
    compaction: Option<Compaction>,
}

/// One prompt to its answer.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Who works on it.
    pub role: ActingRole,
    /// The person's words; may be empty.
    pub prompt: String,
    /// Notes before the first round.
    pub notes: Vec<String>,
    /// The rounds so far.
    pub rounds: Vec<Round>,
    /// How it ended; `None` while it runs.
    pub end: Option<TurnEnd>,
}

/// One model reply and what it caused.
#[derive(Clone, Debug)]
pub struct Round {
    /// Counted from 1 over the whole session.
    pub number: u64,
    /// The reply's text.
    pub text: String,
    /// The reply's reasoning.
    pub reasoning: Option<String>,
    /// What the provider sent beside the known fields.
    pub own: OwnFields,
    /// `provider/model` that replied.
    pub model: String,
    /// The calls with their outcomes, in the reply's order.
    pub steps: Vec<Step>,
    /// Notes after all results.
    pub notes: Vec<String>,
    /// Why the reply ended.
    pub finish: ReplyEnd,
}

/// A part of the conversation that was replaced.
#[derive(Clone, Debug)]
pub struct Compaction {
    /// What stands in its place.
    pub summary: Summary,
    /// Blob id of the replaced part.
    pub archive: String,
    /// Rounds replaced, counted from the session's start.
    pub rounds: u64,
}

/// How much of a result is shown to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shown {
    /// All of it.
    Full,
    /// One line that says what it was and how to read it back.
    Reference,
    /// A bare marker with the id.
    Marker,
}

/// A reply whose calls do not all have their outcomes yet.
#[derive(Clone, Debug)]
struct OpenRound {
    text: String,
    reasoning: Option<String>,
    own: OwnFields,
    model: String,
    calls: Vec<ToolCall>,
    outcomes: BTreeMap<String, Outcome>,
    finish: ReplyEnd,
}

impl History {
    /// The turns, oldest first.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// All rounds of the session, oldest first, the replaced ones included.
    pub fn rounds(&self) -> impl DoubleEndedIterator<Item = &Round> {
        self.turns.iter().flat_map(|turn| &turn.rounds)
    }

    /// All steps of the session, oldest first.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = &Step> {
        self.rounds().flat_map(|round| &round.steps)
    }

    /// The part that was replaced, if any.
    pub fn compaction(&self) -> Option<&Compaction> {
        self.compaction.as_ref()
    }

    /// Rounds that a summary stands for.
    pub fn compacted_rounds(&self) -> u64 {
        self.compaction.as_ref().map_or(0, |compaction| compaction.rounds)
    }

    /// How much of the result of `call_id` is shown.
    pub fn shown(&self, call_id: &str) -> Shown {
        self.shown.get(call_id).copied().unwrap_or(Shown::Full)
    }

    /// Calls that have no outcome yet.
    pub fn pending(&self) -> Vec<ToolCall> {
        let Some(open) = &self.open else { return Vec::new() };
        open.calls.iter().filter(|call| !open.outcomes.contains_key(&call.id)).cloned().collect()
    }

    /// The call of that id, answered or not.
    pub fn call(&self, call_id: &str) -> Option<&ToolCall> {
        let pending = self.open.iter().flat_map(|open| &open.calls);
        self.steps().map(|step| &step.call).chain(pending).find(|call| call.id == call_id)
    }

    /// Takes in one record. Records that are no part of the conversation change nothing.
    pub fn apply(&mut self, record: &Record) {
        match record {
            Record::TurnOpened { role, prompt, .. } => self.turns.push(Turn {
                role: *role,
                prompt: prompt.clone(),
                notes: Vec::new(),
                rounds: Vec::new(),
                end: None,
            }),
            Record::Replied { model, text, reasoning, own, calls, finish, .. } => {
                self.open = Some(OpenRound {
                    text: text.clone(),
                    reasoning: reasoning.clone(),
                    own: own.clone(),
                    model: model.clone(),
                    calls: calls.clone(),
                    outcomes: BTreeMap::new(),
                    finish: *finish,
                });
                self.close_round();
            }
            Record::Stepped { call_id, outcome, .. } => {
                if let Some(open) = &mut self.open {
                    open.outcomes.insert(call_id.clone(), outcome.clone());
                }
                self.close_round();
            }
            Record::Noted { text, .. } => {
                if let Some(turn) = self.turns.last_mut() {
                    let place = match turn.rounds.last_mut() {
                        Some(round) => &mut round.notes,
                        None => &mut turn.notes,
                    };
                    place.push(text.clone());
                }
            }
            Record::Cut { stage, call_ids, .. } => {
                let shown = if *stage == Stage::Mask { Shown::Reference } else { Shown::Marker };
                for call_id in call_ids {
                    self.shown.insert(call_id.clone(), shown);
                }
            }
            Record::Compacted { summary, archive, rounds, .. } => {
                self.compaction = Some(Compaction {
                    summary: summary.clone(),
                    archive: archive.short().to_owned(),
                    rounds: *rounds,
                });
            }
            Record::TurnClosed { end } => {
                if let Some(turn) = self.turns.last_mut() {
                    turn.end = Some(end.clone());
                }
            }
            Record::Opened { .. }
            | Record::Said { .. }
            | Record::Unsaid { .. }
            | Record::Started { .. }
            | Record::Imaged(_)
            | Record::Settled { .. }
            | Record::Uncovered { .. }
            | Record::Undone { .. }
            | Record::Halted { .. }
            | Record::Planned { .. }
            | Record::Decided { .. }
            | Record::Checked { .. }
            | Record::Proved { .. }
            | Record::Struck { .. }
            | Record::Pressure { .. }
            | Record::Limited { .. }
            | Record::Resumed { .. } => {}
        }
    }

    /// Moves the open reply into the history once every call has its outcome.
    fn close_round(&mut self) {
        if !self.pending().is_empty() {
            return;
        }
        let number = self.rounds().count() as u64 + 1;
        let (Some(mut open), Some(turn)) = (self.open.take(), self.turns.last_mut()) else { return };
        let steps = open
            .calls
            .into_iter()
            .filter_map(|call| open.outcomes.remove(&call.id).map(|outcome| Step { call, outcome }))
            .collect();
        turn.rounds.push(Round {
            number,
            text: open.text,
            reasoning: open.reasoning,
            own: open.own,
            model: open.model,
            steps,
            notes: Vec::new(),
            finish: open.finish,
        });
    }
}
