//! The five roles a model can be bound to, split by what a role may ask of its model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who is speaking to a model. Each role is bound to its own model by configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Looks, and drafts a plan. Offered read tools only.
    Planner,
    /// Weighs the next step in words. Never offered a tool.
    Thinking,
    /// Carries out an approved plan. Offered read and write tools.
    Executor,
    /// Judges a drafted plan in words. Never offered a tool.
    Critique,
    /// Summarises a long history in words. Never offered a tool.
    Compaction,
}

impl Role {
    /// All roles, in the order in which they are shown.
    pub const ALL: [Role; 5] =
        [Role::Planner, Role::Thinking, Role::Executor, Role::Critique, Role::Compaction];

    /// The name used in configuration, events and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Planner => "planner",
            Role::Thinking => "thinking",
            Role::Executor => "executor",
            Role::Critique => "critique",
            Role::Compaction => "compaction",
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The roles that run the loop and call tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActingRole {
    /// See [`Role::Planner`].
    Planner,
    /// See [`Role::Executor`].
    Executor,
}

/// The roles that only ever exchange words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WordsRole {
    /// See [`Role::Thinking`].
    Thinking,
    /// See [`Role::Critique`].
    Critique,
    /// See [`Role::Compaction`].
    Compaction,
}

impl From<ActingRole> for Role {
    fn from(role: ActingRole) -> Role {
        match role {
            ActingRole::Planner => Role::Planner,
            ActingRole::Executor => Role::Executor,
        }
    }
}

impl From<WordsRole> for Role {
    fn from(role: WordsRole) -> Role {
        match role {
            WordsRole::Thinking => Role::Thinking,
            WordsRole::Critique => Role::Critique,
            WordsRole::Compaction => Role::Compaction,
        }
    }
}
