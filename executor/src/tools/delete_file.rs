//! `delete_file`: removes one file or link.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::ToolError;
use tandem_shared::image::Image;

use super::making::FileChange;
use crate::change::Change;
use crate::cx::EffectCx;
use crate::file;
use crate::known;

/// The tool.
pub struct DeleteFile;

/// Its arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteFileArgs {
    /// The file, relative to the project root. A symbolic link is deleted itself, never what it leads to.
    path: String,
}

impl FileChange for DeleteFile {
    type Args = DeleteFileArgs;
    const NAME: &'static str = "delete_file";
    const DESCRIPTION: &'static str = include_str!("../../../prompts/tools/delete_file.md");

    fn plan(args: &DeleteFileArgs, cx: &EffectCx) -> Result<Vec<Change>, ToolError> {
        let workspace = &cx.read().workspace;
        let path = file::resolve_name(workspace, &args.path)?;
        let found = file::load(workspace, &path, cx.edits().file_bytes)?;
        if found.image == Image::Missing {
            return Err(known::missing(cx, &path));
        }
        Ok(vec![Change::new(workspace, path, found, Image::Missing, "deleted")])
    }
}
