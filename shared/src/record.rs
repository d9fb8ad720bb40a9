//! What the log holds: the append-only truth that history and facts are folded from.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::{Outcome, ToolCall};
use crate::digest::Digest;
use crate::image::{Image, Imaged};
use crate::journal::{Granted, GrantedBy};
use crate::model::{Finish, OwnFields, Usage};
use crate::plan::{Approver, Plan};
use crate::proof::{CheckRun, StepProof};
use crate::role::{ActingRole, Role, WordsRole};

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Counted from 0, without gaps.
    pub seq: u64,
    /// Milliseconds since 1970, UTC.
    pub ts: u64,
    /// What happened.
    #[serde(flatten)]
    pub record: Record,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// The session began.
    Opened {
        /// The canonical root.
        root: String,
        /// Of the program.
        version: String,
    },
    /// A prompt came in, or an approved plan is to be carried out.
    TurnOpened {
        /// Who works on it.
        role: ActingRole,
        /// The person's words; empty when only a plan is carried out.
        prompt: String,
        /// Whether words without a plan would be no answer.
        plan_demanded: bool,
    },
    /// A model that acts replied.
    Replied {
        /// Who.
        role: ActingRole,
        /// `provider/model`.
        model: String,
        /// The text, possibly empty.
        text: String,
        /// Reasoning beside the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
        /// What the provider sent beside the known fields.
        #[serde(default, skip_serializing_if = "OwnFields::is_empty")]
        own: OwnFields,
        /// The calls, with ids unique in the session.
        calls: Vec<ToolCall>,
        /// Why it ended.
        finish: ReplyEnd,
        /// Cost of the request.
        spent: Spent,
    },
    /// A words-only request was answered.
    Said {
        /// Who.
        role: WordsRole,
        /// `provider/model`.
        model: String,
        /// The text.
        text: String,
        /// Cost of the request.
        spent: Spent,
    },
    /// A words-only request was not answered.
    Unsaid {
        /// Who.
        role: WordsRole,
        /// What happened.
        error: String,
    },
    /// A write call was given leave and is about to act.
    Started {
        /// The call.
        call_id: String,
        /// The leave. A call whose command runs once more, outside the cage, has a second one.
        #[serde(flatten)]
        granted: Granted,
    },
    /// What stands at a path was kept before it is changed.
    Imaged(Imaged),
    /// What stands at a path, found by a look at it: after a crash, where a call was about to change it, or after a
    /// command that changed it.
    Settled {
        /// The call.
        call_id: String,
        /// Relative to the root.
        path: String,
        /// What stood there before the call.
        before: Image<Digest>,
        /// What stands there now.
        now: Image<Digest>,
    },
    /// What a call changed is not known throughout, so that part of it cannot be taken back.
    Uncovered {
        /// The call.
        call_id: String,
        /// Why, for a person.
        why: String,
    },
    /// Changes were taken back, or a taking back was.
    Undone {
        /// Its own id, under which it can be taken back itself.
        id: String,
        /// The calls, or the earlier taking back, that it takes back.
        of: Vec<String>,
        /// Who or what wanted it, in words.
        why: String,
        /// What stands now at each path that was touched.
        restored: BTreeMap<String, Image<Digest>>,
    },
    /// Taking back failed half way: no call of this session may act any more.
    Halted {
        /// What failed.
        why: String,
    },
    /// A call got its outcome.
    Stepped {
        /// The call.
        call_id: String,
        /// What came of it, with a long text already cut to a preview.
        outcome: Outcome,
        /// For those who look at what the agent did.
        audit: Audit,
    },
    /// A note in the user role was placed after everything that stands in the history so far.
    Noted {
        /// The reminder's id.
        id: String,
        /// What its cap counts by, for example the number of a plan step.
        occasion: String,
        /// As the model reads it.
        text: String,
    },
    /// The planner drafted a plan.
    Planned {
        /// The plan.
        plan: Plan,
    },
    /// Somebody decided on the plan.
    Decided {
        /// The plan's digest.
        digest: Digest,
        /// What was decided.
        decision: Decision,
    },
    /// The harness ran a step's check.
    Checked {
        /// Counted from 1.
        step: usize,
        /// Before or after the step's work.
        moment: Moment,
        /// The leave.
        #[serde(flatten)]
        granted: Granted,
        /// Digests of the files that the check consists of, when it ran.
        material: BTreeMap<String, Digest>,
        /// What came of it.
        run: CheckRun,
    },
    /// The harness judged a step.
    Proved {
        /// Where it stands.
        proof: StepProof,
    },
    /// The loop guard saw a loop, or refused calls of one.
    Struck {
        /// The calls of the loop, as keys of tool and arguments.
        keys: Vec<Digest>,
        /// How often this loop was struck now, from 1.
        strike: u32,
    },
    /// A context stage cut results that were shown in full before.
    Cut {
        /// Which stage.
        stage: Stage,
        /// The calls whose results are cut.
        call_ids: Vec<String>,
        /// Estimated tokens freed.
        freed: u64,
    },
    /// The middle of the conversation was replaced by a summary.
    Compacted {
        /// What stands in its place.
        summary: Summary,
        /// The blob with the replaced part, readable by `recall`.
        archive: Digest,
        /// Rounds of the session that are replaced, counted from its start.
        rounds: u64,
        /// Estimated tokens freed.
        freed: u64,
    },
    /// The share of the context budget in use went over or under the warning mark.
    Pressure {
        /// Above the mark now?
        high: bool,
    },
    /// A limit of the task was reached; what follows is only the wrap-up.
    Limited {
        /// Which, in words.
        what: String,
    },
    /// The turn ended.
    TurnClosed {
        /// How.
        end: TurnEnd,
    },
    /// The session was taken up again; what was in flight is named.
    Resumed {
        /// Calls that got [`Outcome::Interrupted`] because of it.
        interrupted: Vec<String>,
    },
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyEnd {
    /// By the model.
    Stop,
    /// Cut by the token limit.
    Length,
    /// Withheld by the provider.
    Filter,
    /// Cut by the person; calls of such a reply are dropped.
    Interrupted,
}

impl From<Finish> for ReplyEnd {
    fn from(finish: Finish) -> ReplyEnd {
        match finish {
            Finish::Stop => ReplyEnd::Stop,
            Finish::Length => ReplyEnd::Length,
            Finish::Filter => ReplyEnd::Filter,
        }
    }
}

/// What a request cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Tokens; estimated when `estimated` says so.
    pub usage: Usage,
    /// The harness's own estimate of the prompt before calibration, in tokens.
    pub prompt_estimate: u64,
    /// Whether the provider left out the usage.
    pub estimated: bool,
    /// US dollars, when the price is known.
    pub cost: Option<f64>,
}

/// A row of the audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// The tool's name.
    pub tool: String,
    /// Digest of the canonical arguments.
    pub args_hash: String,
    /// Paths the call touched, or the root.
    pub path_scope: Vec<String>,
    /// `ok`, `error`, `denied` or `interrupted`.
    pub result: String,
    /// Milliseconds.
    pub duration_ms: u64,
    /// Who gave leave; `None` for reads and for what never ran.
    pub approved_by: Option<GrantedBy>,
    /// Digest of exactly the effect that leave was given to, as it was shown; `None` where `approved_by` is, and in logs
    /// of earlier versions.
    #[serde(default)]
    pub effect_digest: Option<Digest>,
    /// The call that this one takes back.
    pub rollback_of: Option<String>,
    /// The turn, counted from 1.
    pub turn: u32,
    /// Who called.
    pub role: Role,
}

/// A person's decision on a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "decision")]
pub enum Decision {
    /// Carry it out.
    Approve {
        /// Who said so.
        by: Approver,
    },
    /// Draft it again.
    Revise {
        /// What to change.
        comment: String,
    },
    /// Leave it.
    Reject,
}

/// When a check ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Before the step's work.
    Before,
    /// After it.
    After,
}

/// The stages of context reduction, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The model is told.
    Warn,
    /// Older results become one-line references.
    Mask,
    /// Older results become bare markers.
    Prune,
    /// All but a few results become bare markers.
    Aggressive,
    /// The middle of the conversation is summarised.
    Compact,
}

/// What stands in place of a compacted part of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// What is to be reached.
    pub goal: String,
    /// Changes made so far.
    pub changes: String,
    /// Conclusions that a tool's result confirmed.
    pub confirmed: String,
    /// What was only guessed.
    pub guesses: String,
    /// What is still open.
    pub open: String,
    /// Whether a model wrote it; else it was put together from facts.
    pub by_model: bool,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "end")]
pub enum TurnEnd {
    /// With an answer in words.
    Answered,
    /// With a drafted plan.
    Planned,
    /// A plan was demanded, and none came.
    NoPlan,
    /// The reply that ended it was empty, withheld, or still cut after all its continuations.
    NoAnswer,
    /// The plan counts as carried out by the model's word alone: no check passes, and no call acted.
    NothingDone,
    /// The model ended with plan steps that are not done.
    StepsOpen,
    /// A plan step's check failed.
    CheckFailed,
    /// A plan step's failing check passes only since this run changed what it checks with.
    Unproven,
    /// A call needed leave that nobody gave.
    NotApproved,
    /// A limit was reached; the text says which.
    Limit {
        /// Which, in words.
        what: String,
    },
    /// Every call of several rounds in a row failed.
    Failing,
    /// The loop guard stopped it.
    Loop,
    /// The model could not be reached or refused.
    Model {
        /// What happened.
        error: String,
    },
    /// A person stopped it.
    Interrupted,
    /// The program ended in the middle of it.
    Crashed,
}
