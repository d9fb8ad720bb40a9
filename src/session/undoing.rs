//! Taking back inside a session: on a person's word, and by the harness when a plan step's check keeps failing.

use tandem_executor::undo::{UndoError, undo};
use tandem_shared::event::Event;
use tandem_shared::facts::Facts;
use tandem_shared::plan::StepStatus;
use tandem_shared::tool::blocking;
use tandem_shared::undo::{Earnest, OnConflict, Scope, UndoReport};

use super::actor::Session;
use crate::exit::Exit;

impl Session {
    /// `/undo` and `/redo`.
    pub(super) async fn undo(&self, scope: Scope) {
        match self.take_back(scope, "the user").await {
            Ok(report) => self.tell(Event::Undone(report)),
            Err(error) => self.fail(error, Exit::NotCompleted),
        }
        self.note_state();
    }

    /// Takes back what was changed for the plan step whose check failed once too often, so that the tree is as it was
    /// before the step.
    pub(super) async fn roll_back(&self) {
        let most = self.setup.loaded.config.r#loop.check_failures;
        let Some(step) = self.store.facts(|facts| failing_step(facts, most)) else { return };
        let why = format!("the check of step {step} kept failing");
        match self.take_back(Scope::PlanStep(step), &why).await {
            Ok(report) => {
                let conflicts = report.conflicts().count();
                let text = match conflicts {
                    0 => format!(
                        "The changes of step {step} are taken back, because its check kept failing. `tandem redo` puts \
                         them back."
                    ),
                    _ => format!(
                        "The changes of step {step} are not taken back, although its check kept failing: {conflicts} of \
                         its files were changed by somebody else since. `tandem undo` shows them."
                    ),
                };
                self.tell(Event::Undone(report));
                self.tell(Event::Notice { text });
            }
            // A step that changed nothing leaves nothing to take back.
            Err(UndoError::Nothing(_)) => {}
            Err(error) => self.fail(error, Exit::NotCompleted),
        }
    }

    async fn take_back(&self, scope: Scope, why: &str) -> Result<UndoReport, UndoError> {
        let (store, workspace, why) = (self.store.clone(), self.setup.workspace.clone(), why.to_owned());
        let work = move || Ok(undo(&store, &workspace, &scope, (OnConflict::Refuse, Earnest::Do), &why));
        blocking(work).await.unwrap_or_else(|fault| Err(UndoError::NotKept(fault.text)))
    }
}

/// The step whose newest check failed once more than it may.
fn failing_step(facts: &Facts, most: u32) -> Option<usize> {
    let plan = facts.plan.as_ref()?;
    let failing = plan.steps.iter().position(|step| {
        step.failures > most
            && step.after.as_ref().is_some_and(|run| !run.passed)
            && step.status != Some(StepStatus::Blocked)
    });
    failing.map(|index| index + 1)
}
