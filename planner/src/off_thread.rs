//! Blocking work of a tool, off the thread that the loop runs on.

use tandem_shared::call::{Outcome, ToolError};
use tandem_shared::tool::blocking;

/// Runs `look` off the async thread; its error is an outcome like its answer.
pub(crate) async fn off_thread(
    look: impl FnOnce() -> Result<Outcome, ToolError> + Send + 'static,
) -> Outcome {
    match blocking(look).await {
        Ok(outcome) => outcome,
        Err(error) => error.into(),
    }
}
