//! Nothing is changed that the agent does not know as it is now.

use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::digest::Digest;
use tandem_shared::workspace::WorkspacePath;

use crate::cx::{EffectCx, Knowledge};
use crate::nearest;

/// Refuses to change a file that the agent does not know as it is now.
///
/// # Errors
/// [`ErrorKind::Stale`].
pub fn must_be_known(cx: &EffectCx, path: &str, content: &[u8]) -> Result<(), ToolError> {
    let text = match cx.knows(path, &Digest::of(content)) {
        Knowledge::Current => return Ok(()),
        Knowledge::Outdated => format!(
            "{path} has changed since you last read or wrote it. Nothing was changed. Read it again, then repeat the \
             change on what stands there now."
        ),
        Knowledge::None => {
            format!(
                "{path} was not read in this session. Nothing was changed. Read it first, then repeat the change."
            )
        }
    };
    Err(ToolError::new(ErrorKind::Stale, text))
}

/// The error for a file that is not there, with names that are near.
pub fn missing(cx: &EffectCx, path: &WorkspacePath) -> ToolError {
    let name = path.relative();
    if cx.ever_saw(name) {
        return ToolError::new(
            ErrorKind::Stale,
            format!(
                "{name} does not exist any more, though it was read or written before. Look at what became of it."
            ),
        );
    }
    let near = nearest::paths(cx.read().workspace.root(), name);
    let hint = match near.as_slice() {
        [] => "Look for it with the search tools.".to_owned(),
        near => format!("Near it are: {}.", near.join(", ")),
    };
    ToolError::new(
        ErrorKind::PathNotFound,
        format!(
            "There is no file {name}. {hint} To create a file, use write_file, or edit_file with an empty old text."
        ),
    )
}
