//! Taking back what the agent changed: what can be asked for, and what came of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is to be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything of the newest turn that still stands.
    NewestTurn,
    /// Everything of the turn of this number (from 1) that still stands.
    Turn(u32),
    /// What one call changed.
    Call(String),
    /// What was changed since the plan step of this number (from 1) was begun.
    PlanStep(usize),
    /// The newest taking back itself.
    Redo,
}

/// What is done where a file was changed by somebody else since, in the same lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// Nothing at all is taken back.
    Refuse,
    /// The file is left as it is, and the others are taken back.
    Skip,
}

/// Whether anything is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earnest {
    /// It is done.
    Do,
    /// It is only told what would be done.
    Tell,
}

/// What a taking back did, or would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoReport {
    /// Its id, under which it can be taken back itself; `None` when nothing was changed.
    pub id: Option<String>,
    /// The acts that are taken back, oldest first.
    pub acts: Vec<ActRow>,
    /// The files, each with what becomes of it.
    pub files: Vec<FileRow>,
    /// Commands among the acts whose changes are not known, and why.
    pub uncovered: Vec<String>,
}

impl UndoReport {
    /// The files that were changed by somebody else in the same lines.
    pub fn conflicts(&self) -> impl Iterator<Item = &FileRow> {
        self.files.iter().filter(|file| matches!(file.fate, Fate::Conflict { .. }))
    }
}

/// An act that changed files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActRow {
    /// The call's id, or that of a taking back.
    pub id: String,
    /// The tool; `undo` for a taking back.
    pub tool: String,
    /// The turn, counted from 1.
    pub turn: u32,
    /// Milliseconds since 1970, UTC.
    pub ts: u64,
    /// The files, relative to the root.
    pub files: Vec<String>,
    /// Whether it is taken back.
    pub undone: bool,
}

/// A file and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRow {
    /// Relative to the root.
    pub path: String,
    /// What becomes of it.
    #[serde(flatten)]
    pub fate: Fate,
}

/// What becomes of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "fate")]
pub enum Fate {
    /// It stands as it was before.
    Restored,
    /// The agent made it, so it is removed.
    Removed,
    /// Somebody changed it since, in other lines, which stay.
    Merged,
    /// It stands as it was before already.
    Already,
    /// Somebody changed it since, and both cannot be had.
    Conflict {
        /// What stands against it, for a person; in a text the lines in question.
        why: String,
    },
}
