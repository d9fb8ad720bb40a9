//! Executing: an executor's turn, with the approved plan if there is one in force.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tandem_executor::shadow::{Shadow, ShadowBounds};
use tandem_executor::{
    Coverage, Environment, ExecutorToolbox, Gate, HearOutput, PlanOverseer, Surroundings, executor_tools,
};
use tandem_shared::agent::{self, End};
use tandem_shared::event::Event;
use tandem_shared::facts::Facts;
use tandem_shared::interrupt::Interrupt;
use tandem_shared::plan::ApprovedPlan;
use tandem_shared::record::{Record, TurnEnd};
use tandem_shared::role::ActingRole;

use super::actor::Session;
use super::doors::Doors;
use crate::exit::Exit;

impl Session {
    /// An executor's turn, with the approved plan if there is one in force.
    pub(super) async fn execute(&mut self, prompt: String, doors: &mut Doors) {
        let since = Instant::now();
        if !self.open_turn(ActingRole::Executor, &prompt, false) {
            return;
        }
        self.tell_of_cage();
        let interrupt = Interrupt::new();
        let end = match self.executor(&interrupt) {
            Ok((toolbox, overseer)) => {
                self.drive(doors, &interrupt, self.carry_out(&toolbox, &overseer, &interrupt)).await
            }
            Err(error) => {
                // The turn ends without a report: nothing was done.
                self.record(Record::TurnClosed { end: TurnEnd::Failing });
                self.note_state();
                return self.fail(error, Exit::Config);
            }
        };
        self.count_time(since);
        self.close_turn(end);
    }

    /// Says once what this system lacks of a cage.
    fn tell_of_cage(&mut self) {
        if !std::mem::replace(&mut self.cage_told, true)
            && let Some(text) = self.cage.notice()
        {
            self.tell(Event::Notice { text });
        }
    }

    async fn carry_out(
        &self,
        toolbox: &ExecutorToolbox,
        overseer: &PlanOverseer,
        interrupt: &Interrupt,
    ) -> End {
        let texts = self.system_texts(ActingRole::Executor);
        let settings = self.settings();
        let hear = |event| self.tell(event);
        if let Err(error) = overseer.begin(&self.store, &hear).await {
            return End::Store(error);
        }
        let agent = self.agent(ActingRole::Executor, toolbox, &texts, &settings, overseer, &hear, interrupt);
        let end = agent::run(&agent).await;
        if matches!(end, End::CheckFailing) {
            self.roll_back().await;
        }
        end
    }

    /// Tools, gate and overseer of an execution.
    fn executor(&self, interrupt: &Interrupt) -> Result<(ExecutorToolbox, PlanOverseer), String> {
        let config = &self.setup.loaded.config;
        let plan = self.store.facts(approved);
        let gate = Gate::new(
            self.setup.workspace.clone(),
            config.session.approval,
            self.setup.rules().map_err(|error| error.to_string())?,
            plan,
            self.person.clone(),
        );
        let env = Arc::new(self.setup.command_env());
        let around = Surroundings {
            read: self.read_cx(interrupt),
            journal: self.store.clone(),
            edits: config.edits.clone(),
            commands: config.commands.clone(),
            jobs: self.jobs.clone(),
            output: self.output(),
            coverage: self.coverage(&env),
            env,
            cage: self.cage.clone(),
        };
        let gate = gate
            .remembering(self.remembered.clone())
            .asking_over(config.edits.ask_over_files)
            .in_cage(&self.cage)
            .masking(self.setup.masker.clone());
        let gate = Arc::new(gate);
        let overseer = PlanOverseer::new(gate.clone(), &around);
        Ok((ExecutorToolbox::new(executor_tools(), gate, around), overseer))
    }

    /// Tells what a command prints while it runs.
    fn output(&self) -> HearOutput {
        let hear = self.hear.clone();
        Arc::new(move |call_id, text| {
            // A front end that is gone hears nothing.
            let _ = hear.send(Event::Output { call_id: call_id.to_owned(), text: text.to_owned() });
        })
    }

    /// How it is found out what commands change.
    fn coverage(&self, env: &Arc<Environment>) -> Arc<Coverage> {
        let edits = &self.setup.loaded.config.edits;
        let (workspace, state) = (self.setup.workspace.clone(), &self.setup.state);
        if edits.cover_s == 0 {
            return Arc::new(Coverage::Off("edits.cover_s is 0"));
        }
        if state.root.starts_with(workspace.root()) {
            return Arc::new(Coverage::Off("the state folder lies inside the project"));
        }
        let bounds =
            ShadowBounds { file_bytes: edits.cover_file_bytes, time: Duration::from_secs(edits.cover_s) };
        let folder = state.shadow(workspace.root());
        Arc::new(Coverage::On(Shadow::new(folder, self.store.id(), workspace, bounds, env.clone())))
    }

    /// Goes on with a turn that did not end as it should.
    pub(super) async fn go_on(&mut self, doors: &mut Doors) {
        let last = self.store.history(|history| history.turns().last().map(|turn| turn.role));
        match last {
            _ if self.store.facts(Facts::plan_in_force) => self.execute(String::new(), doors).await,
            Some(ActingRole::Executor) => self.execute(String::new(), doors).await,
            Some(ActingRole::Planner) => {
                let demanded = self.store.facts(|facts| facts.turn.plan_demanded);
                self.plan(String::new(), demanded, doors).await;
            }
            None => self.fail("the session is empty; give it a prompt", Exit::NotCompleted),
        }
    }
}

/// The plan that is to be carried out. The log says that it was approved, so it is approved again in the same name.
fn approved(facts: &Facts) -> Option<ApprovedPlan> {
    let plan = facts.plan.as_ref().filter(|_| facts.plan_in_force())?;
    Some(plan.plan.clone().approve(plan.approved?))
}
