//! `write_file`: creates a file, or replaces its whole content.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{Artifact, ErrorKind, Outcome, ToolError, ToolOutput};
use tandem_shared::person::Effect;
use tandem_shared::tool::blocking;
use tandem_shared::workspace::WorkspacePath;

use crate::cx::{EffectCx, WriteCx};
use crate::diff;
use crate::file::{self, Found};
use crate::known;
use crate::tool::WriteTool;

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

impl WriteTool for WriteFile {
    type Args = WriteFileArgs;
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = include_str!("../../../prompts/tools/write_file.md");

    fn effect(&self, args: &WriteFileArgs, cx: &EffectCx) -> Result<Effect, ToolError> {
        let (path, found) = ready(args, cx)?;
        let diff = diff::of(path.relative(), found.content(), args.content.as_bytes()).text;
        Ok(Effect::Write { paths: vec![path.relative().to_owned()], diff })
    }

    async fn call(&self, args: WriteFileArgs, cx: WriteCx) -> Outcome {
        let written = blocking(move || {
            let (path, found) = ready(&args, cx.look())?;
            let pass = match &found {
                Found::Missing => "created",
                Found::File { .. } => "overwritten",
            };
            let receipt = cx.replace(&path, &found, args.content.as_bytes(), pass)?;
            Ok(ToolOutput::text(file::told(&receipt, &found)).with(Artifact::Wrote(receipt)))
        })
        .await;
        written.map_or_else(Outcome::from, Outcome::Ok)
    }
}

fn ready(args: &WriteFileArgs, cx: &EffectCx) -> Result<(WorkspacePath, Found), ToolError> {
    let path = file::resolve(&cx.read().workspace, &args.path)?;
    let found = file::load(&path)?;
    if let Some(content) = found.content() {
        if content == args.content.as_bytes() {
            return Err(ToolError::new(
                ErrorKind::Identical,
                format!("{} has exactly this content already. There is nothing to change.", path.relative()),
            ));
        }
        if !content.is_empty() {
            known::must_be_known(cx, path.relative(), content)?;
        }
    }
    Ok((path, found))
}
