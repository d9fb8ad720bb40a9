//! What write tools are handed: to weigh a call, a look around; to act, leave for exactly one effect.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tandem_shared::call::{Artifact, ErrorKind, Outcome, Receipt, ToolCall, ToolError};
use tandem_shared::digest::Digest;
use tandem_shared::journal::{Granted, GrantedBy, Journal};
use tandem_shared::person::{Answer, Effect, Question};
use tandem_shared::plan::ApprovedPlan;
use tandem_shared::settings::{CommandSettings, EditSettings};
use tandem_shared::tool::ReadCx;

use crate::cage::{Cage, Hindrance};
use crate::change::Change;
use crate::coverage::{Before, Coverage};
use crate::environment::Environment;
use crate::file::{self, Found};
use crate::gate::Grant;
use crate::jobs::{Jobs, Opening};
use crate::process::{self, Behind, Ended, Hold, Keeping, Limits};
use crate::reach::Reach;

/// Hears what the command of a call prints: the call's id, and whole lines.
pub type HearOutput = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// What surrounds every write call of a session.
#[derive(Clone)]
pub struct Surroundings {
    /// Root, person, archive, interrupt.
    pub read: ReadCx,
    /// The store's part that write calls speak to.
    pub journal: Arc<dyn Journal>,
    /// Bounds of changes.
    pub edits: EditSettings,
    /// Bounds of commands.
    pub commands: CommandSettings,
    /// What goes on in the background of the session.
    pub jobs: Jobs,
    /// Hears what a call's command prints while it runs.
    pub output: HearOutput,
    /// How it is found out what commands change.
    pub coverage: Arc<Coverage>,
    /// What commands see of the environment.
    pub env: Arc<Environment>,
    /// What holds commands.
    pub cage: Arc<Cage>,
}

impl Surroundings {
    /// Where long outputs of commands are kept.
    fn keeping(&self) -> Keeping {
        Keeping::new(&self.read.archive, &self.commands, &self.env)
    }
}

/// What a tool may look at to say what a call would do. Cheap to clone.
#[derive(Clone)]
pub struct EffectCx {
    around: Arc<Surroundings>,
    seen: Arc<Seen>,
    plan: Option<Arc<ApprovedPlan>>,
}

/// Digests that this toolbox itself saw pass, so that calls of one round build on each other.
#[derive(Default)]
pub(crate) struct Seen(Mutex<BTreeMap<String, Digest>>);

impl Seen {
    /// Takes note of what an outcome says was read or written.
    pub(crate) fn note(&self, outcome: &Outcome) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for artifact in outcome.artifacts() {
            match artifact {
                Artifact::Read { path, digest } => seen.insert(path.clone(), digest.clone()),
                Artifact::Wrote(receipt) => match &receipt.after {
                    Some(digest) => seen.insert(receipt.path.clone(), digest.clone()),
                    None => seen.remove(&receipt.path),
                },
                Artifact::Plan(_)
                | Artifact::MayHaveChanged
                | Artifact::Changed(_)
                | Artifact::SyntaxError { .. }
                | Artifact::StepUpdate { .. } => None,
            };
        }
    }

    fn get(&self, path: &str) -> Option<Digest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }
}

impl EffectCx {
    pub(crate) fn new(
        around: Arc<Surroundings>,
        seen: Arc<Seen>,
        plan: Option<Arc<ApprovedPlan>>,
    ) -> EffectCx {
        EffectCx { around, seen, plan }
    }

    /// Read access.
    pub fn read(&self) -> &ReadCx {
        &self.around.read
    }

    /// The plan that is carried out.
    pub fn plan(&self) -> Option<&ApprovedPlan> {
        self.plan.as_deref()
    }

    /// What goes on in the background.
    pub fn jobs(&self) -> &Jobs {
        &self.around.jobs
    }

    /// What commands see of the environment.
    pub fn env(&self) -> &Environment {
        &self.around.env
    }

    /// Bounds of changes.
    pub fn edits(&self) -> &EditSettings {
        &self.around.edits
    }

    /// Bounds of commands.
    pub fn commands(&self) -> &CommandSettings {
        &self.around.commands
    }

    /// `text` as a model is shown it: without secrets.
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.around.env.secrets.mask(text)
    }

    /// Whether the agent knows the file at `path` (relative to the root) as it is now.
    pub fn knows(&self, path: &str, now: &Digest) -> Knowledge {
        let known = [self.seen.get(path), self.around.journal.last_seen(path)];
        if known.iter().flatten().any(|digest| digest == now) {
            Knowledge::Current
        } else if known.iter().any(Option::is_some) {
            Knowledge::Outdated
        } else {
            Knowledge::None
        }
    }

    /// Whether the agent ever read or wrote the file at `path` in this session.
    pub fn ever_saw(&self, path: &str) -> bool {
        self.seen.get(path).is_some() || self.around.journal.last_seen(path).is_some()
    }

    pub(crate) fn journal(&self) -> &dyn Journal {
        self.around.journal.as_ref()
    }
}

/// What the agent knows of a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// It was read or written in this session and has not changed since.
    Current,
    /// It changed since.
    Outdated,
    /// It was never read.
    None,
}

/// What came of a command.
pub struct Ran {
    /// How it ended.
    pub ended: Ended,
    /// What it changed.
    pub changes: Vec<Artifact>,
    /// The job that what it left running belongs to.
    pub job: Option<u32>,
}

/// Leave to act, and the means to. Only with a [`Grant`] can one be made, and each of its methods does nothing beyond
/// what the grant says:
///
/// ```compile_fail
/// use tandem_executor::{EffectCx, WriteCx};
/// fn act(cx: EffectCx) -> WriteCx {
///     WriteCx::new(cx)
/// }
/// ```
///
/// ```
/// use tandem_executor::{EffectCx, Grant, WriteCx};
/// fn act(grant: Grant, cx: EffectCx) -> WriteCx {
///     WriteCx::new(grant, cx)
/// }
/// ```
pub struct WriteCx {
    grant: Grant,
    cx: EffectCx,
}

impl WriteCx {
    /// Means to do what `grant` says.
    pub fn new(grant: Grant, cx: EffectCx) -> WriteCx {
        WriteCx { grant, cx }
    }

    /// The call that acts.
    pub fn call(&self) -> &ToolCall {
        self.grant.call()
    }

    /// What could be looked at to weigh the call.
    pub fn look(&self) -> &EffectCx {
        &self.cx
    }

    /// Refuses to do anything but exactly what leave was given to, as it was shown.
    ///
    /// # Errors
    /// [`ErrorKind::Stale`] when `effect` is another one.
    pub fn must_be_as_granted(&self, effect: &Effect) -> Result<(), ToolError> {
        if effect == self.grant.effect() {
            return Ok(());
        }
        Err(ToolError::new(
            ErrorKind::Stale,
            "What stands there has changed since leave was given, so the change would be another one than was shown. \
             Nothing was changed. Read it again, then repeat the change.",
        ))
    }

    /// Makes the changes, all or none, each as a whole or not at all, after what stands there is in the journal. Blocks.
    ///
    /// # Errors
    /// When the grant does not name a path, when what stands there could not be kept, or when the system says no. What
    /// was changed before is then put back; if even that fails, no call of the session may act any more.
    pub fn change(&self, changes: &[Change]) -> Result<Vec<Receipt>, ToolError> {
        let leave = |path: &str| match self.grant.effect() {
            Effect::Write { paths, .. } => paths.iter().any(|granted| granted == path),
            Effect::Nothing
            | Effect::Command { .. }
            | Effect::Uncaged { .. }
            | Effect::Read { .. }
            | Effect::Remote { .. } => false,
        };
        if let Some(change) = changes.iter().find(|change| !leave(change.path.relative())) {
            return Err(ToolError::new(
                ErrorKind::Permission,
                format!("Leave was not given to write {}. Nothing was changed.", change.path.relative()),
            ));
        }
        let act = &self.grant.call().id;
        let turnovers: Vec<_> = changes.iter().map(Change::turnover).collect();
        self.cx.journal().turning(act, &turnovers)?;
        let workspace = &self.cx.read().workspace;
        for (at, change) in changes.iter().enumerate() {
            if let Err(fault) = file::put(workspace, &change.path, &change.found, &change.then, act) {
                return Err(self.put_back(changes.get(..at).unwrap_or_default(), fault));
            }
        }
        Ok(changes.iter().map(Change::receipt).collect())
    }

    fn put_back(&self, done: &[Change], mut fault: ToolError) -> ToolError {
        let workspace = &self.cx.read().workspace;
        for change in done.iter().rev() {
            let now = Found { image: change.then.clone(), ..change.found.clone() };
            let put = file::put(workspace, &change.path, &now, &change.found.image, &self.grant.call().id);
            if let Err(second) = put {
                let why = format!(
                    "a change of several files failed half way ({}), and {} could not be put back: {}",
                    fault.text,
                    change.path.relative(),
                    second.text
                );
                // The alert reaches the person in any case; without the log it only lasts as long as this run.
                _ = self.cx.journal().halt(&why);
                fault.text = format!(
                    "{why} Nothing more is written in this session, so that the user can look at it. Say what happened."
                );
                return fault;
            }
            if let Some(top) = &change.new_folder {
                file::remove_new_folders(workspace, change.path.relative(), top);
            }
        }
        if !done.is_empty() {
            fault.text.push_str(" The files that this call changed before are as they were, too.");
        }
        fault
    }

    /// Runs the command that leave was given to, and answers with how it ended and what it changed.
    ///
    /// # Errors
    /// When the grant is not for a command, when no process could be started, or when what it changed could not be kept.
    pub async fn run_command(&self, limits: Limits, reach: Reach) -> Result<Ran, ToolError> {
        let Effect::Command { command } = self.grant.effect() else {
            return Err(ToolError::new(ErrorKind::Permission, "Leave was not given to run a command."));
        };
        let read = self.cx.read();
        let around = &self.cx.around;
        let id = &self.grant.call().id;
        let tell = |text: &str| (around.output)(id, text);
        let keeping = around.keeping();
        let hold =
            Hold { env: &around.env, cage: &around.cage, reach, tell: Some(&tell), keeping: Some(&keeping) };
        let run = process::run(command, &read.workspace, limits, hold, &read.interrupt);
        if reach == Reach::Looks {
            let (ended, behind) = run.await?;
            return Ok(Ran { job: self.adopt(behind, &ended, hold).await?, ended, changes: Vec::new() });
        }
        let before = self.cx.around.coverage.before().await;
        let (ended, behind) = run.await?;
        let job = self.adopt(behind, &ended, hold).await?;
        let changes = self.settle(before).await?;
        Ok(Ran { ended, changes, job })
    }

    /// Makes a job of what a command left running.
    async fn adopt(
        &self,
        behind: Option<Behind>,
        ended: &Ended,
        hold: Hold<'_>,
    ) -> Result<Option<u32>, ToolError> {
        let (Some(behind), Effect::Command { command }) = (behind, self.grant.effect()) else {
            return Ok(None);
        };
        let jobs = &self.cx.around.jobs;
        let job = jobs.adopt(command, behind, ended.by, &self.cx.read().workspace, hold).await?;
        if hold.reach != Reach::Looks {
            self.goes_on(job)?;
        }
        Ok(Some(job))
    }

    /// The same outside the cage, when a person is there and gives leave to that as well. `None` when not.
    ///
    /// # Errors
    /// As of [`WriteCx::run_command`].
    pub async fn run_outside_the_cage(
        &self,
        limits: Limits,
        hindrance: Hindrance,
    ) -> Result<Option<Ran>, ToolError> {
        let Effect::Command { command } = self.grant.effect() else { return Ok(None) };
        let call = self.grant.call();
        let mut effect = Effect::Uncaged { command: command.clone() };
        effect.mask(&self.cx.around.env.secrets);
        let granted = Granted { by: GrantedBy::Person, effect_digest: Some(effect.digest()) };
        let question = Question::Approve {
            call: call.clone(),
            effect,
            why: format!(
                "it failed, most likely because the cage keeps it from {}; yes runs it once more, outside the cage",
                hindrance.what()
            ),
            always: Vec::new(),
        };
        match self.cx.read().person.ask(question).await {
            Some(Answer::Yes) => {
                self.cx.journal().started(call, &granted)?;
                self.run_command(limits, Reach::Beyond).await.map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Starts the command that leave was given to in the background, and answers with what it changed so far.
    ///
    /// # Errors
    /// When the grant is not for a command, when no process could be started, or when what it changed could not be kept.
    pub async fn start_job(&self) -> Result<(Opening, Vec<Artifact>), ToolError> {
        let Effect::Command { command } = self.grant.effect() else {
            return Err(ToolError::new(ErrorKind::Permission, "Leave was not given to run a command."));
        };
        let around = &self.cx.around;
        let keeping = around.keeping();
        let hold = Hold {
            env: &around.env,
            cage: &around.cage,
            reach: Reach::Acts,
            tell: None,
            keeping: Some(&keeping),
        };
        let before = around.coverage.before().await;
        let opening =
            around.jobs.start(command, &around.read.workspace, hold, &around.read.interrupt).await?;
        let changes = self.settle(before).await?;
        if opening.end.is_none() {
            self.goes_on(opening.id)?;
        }
        Ok((opening, changes))
    }

    /// Keeps what the command changed.
    async fn settle(&self, before: Before<'_>) -> Result<Vec<Artifact>, ToolError> {
        let kept = before.settle(&self.grant.call().id, &self.cx.read().workspace, self.cx.journal()).await;
        kept.map_err(|mut fault| {
            fault.text = format!("The command ran, but what it changed could not be kept. {}", fault.text);
            fault
        })
    }

    /// Nobody looks at the tree when a job changes something.
    fn goes_on(&self, job: u32) -> Result<(), ToolError> {
        let blind = format!("what job {job} changes in the background is not known");
        self.cx.journal().turned(&self.grant.call().id, &[], &[blind])
    }
}
