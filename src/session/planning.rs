//! Planning: drafting a plan, judging it, saving it, deciding on it.

use std::sync::Arc;
use std::time::Instant;

use tandem_executor::Inspect;
use tandem_planner::{PlannerToolbox, Survey, planner_tools};
use tandem_shared::agent::{self, Agent, End, Unwatched};
use tandem_shared::digest::Digest;
use tandem_shared::event::{Event, Evidence};
use tandem_shared::facts::{Facts, Progress};
use tandem_shared::interrupt::Interrupt;
use tandem_shared::model::{ModelError, PlainMessage, PlainRequest, Speaker};
use tandem_shared::plan::Plan;
use tandem_shared::record::{Decision, Record, TurnEnd};
use tandem_shared::role::{ActingRole, Role, WordsRole};
use tandem_shared::store::PlanRow;
use tandem_shared::template::fill;
use tandem_shared::tool::blocking;

use super::actor::Session;
use super::doors::Doors;
use super::plans;
use crate::exit::Exit;

const CRITIQUE_REQUEST: &str = include_str!("../../prompts/notes/critique_request.md");

/// What the critique said.
enum Critique {
    Accepted,
    Rejected(String),
}

impl Session {
    /// A planner's turn.
    pub(super) async fn plan(&mut self, prompt: String, demanded: bool, doors: &mut Doors) {
        let since = Instant::now();
        if !self.open_turn(ActingRole::Planner, &prompt, demanded) {
            return;
        }
        let interrupt = Interrupt::new();
        let toolbox = self.planner_toolbox(&interrupt);
        let before = self.survey().await;
        let end = self.drive(doors, &interrupt, self.draft(&toolbox, &interrupt)).await;
        let drafted = match &end {
            End::Plan(plan) => {
                self.save(plan, before.zip(self.survey().await).map(|(a, b)| evidence(&a, &b)))
            }
            _ => None,
        };
        self.count_time(since);
        self.close_turn(end);
        if let Some(plan) = drafted {
            self.tell(plan);
        }
    }

    /// What the planner looks with. A shell is among it only where the kernel holds a command to looking.
    pub(super) fn planner_toolbox(&self, interrupt: &Interrupt) -> PlannerToolbox {
        let mut tools = planner_tools();
        if self.cage.is_on() && self.cage.found().confines() {
            let (commands, env) =
                (self.setup.loaded.config.commands.clone(), Arc::new(self.setup.command_env()));
            tools = tools.with(Inspect { commands, env, cage: self.cage.clone() });
        }
        PlannerToolbox::new(tools, self.read_cx(interrupt))
    }

    async fn survey(&self) -> Option<Survey> {
        let workspace = self.setup.workspace.clone();
        blocking(move || Ok(Survey::of(&workspace))).await.ok()
    }

    /// Runs the planner; with a critique, a rejected plan is revised exactly once.
    async fn draft(&self, toolbox: &PlannerToolbox, interrupt: &Interrupt) -> End {
        let texts = self.system_texts(ActingRole::Planner);
        let settings = self.settings();
        let hear = |event| self.tell(event);
        let agent = self.agent(ActingRole::Planner, toolbox, &texts, &settings, &Unwatched, &hear, interrupt);
        let end = agent::run(&agent).await;
        let (End::Plan(plan), true) = (&end, settings.thinking.critique) else { return end };
        match self.critique(plan, &agent).await {
            Ok(Critique::Accepted) => end,
            Ok(Critique::Rejected(comment)) => {
                let decision = Decision::Revise { comment };
                match self.store.record([Record::Decided { digest: plan.digest(), decision }]) {
                    Ok(()) => agent::run(&agent).await,
                    Err(error) => End::Store(error),
                }
            }
            Err(end) => end,
        }
    }

    async fn critique(&self, plan: &Plan, agent: &Agent<'_>) -> Result<Critique, End> {
        // A revision answers a comment; what is judged is the whole task: all words since the last one was done.
        let request = self.store.history(|history| {
            let open = history.turns().iter().rev().take_while(|turn| turn.end != Some(TurnEnd::Answered));
            let mut prompts: Vec<&str> =
                open.map(|turn| turn.prompt.as_str()).filter(|text| !text.is_empty()).collect();
            prompts.reverse();
            prompts.join("\n\n")
        });
        let text = fill(CRITIQUE_REQUEST, &[("request", &request), ("plan", &plan.to_markdown())]);
        let request = PlainRequest {
            system: self.system_text(Role::Critique),
            messages: vec![PlainMessage { speaker: Speaker::User, text }],
            max_tokens: None,
        };
        let model = self.router.words(WordsRole::Critique);
        match agent.say(WordsRole::Critique, model.as_ref(), request).await? {
            Ok(text) => {
                let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                let accepted = !first.to_uppercase().contains("REJECT");
                self.tell(Event::Critique { accepted, text: text.clone() });
                let comment = text.trim().to_owned();
                Ok(if accepted { Critique::Accepted } else { Critique::Rejected(comment) })
            }
            // A wrong key or binding stays wrong; a server that is down must not cost the plan.
            Err(error @ (ModelError::Authentication { .. } | ModelError::NotConfigured(_))) => {
                Err(End::Model(error))
            }
            Err(error) => {
                self.tell(Event::Notice {
                    text: format!("The critique failed; the plan is shown without it: {error}"),
                });
                Ok(Critique::Accepted)
            }
        }
    }

    /// Saves a drafted plan and tells of it.
    fn save(&self, plan: &Plan, evidence: Option<Evidence>) -> Option<Event> {
        let row = plans::row(plan, &self.setup.workspace, self.store.id(), (self.setup.clock)());
        match self.project.put_plan(&row) {
            Ok(()) => Some(Event::Plan { id: row.id, plan: row.plan, stale: Vec::new(), evidence }),
            Err(error) => {
                self.fail(format!("The plan could not be saved: {error}"), Exit::NotCompleted);
                None
            }
        }
    }

    /// Takes over a saved plan, to be decided on.
    pub(super) fn adopt(&self, row: &PlanRow) {
        if self.record(Record::Planned { plan: row.plan.clone() }) {
            let stale = plans::stale(row, &self.setup.workspace);
            self.tell(Event::Plan { id: row.id.clone(), plan: row.plan.clone(), stale, evidence: None });
        }
    }

    /// Decides on the newest plan, if it is the one that was shown.
    pub(super) async fn decide(&mut self, shown: &Digest, mut decision: Decision, doors: &mut Doors) {
        if let Decision::Revise { comment } = &mut decision {
            self.setup.masker.clean(comment);
        }
        let open = |facts: &Facts| {
            facts
                .plan
                .as_ref()
                .filter(|plan| plan.progress != Progress::Finished)
                .map(|plan| plan.plan.digest())
        };
        let digest = match self.store.facts(open) {
            Some(digest) if digest == *shown => digest,
            Some(_) => {
                return self.fail(
                    "the plan that was shown is not the newest any more; nothing was decided",
                    Exit::NotApproved,
                );
            }
            None => return self.fail("there is no plan to decide on", Exit::NotCompleted),
        };
        self.tell(Event::PlanDecided { id: digest.short().to_owned(), decision: decision.clone() });
        if !self.record(Record::Decided { digest, decision: decision.clone() }) {
            return;
        }
        match decision {
            Decision::Approve { .. } => self.execute(String::new(), doors).await,
            Decision::Revise { comment } => self.plan(comment, true, doors).await,
            Decision::Reject => {}
        }
    }
}

fn evidence(before: &Survey, after: &Survey) -> Evidence {
    Evidence {
        before: before.digest(),
        after: after.digest(),
        files: after.files(),
        changed: after.changed_since(before),
    }
}
