//! The session task: owns the state, takes one [`Op`] at a time, and keeps listening while a turn runs.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tandem_executor::cage::Cage;
use tandem_executor::shell::Pattern;
use tandem_executor::{Haste, Jobs, Remembered};
use tandem_router::Router;
use tandem_shared::event::{Event, Op};
use tandem_shared::facts::Facts;
use tandem_shared::interrupt::{Cause, Interrupt};
use tandem_shared::leave::ReadLeave;
use tandem_shared::person::{Nobody, Person};
use tandem_shared::record::Record;
use tandem_shared::role::Role;
use tandem_shared::settings::PlanMode;
use tandem_shared::store::{ProjectStore, SessionStore};
use tokio::sync::mpsc;

use super::asking::{Asked, BehindFrontEnd};
use super::doors::{Answered, Doors};
use super::heard::masked;
use super::notes::project_notes;
use super::setup::{Attendance, Setup, SetupError, Start};
use crate::exit::Exit;
use crate::machine;
use crate::wiring;

/// A front end's end of a session. Dropping it closes the session.
pub struct Handle {
    /// The session's id.
    pub id: String,
    /// Takes what the front end says.
    pub ops: mpsc::UnboundedSender<Op>,
    /// Gives what happens; ends when the session is closed.
    pub events: mpsc::UnboundedReceiver<Event>,
}

/// Opens a session and starts its task. Must be called inside a `LocalSet`: the task stays on the one thread.
///
/// # Errors
/// When no model is configured, or the session cannot be opened.
pub fn open(setup: Setup, start: &Start) -> Result<Handle, SetupError> {
    if setup.loaded.config.binding(Role::Planner).is_none() {
        return Err(SetupError::NoModel);
    }
    setup.check_budget()?;
    setup.rules()?;
    let router = wiring::router(&setup.loaded.config, &setup.machine.env, &setup.route)?;
    let store = Arc::new(setup.open_store(start)?);
    let (ops, inbox) = mpsc::unbounded_channel();
    let (hear, events) = mpsc::unbounded_channel();
    let (asks_in, asks) = mpsc::unbounded_channel();
    let person: Arc<dyn Person> = match setup.attendance {
        Attendance::Attended => Arc::new(BehindFrontEnd::new(asks_in)),
        Attendance::Unattended => Arc::new(Nobody),
    };
    let id = store.id().to_owned();
    let _ = hear.send(Event::SessionOpened {
        root: setup.workspace.root().display().to_string(),
        resumed: matches!(start, Start::Resume(_)),
    });
    let session = Session {
        project: setup.state.project(setup.workspace.root()),
        notes: setup.masker.mask(&project_notes(setup.workspace.root())).into_owned(),
        leave: ReadLeave::none(),
        today: machine::minute((setup.clock)()).get(..10).unwrap_or_default().to_owned(),
        jobs: Jobs::default(),
        remembered: remembered(setup.state.project(setup.workspace.root())),
        cage: Arc::new(setup.cage().telling(notices(&hear))),
        cage_told: false,
        setup,
        router,
        store,
        hear,
        person,
        spent_time: Duration::ZERO,
    };
    tokio::task::spawn_local(session.run(Doors::new(inbox, asks)));
    Ok(Handle { id, ops, events })
}

/// What a person said "always" to in this project before, and a place for more.
fn remembered(project: ProjectStore) -> Remembered {
    let rules = kept_rules(&project);
    Remembered::kept(
        rules,
        Arc::new(move |rules| {
            for rule in rules {
                if let Err(error) = project.keep_rule(rule) {
                    // It holds for this session all the same.
                    tracing::warn!(%error, rule, "a rule could not be kept");
                }
            }
        }),
    )
}

/// The allow rules that were kept for a project.
pub fn kept_rules(project: &ProjectStore) -> Vec<Pattern> {
    let rules = project.rules().unwrap_or_else(|error| {
        tracing::warn!(%error, "the kept rules cannot be read");
        Vec::new()
    });
    rules.iter().filter_map(|rule| Pattern::parse(rule).ok()).collect()
}

/// Passes on what the cage says.
fn notices(hear: &mpsc::UnboundedSender<Event>) -> impl Fn(String) + Send + Sync + 'static {
    let hear = hear.clone();
    move |text| {
        // Nobody listens any more when the session has ended.
        let _ = hear.send(Event::Notice { text });
    }
}

/// The state of a conversation.
pub(super) struct Session {
    pub(super) setup: Setup,
    pub(super) router: Router,
    pub(super) store: Arc<SessionStore>,
    pub(super) project: ProjectStore,
    pub(super) hear: mpsc::UnboundedSender<Event>,
    pub(super) person: Arc<dyn Person>,
    /// The project's own notes, read once so that the cached prefix holds.
    pub(super) notes: String,
    /// The day the session was opened, for the same reason.
    pub(super) today: String,
    /// What goes on in the background.
    pub(super) jobs: Jobs,
    /// What the person said "always" to.
    pub(super) remembered: Remembered,
    /// What commands run in.
    pub(super) cage: Arc<Cage>,
    /// Whether the person was told what is missing of it.
    pub(super) cage_told: bool,
    /// What the person gave leave to read.
    pub(super) leave: ReadLeave,
    /// Time that turns of the current task took.
    pub(super) spent_time: Duration,
}

impl Session {
    async fn run(mut self, mut doors: Doors) {
        while let Some(op) = doors.next_op().await {
            // One that comes too late finds nothing to stop or to answer; nobody waits for what comes of it.
            let late = matches!(op, Op::Interrupt | Op::Answer { .. });
            self.take(op, &mut doors).await;
            if !late {
                self.tell(Event::Ready);
            }
        }
        // Nothing that the session started outlives it.
        self.jobs.stop_all(if doors.cancelled { Haste::Cancelled } else { Haste::None }).await;
        if self.store.facts(|facts| facts.turns > 0 || facts.plan.is_some()) {
            return self.note_state();
        }
        // Nothing was said, so there is nothing to go on with.
        let (folder, id) = (self.setup.state.sessions(), self.store.id().to_owned());
        drop(self);
        if let Err(error) = SessionStore::delete(&folder, &id) {
            tracing::warn!(%error, "an empty session could not be removed");
        }
    }

    async fn take(&mut self, op: Op, doors: &mut Doors) {
        match op {
            Op::Prompt { text, plan } => {
                self.spent_time = Duration::ZERO;
                let paused = self.store.facts(Facts::plan_paused);
                match plan {
                    PlanMode::Never => self.execute(text, doors).await,
                    PlanMode::Auto if paused => self.execute(text, doors).await,
                    PlanMode::Auto => self.plan(text, false, doors).await,
                    PlanMode::Always => self.plan(text, true, doors).await,
                }
            }
            Op::Continue => self.go_on(doors).await,
            Op::Adopt { plan } => self.adopt(&plan),
            Op::Decide { digest, decision } => self.decide(&digest, decision, doors).await,
            Op::Compact => self.compact(doors).await,
            Op::Bind { role, model } => self.rebind(|input| {
                let flags = &mut input.flags;
                match role {
                    Some(Role::Planner) => flags.planner_model = Some(model),
                    Some(Role::Thinking) => flags.thinking_model = Some(model),
                    Some(Role::Executor) => flags.executor_model = Some(model),
                    Some(role @ (Role::Critique | Role::Compaction)) => {
                        flags.set.push(format!("roles.{role}.model={model}"));
                    }
                    None => {
                        flags.model = Some(model);
                        flags.planner_model = None;
                        flags.executor_model = None;
                    }
                }
            }),
            Op::Profile { name } => self.rebind(|input| {
                // The set is meant as a whole: models that were chosen one by one would hide it.
                let flags = &mut input.flags;
                flags.profile = Some(name);
                (flags.model, flags.planner_model) = (None, None);
                (flags.executor_model, flags.thinking_model) = (None, None);
            }),
            Op::Think { mode } => self.rebind(|input| input.flags.set.push(format!("thinking.mode={mode}"))),
            Op::Jobs => self.tell(Event::Jobs { jobs: self.jobs.list() }),
            Op::Undo { scope } => self.undo(scope).await,
            Op::Status => self.tell_status(),
            Op::Context => self.tell_context(),
            // Nothing runs, so there is nothing to stop or to answer.
            Op::Interrupt | Op::Answer { .. } | Op::Close => {}
        }
    }

    /// Runs a turn's work while the doors stay open: answers find their questions, an interrupt stops the work.
    pub(super) async fn drive<T>(
        &self,
        doors: &mut Doors,
        interrupt: &Interrupt,
        work: impl Future<Output = T>,
    ) -> T {
        let budget = Duration::from_secs(self.setup.loaded.config.r#loop.time_budget_s);
        let left = budget.saturating_sub(self.spent_time);
        let deadline = tokio::time::sleep(if budget.is_zero() { Duration::MAX / 4 } else { left });
        tokio::pin!(work, deadline);
        let mut deadline_passed = false;
        doors.cancelled = false;
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = &mut deadline, if !budget.is_zero() && !deadline_passed => {
                    deadline_passed = true;
                    interrupt.raise(Cause::Deadline);
                    doors.void();
                }
                Some(Asked { mut question, reply }) = doors.asks.recv() => {
                    question.mask(&self.setup.masker);
                    let id = doors.open(&question, reply);
                    // Told as it was opened: what is shown is what its digest is of.
                    let _ = self.hear.send(Event::Asked { id, question });
                }
                op = doors.inbox.recv() => match op {
                    Some(Op::Answer { id, digest, answer }) => {
                        if let Answered::ForAnother = doors.answer(id, &digest, answer) {
                            self.tell(Event::Notice {
                                text: "That answers another question than was asked, so it was not taken.".to_owned(),
                            });
                        }
                    }
                    Some(Op::Interrupt) => {
                        doors.cancelled = true;
                        interrupt.raise(Cause::Person);
                        doors.void();
                    }
                    // The front end is gone: the work is stopped, so that everything is saved.
                    Some(Op::Close) | None => {
                        doors.closed = true;
                        interrupt.raise(Cause::Person);
                        doors.void();
                        return work.await;
                    }
                    Some(later) => {
                        doors.later.push_back(later);
                        self.tell(Event::Notice {
                            text: "This is done when the turn has ended. Ctrl+C stops the turn.".to_owned(),
                        });
                    }
                },
            }
        }
    }

    pub(super) fn tell(&self, event: Event) {
        // A front end that is gone hears nothing; the session still closes in order.
        let _ = self.hear.send(masked(event, &self.setup.masker));
    }

    pub(super) fn fail(&self, message: impl ToString, exit: Exit) {
        self.tell(Event::Error { message: message.to_string(), exit: exit.code() });
    }

    /// Adds the time of a turn to that of its task.
    pub(super) fn count_time(&mut self, since: Instant) {
        self.spent_time += since.elapsed();
    }

    fn rebind(&mut self, change: impl FnOnce(&mut crate::config::Input)) {
        let setup = match self.setup.reload(change) {
            Ok(setup) => setup,
            Err(error) => return self.fail(error, Exit::Config),
        };
        if let Err(error) = setup.check_budget() {
            return self.fail(error, Exit::Config);
        }
        match wiring::router(&setup.loaded.config, &setup.machine.env, &setup.route) {
            Ok(router) => {
                self.router = router;
                self.setup = setup;
                self.tell_status();
            }
            Err(error) => self.fail(error, Exit::Config),
        }
    }

    /// Appends to the log; a log that cannot be written ends the session's work with a message.
    pub(super) fn record(&self, record: Record) -> bool {
        match self.store.record([record]) {
            Ok(()) => true,
            Err(error) => {
                self.fail(error, Exit::NotCompleted);
                false
            }
        }
    }
}
