//! The plan itself, in canonical form, and the approval that binds to its digest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::digest::Digest;

/// A drafted plan in canonical form: texts are trimmed, and single lines where a single line is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "PlanDraft", into = "PlanDraft")]
pub struct Plan {
    pub(super) goal: String,
    pub(super) constraints: Vec<String>,
    pub(super) steps: Vec<PlanStep>,
    pub(super) risks: Vec<String>,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    /// What is to be done; may have several lines.
    pub what: String,
    /// The files that approval lets the executor edit, relative to the root.
    #[serde(default)]
    pub files: Vec<String>,
    /// A shell command that fails before the step and passes after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// The parts of a plan before they are put into canonical form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanDraft {
    /// What is to be reached.
    pub goal: String,
    /// What must hold throughout.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// In order.
    #[serde(default)]
    pub steps: Vec<PlanStep>,
    /// What may go wrong.
    #[serde(default)]
    pub risks: Vec<String>,
}

/// Why a draft is no plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The goal is blank.
    #[error("the plan has no goal")]
    NoGoal,
    /// There is no step.
    #[error("the plan has no steps")]
    NoSteps,
    /// A step says nothing.
    #[error("step {0} does not say what is to be done")]
    BlankStep(usize),
    /// A check of several lines cannot be shown and approved as one command.
    #[error("the check of step {0} must be a command on one line")]
    CheckOfSeveralLines(usize),
    /// A file name with a line break, or a blank one.
    #[error("step {0} names a file that is blank or holds a line break")]
    BadFile(usize),
}

/// Where a step stands, by the executor's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    Todo,
    /// Being worked on.
    Doing,
    /// Claimed to be done.
    Done,
    /// Cannot be done; the note says why.
    Blocked,
}

/// Who gave leave to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Approver {
    /// A person answered the question.
    Person,
    /// `--yes` or `-p` on the command line.
    Flag,
    /// The approval mode `auto`.
    Mode,
}

/// A plan that was approved. Only [`Plan::approve`] makes one:
///
/// ```compile_fail
/// use tandem_shared::plan::{ApprovedPlan, Approver, Plan};
/// fn smuggle(plan: Plan) -> ApprovedPlan {
///     ApprovedPlan { digest: plan.digest(), plan, by: Approver::Person }
/// }
/// ```
///
/// ```
/// use tandem_shared::plan::{ApprovedPlan, Approver, Plan};
/// fn approve(plan: Plan) -> ApprovedPlan {
///     plan.approve(Approver::Person)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovedPlan {
    plan: Plan,
    digest: Digest,
    by: Approver,
}

impl ApprovedPlan {
    /// The plan as it was shown.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Of the canonical form that was shown.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Who approved it.
    pub fn by(&self) -> Approver {
        self.by
    }
}

impl Plan {
    /// Puts a draft into canonical form.
    ///
    /// # Errors
    /// When a part that a plan needs is missing or malformed.
    pub fn new(draft: PlanDraft) -> Result<Plan, PlanError> {
        let goal = one_line(&draft.goal);
        if goal.is_empty() {
            return Err(PlanError::NoGoal);
        }
        if draft.steps.is_empty() {
            return Err(PlanError::NoSteps);
        }
        let steps = draft
            .steps
            .into_iter()
            .enumerate()
            .map(|(index, step)| canonical_step(index + 1, step))
            .collect::<Result<_, _>>()?;
        let lines = |texts: Vec<String>| {
            texts.iter().map(|text| one_line(text)).filter(|text| !text.is_empty()).collect()
        };
        Ok(Plan { goal, constraints: lines(draft.constraints), steps, risks: lines(draft.risks) })
    }

    /// What is to be reached, on one line.
    pub fn goal(&self) -> &str {
        &self.goal
    }

    /// What must hold throughout.
    pub fn constraints(&self) -> &[String] {
        &self.constraints
    }

    /// In order; never empty.
    pub fn steps(&self) -> &[PlanStep] {
        &self.steps
    }

    /// What may go wrong.
    pub fn risks(&self) -> &[String] {
        &self.risks
    }

    /// Every file that some step names, once, in order.
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = Vec::new();
        for file in self.steps.iter().flat_map(|step| &step.files) {
            if !files.contains(&file.as_str()) {
                files.push(file);
            }
        }
        files
    }

    /// The digest that approval is bound to: that of the Markdown form.
    pub fn digest(&self) -> Digest {
        Digest::of(self.to_markdown())
    }

    /// Gives leave to this plan as it stands.
    pub fn approve(self, by: Approver) -> ApprovedPlan {
        ApprovedPlan { digest: self.digest(), plan: self, by }
    }
}

impl TryFrom<PlanDraft> for Plan {
    type Error = PlanError;
    fn try_from(draft: PlanDraft) -> Result<Plan, PlanError> {
        Plan::new(draft)
    }
}

impl From<Plan> for PlanDraft {
    fn from(plan: Plan) -> PlanDraft {
        PlanDraft { goal: plan.goal, constraints: plan.constraints, steps: plan.steps, risks: plan.risks }
    }
}

fn canonical_step(number: usize, step: PlanStep) -> Result<PlanStep, PlanError> {
    let what = clean_lines(&step.what);
    if what.is_empty() {
        return Err(PlanError::BlankStep(number));
    }
    let mut files: Vec<String> = Vec::new();
    for file in step.files {
        let file = file.trim().to_owned();
        if file.is_empty() || file.contains(is_line_break) {
            return Err(PlanError::BadFile(number));
        }
        if !files.contains(&file) {
            files.push(file);
        }
    }
    let check = step.check.map(|check| check.trim().to_owned()).filter(|check| !check.is_empty());
    if check.as_deref().is_some_and(|check| check.contains(is_line_break)) {
        return Err(PlanError::CheckOfSeveralLines(number));
    }
    Ok(PlanStep { what, files, check })
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Trims line ends and drops blank lines at both ends; indentation inside stays.
fn clean_lines(text: &str) -> String {
    let lines: Vec<&str> = text.split(is_line_break).map(str::trim_end).collect();
    let kept = lines.iter().skip_while(|line| line.is_empty()).copied().collect::<Vec<_>>().join("\n");
    kept.trim().to_owned()
}
