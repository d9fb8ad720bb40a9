//! What a front end says and what it hears. Every front end speaks these two enums and nothing else.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Receipt;
use crate::digest::Digest;
use crate::facts::{Change, RoleSpent};
use crate::person::{Answer, Question};
use crate::plan::Plan;
use crate::proof::{CheckRun, StepProof};
use crate::record::{Decision, Moment, Stage, TurnEnd};
use crate::role::{ActingRole, Role};
use crate::settings::{Approval, PlanMode};
use crate::store::PlanRow;
use crate::undo::{Scope, UndoReport};

/// What a front end says.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// The person's words, for the planner or straight to the executor.
    Prompt {
        /// As typed.
        text: String,
        /// When to plan first.
        plan: PlanMode,
    },
    /// An answer to [`Event::Asked`].
    Answer {
        /// The question's id.
        id: u64,
        /// Of the question as it was shown; for another one it is no answer.
        digest: Digest,
        /// The answer; `None` when nobody answers.
        answer: Option<Answer>,
    },
    /// A decision on the plan of [`Event::Plan`].
    Decide {
        /// Of the plan as it was shown; another plan is not decided on.
        digest: Digest,
        /// Approve, revise or reject.
        decision: Decision,
    },
    /// Take over a saved plan, to be decided on.
    Adopt {
        /// The plan with the digests of its files when it was made.
        plan: PlanRow,
    },
    /// Go on with the turn that did not end.
    Continue,
    /// Stop what runs.
    Interrupt,
    /// Summarise the conversation now.
    Compact,
    /// Bind a role to another model: `provider/model`.
    Bind {
        /// All acting roles when absent.
        role: Option<Role>,
        /// `provider/model`.
        model: String,
    },
    /// Change when the thinking phase runs: `off`, `auto` or `always`.
    Think {
        /// As typed.
        mode: String,
    },
    /// Use another named set of bindings.
    Profile {
        /// Its name.
        name: String,
    },
    /// Take back what the agent changed.
    Undo {
        /// What.
        scope: Scope,
    },
    /// Tell what goes on in the background.
    Jobs,
    /// Tell the state of the session.
    Status,
    /// Tell what fills the window.
    Context,
    /// End the session.
    Close,
}

/// What a front end hears.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case")]
pub enum Event {
    /// The session is open.
    SessionOpened {
        /// The canonical root.
        root: String,
        /// Whether it was taken up again.
        resumed: bool,
    },
    /// A turn began.
    TurnOpened {
        /// Who works on it.
        role: ActingRole,
        /// `provider/model`.
        model: String,
    },
    /// A piece of the answer.
    Delta {
        /// The text.
        text: String,
    },
    /// A piece of the model's own reasoning.
    Reasoning {
        /// The text.
        text: String,
    },
    /// A request failed and is sent again. Text that was heard is not repeated; where the new reply differs, all of it follows
    /// on a new line.
    Retry {
        /// Counted from 1.
        attempt: u32,
        /// Milliseconds until the next try.
        wait_ms: u64,
        /// What went wrong.
        reason: String,
    },
    /// The thinking phase spoke.
    Thinking {
        /// What it said.
        text: String,
    },
    /// The critique spoke.
    Critique {
        /// Whether the plan stands.
        accepted: bool,
        /// What it said.
        text: String,
    },
    /// A call begins.
    ToolCall {
        /// The call's id.
        call_id: String,
        /// The tool.
        name: String,
        /// Its main argument, on one line, cut.
        summary: String,
        /// The arguments as the model wrote them.
        arguments: String,
    },
    /// A call got its outcome.
    ToolResult {
        /// The call's id.
        call_id: String,
        /// The tool.
        name: String,
        /// `ok`, `error`, `denied` or `interrupted`.
        outcome: String,
        /// The first 200 characters.
        preview: String,
        /// Milliseconds.
        duration_ms: u64,
        /// What was written, if anything.
        receipts: Vec<Receipt>,
    },
    /// Only a person can go on.
    Asked {
        /// To be repeated in the answer.
        id: u64,
        /// The question.
        question: Question,
    },
    /// A plan was drafted and saved.
    Plan {
        /// Its id.
        id: String,
        /// The plan.
        plan: Plan,
        /// Files it names that changed since it was made.
        stale: Vec<String>,
        /// What shows that drafting it changed nothing; `None` for one that was drafted before.
        evidence: Option<Evidence>,
    },
    /// Somebody decided.
    PlanDecided {
        /// Its id.
        id: String,
        /// What.
        decision: Decision,
    },
    /// The harness ran a check.
    Check {
        /// The plan step, counted from 1.
        step: usize,
        /// Before or after the step's work.
        moment: Moment,
        /// What came of it.
        run: CheckRun,
    },
    /// A reminder was placed.
    Reminder {
        /// Its id.
        id: String,
    },
    /// A context stage acted.
    Context {
        /// Which.
        stage: Stage,
        /// Estimated tokens in use before it.
        used: u64,
        /// Tokens that may be used.
        budget: u64,
        /// Estimated tokens freed.
        freed: u64,
    },
    /// The loop guard struck.
    Loop {
        /// From 1.
        strike: u32,
    },
    /// The state of the session, as it was asked for.
    Status(Status),
    /// What fills the window, as it was asked for.
    Window(WindowUse),
    /// What goes on in the background, as it was asked for.
    Jobs {
        /// All of the session, those that ended included.
        jobs: Vec<JobRow>,
    },
    /// A command said something while it runs.
    Output {
        /// The call.
        call_id: String,
        /// Whole lines, without control sequences.
        text: String,
    },
    /// Changes were taken back, or could not be.
    Undone(UndoReport),
    /// Something worth knowing.
    Notice {
        /// For a person.
        text: String,
    },
    /// Tokens of a request.
    Usage {
        /// Who asked.
        role: Role,
        /// All of the role's requests so far.
        spent: RoleSpent,
    },
    /// A turn ended.
    Done {
        /// The report.
        report: Report,
    },
    /// The session is at rest: what was asked for is done, and the next [`Op`] is waited for.
    Ready,
    /// Something failed; the session goes on if it can.
    Error {
        /// For a person.
        message: String,
        /// The exit code that it means for a run that ends with it.
        exit: u8,
    },
}

/// The state of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// `provider/model` of each role.
    pub models: BTreeMap<Role, String>,
    /// What may happen without a question.
    pub approval: Approval,
    /// When prompts are planned first.
    pub planning: PlanMode,
    /// Requests, tokens and cost by role.
    pub spent: BTreeMap<Role, RoleSpent>,
    /// The newest plan, if any.
    pub plan: Option<PlanStatus>,
}

/// Where the newest plan stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStatus {
    /// Its id.
    pub id: String,
    /// What is to be reached.
    pub goal: String,
    /// Whether it is approved and not carried out to its end.
    pub in_force: bool,
}

/// What fills the window, in estimated tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WindowUse {
    /// In use by the request that would be sent now.
    pub used: u64,
    /// That may be used.
    pub budget: u64,
    /// The system message.
    pub system: u64,
    /// The tools on offer.
    pub tools: u64,
    /// All tool results, before cutting.
    pub results: u64,
    /// Rounds of the session.
    pub rounds: u64,
    /// Summaries made.
    pub compactions: u32,
}

/// How a turn went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The session.
    pub session: String,
    /// How the turn ended.
    pub end: TurnEnd,
    /// The exit code that it means.
    pub exit: u8,
    /// The answer in words, possibly empty.
    pub answer: String,
    /// The newest plan, if there is one.
    pub plan: Option<ReportedPlan>,
    /// Each step of an executed plan with what is shown of it.
    pub steps: Vec<StepReport>,
    /// Files changed in the session, by path.
    pub changed: BTreeMap<String, Change>,
    /// Requests, tokens and cost of the session by role.
    pub spent: BTreeMap<Role, RoleSpent>,
    /// Those of this turn alone; a turn is either planning or execution.
    pub turn_spent: BTreeMap<Role, RoleSpent>,
}

/// A command that goes on in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobRow {
    /// Its number in the session.
    pub id: u32,
    /// The command.
    pub command: String,
    /// Seconds since it was started.
    pub seconds: u64,
    /// How it ended, as the end of a sentence; `None` while it runs.
    pub end: Option<String>,
}

/// What shows that planning changed nothing: the tree by names, sizes, modes and times of all files that git does not
/// ignore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// One digest for all of it before.
    pub before: Digest,
    /// The same after.
    pub after: Digest,
    /// Files that were looked at.
    pub files: usize,
    /// Files that somebody changed meanwhile.
    pub changed: Vec<String>,
}

/// A plan with its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedPlan {
    /// The first digits of its digest.
    pub id: String,
    /// The plan.
    pub plan: Plan,
}

/// One plan step in a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepReport {
    /// What was to be done.
    pub what: String,
    /// The check, if any.
    pub check: Option<String>,
    /// What is shown.
    pub proof: StepProof,
}

/// An event as programs read it: one JSON object a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    /// The session.
    pub id: String,
    /// Counted from 0 without gaps, in one process.
    pub seq: u64,
    /// Milliseconds since 1970, UTC.
    pub ts: u64,
    /// `type` and `payload`.
    #[serde(flatten)]
    pub event: Event,
}
