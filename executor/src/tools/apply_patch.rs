//! `apply_patch`: changes several files by a patch, all or none.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::image::Image;

use super::making::FileChange;
use super::replacing::{Absent, Text};
use crate::change::{Change, MOVED};
use crate::cx::EffectCx;
use crate::file::{self, Found};
use crate::hunks;
use crate::known;
use crate::patch::{self, Act, FilePatch, Hunk};

/// The tool.
pub struct ApplyPatch;

/// Its arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplyPatchArgs {
    /// A unified diff, or a patch between `*** Begin Patch` and `*** End Patch`; paths are relative to the project root.
    patch: String,
}

impl FileChange for ApplyPatch {
    type Args = ApplyPatchArgs;
    const NAME: &'static str = "apply_patch";
    const DESCRIPTION: &'static str = include_str!("../../../prompts/tools/apply_patch.md");

    fn plan(args: &ApplyPatchArgs, cx: &EffectCx) -> Result<Vec<Change>, ToolError> {
        let patches = patch::parse(&args.patch).map_err(|fault| {
            ToolError::new(ErrorKind::InvalidArguments, format!("{fault} Nothing was changed."))
        })?;
        let count = patches.len();
        let mut all: Vec<Change> = Vec::new();
        for (at, one) in patches.into_iter().enumerate() {
            let path = one.path.clone();
            let made = of_file(one, cx).map_err(|mut error| {
                if count > 1 {
                    error.text =
                        format!("File {} of {count}, {path}: {} No file was changed.", at + 1, error.text);
                }
                error
            })?;
            for change in made {
                if all.iter().any(|other| other.path == change.path) {
                    return Err(ToolError::new(
                        ErrorKind::InvalidArguments,
                        format!(
                            "The patch names {} twice. Nothing was changed. Put all hunks of a file in one place.",
                            change.path.relative()
                        ),
                    ));
                }
                all.push(change);
            }
        }
        Ok(all)
    }
}

fn of_file(patch: FilePatch, cx: &EffectCx) -> Result<Vec<Change>, ToolError> {
    let FilePatch { path, act } = patch;
    match act {
        Act::Add { content, executable } => add(cx, &path, content, executable),
        Act::Delete => delete(cx, &path),
        Act::Update { move_to, hunks, mode } => update(cx, &path, move_to, &hunks, mode),
    }
}

fn add(cx: &EffectCx, path: &str, content: String, executable: bool) -> Result<Vec<Change>, ToolError> {
    let text = Text::load(cx, path, Absent::Fine)?;
    if text.content().is_some() {
        return Err(ToolError::new(
            ErrorKind::InvalidArguments,
            format!(
                "{} exists already, so it cannot be added. Nothing was changed. Update it instead.",
                text.path.relative()
            ),
        ));
    }
    let mut change = text.becoming(cx, content.into_bytes(), "created");
    set_executable(&mut change.then, Some(executable));
    Ok(vec![change])
}

fn delete(cx: &EffectCx, path: &str) -> Result<Vec<Change>, ToolError> {
    let workspace = &cx.read().workspace;
    let path = file::resolve_name(workspace, path)?;
    let found = file::load(workspace, &path, cx.edits().file_bytes)?;
    if found.image == Image::Missing {
        return Err(known::missing(cx, &path));
    }
    Ok(vec![Change::new(workspace, path, found, Image::Missing, "deleted")])
}

fn update(
    cx: &EffectCx,
    path: &str,
    move_to: Option<String>,
    hunks: &[Hunk],
    mode: Option<bool>,
) -> Result<Vec<Change>, ToolError> {
    let text = Text::load(cx, path, Absent::Fault)?;
    let name = text.path.relative().to_owned();
    let before = text.content().unwrap_or_default().to_vec();
    let (content, pass) = match hunks {
        [] => (before.clone(), "patched"),
        hunks => {
            text.must_be_known(cx)?;
            hunks::apply(&name, &before, hunks)?
        }
    };
    let mut change = text.becoming(cx, content, pass);
    set_executable(&mut change.then, mode);
    let Some(to) = move_to else {
        if change.then == change.found.image {
            return Err(ToolError::new(
                ErrorKind::Identical,
                format!("The patch leaves {name} as it is. There is nothing to change."),
            ));
        }
        return Ok(vec![change]);
    };
    let workspace = &cx.read().workspace;
    let to = file::resolve_name(workspace, &to)?;
    let standing = file::load(workspace, &to, cx.edits().file_bytes)?;
    if standing.image != Image::Missing {
        return Err(ToolError::new(
            ErrorKind::InvalidArguments,
            format!("{} exists already, so nothing can be moved there. Nothing was changed.", to.relative()),
        ));
    }
    let arriving = Found { owner: change.found.owner, ..standing };
    let pass = if change.then == change.found.image { MOVED } else { "patched" };
    let new = Change::new(workspace, to, arriving, change.then, pass);
    let old = Change::new(workspace, change.path, change.found, Image::Missing, MOVED);
    Ok(vec![new, old])
}

fn set_executable(image: &mut Image<Vec<u8>>, wanted: Option<bool>) {
    let Image::File { mode, .. } = image else { return };
    match wanted {
        // Whoever may read it may run it.
        Some(true) => *mode |= (*mode & 0o444) >> 2,
        Some(false) => *mode &= !0o111,
        None => {}
    }
}
