//! `edit_file`: replaces one text of a file, or creates a file.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{Artifact, ErrorKind, Outcome, ToolError, ToolOutput};
use tandem_shared::person::Effect;
use tandem_shared::tool::blocking;
use tandem_shared::workspace::WorkspacePath;

use crate::cx::{EffectCx, WriteCx};
use crate::edit::{self, Edited, Extent, Refused};
use crate::file::{self, Found};
use crate::tool::WriteTool;
use crate::{diff, known, nearest};

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
}

impl WriteTool for EditFile {
    type Args = EditFileArgs;
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = include_str!("../../../prompts/tools/edit_file.md");

    fn effect(&self, args: &EditFileArgs, cx: &EffectCx) -> Result<Effect, ToolError> {
        let Ready { path, found, content, .. } = ready(args, cx)?;
        let diff = diff::of(path.relative(), found.content(), &content).text;
        Ok(Effect::Write { paths: vec![path.relative().to_owned()], diff })
    }

    async fn call(&self, args: EditFileArgs, cx: WriteCx) -> Outcome {
        let written = blocking(move || {
            // Weighed again, because time has passed: what changed since the question was asked is stale.
            let Ready { path, found, content, pass } = ready(&args, cx.look())?;
            let receipt = cx.replace(&path, &found, &content, pass)?;
            Ok(ToolOutput::text(file::told(&receipt, &found)).with(Artifact::Wrote(receipt)))
        })
        .await;
        written.map_or_else(Outcome::from, Outcome::Ok)
    }
}

/// An edit that only has to be written.
struct Ready {
    path: WorkspacePath,
    found: Found,
    content: Vec<u8>,
    pass: &'static str,
}

fn ready(args: &EditFileArgs, cx: &EffectCx) -> Result<Ready, ToolError> {
    if args.old == args.new {
        return Err(identical());
    }
    let path = file::resolve(&cx.read().workspace, &args.path)?;
    let found = file::load(&path)?;
    let (content, pass) = match &found {
        Found::Missing if args.old.is_empty() => (args.new.clone().into_bytes(), "created"),
        Found::Missing => return Err(known::missing(cx, &path)),
        // Nothing can be lost of an empty file, so it need not have been read.
        Found::File { content, .. } if args.old.is_empty() && content.is_empty() => {
            (args.new.clone().into_bytes(), "created")
        }
        Found::File { content, .. } => {
            let edited = edited(args, cx, path.relative(), content)?;
            (edited.content, edited.pass)
        }
    };
    Ok(Ready { path, found, content, pass })
}

fn edited(args: &EditFileArgs, cx: &EffectCx, path: &str, content: &[u8]) -> Result<Edited, ToolError> {
    if file::is_binary(content) {
        return Err(ToolError::new(
            ErrorKind::Binary,
            format!("{path} is a binary file, which cannot be edited as text. Nothing was changed."),
        ));
    }
    if args.old.is_empty() {
        return Err(ToolError::new(
            ErrorKind::InvalidArguments,
            format!(
                "An empty old text creates a file, but {path} exists and is not empty. Nothing was changed. Name the \
                 text to replace, or use write_file to replace the whole content."
            ),
        ));
    }
    known::must_be_known(cx, path, content)?;
    let extent = if args.replace_all { Extent::All } else { Extent::One };
    edit::edit(content, args.old.as_bytes(), args.new.as_bytes(), extent).map_err(|refused| match refused {
        Refused::Identical => identical(),
        Refused::NotFound => not_found(args, path, content),
        Refused::Ambiguous(lines) => ambiguous(path, &lines),
    })
}

fn identical() -> ToolError {
    ToolError::new(
        ErrorKind::Identical,
        "The old and the new text are the same (line ends aside), so there is nothing to change. Check whether the \
         change is there already; if not, give the new text as it should be.",
    )
}

fn not_found(args: &EditFileArgs, path: &str, content: &[u8]) -> ToolError {
    let mut text = format!("The old text does not stand in {path}. Nothing was changed.");
    let applied = match args.new.trim() {
        "" => Vec::new(),
        _ => edit::lines_of(content, args.new.as_bytes()),
    };
    if let Some(line) = applied.first() {
        text.push_str(&format!(
            " The new text stands there at line {line}: the change seems to be already applied. If so, go on."
        ));
    }
    match nearest::region(&String::from_utf8_lossy(content), &args.old) {
        Some(region) => text.push_str(&format!(
            " The nearest region is this:\n{region}Copy the old text exactly from the file, with its white space."
        )),
        None => text.push_str(" Nothing in the file is near it. Read the file again and copy the old text exactly."),
    }
    ToolError::new(ErrorKind::TextNotFound, text).from_source(format!("file {path}"))
}

/// Line numbers that are listed.
const MAX_PLACES: usize = 50;

fn ambiguous(path: &str, lines: &[usize]) -> ToolError {
    let mut listed: Vec<String> = lines.iter().take(MAX_PLACES).map(usize::to_string).collect();
    if lines.len() > MAX_PLACES {
        listed.push("…".to_owned());
    }
    ToolError::new(
        ErrorKind::Ambiguous,
        format!(
            "The old text stands in {path} {} times, beginning at lines {}. Nothing was changed. Add lines around it \
             until it is unique, or set replace_all to change every one.",
            lines.len(),
            listed.join(", ")
        ),
    )
}
