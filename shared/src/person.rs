//! The person at the other end: what can be asked, and what comes back.

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::ToolCall;

/// Something only a person can answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "ask")]
pub enum Question {
    /// The model asks for a decision.
    Choose {
        /// The question in the model's words.
        text: String,
        /// Possible answers; empty for a free answer.
        options: Vec<String>,
    },
    /// Leave is asked for one call.
    Approve {
        /// The call.
        call: ToolCall,
        /// What it would do.
        effect: Effect,
        /// Why it is asked, for example the danger rule that it meets.
        why: String,
        /// The allow rules that "always" would keep for this project; empty where it is only remembered for the session.
        always: Vec<String>,
    },
}

/// What a call would do to the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "effect")]
pub enum Effect {
    /// Only the session's own notes change.
    Nothing,
    /// Files are written.
    Write {
        /// Relative to the root.
        paths: Vec<String>,
        /// Lines that would be added.
        added: usize,
        /// Lines that would be removed.
        removed: usize,
        /// Files that would be deleted.
        deleted: usize,
        /// Unified diff of what would change.
        diff: String,
    },
    /// A command runs.
    Command {
        /// Exactly as it would be run by `sh -c`, in the root.
        command: String,
    },
    /// A file that may hold secrets is read.
    Read {
        /// Relative to the root.
        path: String,
    },
    /// A service outside this machine is called.
    Remote {
        /// Its name.
        service: String,
    },
}

impl Effect {
    /// What a write would do, in one line: files, lines and risk. `None` for what is no write.
    pub fn summary(&self) -> Option<String> {
        let Effect::Write { paths, added, removed, deleted, .. } = self else { return None };
        let files = match paths.len() {
            1 => "1 file changes".to_owned(),
            count => format!("{count} files change"),
        };
        // What goes is what can be missed afterwards.
        let risk = match (deleted, removed > added) {
            (0, false) => "low",
            (0, true) => "medium: more lines go than come",
            _ => "high: files are deleted",
        };
        let deleted = match deleted {
            0 => String::new(),
            count => format!(", {count} of them deleted"),
        };
        Some(format!("{files}{deleted}, +{added} -{removed} lines, risk {risk}"))
    }
}

/// What a person answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum Answer {
    /// Leave is given, this once.
    Yes,
    /// Leave is given, for the same call until the session ends.
    Always,
    /// Leave is refused, with an optional reason for the model.
    No {
        /// Possibly empty.
        reason: String,
    },
    /// A free answer to [`Question::Choose`].
    Text {
        /// As typed.
        text: String,
    },
}

/// Carries questions to a person. `None` means that nobody is there to answer.
pub trait Person: Send + Sync {
    /// Asks and waits.
    fn ask(&self, question: Question) -> BoxFuture<'_, Option<Answer>>;
}

/// Nobody: every question comes back unanswered.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl Person for Nobody {
    fn ask(&self, _question: Question) -> BoxFuture<'_, Option<Answer>> {
        Box::pin(std::future::ready(None))
    }
}
