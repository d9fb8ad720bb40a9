//! The numbers and choices that rooms are handed. None has a default here: `config/default.toml` is the only place.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::tool::ReadLimits;

/// `[loop]`: when a run ends. Like all settings it has no default of its own:
///
/// ```compile_fail
/// let settings = tandem_shared::settings::LoopSettings::default();
/// ```
///
/// ```
/// let read = |text: &str| serde_json::from_str::<tandem_shared::settings::LoopSettings>(text);
/// assert!(read("{}").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoopSettings {
    /// Rounds of the planner in one turn.
    pub planner_rounds: u32,
    /// Rounds of the executor in one turn.
    pub executor_rounds: u32,
    /// Seconds a task may take; 0 is no limit.
    pub time_budget_s: u64,
    /// Prompt tokens a task may send in all; 0 is no limit.
    pub input_tokens: u64,
    /// US dollars a task may cost, all roles together; 0 is no limit.
    pub max_usd: f64,
    /// Tokens of prompts and answers a task may take, all roles together; 0 is no limit.
    pub max_tokens_total: u64,
    /// Rounds in a row in which every call failed.
    pub failing_rounds: u32,
    /// Read calls that run side by side.
    pub parallel_reads: usize,
    /// Continuations of a reply that was cut by the token limit.
    pub reply_continues: u32,
    /// Calls that the loop guard looks back on.
    pub guard_window: usize,
    /// Equal repeats that make a loop.
    pub guard_repeats: usize,
    /// The longest cycle of calls that the guard sees.
    pub guard_period: usize,
    /// Strikes on one loop after which the run is stopped.
    pub guard_strikes: u32,
    /// Failures of one plan step's check that are sent back for repair.
    pub check_failures: u32,
}

/// `[context]`: when and how far the conversation is cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextSettings {
    /// Window in tokens when the role's `context_window` is not set.
    pub window: u64,
    /// Share of the window kept for the answer when the role has no `max_tokens`.
    pub reserve: f64,
    /// Share of the budget at which the model is warned.
    pub warn: f64,
    /// Share at which older results become one-line references.
    pub mask: f64,
    /// Newest results that masking keeps.
    pub mask_keep: usize,
    /// Share at which older results become bare markers.
    pub prune: f64,
    /// Tokens of newest results that pruning keeps, at most a third of the budget.
    pub prune_keep_tokens: u64,
    /// Share at which all but a few results become bare markers.
    pub aggressive: f64,
    /// Newest results that the aggressive stage keeps.
    pub aggressive_keep: usize,
    /// Share at which the middle of the conversation is summarised.
    pub compact: f64,
    /// Newest rounds that a summary leaves as they are.
    pub compact_keep: usize,
    /// Characters over which a result is offloaded.
    pub offload_chars: usize,
}

/// When the thinking phase runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThinkingMode {
    /// Never.
    Off,
    /// At the start of a turn and of a plan step, after a failure or a denial, and when the loop guard asks.
    Auto,
    /// Before every request.
    Always,
}

/// How far the thinking phase may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// A few sentences.
    Low,
    /// A page.
    Medium,
    /// As long as it takes.
    High,
}

/// `[thinking]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThinkingSettings {
    /// When it runs.
    pub mode: ThinkingMode,
    /// Which of the limits below goes.
    pub depth: Depth,
    /// Answer tokens at depth low.
    pub low_tokens: u32,
    /// Answer tokens at depth medium.
    pub medium_tokens: u32,
    /// Answer tokens at depth high.
    pub high_tokens: u32,
    /// Whether a drafted plan is judged by the critique role before it is shown.
    pub critique: bool,
}

impl ThinkingSettings {
    /// The answer limit in tokens at the chosen depth.
    pub fn max_tokens(&self) -> u32 {
        match self.depth {
            Depth::Low => self.low_tokens,
            Depth::Medium => self.medium_tokens,
            Depth::High => self.high_tokens,
        }
    }
}

/// How much a run may do without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Approval {
    /// Edits and commands are asked for, save allow-listed commands.
    Ask,
    /// Edits inside the root go ahead; commands are asked for.
    AutoEdit,
    /// Everything goes ahead, save what the danger list names.
    Auto,
    /// Only what the allow-list or an approved plan names goes ahead; the rest is denied without a question.
    Strict,
    /// Nothing is written and nothing is run: plans only.
    Plan,
}

/// When a session plans first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlanMode {
    /// The planner answers, and drafts a plan only where something is to be changed.
    Auto,
    /// A plan is demanded.
    Always,
    /// Straight to the executor.
    Never,
}

/// `[edits]`: bounds of changes, and of what can be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditSettings {
    /// Files that one call may change without a question of its own.
    pub ask_over_files: usize,
    /// Bytes of a file that tools change at most.
    pub file_bytes: u64,
    /// Bytes of a file up to which what a command does to it can be taken back.
    pub cover_file_bytes: u64,
    /// Seconds that finding out what a command changed may take, before and after it; 0 leaves it out.
    pub cover_s: u64,
}

/// `[commands]`: bounds and rules of `run_command`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandSettings {
    /// Seconds without output after which a command is stopped.
    pub idle_s: u64,
    /// Seconds after which a command is stopped.
    pub absolute_s: u64,
    /// Characters of output that reach the model, head and tail.
    pub output_chars: usize,
    /// Variables that every command gets, over those of your own environment.
    pub env: BTreeMap<String, String>,
    /// Commands that are never run, as patterns over parsed words; further words never lead out of one.
    pub deny: Vec<String>,
    /// Commands that are always asked about, in the same form.
    pub ask: Vec<String>,
    /// Commands that run without a question, as patterns over parsed words (`git status *`).
    pub allow: Vec<String>,
    /// Whether commands run in a cage.
    pub sandbox: Sandbox,
    /// Whether caged commands can reach other machines.
    pub network: Network,
    /// What caged commands may write beside the project; `~` is the home folder.
    pub cache_dirs: Vec<String>,
    /// What caged commands cannot read, beside tandem's own state; `~` is the home folder.
    pub hidden: Vec<String>,
    /// Megabytes of memory for each process of a caged command; 0 is no limit.
    pub max_memory_mb: u64,
    /// Processes that may run for a caged command; 0 is no limit.
    pub max_processes: u64,
    /// Megabytes of a command's output that are kept to be read back; of more, head and tail.
    pub max_output_mb: u64,
    /// Megabytes that a caged command may write to one file; 0 is no limit.
    pub max_file_mb: u64,
    /// Seconds of computing for each process of a caged command; 0 is no limit.
    pub max_cpu_s: u64,
}

/// Whether commands run in a cage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// In what the system has of it.
    Auto,
    /// In a whole one, or not at all.
    Require,
    /// They do not.
    Off,
}

/// Whether commands can reach other machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// They cannot.
    Off,
    /// They can.
    On,
}
