//! What a plan step's check showed: how it ran, and what that proves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One run of a check command by the harness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckRun {
    /// Exactly as it was shown in the plan, run by `sh -c` in the root.
    pub command: String,
    /// The exit code; `None` when it was ended by a signal, ran out of time or could not be started.
    pub exit: Option<i32>,
    /// Whether it ended by itself with exit code 0.
    pub passed: bool,
    /// Its output, head and tail; with a last line in words when it did not end by itself.
    pub output: String,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
}

/// What the runs of a check before and after a step prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Red before, green after.
    Proven,
    /// Green before and after: passing, but it does not tell the step's work from its absence.
    NotDistinguishing,
    /// Red after.
    Failed,
    /// No check, one that did not run, or one that an edit of this run changed.
    Unproven,
}

impl Verdict {
    /// `proven`, `not_distinguishing`, `failed` or `unproven`.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Proven => "proven",
            Verdict::NotDistinguishing => "not_distinguishing",
            Verdict::Failed => "failed",
            Verdict::Unproven => "unproven",
        }
    }
}

/// Where a plan step stands by the harness's own measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepProof {
    /// Counted from 1.
    pub step: usize,
    /// What is shown.
    pub verdict: Verdict,
    /// Why, in a sentence for the report.
    pub reason: String,
}
