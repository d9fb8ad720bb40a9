//! What the log says was changed, act by act, and what of it still stands.

use std::collections::{BTreeMap, BTreeSet};

use tandem_shared::image::Imaged;
use tandem_shared::record::{Decision, Entry, Moment, Record};
use tandem_shared::undo::{ActRow, Scope};

/// A call, or a taking back, that changed files.
pub struct Act {
    pub id: String,
    pub changes: Vec<Imaged>,
    /// What of its changes is not known.
    pub uncovered: Vec<String>,
    tool: String,
    turn: u32,
    seq: u64,
    ts: u64,
    undone: bool,
    /// The acts that it takes back, if it is a taking back.
    of: Option<Vec<String>>,
}

impl Act {
    /// As it is told.
    pub fn row(&self) -> ActRow {
        let files: BTreeSet<String> = self.changes.iter().map(|change| change.path.clone()).collect();
        ActRow {
            id: self.id.clone(),
            tool: self.tool.clone(),
            turn: self.turn,
            ts: self.ts,
            files: files.into_iter().collect(),
            undone: self.undone,
        }
    }

    fn stands(&self) -> bool {
        !self.undone && self.of.is_none()
    }
}

/// All acts of a session, oldest first.
pub struct Ledger {
    acts: Vec<Act>,
    undos: usize,
    /// When each plan step was begun, as the number of a record.
    begun: BTreeMap<usize, u64>,
}

const UNDO: &str = "undo";
/// Begins the ids of what plan checks changed.
pub const CHECK: &str = "check";

/// Who is behind an act that no model called for.
fn harness(id: &str) -> &'static str {
    if id.starts_with(CHECK) { CHECK } else { UNDO }
}

impl Ledger {
    /// Folds the log.
    pub fn of(entries: &[Entry]) -> Ledger {
        let mut ledger = Ledger { acts: Vec::new(), undos: 0, begun: BTreeMap::new() };
        let mut turn = 0;
        let mut tools: BTreeMap<&str, &str> = BTreeMap::new();
        for entry in entries {
            match &entry.record {
                Record::TurnOpened { .. } => turn += 1,
                Record::Replied { calls, .. } => {
                    tools.extend(calls.iter().map(|call| (call.id.as_str(), call.name.as_str())));
                }
                Record::Imaged(imaged) => {
                    let tool =
                        tools.get(imaged.call_id.as_str()).copied().unwrap_or(harness(&imaged.call_id));
                    ledger.act(&imaged.call_id, tool, turn, entry).changes.push(imaged.clone());
                }
                Record::Uncovered { call_id, why } => {
                    let tool = tools.get(call_id.as_str()).copied().unwrap_or(harness(call_id));
                    ledger
                        .act(call_id, tool, turn, entry)
                        .uncovered
                        .push(format!("{call_id} ({tool}): {why}"));
                }
                Record::Undone { id, of, .. } => {
                    ledger.undos += 1;
                    ledger.act(id, UNDO, turn, entry).of = Some(of.clone());
                    ledger.take_back(of);
                }
                Record::Decided { decision: Decision::Approve { .. }, .. } => {
                    ledger.begun = BTreeMap::from([(0, entry.seq)]);
                }
                Record::Checked { step, moment: Moment::After, run, .. } if run.passed => {
                    // The step that comes after it begins now.
                    ledger.begun.insert(*step, entry.seq);
                }
                _ => {}
            }
        }
        ledger
    }

    fn act(&mut self, id: &str, tool: &str, turn: u32, entry: &Entry) -> &mut Act {
        // What was taken back is over, even if an interrupted check's number is used again.
        let known = self.acts.iter().position(|act| act.id == id && !act.undone);
        let index = known.unwrap_or_else(|| {
            self.acts.push(Act {
                id: id.to_owned(),
                changes: Vec::new(),
                uncovered: Vec::new(),
                tool: tool.to_owned(),
                turn,
                seq: entry.seq,
                ts: entry.ts,
                undone: false,
                of: None,
            });
            self.acts.len() - 1
        });
        &mut self.acts[index]
    }

    fn take_back(&mut self, of: &[String]) {
        let mut restored: Vec<String> = Vec::new();
        for act in self.acts.iter_mut().filter(|act| of.contains(&act.id)) {
            act.undone = true;
            restored.extend(act.of.iter().flatten().cloned());
        }
        // Taking back a taking back: what that had taken back stands again.
        for act in self.acts.iter_mut().filter(|act| restored.contains(&act.id)) {
            act.undone = false;
        }
    }

    /// All acts.
    pub fn acts(&self) -> &[Act] {
        &self.acts
    }

    /// The id of the next taking back.
    pub fn next_id(&self) -> String {
        // An id that a crash left behind without its record is not used again.
        let used = self.acts.iter().filter(|act| act.tool == UNDO).count();
        format!("{UNDO}-{}", used.max(self.undos) + 1)
    }

    /// The acts that `scope` names and that still stand, oldest first.
    ///
    /// # Errors
    /// When there are none; the text says why.
    pub fn choose(&self, scope: &Scope) -> Result<Vec<&Act>, String> {
        let all = || self.acts.iter().filter(|act| act.stands());
        let chosen: Vec<&Act> = match scope {
            Scope::NewestTurn => {
                let turn = all().map(|act| act.turn).max();
                all().filter(|act| Some(act.turn) == turn).collect()
            }
            Scope::Turn(turn) => all().filter(|act| act.turn == *turn).collect(),
            Scope::Call(id) => all().filter(|act| act.id == *id).collect(),
            Scope::PlanStep(step) => {
                let other = self.begun.iter().filter(|(number, _)| *number != step);
                let since = other.map(|(_, seq)| *seq).max().unwrap_or_default();
                all().filter(|act| act.seq > since).collect()
            }
            Scope::Redo => {
                // Only the newest: an older one was made on a tree that is gone.
                let newest = self.acts.iter().rev().find(|act| act.of.is_some() && !act.undone);
                newest.into_iter().collect()
            }
        };
        if chosen.is_empty() { Err(self.nothing(scope)) } else { Ok(chosen) }
    }

    fn nothing(&self, scope: &Scope) -> String {
        let known = |id: &str| self.acts.iter().find(|act| act.id == *id);
        match scope {
            Scope::Call(id) if known(id).is_some_and(|act| act.undone) => {
                format!("{id} is taken back already; `tandem undo --list` lists what can be taken back")
            }
            Scope::Call(id) => {
                format!("no call {id} changed a file; `tandem undo --list` lists what can be taken back")
            }
            Scope::Turn(turn) => format!("turn {turn} has no change that still stands"),
            Scope::Redo => "nothing was taken back that could be put back again".to_owned(),
            Scope::NewestTurn | Scope::PlanStep(_) => {
                "the session has no change that could be taken back".to_owned()
            }
        }
    }
}
