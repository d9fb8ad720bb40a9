//! `move_file`: gives a file or link another place or name.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::image::Image;

use super::making::FileChange;
use crate::change::{Change, MOVED};
use crate::cx::EffectCx;
use crate::file::{self, Found};
use crate::known;

/// The tool.
pub struct MoveFile;

/// Its arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveFileArgs {
    /// The file, relative to the project root. A symbolic link is moved itself, never what it leads to.
    from: String,
    /// The path that it is to have, relative to the project root. Folders that do not exist are created.
    to: String,
}

impl FileChange for MoveFile {
    type Args = MoveFileArgs;
    const NAME: &'static str = "move_file";
    const DESCRIPTION: &'static str = include_str!("../../../prompts/tools/move_file.md");

    fn plan(args: &MoveFileArgs, cx: &EffectCx) -> Result<Vec<Change>, ToolError> {
        let (workspace, most) = (&cx.read().workspace, cx.edits().file_bytes);
        let from = file::resolve_name(workspace, &args.from)?;
        let to = file::resolve_name(workspace, &args.to)?;
        if from == to {
            return Err(ToolError::new(
                ErrorKind::Identical,
                "The file has this path already. There is nothing to change.",
            ));
        }
        let found = file::load(workspace, &from, most)?;
        if found.image == Image::Missing {
            return Err(known::missing(cx, &from));
        }
        let standing = file::load(workspace, &to, most)?;
        if standing.image != Image::Missing {
            return Err(ToolError::new(
                ErrorKind::InvalidArguments,
                format!(
                    "{} exists already. Nothing was changed. Choose another path, or delete it first if it is not needed.",
                    to.relative()
                ),
            ));
        }
        let arriving = Found { owner: found.owner, ..standing };
        let then = found.image.clone();
        // The new place first: whatever happens in between, the content stands somewhere.
        Ok(vec![
            Change::new(workspace, to, arriving, then, MOVED),
            Change::new(workspace, from, found, Image::Missing, MOVED),
        ])
    }
}
