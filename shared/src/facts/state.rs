//! The facts as data: counters and states, each with what it counts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::ErrorKind;
use crate::digest::Digest;
use crate::doom_loop::Fingerprint;
use crate::journal::Granted;
use crate::plan::{Approver, Plan, StepStatus};
use crate::proof::{CheckRun, StepProof};
use crate::record::{ReplyEnd, Spent};
use crate::role::{ActingRole, Role};

/// A fold over the log. Kept in the same transaction as the records that made it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Facts {
    /// The newest plan, if any.
    pub plan: Option<PlanFacts>,
    /// Digest of each file when the agent last read or wrote it.
    pub seen: BTreeMap<String, Digest>,
    /// What the agent changed in this session.
    pub changed: BTreeMap<String, Change>,
    /// How often each reminder was placed, by id and occasion.
    pub reminders: BTreeMap<String, Placed>,
    /// What the loop guard remembers.
    pub guard: Guard,
    /// Tokens and money by role.
    pub spent: BTreeMap<Role, RoleSpent>,
    /// The turn that runs.
    pub turn: TurnFacts,
    /// The newest round.
    pub round: RoundFacts,
    /// How full the model's window is.
    pub context: ContextFacts,
    /// Times the session was taken up again.
    pub resumes: u32,
    /// Calls that were in flight when it was last taken up again.
    pub interrupted: Vec<String>,
    /// What calls changed and nobody knows how: the call, and why.
    pub uncovered: Vec<(String, String)>,
    /// Times that changes were taken back in the session.
    pub undos: u32,
    /// Files of the newest taking back.
    pub undone: Vec<String>,
    /// Why no call may act any more, if so.
    pub halted: Option<String>,
    /// Rounds of the session.
    pub rounds: u64,
    /// Turns of the session.
    pub turns: u32,
    /// Calls of the session that were given leave to act.
    pub acts: u64,
    /// Runs of plan checks in the session.
    pub checks: u64,
    /// The leave of calls in flight.
    pub granted: BTreeMap<String, Granted>,
}

/// The newest plan and where its steps stand.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlanFacts {
    /// The plan.
    pub plan: Plan,
    /// Who approved it; `None` before.
    pub approved: Option<Approver>,
    /// The comment that asked for another draft.
    pub comment: Option<String>,
    /// Drafts that were sent back, this plan's ancestors included.
    pub revisions: u32,
    /// One for each step of the plan.
    pub steps: Vec<StepFacts>,
    /// Calls since the model last saw the plan.
    pub calls_since_seen: u32,
    /// How far its execution has come.
    pub progress: Progress,
}

/// How far the execution of a plan has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// Not begun, or running.
    #[default]
    Open,
    /// Cut off by a person, a crash, a limit or a fault of the model: the next prompt goes on with it.
    Paused,
    /// Ended without success. `tandem resume` takes it up again; a new prompt leaves it behind.
    Stopped,
    /// Ended with every step settled.
    Finished,
}

/// Where one plan step stands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StepFacts {
    /// By the model's word.
    pub status: Option<StepStatus>,
    /// The model's note.
    pub note: String,
    /// The check before the step's work.
    pub before: Option<CheckRun>,
    /// What that check consisted of.
    pub material: BTreeMap<String, Digest>,
    /// Files changed in the session, with their digests, when that check ran.
    pub changed_at_baseline: BTreeMap<String, Option<Digest>>,
    /// The newest check after it.
    pub after: Option<CheckRun>,
    /// What that check consisted of.
    pub material_after: BTreeMap<String, Digest>,
    /// Calls that had acted in the session when that check ran.
    pub acts_at_check: u64,
    /// Failures of the check after the work.
    pub failures: u32,
    /// The harness's judgement.
    pub proof: Option<StepProof>,
}

/// What became of a file over the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Before the session first wrote it; `None` when it made the file.
    pub before: Option<Digest>,
    /// Now; `None` when no file stands there any more.
    pub after: Option<Digest>,
    /// Lines added by all edits.
    pub added: usize,
    /// Lines removed by all edits.
    pub removed: usize,
}

/// How often a reminder was placed on one occasion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    /// Times.
    pub times: u32,
    /// The round of the session after which it was placed last.
    pub round: u64,
}

/// What the loop guard remembers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Guard {
    /// The newest calls since the last user message.
    pub seen: VecDeque<Fingerprint>,
    /// The loop that was struck, if any.
    pub struck: Option<Struck>,
    /// Loops struck in the session.
    pub loops: u32,
    /// Strikes of each loop since the last user message, also of those that were forgotten when the world changed.
    pub past: BTreeMap<Digest, u32>,
}

/// A loop that was struck.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Struck {
    /// Its calls.
    pub keys: Vec<Digest>,
    /// Strikes so far.
    pub strikes: u32,
}

/// Tokens and money of one role.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleSpent {
    /// `provider/model`, the newest.
    pub model: String,
    /// Requests.
    pub requests: u64,
    /// Prompt tokens.
    pub prompt: u64,
    /// Cached prompt tokens.
    pub cached: u64,
    /// Answer tokens.
    pub completion: u64,
    /// Whether some of it is estimated.
    pub estimated: bool,
    /// Every model that was asked, `provider/model`.
    pub models: BTreeSet<String>,
    /// US dollars of the requests whose price is known.
    pub cost: Option<f64>,
    /// Requests whose price is not known.
    pub unpriced: u64,
}

impl RoleSpent {
    /// Adds one request.
    pub(super) fn add(&mut self, model: &str, spent: &Spent) {
        self.model = model.to_owned();
        self.models.insert(model.to_owned());
        self.requests += 1;
        self.prompt += spent.usage.prompt;
        self.cached += spent.usage.cached;
        self.completion += spent.usage.completion;
        self.estimated |= spent.estimated;
        match spent.cost {
            Some(cost) => self.cost = Some(self.cost.unwrap_or_default() + cost),
            None => self.unpriced += 1,
        }
    }
}

/// The turn that runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TurnFacts {
    /// Who works on it.
    pub role: Option<ActingRole>,
    /// Whether a plan is demanded.
    pub plan_demanded: bool,
    /// Rounds so far.
    pub rounds: u32,
    /// Rounds in a row in which every call failed.
    pub failing_rounds: u32,
    /// Rounds in a row with calls that only read.
    pub reading_rounds: u32,
    /// Calls that were denied.
    pub denied: u32,
    /// Calls that were given leave to act.
    pub acts: u64,
    /// What the task has used.
    pub task: TaskFacts,
    /// Requests, tokens and money of this turn by role.
    pub spent: BTreeMap<Role, RoleSpent>,
    /// A limit that was reached.
    pub limit: Option<String>,
    /// Whether the thinking phase spoke in this turn.
    pub thought: bool,
    /// Whether it could not be reached: it is not tried again in this turn.
    pub thinking_failed: bool,
    /// Plan steps that it has thought about at their beginning.
    pub thought_steps: BTreeSet<usize>,
    /// A plan was drafted in it.
    pub planned: bool,
}

/// What a task has used. A turn without words of the person goes on with the task of the turn before; a session that is
/// taken up again begins to count afresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskFacts {
    /// Prompt tokens of all roles.
    pub prompt_tokens: u64,
    /// Prompt and answer tokens of all roles.
    pub tokens: u64,
    /// US dollars, as far as prices are known.
    pub usd: f64,
}

/// The newest round.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RoundFacts {
    /// The reply's text.
    pub text: String,
    /// Calls in the reply.
    pub calls: u32,
    /// Calls that have their outcome.
    pub settled: u32,
    /// Why the reply ended.
    pub finish: Option<ReplyEnd>,
    /// Errors, in order.
    pub errors: Vec<ErrorFact>,
    /// Reasons of denials, in order.
    pub denied: Vec<String>,
    /// Plan steps whose state the model reported.
    pub steps_reported: Vec<usize>,
    /// Plan steps whose check failed after it.
    pub checks_failed: Vec<usize>,
    /// Syntax errors that writes left, as `path:line`.
    pub syntax_errors: Vec<String>,
    /// Calls that the loop guard refused.
    pub refused: u32,
    /// Calls that changed something.
    pub writes: u32,
}

/// A tool error as reminders see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorFact {
    /// The tool.
    pub tool: String,
    /// The kind.
    pub kind: ErrorKind,
    /// The text that the model got.
    pub text: String,
}

/// How full the model's window is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ContextFacts {
    /// Tokens that the provider counts for each that the harness estimates, by model.
    pub calibration: BTreeMap<String, f64>,
    /// Times the use went over the warning mark.
    pub crossings: u32,
    /// Whether it is above the mark.
    pub high: bool,
    /// Summaries made.
    pub compactions: u32,
    /// Id under which the newest replaced part can be recalled.
    pub archive: String,
}

/// Where the count of a reminder on one occasion is kept.
pub(super) fn placed_key(id: &str, occasion: &str) -> String {
    format!("{id}:{occasion}")
}
