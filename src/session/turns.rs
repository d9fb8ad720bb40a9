//! The turns: planning, deciding, executing.

use std::sync::Arc;
use std::time::Instant;

use tandem_executor::{ExecutorToolbox, Gate, PlanOverseer, Surroundings, executor_tools};
use tandem_planner::{PlannerToolbox, planner_tools};
use tandem_shared::agent::{self, Agent, End, Overseer, Settings, SystemTexts, Unwatched};
use tandem_shared::context;
use tandem_shared::digest::Digest;
use tandem_shared::event::Event;
use tandem_shared::facts::{Facts, Progress};
use tandem_shared::interrupt::Interrupt;
use tandem_shared::model::{ModelError, PlainMessage, PlainRequest, Speaker};
use tandem_shared::plan::{ApprovedPlan, Plan};
use tandem_shared::prompt::{self, Attended, Situation};
use tandem_shared::record::{Decision, Record, TurnEnd};
use tandem_shared::role::{ActingRole, Role, WordsRole};
use tandem_shared::store::PlanRow;
use tandem_shared::template::fill;
use tandem_shared::tool::{ReadCx, Toolbox};

use super::actor::{Doors, Session};
use super::plans;
use super::report;
use super::setup::Attendance;
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
        let toolbox = PlannerToolbox::new(planner_tools(), self.read_cx(&interrupt));
        let end = self.drive(doors, &interrupt, self.draft(&toolbox, &interrupt)).await;
        let drafted = match &end {
            End::Plan(plan) => self.save(plan),
            _ => None,
        };
        self.count_time(since);
        self.close_turn(end);
        if let Some(plan) = drafted {
            self.tell(plan);
        }
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
    fn save(&self, plan: &Plan) -> Option<Event> {
        let row = plans::row(plan, &self.setup.workspace, self.store.id(), (self.setup.clock)());
        match self.project.put_plan(&row) {
            Ok(()) => Some(Event::Plan { id: row.id, plan: row.plan, stale: Vec::new() }),
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
            self.tell(Event::Plan { id: row.id.clone(), plan: row.plan.clone(), stale });
        }
    }

    /// Decides on the newest plan, if it is the one that was shown.
    pub(super) async fn decide(&mut self, shown: &Digest, decision: Decision, doors: &mut Doors) {
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

    /// An executor's turn, with the approved plan if there is one in force.
    pub(super) async fn execute(&mut self, prompt: String, doors: &mut Doors) {
        let since = Instant::now();
        if !self.open_turn(ActingRole::Executor, &prompt, false) {
            return;
        }
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
        agent::run(&self.agent(ActingRole::Executor, toolbox, &texts, &settings, overseer, &hear, interrupt))
            .await
    }

    /// Tools, gate and overseer of an execution.
    fn executor(&self, interrupt: &Interrupt) -> Result<(ExecutorToolbox, PlanOverseer), String> {
        let config = &self.setup.loaded.config;
        let plan = self.store.facts(approved);
        let gate = Gate::new(
            self.setup.workspace.clone(),
            config.session.approval,
            &config.commands.allow,
            plan,
            self.person.clone(),
        )
        .map_err(|error| format!("commands.allow: {error}"))?;
        let around = Surroundings {
            read: self.read_cx(interrupt),
            journal: self.store.clone(),
            commands: config.commands.clone(),
            env: Arc::new(self.setup.command_env()),
        };
        let gate = Arc::new(gate.remembering(self.remembered.clone()));
        let overseer = PlanOverseer::new(gate.clone(), &around);
        Ok((ExecutorToolbox::new(executor_tools(), gate, around), overseer))
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

    /// Summarises the conversation now.
    pub(super) async fn compact(&mut self, doors: &mut Doors) {
        let interrupt = Interrupt::new();
        let toolbox = PlannerToolbox::new(planner_tools(), self.read_cx(&interrupt));
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

    /// Tells what fills the window.
    pub(super) fn tell_context(&self) {
        let interrupt = Interrupt::new();
        let toolbox = PlannerToolbox::new(planner_tools(), self.read_cx(&interrupt));
        let texts = self.system_texts(ActingRole::Planner);
        let settings = self.settings();
        let hear = |event| self.tell(event);
        let agent =
            self.agent(ActingRole::Planner, &toolbox, &texts, &settings, &Unwatched, &hear, &interrupt);
        let window = agent.window();
        let tools = context::request_tokens("", &[], &toolbox.specs());
        let results: u64 = self
            .store
            .history(|history| history.steps().map(|step| context::estimate(step.outcome.content())).sum());
        let (rounds, compactions) = self.store.facts(|facts| (facts.rounds, facts.context.compactions));
        self.tell(Event::Notice {
            text: format!(
                "about {} of {} tokens in use ({:.0} %)\n{:>8}  system message\n{tools:>8}  tools\n{results:>8}  \
                 tool results, before cutting\n{rounds} rounds, {compactions} summaries",
                window.used,
                window.budget,
                window.share() * 100.0,
                context::estimate(&texts.acting),
            ),
        });
    }

    fn open_turn(&self, role: ActingRole, prompt: &str, plan_demanded: bool) -> bool {
        let opened = self.record(Record::TurnOpened { role, prompt: prompt.to_owned(), plan_demanded });
        if opened {
            self.note_state();
            self.tell(Event::TurnOpened { role, model: self.router.info(role.into()).name });
        }
        opened
    }

    fn close_turn(&self, end: End) {
        let closing = self.store.facts(|facts| report::close(end, facts));
        if !self.record(Record::TurnClosed { end: closing.end.clone() }) {
            return;
        }
        self.note_state();
        let report = self.store.facts(|facts| report::report(self.store.id(), closing, facts));
        self.tell(Event::Done { report });
    }

    fn read_cx(&self, interrupt: &Interrupt) -> ReadCx {
        ReadCx {
            workspace: self.setup.workspace.clone(),
            archive: self.store.clone(),
            person: self.person.clone(),
            interrupt: interrupt.clone(),
            limits: Arc::new(self.setup.loaded.config.tools.clone()),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "each is a part of one run, named by its field in Agent")]
    fn agent<'a>(
        &'a self,
        role: ActingRole,
        toolbox: &'a dyn Toolbox,
        system: &'a SystemTexts,
        settings: &'a Settings,
        overseer: &'a dyn Overseer,
        hear: agent::Hear<'a>,
        interrupt: &'a Interrupt,
    ) -> Agent<'a> {
        Agent {
            role,
            model: self.router.acting(role),
            thinker: self.router.words(WordsRole::Thinking),
            compactor: self.router.words(WordsRole::Compaction),
            toolbox,
            store: &self.store,
            system,
            project: &self.notes,
            settings,
            overseer,
            hear,
            interrupt,
        }
    }

    fn settings(&self) -> Settings {
        let config = &self.setup.loaded.config;
        Settings {
            limits: config.r#loop.clone(),
            context: config.context.clone(),
            thinking: config.thinking.clone(),
        }
    }

    fn system_texts(&self, role: ActingRole) -> SystemTexts {
        SystemTexts { acting: self.system_text(role.into()), thinking: self.system_text(Role::Thinking) }
    }

    fn system_text(&self, role: Role) -> String {
        prompt::system(&Situation {
            role,
            root: self.setup.workspace.root().display().to_string(),
            date: self.today.clone(),
            attended: match self.setup.attendance {
                Attendance::Attended => Attended::Yes,
                Attendance::Unattended => Attended::No,
            },
        })
    }
}

/// The plan that is to be carried out. The log says that it was approved, so it is approved again in the same name.
fn approved(facts: &Facts) -> Option<ApprovedPlan> {
    let plan = facts.plan.as_ref().filter(|_| facts.plan_in_force())?;
    Some(plan.plan.clone().approve(plan.approved?))
}
