//! What can be asked of the facts.

use std::collections::BTreeMap;

use super::state::{Facts, Placed, Progress, StepFacts, placed_key};
use crate::digest::Digest;
use crate::plan::StepStatus;
use crate::proof::Verdict;

impl Facts {
    /// How often the reminder was placed on this occasion, and when last.
    pub fn placed(&self, id: &str, occasion: &str) -> Placed {
        self.reminders.get(&placed_key(id, occasion)).copied().unwrap_or_default()
    }

    /// Where the plan's step of that number (from 1) stands.
    pub fn step(&self, number: usize) -> Option<&StepFacts> {
        self.plan.as_ref()?.steps.get(number.checked_sub(1)?)
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

    /// The plan step that begins with the newest round: one that is reported as being worked on, or that follows one
    /// reported as done.
    pub fn step_begun(&self) -> Option<usize> {
        self.round.steps_reported.iter().rev().find_map(|number| match self.step(*number)?.status? {
            StepStatus::Doing => Some(*number),
            StepStatus::Done => {
                let next = number + 1;
                matches!(self.step(next)?.status, None | Some(StepStatus::Todo)).then_some(next)
            }
            StepStatus::Todo | StepStatus::Blocked => None,
        })
    }

    /// Numbers of the plan steps whose newest judgement is that the check failed.
    pub fn failed_steps(&self) -> Vec<usize> {
        let steps = self.plan.iter().flat_map(|plan| &plan.steps);
        let proofs = steps.filter_map(|step| step.proof.as_ref());
        proofs.filter(|proof| proof.verdict == Verdict::Failed).map(|proof| proof.step).collect()
    }

    /// Whether an approved plan is waiting to be carried out further.
    pub fn plan_in_force(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.approved.is_some() && plan.progress != Progress::Finished)
    }

    /// Whether an approved plan was cut off, so that the next prompt goes on with it.
    pub fn plan_paused(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.approved.is_some() && plan.progress == Progress::Paused)
    }

    /// What of the changes of this call is not known, as notices for a person; what was told before is not told again.
    pub fn newly_uncovered(&self, call_id: &str) -> Vec<String> {
        let first =
            |why: &str| self.uncovered.iter().find(|(_, other)| other == why).map(|(id, _)| id.as_str());
        let new = self.uncovered.iter().filter(|(id, why)| id == call_id && first(why) == Some(call_id));
        new.map(|(_, why)| format!("Not all that this command changed can be taken back: {why}.")).collect()
    }

    /// Digests of all files that were changed in the session, as they are now.
    pub fn changed_now(&self) -> BTreeMap<String, Option<Digest>> {
        self.changed.iter().map(|(path, change)| (path.clone(), change.after.clone())).collect()
    }
}
