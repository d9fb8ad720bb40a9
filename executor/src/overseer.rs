//! Judges an approved plan's steps while it is carried out: the harness runs the checks, never the model's word.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use tandem_shared::agent::{Hear, Overseer};
use tandem_shared::call::ToolCall;
use tandem_shared::digest::Digest;
use tandem_shared::event::Event;
use tandem_shared::facts::{Facts, StepFacts};
use tandem_shared::interrupt::Interrupt;
use tandem_shared::journal::Granted;
use tandem_shared::person::Effect;
use tandem_shared::plan::StepStatus;
use tandem_shared::proof::{CheckRun, StepProof, Verdict};
use tandem_shared::record::{Moment, Record};
use tandem_shared::settings::CommandSettings;
use tandem_shared::store::{SessionStore, StoreError};
use tandem_shared::tool::blocking;
use tandem_shared::workspace::Workspace;

use crate::around;
use crate::cage::Cage;
use crate::coverage::Coverage;
use crate::cx::Surroundings;
use crate::environment::Environment;
use crate::gate::Gate;
use crate::material::{self, Material};
use crate::proof::{judge, run_check};
use crate::undo::CHECK;

/// Runs the checks of the plan in force, each with the gate's leave.
pub struct PlanOverseer {
    gate: Arc<Gate>,
    workspace: Workspace,
    commands: CommandSettings,
    env: Arc<Environment>,
    cage: Arc<Cage>,
    coverage: Arc<Coverage>,
    interrupt: Interrupt,
    /// Checks that were not allowed, with the reason: nobody is asked twice.
    refused: Mutex<BTreeMap<String, String>>,
}

/// Runs of one moment by command: steps that share a check share its run.
type Runs = BTreeMap<String, (Granted, CheckRun)>;

impl PlanOverseer {
    /// Checks need the leave of `gate`, run in the root of the surroundings, with their bounds and environment.
    pub fn new(gate: Arc<Gate>, around: &Surroundings) -> PlanOverseer {
        PlanOverseer {
            gate,
            workspace: around.read.workspace.clone(),
            commands: around.commands.clone(),
            env: around.env.clone(),
            cage: around.cage.clone(),
            coverage: around.coverage.clone(),
            interrupt: around.read.interrupt.clone(),
            refused: Mutex::default(),
        }
    }

    /// Runs every check before any work, so that each step has a state to be told from. A plan that is taken up again
    /// keeps what was measured before.
    ///
    /// # Errors
    /// When the log could not be written.
    pub async fn begin(&self, store: &SessionStore, hear: Hear<'_>) -> Result<(), StoreError> {
        self.check_all(steps(store, |_, step| step.before.is_none()), Moment::Before, store, hear).await
    }

    /// Checks steps that the model reported as done in the newest round; the step after such a one begins now, so its
    /// check is run as its state before, unless its work has begun already.
    async fn judge_reported(&self, store: &SessionStore, hear: Hear<'_>) -> Result<(), StoreError> {
        let reported = store.facts(|facts| facts.round.steps_reported.clone());
        let done = store.facts(|facts| {
            let is_done =
                |number: &usize| facts.step(*number).is_some_and(|s| s.status == Some(StepStatus::Done));
            reported.iter().copied().filter(is_done).collect::<Vec<_>>()
        });
        self.check_all(steps(store, |number, _| done.contains(&number)), Moment::After, store, hear).await?;
        let next = steps(store, |number, step| {
            let follows = number > 1 && done.contains(&(number - 1)) && step.status != Some(StepStatus::Done);
            follows && step.after.is_none()
        });
        let unbegun = next.into_iter().filter(|step| store.facts(|facts| !has_begun(facts, step)));
        self.check_all(unbegun.collect(), Moment::Before, store, hear).await
    }

    /// Checks every step whose newest check is older than the newest act, so that the report speaks of the final tree.
    async fn judge_all(&self, store: &SessionStore, hear: Hear<'_>) -> Result<(), StoreError> {
        let acts = store.facts(|facts| facts.acts);
        let old = steps(store, |_, step| step.after.is_none() || step.acts_at_check < acts);
        self.check_all(old, Moment::After, store, hear).await
    }

    async fn check_all(
        &self,
        steps: Vec<CheckedStep>,
        moment: Moment,
        store: &SessionStore,
        hear: Hear<'_>,
    ) -> Result<(), StoreError> {
        let mut runs = Runs::new();
        for step in steps {
            self.check(&step, moment, &mut runs, store, hear).await?;
            if moment == Moment::After && !self.interrupt.is_raised() {
                store.record([Record::Proved { proof: self.proof(&step, store) }])?;
            }
        }
        Ok(())
    }

    async fn check(
        &self,
        step: &CheckedStep,
        moment: Moment,
        runs: &mut Runs,
        store: &SessionStore,
        hear: Hear<'_>,
    ) -> Result<(), StoreError> {
        if self.interrupt.is_raised() {
            return Ok(());
        }
        // What the check itself writes is no change of the check: it is looked at after the run before the work, and
        // before the run after it.
        let early = if moment == Moment::After { Some(self.material(step).await) } else { None };
        let (granted, run) = match runs.get(&step.check) {
            Some(known) => known.clone(),
            None => match self.leave(&step.check).await {
                Ok(granted) => (granted, self.run(&step.check, store, hear).await),
                Err(reason) => {
                    self.refused().insert(step.check.clone(), reason);
                    return Ok(());
                }
            },
        };
        if self.interrupt.is_raised() {
            // A check that was cut off says nothing about the work.
            return Ok(());
        }
        runs.insert(step.check.clone(), (granted.clone(), run.clone()));
        let material = match early {
            Some(material) => material,
            None => self.material(step).await,
        };
        store.record([Record::Checked { step: step.number, moment, granted, material, run: run.clone() }])?;
        hear(Event::Check { step: step.number, moment, run });
        Ok(())
    }

    /// Runs a check, and keeps what it changed, so that it can be taken back like what a command changed.
    async fn run(&self, check: &str, store: &SessionStore, hear: Hear<'_>) -> CheckRun {
        let before = around::before(&self.coverage, &self.interrupt).await;
        // After an interrupt it does not begin, and says so.
        let run =
            run_check(check, &self.workspace, &self.commands, &self.env, &self.cage, &self.interrupt).await;
        let Some(before) = before else { return run };
        let act = format!("{CHECK}-{}", store.facts(|facts| facts.checks) + 1);
        let kept = around::settle(before, &act, &self.workspace, store, &self.interrupt).await;
        if let Err(fault) = kept {
            hear(Event::Notice {
                text: format!("What the check `{check}` changed could not be kept. {}", fault.text),
            });
        }
        run
    }

    /// The gate's leave to run a check.
    async fn leave(&self, check: &str) -> Result<Granted, String> {
        if let Some(reason) = self.refused().get(check) {
            return Err(reason.clone());
        }
        let arguments = serde_json::json!({ "command": check }).to_string();
        let call = ToolCall { id: "check".to_owned(), name: "run_command".to_owned(), arguments };
        let effect = Effect::Command { command: check.to_owned() };
        tokio::select! {
            biased;
            () = self.interrupt.raised() => Err("interrupted".to_owned()),
            judged = self.gate.judge(&call, &effect) => judged.map(|grant| grant.granted().clone()),
        }
    }

    async fn material(&self, step: &CheckedStep) -> BTreeMap<String, Digest> {
        let (workspace, check, files) = (self.workspace.clone(), step.check.clone(), step.files.clone());
        let snapshot = blocking(move || Ok(Material::of(&check, &files).snapshot(&workspace))).await;
        snapshot.unwrap_or_default()
    }

    fn proof(&self, step: &CheckedStep, store: &SessionStore) -> StepProof {
        let (verdict, reason) = match self.refused().get(&step.check) {
            Some(reason) => (Verdict::Unproven, format!("`{}` was not run. {reason}", step.check)),
            None => store.facts(|facts| match facts.step(step.number) {
                Some(known) => {
                    let changed = material::changed(&known.material, &known.material_after);
                    judge(known.before.as_ref(), known.after.as_ref(), &changed)
                }
                None => judge(None, None, &[]),
            }),
        };
        StepProof { step: step.number, verdict, reason }
    }

    fn refused(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
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

/// A step of the plan in force that has a check.
struct CheckedStep {
    number: usize,
    check: String,
    files: Vec<String>,
}

/// The steps of the plan in force that have a check and are `wanted`.
fn steps(store: &SessionStore, wanted: impl Fn(usize, &StepFacts) -> bool) -> Vec<CheckedStep> {
    store.facts(|facts| {
        let plan = facts.plan.as_ref().filter(|_| facts.plan_in_force());
        let steps = plan.into_iter().flat_map(|plan| plan.plan.steps().iter().zip(&plan.steps)).enumerate();
        steps
            .filter(|(index, (_, known))| wanted(index + 1, known))
            .filter_map(|(index, (step, _))| {
                let check = step.check.clone()?;
                Some(CheckedStep { number: index + 1, check, files: step.files.clone() })
            })
            .collect()
    })
}

/// Whether a file that the step names was changed since its check ran before.
fn has_begun(facts: &Facts, step: &CheckedStep) -> bool {
    let now = facts.changed_now();
    facts.step(step.number).is_some_and(|known| {
        step.files.iter().any(|file| now.get(file) != known.changed_at_baseline.get(file))
    })
}
