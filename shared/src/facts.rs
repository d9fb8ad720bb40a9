//! What the store knows: counters and states folded from the log, which reminders and reports read.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::call::{Artifact, ErrorKind, Outcome, ToolCall};
use crate::digest::Digest;
use crate::doom_loop::Fingerprint;
use crate::journal::GrantedBy;
use crate::plan::{Approver, Plan, StepStatus};
use crate::proof::{CheckRun, StepProof, Verdict};
use crate::record::{Decision, Moment, Record, ReplyEnd, Spent, TurnEnd};
use crate::role::{ActingRole, Role};

/// Calls that the loop guard can look back on at most; its window is a setting below this.
const GUARD_MEMORY: usize = 100;

/// A fold over the log. Kept in the same transaction as the records that made it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Facts {
    /// The newest plan, if any.
    pub plan: Option<PlanFacts>,
    /// Digest of each file when the agent last read or wrote it.
    pub seen: BTreeMap<String, Digest>,
    /// What the agent changed in this session.
    pub changed: BTreeMap<String, Change>,
    /// How often each reminder was placed, by id and occasion.
    pub reminders: BTreeMap<String, Placed>,
    /// What the loop guard remembers.
    pub guard: Guard,
    /// Tokens and money by role.
    pub spent: BTreeMap<Role, RoleSpent>,
    /// The turn that runs.
    pub turn: TurnFacts,
    /// The newest round.
    pub round: RoundFacts,
    /// How full the model's window is.
    pub context: ContextFacts,
    /// Times the session was taken up again.
    pub resumes: u32,
    /// Calls that were in flight when it was last taken up again.
    pub interrupted: Vec<String>,
    /// Rounds of the session.
    pub rounds: u64,
    /// Turns of the session.
    pub turns: u32,
    /// Calls of the session that were given leave to act.
    pub acts: u64,
    /// Who gave leave to calls in flight.
    pub granted: BTreeMap<String, GrantedBy>,
}

/// The newest plan and where its steps stand.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlanFacts {
    /// The plan.
    pub plan: Plan,
    /// Who approved it; `None` before.
    pub approved: Option<Approver>,
    /// The comment that asked for another draft.
    pub comment: Option<String>,
    /// Drafts that were sent back, this plan's ancestors included.
    pub revisions: u32,
    /// One for each step of the plan.
    pub steps: Vec<StepFacts>,
    /// Calls since the model last saw the plan.
    pub calls_since_seen: u32,
    /// Whether its execution ended with every step settled.
    pub finished: bool,
}

/// Where one plan step stands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StepFacts {
    /// By the model's word.
    pub status: Option<StepStatus>,
    /// The model's note.
    pub note: String,
    /// The check before the step's work.
    pub before: Option<CheckRun>,
    /// Files changed in the session, with their digests, when that check ran.
    pub changed_at_baseline: BTreeMap<String, Digest>,
    /// The newest check after it.
    pub after: Option<CheckRun>,
    /// Calls that had acted in the session when that check ran.
    pub acts_at_check: u64,
    /// Failures of the check after the work.
    pub failures: u32,
    /// The harness's judgement.
    pub proof: Option<StepProof>,
}

/// What became of a file over the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Before the session first wrote it; `None` when it made the file.
    pub before: Option<Digest>,
    /// Now.
    pub after: Digest,
    /// Lines added by all edits.
    pub added: usize,
    /// Lines removed by all edits.
    pub removed: usize,
}

/// How often a reminder was placed on one occasion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    /// Times.
    pub times: u32,
    /// The round of the session after which it was placed last.
    pub round: u64,
}

/// What the loop guard remembers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Guard {
    /// The newest calls since the last user message.
    pub seen: VecDeque<Fingerprint>,
    /// The loop that was struck, if any.
    pub struck: Option<Struck>,
    /// Loops struck in the session.
    pub loops: u32,
}

/// A loop that was struck.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Struck {
    /// Its calls.
    pub keys: Vec<Digest>,
    /// Strikes so far.
    pub strikes: u32,
}

/// Tokens and money of one role.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoleSpent {
    /// `provider/model`, the newest.
    pub model: String,
    /// Requests.
    pub requests: u64,
    /// Prompt tokens.
    pub prompt: u64,
    /// Cached prompt tokens.
    pub cached: u64,
    /// Answer tokens.
    pub completion: u64,
    /// Whether some of it is estimated.
    pub estimated: bool,
    /// US dollars, when all prices are known.
    pub cost: Option<f64>,
}

/// The turn that runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TurnFacts {
    /// Who works on it.
    pub role: Option<ActingRole>,
    /// Whether a plan is demanded.
    pub plan_demanded: bool,
    /// Rounds so far.
    pub rounds: u32,
    /// Rounds in a row in which every call failed.
    pub failing_rounds: u32,
    /// Rounds in a row with calls that only read.
    pub reading_rounds: u32,
    /// Continuations of cut replies.
    pub cut_replies: u32,
    /// Calls that were denied.
    pub denied: u32,
    /// Prompt tokens that the task sent.
    pub prompt_tokens: u64,
    /// A limit that was reached.
    pub limit: Option<String>,
    /// Whether the thinking phase spoke in this turn.
    pub thought: bool,
    /// A plan was drafted in it.
    pub planned: bool,
}

/// The newest round.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RoundFacts {
    /// The reply's text.
    pub text: String,
    /// Calls in the reply.
    pub calls: u32,
    /// Calls that have their outcome.
    pub settled: u32,
    /// Why the reply ended.
    pub finish: Option<ReplyEnd>,
    /// Errors, in order.
    pub errors: Vec<ErrorFact>,
    /// Reasons of denials, in order.
    pub denied: Vec<String>,
    /// Plan steps whose state the model reported.
    pub steps_reported: Vec<usize>,
    /// Plan steps whose check failed after it.
    pub checks_failed: Vec<usize>,
    /// Calls that the loop guard refused.
    pub refused: u32,
    /// Calls that changed something.
    pub writes: u32,
}

/// A tool error as reminders see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorFact {
    /// The tool.
    pub tool: String,
    /// The kind.
    pub kind: ErrorKind,
    /// The text that the model got.
    pub text: String,
}

/// How full the model's window is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ContextFacts {
    /// Tokens that the provider counts for each that the harness estimates.
    pub calibration: f64,
    /// Times the use went over the warning mark.
    pub crossings: u32,
    /// Whether it is above the mark.
    pub high: bool,
    /// Summaries made.
    pub compactions: u32,
    /// Id under which the newest replaced part can be recalled.
    pub archive: String,
}

impl Default for ContextFacts {
    fn default() -> ContextFacts {
        ContextFacts { calibration: 1.0, crossings: 0, high: false, compactions: 0, archive: String::new() }
    }
}

impl Facts {
    /// Takes in one record. `call` is the call that the record speaks of, if it speaks of one.
    pub fn apply(&mut self, record: &Record, call: Option<&ToolCall>) {
        match record {
            Record::TurnOpened { role, plan_demanded, prompt } => {
                self.turns += 1;
                if !prompt.is_empty() {
                    // What a finished plan granted does not reach into the next task.
                    self.plan.take_if(|plan| plan.finished);
                }
                // A turn without words of the person goes on with the task of the turn before.
                let prompt_tokens = if prompt.is_empty() { self.turn.prompt_tokens } else { 0 };
                self.turn = TurnFacts {
                    role: Some(*role),
                    plan_demanded: *plan_demanded,
                    prompt_tokens,
                    ..TurnFacts::default()
                };
                self.round = RoundFacts::default();
                self.guard.seen.clear();
                self.guard.struck = None;
            }
            Record::Replied { role, model, text, calls, finish, spent, .. } => {
                self.spend((*role).into(), model, spent);
                self.rounds += 1;
                self.turn.rounds += 1;
                if *finish == ReplyEnd::Length && calls.is_empty() {
                    self.turn.cut_replies += 1;
                }
                self.round = RoundFacts {
                    text: text.clone(),
                    calls: calls.len() as u32,
                    finish: Some(*finish),
                    ..RoundFacts::default()
                };
                if calls.is_empty() {
                    self.turn.failing_rounds = 0;
                    self.turn.reading_rounds = 0;
                }
            }
            Record::Said { role, model, spent, .. } => {
                self.spend((*role).into(), model, spent);
                self.turn.thought |= Role::from(*role) == Role::Thinking;
            }
            Record::Started { call_id, by } => {
                self.granted.insert(call_id.clone(), *by);
            }
            Record::Stepped { call_id, outcome, .. } => {
                let acted = self.granted.remove(call_id).is_some_and(|by| by != GrantedBy::NoEffect);
                self.step(call, outcome, acted);
            }
            Record::Noted { id, occasion, .. } => {
                let placed = self.reminders.entry(placed_key(id, occasion)).or_default();
                placed.times += 1;
                placed.round = self.rounds;
                if let (Some(plan), true) = (&mut self.plan, id.starts_with("plan_")) {
                    plan.calls_since_seen = 0;
                }
            }
            Record::Planned { plan } => {
                let revisions = self.plan.as_ref().map_or(0, |old| old.revisions);
                let steps = plan.steps().iter().map(|_| StepFacts::default()).collect();
                self.turn.planned = true;
                self.plan = Some(PlanFacts {
                    plan: plan.clone(),
                    approved: None,
                    comment: None,
                    revisions,
                    steps,
                    calls_since_seen: 0,
                    finished: false,
                });
            }
            Record::Decided { digest, decision } => self.decide(digest, decision),
            Record::Checked { step, moment, run } => self.check(*step, *moment, run),
            Record::Proved { proof } => {
                if let Some(step) = self.step_mut(proof.step) {
                    step.proof = Some(proof.clone());
                }
            }
            Record::Struck { keys, strike } => {
                if *strike == 1 {
                    self.guard.loops += 1;
                    self.guard.seen.clear();
                }
                self.guard.struck = Some(Struck { keys: keys.clone(), strikes: *strike });
            }
            Record::Compacted { archive, .. } => {
                self.context.compactions += 1;
                self.context.archive = archive.short().to_owned();
            }
            Record::Pressure { high } => {
                self.context.crossings += u32::from(*high && !self.context.high);
                self.context.high = *high;
            }
            Record::Limited { what } => self.turn.limit = Some(what.clone()),
            Record::Resumed { interrupted } => {
                self.resumes += 1;
                self.interrupted = interrupted.clone();
            }
            Record::TurnClosed { end } => {
                if let (Some(plan), TurnEnd::Answered) = (&mut self.plan, end) {
                    plan.finished = plan.approved.is_some() && self.turn.role == Some(ActingRole::Executor);
                }
            }
            Record::Opened { .. } | Record::Imaged { .. } | Record::Cut { .. } => {}
        }
    }

    /// How often the reminder was placed on this occasion, and when last.
    pub fn placed(&self, id: &str, occasion: &str) -> Placed {
        self.reminders.get(&placed_key(id, occasion)).copied().unwrap_or_default()
    }

    /// Numbers of the plan steps that are neither reported done or blocked nor shown by a passing check.
    pub fn open_steps(&self) -> Vec<usize> {
        let Some(plan) = self.plan.as_ref().filter(|plan| plan.approved.is_some()) else { return Vec::new() };
        let open = |step: &StepFacts| {
            let settled = matches!(step.status, Some(StepStatus::Done | StepStatus::Blocked));
            !settled && !step.after.as_ref().is_some_and(|run| run.passed)
        };
        plan.steps.iter().enumerate().filter(|(_, step)| open(step)).map(|(index, _)| index + 1).collect()
    }

    /// Numbers of the plan steps whose newest judgement is that the check failed.
    pub fn failed_steps(&self) -> Vec<usize> {
        let steps = self.plan.iter().flat_map(|plan| &plan.steps);
        let proofs = steps.filter_map(|step| step.proof.as_ref());
        proofs.filter(|proof| proof.verdict == Verdict::Failed).map(|proof| proof.step).collect()
    }

    /// Whether an approved plan is waiting to be carried out further.
    pub fn plan_in_force(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.approved.is_some() && !plan.finished)
    }

    /// Digests of all files that were changed in the session, as they are now.
    pub fn changed_now(&self) -> BTreeMap<String, Digest> {
        self.changed.iter().map(|(path, change)| (path.clone(), change.after.clone())).collect()
    }

    fn step_mut(&mut self, number: usize) -> Option<&mut StepFacts> {
        self.plan.as_mut()?.steps.get_mut(number.checked_sub(1)?)
    }

    fn spend(&mut self, role: Role, model: &str, spent: &Spent) {
        let row = self.spent.entry(role).or_default();
        let first = row.requests == 0;
        row.model = model.to_owned();
        row.requests += 1;
        row.prompt += spent.usage.prompt;
        row.cached += spent.usage.cached;
        row.completion += spent.usage.completion;
        row.estimated |= spent.estimated;
        row.cost = match (row.cost, spent.cost) {
            (None, cost) if first => cost,
            (Some(sum), Some(cost)) => Some(sum + cost),
            _ => None,
        };
        self.turn.prompt_tokens += spent.usage.prompt;
        if !spent.estimated && spent.prompt_estimate > 0 && spent.usage.prompt > 0 {
            let seen = spent.usage.prompt as f64 / spent.prompt_estimate as f64;
            // Half of the way each time: one odd count does not throw the measure off. The bounds keep out servers
            // that report nonsense.
            self.context.calibration = ((self.context.calibration + seen) / 2.0).clamp(0.5, 3.0);
        }
    }

    fn step(&mut self, call: Option<&ToolCall>, outcome: &Outcome, acted: bool) {
        let Some(call) = call else { return };
        self.round.settled += 1;
        self.round.writes += u32::from(acted);
        self.acts += u64::from(acted);
        if let Some(plan) = &mut self.plan {
            plan.calls_since_seen += 1;
        }
        let refused = matches!(outcome, Outcome::Error(error) if error.kind == ErrorKind::Loop);
        match outcome {
            Outcome::Error(error) => self.round.errors.push(ErrorFact {
                tool: call.name.clone(),
                kind: error.kind,
                text: error.text.clone(),
            }),
            Outcome::Denied(reason) => {
                self.round.denied.push(reason.clone());
                self.turn.denied += 1;
            }
            Outcome::Ok(_) | Outcome::Interrupted(_) => {}
        }
        for artifact in outcome.artifacts() {
            self.learn(artifact);
        }
        if self.round.settled == self.round.calls {
            self.settle_round();
        }
        if refused {
            self.round.refused += 1;
            return;
        }
        let print = Fingerprint::of(call, outcome.content());
        let changed = acted && matches!(outcome, Outcome::Ok(_));
        if changed && self.guard.struck.as_ref().is_some_and(|struck| !struck.keys.contains(&print.key)) {
            // The world changed: what went in circles before may give something new now.
            self.guard.struck = None;
        }
        self.guard.seen.push_back(print);
        if self.guard.seen.len() > GUARD_MEMORY {
            self.guard.seen.pop_front();
        }
    }

    /// Closes the count of a round whose calls all have their outcomes.
    fn settle_round(&mut self) {
        let failed = self.round.errors.len() + self.round.denied.len();
        if failed >= self.round.calls as usize {
            self.turn.failing_rounds += 1;
        } else {
            self.turn.failing_rounds = 0;
        }
        if self.round.writes == 0 && self.round.steps_reported.is_empty() {
            self.turn.reading_rounds += 1;
        } else {
            self.turn.reading_rounds = 0;
        }
    }

    fn learn(&mut self, artifact: &Artifact) {
        match artifact {
            Artifact::Read { path, digest } => {
                self.seen.insert(path.clone(), digest.clone());
            }
            Artifact::Wrote(receipt) => {
                self.seen.insert(receipt.path.clone(), receipt.after.clone());
                let change = self.changed.entry(receipt.path.clone()).or_insert_with(|| Change {
                    before: receipt.before.clone(),
                    after: receipt.after.clone(),
                    added: 0,
                    removed: 0,
                });
                change.after = receipt.after.clone();
                change.added += receipt.added;
                change.removed += receipt.removed;
            }
            Artifact::Plan(_) => {}
            Artifact::StepUpdate { step, status, note } => {
                self.round.steps_reported.push(*step);
                if let Some(facts) = self.step_mut(*step) {
                    facts.status = Some(*status);
                    facts.note.clone_from(note);
                }
            }
        }
    }

    fn decide(&mut self, digest: &Digest, decision: &Decision) {
        let Some(plan) = self.plan.as_mut().filter(|plan| plan.plan.digest() == *digest) else { return };
        match decision {
            Decision::Approve { by } => {
                plan.approved = Some(*by);
                plan.comment = None;
            }
            Decision::Revise { comment } => {
                plan.revisions += 1;
                plan.comment = Some(comment.clone());
                self.turn.planned = false;
            }
            Decision::Reject => plan.comment = None,
        }
    }

    fn check(&mut self, number: usize, moment: Moment, run: &CheckRun) {
        let (changed, acts) = (self.changed_now(), self.acts);
        let Some(step) = self.step_mut(number) else { return };
        match moment {
            Moment::Before => {
                step.before = Some(run.clone());
                step.changed_at_baseline = changed;
            }
            Moment::After => {
                step.after = Some(run.clone());
                step.acts_at_check = acts;
                if !run.passed {
                    step.failures += 1;
                    self.round.checks_failed.push(number);
                }
            }
        }
    }
}

fn placed_key(id: &str, occasion: &str) -> String {
    format!("{id}:{occasion}")
}
