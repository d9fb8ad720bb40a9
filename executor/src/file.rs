//! Files as write tools change them: as a whole or not at all, with everything kept that was not asked to change.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use tandem_shared::call::{ErrorKind, Receipt, ToolError};
use tandem_shared::digest::Digest;
use tandem_shared::workspace::{PathError, Workspace, WorkspacePath};

use crate::diff;

/// What stands at a path.
#[derive(Debug)]
pub enum Found {
    /// Nothing.
    Missing,
    /// A regular file.
    File {
        /// All its bytes.
        content: Vec<u8>,
        /// Its rights and owner.
        meta: Metadata,
    },
}

impl Found {
    /// The bytes, if there is a file.
    pub fn content(&self) -> Option<&[u8]> {
        match self {
            Found::Missing => None,
            Found::File { content, .. } => Some(content),
        }
    }

    /// How many names the file has beside this one; they keep the old content when it is replaced.
    pub fn other_names(&self) -> u64 {
        match self {
            Found::Missing => 0,
            Found::File { meta, .. } => meta.nlink().saturating_sub(1),
        }
    }
}

/// Bytes at the start of a file in which a NUL byte means that it is not text.
const SNIFF: usize = 8 * 1024;

/// Proves that `path` may be written: inside the root, and neither git's nor tandem's own.
///
/// # Errors
/// [`ErrorKind::OutsideRoot`] otherwise.
pub fn resolve(workspace: &Workspace, path: &str) -> Result<WorkspacePath, ToolError> {
    let resolved = workspace.resolve(path).map_err(|error| match error {
        PathError::Outside { .. } => {
            ToolError::new(ErrorKind::OutsideRoot, format!("{error}. Nothing was changed."))
        }
        PathError::Malformed(_) => ToolError::new(ErrorKind::InvalidArguments, format!("{error}.")),
        PathError::Io { .. } => ToolError::new(ErrorKind::Io, format!("{error}.")),
    })?;
    let owner = resolved.relative().split('/').enumerate().find_map(|(at, part)| {
        if part.eq_ignore_ascii_case(".git") {
            return Some("git");
        }
        (at == 0 && part.eq_ignore_ascii_case(".tandem")).then_some("tandem")
    });
    match owner {
        Some(owner) => Err(ToolError::new(
            ErrorKind::OutsideRoot,
            format!(
                "{} belongs to {owner} and cannot be written by a tool. Nothing was changed.",
                resolved.relative()
            ),
        )),
        None => Ok(resolved),
    }
}

/// Reads what stands at `path`. Never opens anything but a regular file. Blocks.
///
/// # Errors
/// When it is no regular file, is read-only, or cannot be read.
pub fn load(path: &WorkspacePath) -> Result<Found, ToolError> {
    let name = path.relative();
    let refused = |kind, text: String| Err(ToolError::new(kind, text));
    let meta = match fs::metadata(path.absolute()) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Missing),
        Err(error) => return Err(io_error(name, &error)),
    };
    if meta.is_dir() {
        return refused(ErrorKind::InvalidArguments, format!("{name} is a folder; give the path of a file."));
    }
    if !meta.is_file() {
        return refused(
            ErrorKind::InvalidArguments,
            format!("{name} is not a regular file, so it cannot be written."),
        );
    }
    if meta.permissions().readonly() {
        return refused(
            ErrorKind::Permission,
            format!(
                "{name} is read-only (mode {:04o}). Nothing was changed. Leave it, or ask the user.",
                meta.mode() & 0o7777
            ),
        );
    }
    let content = fs::read(path.absolute()).map_err(|error| io_error(name, &error))?;
    Ok(Found::File { content, meta })
}

/// Whether `content` is not text.
pub fn is_binary(content: &[u8]) -> bool {
    content.iter().take(SNIFF).any(|&byte| byte == 0)
}

/// Writes `content` to a new file beside `path`, makes it durable, gives it the old file's rights and owner, and moves
/// it into place. Answers the mode bits. Blocks.
///
/// # Errors
/// When the system says no; then `path` is as it was.
pub fn replace(path: &WorkspacePath, found: &Found, content: &[u8]) -> Result<u32, ToolError> {
    write_beside(path.absolute(), found, content).map_err(|error| {
        let mut fault = io_error(path.relative(), &error);
        fault.text.push_str(" The file is as it was.");
        fault
    })
}

fn write_beside(path: &Path, found: &Found, content: &[u8]) -> io::Result<u32> {
    let folder =
        path.parent().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it has no folder"))?;
    fs::create_dir_all(folder)?;
    // The umask takes its share of this, as it does for any new file.
    let mut temp = tempfile::Builder::new()
        .prefix(".tandem-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    temp.write_all(content)?;
    if let Found::File { meta, .. } = found {
        let new = temp.as_file().metadata()?;
        if (new.uid(), new.gid()) != (meta.uid(), meta.gid()) {
            fchown(temp.as_file(), Some(meta.uid()), Some(meta.gid()))?;
        }
        // After the owner, because a change of owner clears the set-id bits.
        temp.as_file().set_permissions(Permissions::from_mode(meta.mode() & 0o7777))?;
    }
    temp.as_file().sync_all()?;
    let mode = temp.as_file().metadata()?.mode() & 0o7777;
    match found {
        Found::File { .. } => temp.persist(path).map_err(|error| error.error)?,
        // Somebody may have made the file since it was looked for.
        Found::Missing => temp.persist_noclobber(path).map_err(|error| error.error)?,
    };
    File::open(folder)?.sync_all()?;
    Ok(mode)
}

fn io_error(name: &str, error: &io::Error) -> ToolError {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ErrorKind::Permission,
        _ => ErrorKind::Io,
    };
    ToolError::new(kind, format!("{name}: {error}."))
}

/// What a write did.
pub fn receipt(path: &str, pass: &str, before: Option<&[u8]>, after: &[u8], mode: u32) -> Receipt {
    let change = diff::of(path, before, after);
    Receipt {
        path: path.to_owned(),
        pass: pass.to_owned(),
        before: before.map(Digest::of),
        after: Digest::of(after),
        bytes_before: before.map_or(0, |before| before.len() as u64),
        bytes_after: after.len() as u64,
        lines: change.lines,
        added: change.added,
        removed: change.removed,
        encoding: encoding(after).to_owned(),
        line_end: line_end(after).to_owned(),
        mode: format!("{mode:04o}"),
        diff: change.text,
    }
}

fn encoding(content: &[u8]) -> &'static str {
    match std::str::from_utf8(content) {
        Err(_) => "bytes",
        Ok(text) if text.starts_with('\u{feff}') => "utf-8-bom",
        Ok(_) => "utf-8",
    }
}

fn line_end(content: &[u8]) -> &'static str {
    let all = content.iter().filter(|&&byte| byte == b'\n').count();
    let crlf = content.windows(2).filter(|pair| pair == b"\r\n").count();
    match (all, crlf) {
        (0, _) => "none",
        (_, 0) => "lf",
        (all, crlf) if all == crlf => "crlf",
        _ => "mixed",
    }
}

/// What the model reads of a write.
pub fn told(receipt: &Receipt, found: &Found) -> String {
    let (first, last) = receipt.lines;
    let place = match (receipt.added, first == last) {
        (0, _) => format!("at line {first}"),
        (_, true) => format!("line {first}"),
        (_, false) => format!("lines {first}-{last}"),
    };
    let verb = match receipt.pass.as_str() {
        "created" => "Created",
        "overwritten" => "Overwrote",
        _ => "Edited",
    };
    let mut text = format!(
        "{verb} {}: {place}, +{} -{} ({} match, {} bytes).",
        receipt.path, receipt.added, receipt.removed, receipt.pass, receipt.bytes_after
    );
    if matches!(verb, "Created" | "Overwrote") {
        text = format!(
            "{verb} {}: {} bytes, +{} -{}, content as given.",
            receipt.path, receipt.bytes_after, receipt.added, receipt.removed
        );
    }
    if found.other_names() > 0 {
        text.push_str(" The file had other names (hard links), which keep the old content.");
    }
    text
}
