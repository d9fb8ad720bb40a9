//! `write_file`: creates a file, or replaces its whole content.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::image::Image;
use tandem_shared::secret::MASK;

use super::making::FileChange;
use crate::change::Change;
use crate::cx::EffectCx;
use crate::file;
use crate::{known, refusal};

/// The tool.
pub struct WriteFile;

/// Its arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFileArgs {
    /// The file, relative to the project root. Folders that do not exist are created.
    path: String,
    /// The whole content.
    content: String,
}

impl FileChange for WriteFile {
    type Args = WriteFileArgs;
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = include_str!("../../../prompts/tools/write_file.md");

    fn plan(args: &WriteFileArgs, cx: &EffectCx) -> Result<Vec<Change>, ToolError> {
        let workspace = &cx.read().workspace;
        let path = file::resolve(workspace, &args.path)?;
        let found = file::load(workspace, &path, cx.edits().file_bytes)?;
        if let Some(content) = found.content() {
            if content == args.content.as_bytes() {
                return Err(ToolError::new(
                    ErrorKind::Identical,
                    format!(
                        "{} has exactly this content already. There is nothing to change.",
                        path.relative()
                    ),
                ));
            }
            if !content.is_empty() {
                known::must_be_known(cx, path.relative(), content)?;
            }
            let text = String::from_utf8_lossy(content);
            let masks = |text: &str| text.matches(MASK).count();
            if masks(&args.content) > masks(&text) && masks(&cx.masked(&text)) > masks(&text) {
                return Err(refusal::would_lose_a_secret(path.relative()));
            }
        }
        let pass = if found.image == Image::Missing { "created" } else { "overwritten" };
        let then = Image::File { content: args.content.clone().into_bytes(), mode: found.mode() };
        Ok(vec![Change::new(workspace, path, found, then, pass)])
    }
}
