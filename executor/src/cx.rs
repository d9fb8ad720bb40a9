//! What write tools are handed: to weigh a call, a look around; to act, leave for exactly one effect.

mod change;
pub mod command;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tandem_shared::call::{Artifact, ErrorKind, Outcome, ToolCall, ToolError};
use tandem_shared::digest::Digest;
use tandem_shared::journal::Journal;
use tandem_shared::person::Effect;
use tandem_shared::plan::ApprovedPlan;
use tandem_shared::settings::{CommandSettings, EditSettings};
use tandem_shared::tool::ReadCx;

use crate::cage::Cage;
use crate::coverage::Coverage;
use crate::environment::Environment;
use crate::gate::Grant;
use crate::jobs::Jobs;
use crate::process::Keeping;

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
}
