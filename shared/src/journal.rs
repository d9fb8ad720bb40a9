//! What a write call must tell the store before and while it acts.

use serde::{Deserialize, Serialize};

use crate::call::{ToolCall, ToolError};
use crate::digest::Digest;

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

/// The part of the store that write calls speak to. Each method is durable when it returns.
pub trait Journal: Send + Sync {
    /// The call was given leave and is about to act. After a crash it is known to have been in flight.
    ///
    /// # Errors
    /// When the mark could not be made durable; then the call must not act.
    fn started(&self, call: &ToolCall, by: GrantedBy) -> Result<(), ToolError>;

    /// Keeps a file's content before it is changed; `None` when the file does not exist.
    ///
    /// # Errors
    /// When it could not be made durable; then the file must not be changed.
    fn before_image(&self, call: &ToolCall, path: &str, content: Option<&[u8]>) -> Result<(), ToolError>;

    /// The digest of the file's content when the agent last read or wrote it in this session.
    fn last_seen(&self, path: &str) -> Option<Digest>;
}
