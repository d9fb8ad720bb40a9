//! What a session tells of itself: its row in the project's list, its state, what fills the window.

use tandem_shared::agent::Unwatched;
use tandem_shared::context;
use tandem_shared::event::{Event, PlanStatus, Status, WindowUse};
use tandem_shared::interrupt::Interrupt;
use tandem_shared::record::TurnEnd;
use tandem_shared::role::{ActingRole, Role};
use tandem_shared::store::SessionRow;
use tandem_shared::tool::Toolbox as _;

use super::actor::Session;
use super::doors::Doors;
use super::report;

/// Characters of a session's title.
const TITLE_CHARS: usize = 80;

impl Session {
    /// Writes the session's row in the project's file.
    pub(super) fn note_state(&self) {
        let title = self.store.history(|history| {
            let first = history.turns().iter().find(|turn| !turn.prompt.is_empty());
            let text = first.map(|turn| turn.prompt.split_whitespace().collect::<Vec<_>>().join(" "));
            text.unwrap_or_default().chars().take(TITLE_CHARS).collect::<String>()
        });
        let state = self.store.history(|history| {
            history.turns().last().map_or("empty", |turn| turn.end.as_ref().map_or("running", turn_state))
        });
        let (title, turns, costs) = self.store.facts(|facts| {
            let costs: Vec<Option<f64>> = facts.spent.values().map(|spent| spent.cost).collect();
            let goal = facts.plan.as_ref().map(|plan| plan.plan.goal().to_owned());
            let title = if title.is_empty() { goal.unwrap_or_default() } else { title };
            (title, facts.turns, costs)
        });
        let row = SessionRow {
            id: self.store.id().to_owned(),
            title,
            created: self.store.created(),
            updated: (self.setup.clock)(),
            state: state.to_owned(),
            turns,
            cost: if costs.is_empty() { None } else { costs.into_iter().sum() },
        };
        if let Err(error) = self.project.put_session(&row) {
            self.tell(Event::Notice { text: format!("The list of sessions could not be written: {error}") });
        }
    }

    /// Tells the models, the modes, the cost and the plan.
    pub(super) fn tell_status(&self) {
        let config = &self.setup.loaded.config;
        let models = Role::ALL.iter().map(|role| (*role, self.router.info(*role).name)).collect();
        let (spent, plan) = self.store.facts(|facts| {
            let plan = facts.plan.as_ref().map(|plan| PlanStatus {
                id: plan.plan.digest().short().to_owned(),
                goal: plan.plan.goal().to_owned(),
                in_force: facts.plan_in_force(),
            });
            (facts.spent.clone(), plan)
        });
        let (approval, planning) = (config.session.approval, config.session.plan);
        self.tell(Event::Status(Status { models, approval, planning, spent, plan }));
    }

    /// Tells what fills the window.
    pub(super) fn tell_context(&self) {
        let interrupt = Interrupt::new();
        let toolbox = self.planner_toolbox(&interrupt);
        let texts = self.system_texts(ActingRole::Planner);
        let settings = self.settings();
        let hear = |event| self.tell(event);
        let agent =
            self.agent(ActingRole::Planner, &toolbox, &texts, &settings, &Unwatched, &hear, &interrupt);
        let window = agent.window();
        let results = self
            .store
            .history(|history| history.steps().map(|step| context::estimate(step.outcome.content())).sum());
        let (rounds, compactions) = self.store.facts(|facts| (facts.rounds, facts.context.compactions));
        self.tell(Event::Window(WindowUse {
            used: window.used,
            budget: window.budget,
            system: context::estimate(&texts.acting),
            tools: context::request_tokens("", &[], &toolbox.specs()),
            results,
            rounds,
            compactions,
        }));
    }

    /// Summarises the conversation now.
    pub(super) async fn compact(&mut self, doors: &mut Doors) {
        let interrupt = Interrupt::new();
        let toolbox = self.planner_toolbox(&interrupt);
        let work = async {
            let texts = self.system_texts(ActingRole::Planner);
            let settings = self.settings();
            let hear = |event| self.tell(event);
            let agent =
                self.agent(ActingRole::Planner, &toolbox, &texts, &settings, &Unwatched, &hear, &interrupt);
            agent.compact_now().await
        };
        match self.drive(doors, &interrupt, work).await {
            Ok(None) => self.tell(Event::Notice { text: "There is nothing to summarise yet.".to_owned() }),
            Ok(Some(_)) => {}
            Err(end) => {
                let closing = self.store.facts(|facts| report::close(end, facts));
                self.fail(format!("not summarised: {:?}", closing.end), closing.exit);
            }
        }
    }
}

/// A turn's end in a word.
fn turn_state(end: &TurnEnd) -> &'static str {
    use TurnEnd as End;
    match end {
        End::Answered => "done",
        End::Planned => "planned",
        End::NoPlan | End::NoAnswer | End::NothingDone | End::StepsOpen | End::Failing => "not completed",
        End::CheckFailed => "check failed",
        End::Unproven => "unproven",
        End::NotApproved => "not approved",
        End::Limit { .. } => "limit",
        End::Loop => "loop",
        End::Model { .. } => "model failed",
        End::Interrupted => "interrupted",
        End::Crashed => "crashed",
    }
}
