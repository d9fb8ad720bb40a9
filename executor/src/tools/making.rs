//! What tools that change files share: the change itself, and what the model reads of it.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tandem_shared::call::{Artifact, Outcome, Receipt, ToolError, ToolOutput};
use tandem_shared::image::Image;
use tandem_shared::person::Effect;
use tandem_shared::tool::blocking;

use crate::change::{self, Change, MOVED};
use crate::cx::{EffectCx, WriteCx};
use crate::syntax;
use crate::tool::WriteTool;

/// A tool that changes files: it says which change it wants, and everything else is the same for all of them.
pub trait FileChange: Send + Sync + 'static {
    /// The arguments; their schema is the tool's schema.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;
    /// The name to call it by.
    const NAME: &'static str;
    /// The text of its prompt file.
    const DESCRIPTION: &'static str;

    /// Works out the changes, without making them. May block.
    ///
    /// # Errors
    /// When they cannot be made at all.
    fn plan(args: &Self::Args, cx: &EffectCx) -> Result<Vec<Change>, ToolError>;
}

impl<T: FileChange> WriteTool for T {
    type Args = T::Args;
    const NAME: &'static str = T::NAME;
    const DESCRIPTION: &'static str = T::DESCRIPTION;

    fn effect(&self, args: &T::Args, cx: &EffectCx) -> Result<Effect, ToolError> {
        Ok(change::effect(&T::plan(args, cx)?))
    }

    async fn call(&self, args: T::Args, cx: WriteCx) -> Outcome {
        make::<T>(args, cx).await
    }
}

/// Plans the changes again, because time has passed since leave was asked, makes them, and answers.
async fn make<T: FileChange>(args: T::Args, cx: WriteCx) -> Outcome {
    let made = blocking(move || {
        let changes = T::plan(&args, cx.look())?;
        cx.must_be_as_granted(&change::effect(&changes))?;
        let receipts = cx.change(&changes)?;
        let mut texts = Vec::new();
        let mut artifacts = Vec::new();
        for (change, receipt) in changes.iter().zip(receipts) {
            texts.extend(told(change, &receipt));
            if let Some(line) = syntax::new_error(change) {
                let path = receipt.path.clone();
                texts.push(format!(
                    "{path} has a syntax error at line {line} that it did not have before. The change stands; mend it."
                ));
                artifacts.push(Artifact::SyntaxError { path, line });
            }
            artifacts.push(Artifact::Wrote(receipt));
        }
        let output = ToolOutput::text(texts.join("\n"));
        Ok(artifacts.into_iter().fold(output, ToolOutput::with))
    });
    made.await.map_or_else(Outcome::from, Outcome::Ok)
}

/// What the model reads of one change; nothing for the half of a move that the other half tells.
fn told(change: &Change, receipt: &Receipt) -> Option<String> {
    let Receipt { path, pass, added, removed, bytes_after, .. } = receipt;
    let (first, last) = receipt.lines;
    let mut text = match pass.as_str() {
        "created" => format!("Created {path}: {bytes_after} bytes, +{added} -{removed}, content as given."),
        "overwritten" => {
            format!("Overwrote {path}: {bytes_after} bytes, +{added} -{removed}, content as given.")
        }
        "deleted" => format!("Deleted {path} ({} bytes).", receipt.bytes_before),
        MOVED if receipt.after.is_none() => format!("It no longer stands at {path}."),
        MOVED => format!("Moved to {path}."),
        pass => {
            let place = match (added, first == last) {
                (0, _) => format!("at line {first}"),
                (_, true) => format!("line {first}"),
                (_, false) => format!("lines {first}-{last}"),
            };
            format!("Edited {path}: {place}, +{added} -{removed} ({pass} match, {bytes_after} bytes).")
        }
    };
    if !matches!(pass.as_str(), "exact" | "all" | "created" | "overwritten" | "deleted" | "patched" | MOVED) {
        text.push_str(
            " It was not an exact match: the change was fitted to what stands there. Look at it.\n",
        );
        text.push_str(&receipt.diff);
    }
    if change.found.other_names > 0 && change.then != Image::Missing {
        text.push_str(" The file had other names (hard links), which keep the old content.");
    }
    Some(text)
}
