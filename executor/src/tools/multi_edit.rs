//! `multi_edit`: several replacements in one file, all or none.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{ErrorKind, ToolError};

use super::making::FileChange;
use super::replacing::{self, Absent, Text};
use crate::change::Change;
use crate::cx::EffectCx;

/// The tool.
pub struct MultiEdit;

/// Its arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MultiEditArgs {
    /// The file, relative to the project root.
    path: String,
    /// The replacements, made one after the other: each sees what the ones before it left.
    edits: Vec<Replacement>,
}

/// One replacement.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// The text to replace, exactly as it stands in the file, with enough lines to be unique.
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

impl FileChange for MultiEdit {
    type Args = MultiEditArgs;
    const NAME: &'static str = "multi_edit";
    const DESCRIPTION: &'static str = include_str!("../../../prompts/tools/multi_edit.md");

    fn plan(args: &MultiEditArgs, cx: &EffectCx) -> Result<Vec<Change>, ToolError> {
        if args.edits.is_empty() {
            return Err(ToolError::new(
                ErrorKind::InvalidArguments,
                "There are no edits. Nothing was changed.",
            ));
        }
        let text = Text::load(cx, &args.path, Absent::Fault)?;
        text.must_be_known(cx)?;
        let name = text.path.relative().to_owned();
        let mut content = text.content().unwrap_or_default().to_vec();
        let mut pass = "exact";
        for (at, one) in args.edits.iter().enumerate() {
            let edited = replacing::edited(
                &name,
                &content,
                &replacing::wanted(&one.old, &one.new, one.replace_all, one.near_line),
            )
            .map_err(|mut error| {
                error.text = format!("Edit {} of {}: {}", at + 1, args.edits.len(), error.text);
                if at > 0 {
                    error.text.push_str(" None of the edits of this call was made.");
                }
                error
            })?;
            content = edited.content;
            if !matches!(edited.pass, "exact" | "all") {
                pass = edited.pass;
            }
        }
        if Some(content.as_slice()) == text.content() {
            return Err(ToolError::new(
                ErrorKind::Identical,
                "The edits take each other back, so there is nothing to change.",
            ));
        }
        Ok(vec![text.becoming(cx, content, pass)])
    }
}
