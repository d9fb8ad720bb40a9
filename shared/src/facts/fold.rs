//! How facts come about: a fold over the log, one record at a time.

use std::collections::BTreeMap;

use super::state::{
    Change, ErrorFact, Facts, PlanFacts, Progress, RoundFacts, StepFacts, Struck, TaskFacts, TurnFacts,
    placed_key,
};
use crate::call::{Artifact, ErrorKind, Outcome, Receipt, ToolCall};
use crate::digest::Digest;
use crate::doom_loop::{self, Fingerprint};
use crate::image::Image;
use crate::journal::GrantedBy;
use crate::proof::CheckRun;
use crate::record::{Decision, Moment, Record, Spent, TurnEnd};
use crate::role::{ActingRole, Role};

/// Calls that the loop guard can look back on at most; its window is a setting below this.
const GUARD_MEMORY: usize = 100;

impl Facts {
    /// Takes in one record. `call` is the call that the record speaks of, if it speaks of one.
    pub fn apply(&mut self, record: &Record, call: Option<&ToolCall>) {
        match record {
            Record::TurnOpened { role, plan_demanded, prompt } => {
                self.turns += 1;
                if !prompt.is_empty() {
                    // What an ended plan granted does not reach into the next task.
                    self.plan.take_if(|plan| matches!(plan.progress, Progress::Finished | Progress::Stopped));
                }
                if let Some(plan) = &mut self.plan {
                    plan.progress = match plan.progress {
                        Progress::Finished => Progress::Finished,
                        Progress::Open | Progress::Paused | Progress::Stopped => Progress::Open,
                    };
                }
                let task = if prompt.is_empty() { self.turn.task } else { TaskFacts::default() };
                self.turn = TurnFacts {
                    role: Some(*role),
                    plan_demanded: *plan_demanded,
                    task,
                    ..TurnFacts::default()
                };
                self.round = RoundFacts::default();
                self.guard.seen.clear();
                self.guard.struck = None;
                self.guard.past.clear();
            }
            Record::Replied { role, model, text, calls, finish, spent, .. } => {
                self.spend((*role).into(), model, spent);
                self.rounds += 1;
                self.turn.rounds += 1;
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
                if Role::from(*role) == Role::Thinking {
                    let first = if self.turn.thought { None } else { self.open_steps().first().copied() };
                    self.turn.thought_steps.extend(self.step_begun().into_iter().chain(first));
                    self.turn.thought = true;
                }
            }
            Record::Unsaid { role, .. } => self.turn.thinking_failed |= Role::from(*role) == Role::Thinking,
            Record::Started { call_id, granted } => {
                self.granted.insert(call_id.clone(), granted.clone());
            }
            Record::Stepped { call_id, outcome, .. } => {
                let acted = self.granted.remove(call_id).is_some_and(|leave| leave.by != GrantedBy::NoEffect);
                self.settle(call, outcome, acted);
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
                    progress: Progress::Open,
                });
            }
            Record::Decided { digest, decision } => self.decide(digest, decision),
            Record::Checked { step, moment, material, run, .. } => {
                self.checks += 1;
                self.check(*step, *moment, material, run);
            }
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
                self.guard.past.insert(doom_loop::name(keys), *strike);
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
                self.turn.task = TaskFacts::default();
                self.interrupted = interrupted.clone();
            }
            Record::TurnClosed { end } => {
                if let (Some(plan), Some(ActingRole::Executor)) = (&mut self.plan, self.turn.role) {
                    plan.progress = progress_after(end);
                }
            }
            Record::Settled { path, before, now, .. } => {
                self.put(path, before.digest(), now.digest(), (0, 0))
            }
            Record::Uncovered { call_id, why } => self.uncovered.push((call_id.clone(), why.clone())),
            Record::Undone { restored, .. } => self.take_back(restored),
            Record::Halted { why } => self.halted = Some(why.clone()),
            Record::Opened { .. } | Record::Imaged(_) | Record::Cut { .. } => {}
        }
    }

    fn step_mut(&mut self, number: usize) -> Option<&mut StepFacts> {
        self.plan.as_mut()?.steps.get_mut(number.checked_sub(1)?)
    }

    fn spend(&mut self, role: Role, model: &str, spent: &Spent) {
        for rows in [&mut self.spent, &mut self.turn.spent] {
            rows.entry(role).or_default().add(model, spent);
        }
        self.turn.task.prompt_tokens += spent.usage.prompt;
        self.turn.task.tokens += spent.usage.prompt + spent.usage.completion;
        self.turn.task.usd += spent.cost.unwrap_or_default();
        if !spent.estimated && !spent.usage.doubtful && spent.prompt_estimate > 0 && spent.usage.prompt > 0 {
            let seen = spent.usage.prompt as f64 / spent.prompt_estimate as f64;
            // Half of the way each time: one odd count does not throw the measure off. The bounds keep out servers
            // that report nonsense.
            let known = self.context.calibration.entry(model.to_owned()).or_insert(1.0);
            *known = ((*known + seen) / 2.0).clamp(0.5, 3.0);
        }
    }

    fn settle(&mut self, call: Option<&ToolCall>, outcome: &Outcome, acted: bool) {
        let Some(call) = call else { return };
        self.round.settled += 1;
        self.round.writes += u32::from(acted);
        self.acts += u64::from(acted);
        self.turn.acts += u64::from(acted);
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
        let changed = outcome.artifacts().iter().any(|artifact| match artifact {
            Artifact::Wrote(receipt) => receipt.before != receipt.after,
            Artifact::MayHaveChanged | Artifact::Changed(_) => true,
            Artifact::Read { .. }
            | Artifact::Plan(_)
            | Artifact::SyntaxError { .. }
            | Artifact::StepUpdate { .. } => false,
        });
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
                match &receipt.after {
                    Some(digest) => self.seen.insert(receipt.path.clone(), digest.clone()),
                    None => self.seen.remove(&receipt.path),
                };
                self.book(receipt);
            }
            Artifact::Changed(receipt) => self.book(receipt),
            Artifact::SyntaxError { path, line } => self.round.syntax_errors.push(format!("{path}:{line}")),
            Artifact::Plan(_) | Artifact::MayHaveChanged => {}
            Artifact::StepUpdate { step, status, note } => {
                self.round.steps_reported.push(*step);
                if let Some(facts) = self.step_mut(*step) {
                    facts.status = Some(*status);
                    facts.note.clone_from(note);
                }
            }
        }
    }

    fn book(&mut self, receipt: &Receipt) {
        let lines = (receipt.added, receipt.removed);
        self.put(&receipt.path, receipt.before.clone(), receipt.after.clone(), lines);
    }

    /// A path has other content now. What is again as it was before the session is no change.
    fn put(
        &mut self,
        path: &str,
        before: Option<Digest>,
        after: Option<Digest>,
        (added, removed): (usize, usize),
    ) {
        let fresh = Change { before, after: after.clone(), added: 0, removed: 0 };
        let change = self.changed.entry(path.to_owned()).or_insert(fresh);
        change.after = after;
        change.added += added;
        change.removed += removed;
        if change.before == change.after {
            self.changed.remove(path);
        }
    }

    fn take_back(&mut self, restored: &BTreeMap<String, Image<Digest>>) {
        for (path, image) in restored {
            self.put(path, image.digest(), image.digest(), (0, 0));
        }
        self.undos += 1;
        self.undone = restored.keys().cloned().collect();
        self.acts += 1;
        self.halted = None;
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
            Decision::Reject => self.plan = None,
        }
    }

    fn check(&mut self, number: usize, moment: Moment, material: &BTreeMap<String, Digest>, run: &CheckRun) {
        let (changed, acts) = (self.changed_now(), self.acts);
        let Some(step) = self.step_mut(number) else { return };
        match moment {
            Moment::Before => {
                step.before = Some(run.clone());
                step.material.clone_from(material);
                step.changed_at_baseline = changed;
            }
            Moment::After => {
                step.after = Some(run.clone());
                step.material_after.clone_from(material);
                step.acts_at_check = acts;
                if !run.passed {
                    step.failures += 1;
                    self.round.checks_failed.push(number);
                }
            }
        }
    }
}

fn progress_after(end: &TurnEnd) -> Progress {
    match end {
        TurnEnd::Answered => Progress::Finished,
        TurnEnd::Interrupted | TurnEnd::Crashed | TurnEnd::Limit { .. } | TurnEnd::Model { .. } => {
            Progress::Paused
        }
        TurnEnd::Planned
        | TurnEnd::NoPlan
        | TurnEnd::NoAnswer
        | TurnEnd::NothingDone
        | TurnEnd::StepsOpen
        | TurnEnd::CheckFailed
        | TurnEnd::Unproven
        | TurnEnd::NotApproved
        | TurnEnd::Failing
        | TurnEnd::Loop => Progress::Stopped,
    }
}
