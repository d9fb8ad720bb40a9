//! `update_step`: says where a step of the approved plan stands.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{Artifact, ErrorKind, Outcome, ToolError, ToolOutput};
use tandem_shared::person::Effect;
use tandem_shared::plan::StepStatus;

use crate::cx::{EffectCx, WriteCx};
use crate::tool::WriteTool;

/// The tool.
pub struct UpdateStep;

/// Its arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateStepArgs {
    /// The number of the step in the plan, counted from 1.
    step: usize,
    /// Where it stands.
    status: StepStatus,
    /// What was done, or why it is blocked.
    #[serde(default)]
    note: Option<String>,
}

impl WriteTool for UpdateStep {
    type Args = UpdateStepArgs;
    const NAME: &'static str = "update_step";
    const DESCRIPTION: &'static str = include_str!("../../../prompts/tools/update_step.md");

    fn effect(&self, args: &UpdateStepArgs, cx: &EffectCx) -> Result<Effect, ToolError> {
        let invalid = |text: String| Err(ToolError::new(ErrorKind::InvalidArguments, text));
        let Some(plan) = cx.plan() else {
            return invalid(
                "There is no approved plan, so it has no steps. Go on with the task itself.".to_owned(),
            );
        };
        let count = plan.plan().steps().len();
        if !(1..=count).contains(&args.step) {
            return invalid(format!("There is no step {}: the plan has steps 1 to {count}.", args.step));
        }
        Ok(Effect::Nothing)
    }

    async fn call(&self, args: UpdateStepArgs, cx: WriteCx) -> Outcome {
        let UpdateStepArgs { step, status, note } = args;
        let steps = cx.look().plan().map_or(&[][..], |plan| plan.plan().steps());
        let word = match status {
            StepStatus::Todo => "to do",
            StepStatus::Doing => "being worked on",
            StepStatus::Done => "claimed to be done",
            StepStatus::Blocked => "blocked",
        };
        let mut text = format!("Step {step} is noted as {word}.");
        let check = step.checked_sub(1).and_then(|at| steps.get(at)).and_then(|step| step.check.as_deref());
        if let (StepStatus::Done, Some(check)) = (status, check) {
            text.push_str(&format!(" Its check is run by the harness: {check}"));
        }
        let note = note.unwrap_or_default();
        Outcome::Ok(ToolOutput::text(text).with(Artifact::StepUpdate { step, status, note }))
    }
}
