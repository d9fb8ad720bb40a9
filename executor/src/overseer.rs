//! Judges an approved plan's steps while it is carried out: the harness runs the checks, never the model's word.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use tandem_shared::agent::{Hear, Overseer};
use tandem_shared::event::Event;
use tandem_shared::facts::{Facts, StepFacts};
use tandem_shared::interrupt::Interrupt;
use tandem_shared::plan::StepStatus;
use tandem_shared::proof::{CheckRun, StepProof};
use tandem_shared::record::{Moment, Record};
use tandem_shared::settings::CommandSettings;
use tandem_shared::store::{SessionStore, StoreError};
use tandem_shared::workspace::Workspace;

use crate::cx::Env;
use crate::proof::{check_material, judge, run_check};

/// Runs the checks of the plan in force.
pub struct PlanOverseer {
    workspace: Workspace,
    commands: CommandSettings,
    env: Env,
    interrupt: Interrupt,
}

/// Runs of one moment by command: steps that share a check share its run.
type Runs = BTreeMap<String, CheckRun>;

impl PlanOverseer {
    /// Checks run in `workspace`, with the bounds of `commands`, and see `env`.
    pub fn new(
        workspace: Workspace,
        commands: CommandSettings,
        env: Env,
        interrupt: Interrupt,
    ) -> PlanOverseer {
        PlanOverseer { workspace, commands, env, interrupt }
    }

    /// Runs every check before any work, so that each step has a state to be told from. A plan that is taken up again
    /// keeps what was measured before.
    ///
    /// # Errors
    /// When the log could not be written.
    pub async fn begin(&self, store: &SessionStore, hear: Hear<'_>) -> Result<(), StoreError> {
        let mut runs = Runs::new();
        for (number, check) in checks(store, |_, step| step.before.is_none()) {
            self.check(number, &check, Moment::Before, &mut runs, store, hear).await?;
        }
        Ok(())
    }

    /// Checks steps that the model reported as done in the newest round; the step after such a one begins now, so its
    /// check is run as its state before, unless its work has begun already.
    async fn judge_reported(&self, store: &SessionStore, hear: Hear<'_>) -> Result<(), StoreError> {
        let reported = store.facts(|facts| facts.round.steps_reported.clone());
        let mut runs = Runs::new();
        for (number, check) in
            checks(store, |number, step| reported.contains(&number) && step.status == Some(StepStatus::Done))
        {
            self.check(number, &check, Moment::After, &mut runs, store, hear).await?;
            self.prove(number, store)?;
        }
        let next: Vec<(usize, String)> = checks(store, |number, step| {
            let follows =
                number > 1 && reported.contains(&(number - 1)) && step.status != Some(StepStatus::Done);
            follows && step.after.is_none()
        });
        for (number, check) in next {
            if store.facts(|facts| !has_begun(facts, number)) {
                self.check(number, &check, Moment::Before, &mut runs, store, hear).await?;
            }
        }
        Ok(())
    }

    /// Checks every step whose newest check is older than the newest act, so that the report speaks of the final tree.
    async fn judge_all(&self, store: &SessionStore, hear: Hear<'_>) -> Result<(), StoreError> {
        let acts = store.facts(|facts| facts.acts);
        let mut runs = Runs::new();
        for (number, check) in checks(store, |_, step| step.after.is_none() || step.acts_at_check < acts) {
            self.check(number, &check, Moment::After, &mut runs, store, hear).await?;
            self.prove(number, store)?;
        }
        Ok(())
    }

    async fn check(
        &self,
        number: usize,
        command: &str,
        moment: Moment,
        runs: &mut Runs,
        store: &SessionStore,
        hear: Hear<'_>,
    ) -> Result<(), StoreError> {
        if self.interrupt.is_raised() {
            return Ok(());
        }
        let run = match runs.get(command) {
            Some(run) => run.clone(),
            None => run_check(command, &self.workspace, &self.commands, &self.env, &self.interrupt).await,
        };
        if self.interrupt.is_raised() {
            // A check that was cut off says nothing about the work.
            return Ok(());
        }
        runs.insert(command.to_owned(), run.clone());
        store.record([Record::Checked { step: number, moment, run: run.clone() }])?;
        hear(Event::Check { step: number, moment, run });
        Ok(())
    }

    fn prove(&self, number: usize, store: &SessionStore) -> Result<(), StoreError> {
        let proof = store.facts(|facts| {
            let plan = facts.plan.as_ref()?;
            let index = number.checked_sub(1)?;
            let (step, files) = (plan.steps.get(index)?, &plan.plan.steps().get(index)?.files);
            let now = facts.changed_now();
            let since =
                now.iter().filter(|(path, digest)| step.changed_at_baseline.get(*path) != Some(digest));
            let changed: Vec<String> = since.map(|(path, _)| path.clone()).collect();
            let command = step.after.as_ref().map(|run| run.command.as_str()).unwrap_or_default();
            let material = check_material(command, &changed, files);
            let (verdict, reason) = judge(step.before.as_ref(), step.after.as_ref(), &material);
            Some(StepProof { step: number, verdict, reason })
        });
        match proof {
            Some(proof) => store.record([Record::Proved { proof }]),
            None => Ok(()),
        }
    }
}

impl Overseer for PlanOverseer {
    fn after_round<'a>(
        &'a self,
        store: &'a SessionStore,
        hear: Hear<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.judge_reported(store, hear))
    }

    fn at_words<'a>(
        &'a self,
        store: &'a SessionStore,
        hear: Hear<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.judge_all(store, hear))
    }
}

/// Numbers and checks of the steps of the plan in force that have a check and are `wanted`.
fn checks(store: &SessionStore, wanted: impl Fn(usize, &StepFacts) -> bool) -> Vec<(usize, String)> {
    store.facts(|facts| {
        let plan = facts.plan.as_ref().filter(|_| facts.plan_in_force());
        let steps = plan.into_iter().flat_map(|plan| plan.plan.steps().iter().zip(&plan.steps)).enumerate();
        steps
            .filter(|(index, (_, known))| wanted(index + 1, known))
            .filter_map(|(index, (step, _))| Some((index + 1, step.check.clone()?)))
            .collect()
    })
}

/// Whether a file that the step names was changed since its check ran before.
fn has_begun(facts: &Facts, number: usize) -> bool {
    let Some(plan) = &facts.plan else { return false };
    let now = facts.changed_now();
    let steps = plan.plan.steps().iter().zip(&plan.steps);
    steps.skip(number.saturating_sub(1)).take(1).any(|(step, known)| {
        step.files.iter().any(|file| now.get(file) != known.changed_at_baseline.get(file))
    })
}
