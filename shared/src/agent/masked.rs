//! Outcomes without secrets: what is kept, told and sent of a call.

use crate::call::{Artifact, Outcome};
use crate::secret::Masker;

/// Masks what came of a call: its text, and the diffs of what it wrote. A plan and a note on a step are the model's own
/// words, and what the plan's digest stands for.
pub fn outcome(outcome: &mut Outcome, masker: &Masker) {
    let text = match outcome {
        Outcome::Ok(output) => {
            output.artifacts.iter_mut().for_each(|artifact| match artifact {
                Artifact::Wrote(receipt) | Artifact::Changed(receipt) => masker.clean(&mut receipt.diff),
                Artifact::Read { .. }
                | Artifact::Plan(_)
                | Artifact::MayHaveChanged
                | Artifact::SyntaxError { .. }
                | Artifact::StepUpdate { .. } => {}
            });
            &mut output.text
        }
        Outcome::Error(error) => &mut error.text,
        Outcome::Denied(text) | Outcome::Interrupted(text) => text,
    };
    masker.clean(text);
}
