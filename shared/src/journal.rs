//! What a write call must tell the store before and while it acts.

use serde::{Deserialize, Serialize};

use crate::call::{ToolCall, ToolError};
use crate::digest::Digest;
use crate::image::Turnover;

/// Who or what gave leave to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantedBy {
    /// Nothing outside the session's own notes changes.
    NoEffect,
    /// The approved plan names the file or the check.
    Plan,
    /// A rule of the allow-list.
    Rule,
    /// The approval mode.
    Mode,
    /// A person said yes.
    Person,
    /// The person runs the tool by hand.
    OwnAct,
}

/// The leave that was given to a call, as the log keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// Who or what gave it.
    pub by: GrantedBy,
    /// Of exactly the effect that was shown to the person, or judged by the rule. Logs of earlier versions lack it.
    #[serde(default)]
    pub effect_digest: Option<Digest>,
}

/// The part of the store that write calls speak to. Each method is durable when it returns.
pub trait Journal: Send + Sync {
    /// The call was given leave and is about to act. After a crash it is known to have been in flight.
    ///
    /// # Errors
    /// When the mark could not be made durable; then the call must not act.
    fn started(&self, call: &ToolCall, granted: &Granted) -> Result<(), ToolError>;

    /// Keeps what stands at the paths that `act` (a call's id, or that of taking back) is about to change, and what it
    /// is to put there: all of it, or nothing.
    ///
    /// # Errors
    /// When it could not be made durable; then nothing must be changed.
    fn turning(&self, act: &str, turnovers: &[Turnover<'_>]) -> Result<(), ToolError>;

    /// Keeps what a command was found to have changed, once it has run: all of it, or nothing. `blind` says what of it is
    /// not known, each with the reason.
    ///
    /// # Errors
    /// When it could not be made durable.
    fn turned(&self, act: &str, turnovers: &[Turnover<'_>], blind: &[String]) -> Result<(), ToolError>;

    /// Stops all further acts of the session: taking back failed, and the scene is left for a person.
    ///
    /// # Errors
    /// When it could not be made durable.
    fn halt(&self, why: &str) -> Result<(), ToolError>;

    /// Why no call may act any more, if so.
    fn halted(&self) -> Option<String>;

    /// The digest of the file's content when the agent last read or wrote it in this session.
    fn last_seen(&self, path: &str) -> Option<Digest>;
}
