//! `edit_file`: replaces one text of a file, or creates a file.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{ErrorKind, ToolError};

use super::making::FileChange;
use super::replacing::{self, Absent, Text};
use crate::change::Change;
use crate::cx::EffectCx;
use crate::refusal;

/// The tool.
pub struct EditFile;

/// Its arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditFileArgs {
    /// The file, relative to the project root.
    path: String,
    /// The text to replace, exactly as it stands in the file, with enough lines to be unique. Empty to create a file.
    old: String,
    /// The text to put in its place.
    new: String,
    /// Replace every occurrence instead of the only one.
    #[serde(default)]
    replace_all: bool,
    /// The line near which the text stands, counted from 1, when it stands in the file more than once.
    #[serde(default)]
    near_line: Option<usize>,
}

impl FileChange for EditFile {
    type Args = EditFileArgs;
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = include_str!("../../../prompts/tools/edit_file.md");

    fn plan(args: &EditFileArgs, cx: &EffectCx) -> Result<Vec<Change>, ToolError> {
        let EditFileArgs { path, old, new, replace_all, near_line } = args;
        if old == new {
            return Err(refusal::identical());
        }
        let text = Text::load(cx, path, if old.is_empty() { Absent::Fine } else { Absent::Fault })?;
        let name = text.path.relative().to_owned();
        let (content, pass) = match text.content() {
            // Nothing can be lost of an empty file, so it need not have been read.
            None | Some([]) if old.is_empty() => (new.clone().into_bytes(), "created"),
            Some(_) if old.is_empty() => {
                return Err(ToolError::new(
                    ErrorKind::InvalidArguments,
                    format!(
                        "An empty old text creates a file, but {name} exists and is not empty. Nothing was changed. Name the \
                         text to replace, or use write_file to replace the whole content."
                    ),
                ));
            }
            content => {
                let content = content.unwrap_or_default();
                text.must_be_known(cx)?;
                let edited = replacing::edited(
                    &name,
                    content,
                    &replacing::wanted(old, new, *replace_all, *near_line),
                )?;
                (edited.content, edited.pass)
            }
        };
        Ok(vec![text.becoming(cx, content, pass)])
    }
}
