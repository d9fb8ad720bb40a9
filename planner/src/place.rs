//! A path that the model named, found inside the root, or an error that names what lies nearest.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use tandem_shared::call::{ErrorKind, Outcome, ToolError};
use tandem_shared::sensitive::is_sensitive;
use tandem_shared::tool::{ReadCx, blocking};
use tandem_shared::workspace::{PathError, WorkspacePath};

use crate::secrets::twin_secret;
use crate::walk;

/// Files looked at for one of the same name elsewhere: enough for a large project, bounded for a huge one.
const LOOKED_AT: usize = 50_000;
/// Names offered in place of one that does not exist.
const OFFERED: usize = 5;
/// How alike two names must be (1 is equal) to be offered for one another; lets two slips pass in a short name.
const ALIKE: f64 = 0.6;

/// `path` inside the root, existing or not.
pub(crate) fn resolve(cx: &ReadCx, path: &str) -> Result<WorkspacePath, ToolError> {
    cx.workspace.resolve(path).map_err(|error| {
        let kind = match &error {
            PathError::Outside { .. } => ErrorKind::OutsideRoot,
            PathError::Malformed(_) => ErrorKind::InvalidArguments,
            PathError::Io { source, .. } => io_kind(source),
        };
        ToolError::new(
            kind,
            format!("{error}. Use a path relative to the project root, such as src/main.rs."),
        )
    })
}

/// Asks for leave to read the file at `path`, if it is one that holds secrets: by its own name, by that of what it
/// leads to, or by a second name of the same file. What cannot be read anyway is not asked about.
///
/// # Errors
/// The denial.
pub(crate) async fn leave(cx: &ReadCx, tool: &str, path: &str) -> Result<(), Outcome> {
    let Ok(place) = cx.workspace.resolve(path) else { return Ok(()) };
    if !place.absolute().is_file() {
        return Ok(());
    }
    let named = if is_sensitive(place.relative()) { place.relative().to_owned() } else { path.to_owned() };
    let secret = match is_sensitive(&named) {
        true => named,
        false => twin(cx, &place).await.unwrap_or(named),
    };
    cx.leave.ask(tool, &secret, cx.person.as_ref()).await
}

/// The file of secrets that `place` is a second name of.
async fn twin(cx: &ReadCx, place: &WorkspacePath) -> Option<String> {
    let (root, path) = (cx.workspace.root().to_owned(), place.absolute().to_owned());
    let found = blocking(move || Ok(path.metadata().ok().and_then(|met| twin_secret(&root, &met)))).await;
    found.ok().flatten()
}

/// `path` inside the root, which exists, and what it is.
pub(crate) fn existing(cx: &ReadCx, path: &str) -> Result<(WorkspacePath, Metadata), ToolError> {
    let place = resolve(cx, path)?;
    match place.absolute().metadata() {
        Ok(meta) => Ok((place, meta)),
        Err(error) if io_kind(&error) == ErrorKind::PathNotFound => Err(missing(cx, &place)),
        Err(error) => Err(io_error(place.relative(), &error)),
    }
}

/// Where a search starts: `path`, or the root when none is given. Models write a blank where they mean none.
pub(crate) fn start(cx: &ReadCx, path: Option<&str>) -> Result<(WorkspacePath, Metadata), ToolError> {
    existing(cx, given(path).unwrap_or("."))
}

/// An optional argument, where a blank one counts as none.
pub(crate) fn given(argument: Option<&str>) -> Option<&str> {
    argument.filter(|text| !text.trim().is_empty())
}

/// Wording for what the system says of `path`.
pub(crate) fn io_error(path: &str, error: &io::Error) -> ToolError {
    ToolError::new(io_kind(error), format!("{path} cannot be read: {error}."))
}

fn io_kind(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ErrorKind::PathNotFound,
        io::ErrorKind::PermissionDenied => ErrorKind::Permission,
        _ => ErrorKind::Io,
    }
}

fn missing(cx: &ReadCx, place: &WorkspacePath) -> ToolError {
    let mut offered = alike_in_folder(cx.workspace.root(), place.relative());
    for same in same_name_elsewhere(cx, place) {
        if !offered.contains(&same) {
            offered.push(same);
        }
    }
    offered.truncate(OFFERED);
    let advice = if offered.is_empty() {
        "Nothing has a name like it; look with list_dir or glob.".to_owned()
    } else {
        format!("Nearest: {}.", offered.join(", "))
    };
    ToolError::new(ErrorKind::PathNotFound, format!("{} does not exist. {advice}", place.relative()))
}

/// A name without control characters. Others are not offered: an error text is not fenced as material, and a name with a
/// line break in it could pass for words of ours.
fn is_plain(name: &str) -> bool {
    !name.contains(char::is_control)
}

/// Names like the first missing part of `relative`, in the folder where the path breaks off; best first.
fn alike_in_folder(root: &Path, relative: &str) -> Vec<String> {
    let mut folder = root.to_owned();
    let mut shown = String::new();
    for part in relative.split('/') {
        let next = folder.join(part);
        if next.is_dir() {
            shown.push_str(part);
            shown.push('/');
            folder = next;
            continue;
        }
        let Ok(entries) = folder.read_dir() else { return Vec::new() };
        let mut alike: Vec<(f64, String)> = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| !walk::is_private(name) && is_plain(name))
            .map(|name| {
                let score =
                    strsim::normalized_damerau_levenshtein(&part.to_lowercase(), &name.to_lowercase());
                (score, name)
            })
            .filter(|(score, _)| *score >= ALIKE)
            .collect();
        alike.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        return alike.into_iter().take(3).map(|(_, name)| format!("{shown}{name}")).collect();
    }
    Vec::new()
}

/// Files of the same name in other folders, in order of path.
fn same_name_elsewhere(cx: &ReadCx, place: &WorkspacePath) -> Vec<String> {
    let Some(wanted) = place.absolute().file_name().map(|name| name.to_string_lossy().to_lowercase()) else {
        return Vec::new();
    };
    let Ok(root) = cx.workspace.resolve(".") else { return Vec::new() };
    let found = Mutex::new((0_usize, Vec::new()));
    let looked = walk::each_file(cx, &root, || {
        |file: walk::File<'_>| {
            let Ok(mut found) = found.lock() else { return walk::Next::Stop };
            found.0 += 1;
            if file.absolute.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase() == wanted) {
                found.1.push(file.relative());
            }
            if found.0 < LOOKED_AT { walk::Next::Go } else { walk::Next::Stop }
        }
    });
    if looked.is_err() {
        return Vec::new();
    }
    let mut same = found.into_inner().map(|found| found.1).unwrap_or_default();
    same.retain(|path| is_plain(path));
    same.sort();
    same
}
