//! Files as write tools change them: as a whole or not at all, with everything kept that was not asked to change.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use rustix::fs::FileType;
use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::digest::Digest;
use tandem_shared::image::{Image, Imaged};
use tandem_shared::workspace::{PathError, Workspace, WorkspacePath, slashed};

use crate::beneath::{Kind, Like, NoFolder, Place, Standing};

/// What stands at a path, with what a replacement takes over.
#[derive(Clone, Debug)]
pub struct Found {
    /// The thing itself.
    pub image: Image<Vec<u8>>,
    /// Owner and group, if anything stands there.
    pub owner: Option<(u32, u32)>,
    /// How many names the file has beside this one; they keep the old content when it is replaced.
    pub other_names: u64,
}

impl Found {
    const NOTHING: Found = Found { image: Image::Missing, owner: None, other_names: 0 };

    fn of(kind: &Kind, image: Image<Vec<u8>>) -> Found {
        Found { image, owner: Some(kind.owner), other_names: kind.names.saturating_sub(1) }
    }

    /// The bytes, if there is a file.
    pub fn content(&self) -> Option<&[u8]> {
        self.image.content().map(Vec::as_slice)
    }

    /// The mode bits of the file; those of a new file where there is none.
    pub fn mode(&self) -> u32 {
        match &self.image {
            Image::File { mode, .. } => *mode,
            Image::Missing | Image::Link { .. } => crate::beneath::usual_mode(),
        }
    }
}

/// Bytes at the start of a file in which a NUL byte means that it is not text.
const SNIFF: usize = 8 * 1024;

/// Proves that the file at `path` may be written: inside the root with links followed, and neither git's nor tandem's
/// own.
///
/// # Errors
/// [`ErrorKind::OutsideRoot`] otherwise.
pub fn resolve(workspace: &Workspace, path: &str) -> Result<WorkspacePath, ToolError> {
    may_be_written(workspace.resolve(path).map_err(unresolved)?)
}

/// The same for the name itself: a link at its end is not followed.
///
/// # Errors
/// [`ErrorKind::OutsideRoot`] otherwise.
pub fn resolve_name(workspace: &Workspace, path: &str) -> Result<WorkspacePath, ToolError> {
    may_be_written(workspace.resolve_name(path).map_err(unresolved)?)
}

fn unresolved(error: PathError) -> ToolError {
    match error {
        PathError::Outside { .. } => {
            ToolError::new(ErrorKind::OutsideRoot, format!("{error}. Nothing was changed."))
        }
        PathError::Malformed(_) => ToolError::new(ErrorKind::InvalidArguments, format!("{error}.")),
        PathError::Io { .. } => ToolError::new(ErrorKind::Io, format!("{error}.")),
    }
}

fn may_be_written(path: WorkspacePath) -> Result<WorkspacePath, ToolError> {
    let owner = path.relative().split('/').enumerate().find_map(|(at, part)| {
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
                path.relative()
            ),
        )),
        None => Ok(path),
    }
}

/// Reads what stands at `path`, and makes sure that it may be replaced or removed. Never opens anything but a regular
/// file. Blocks.
///
/// # Errors
/// When it is neither a regular file nor a link, is read-only, has more than `most` bytes, or cannot be read.
pub fn load(workspace: &Workspace, path: &WorkspacePath, most: u64) -> Result<Found, ToolError> {
    let name = path.relative();
    let refused = |kind, text: String| Err(ToolError::new(kind, text));
    if name == "." {
        return refused(ErrorKind::InvalidArguments, "The root is a folder; give the path of a file.".into());
    }
    let place = Place::of(workspace, path, NoFolder::Missing).map_err(|error| io_error(name, &error))?;
    let Some(place) = place else { return Ok(Found::NOTHING) };
    let kind = place.kind().map_err(|error| io_error(name, &error))?;
    match kind {
        None => Ok(Found::NOTHING),
        Some(kind) if kind.file_type == FileType::Directory => {
            refused(ErrorKind::InvalidArguments, format!("{name} is a folder; give the path of a file."))
        }
        Some(kind) if kind.file_type == FileType::Symlink => {
            let target = place.read_link().map_err(|error| io_error(name, &error))?;
            Ok(Found::of(&kind, Image::Link { target }))
        }
        Some(kind) if kind.file_type != FileType::RegularFile => refused(
            ErrorKind::InvalidArguments,
            format!("{name} is not a regular file, so it cannot be written."),
        ),
        Some(kind) if kind.mode & 0o222 == 0 => refused(
            ErrorKind::Permission,
            format!(
                "{name} is read-only (mode {:04o}). Nothing was changed. Leave it, or ask the user.",
                kind.mode
            ),
        ),
        Some(kind) if kind.bytes > most => refused(
            ErrorKind::TooLarge,
            format!(
                "{name} has {} bytes, and files over {most} bytes are not changed by tools (edits.file_bytes). \
                 Nothing was changed. Use a command for it, or ask the user.",
                kind.bytes
            ),
        ),
        Some(_) => {
            let (kind, content) = place.read().map_err(|error| io_error(name, &error))?;
            Ok(Found::of(&kind, Image::File { content, mode: kind.mode }))
        }
    }
}

/// Whether `content` is not text.
pub fn is_binary(content: &[u8]) -> bool {
    content.iter().take(SNIFF).any(|&byte| byte == 0)
}

/// Puts `then` in the place of what was `found`. `act` tells this write from others, so that what it leaves behind when
/// it is cut off can be found again. Blocks.
///
/// # Errors
/// When the system says no; then what stood there still stands.
pub fn put(
    workspace: &Workspace,
    path: &WorkspacePath,
    found: &Found,
    then: &Image<Vec<u8>>,
    act: &str,
) -> Result<(), ToolError> {
    let temp = temp_name(act, path.relative(), then.digested().digest().as_ref());
    put_at(workspace, path, found, then, &temp).map_err(|error| {
        let mut fault = io_error(path.relative(), &error);
        fault.text.push_str(" It is as it was.");
        fault
    })
}

fn put_at(
    workspace: &Workspace,
    path: &WorkspacePath,
    found: &Found,
    then: &Image<Vec<u8>>,
    temp: &OsString,
) -> io::Result<()> {
    let missing = if *then == Image::Missing { NoFolder::Missing } else { NoFolder::Make };
    let Some(place) = Place::of(workspace, path, missing)? else { return Ok(()) };
    let standing = if found.image == Image::Missing { Standing::Nothing } else { Standing::Replaced };
    match then {
        Image::Missing => place.remove(),
        Image::Link { target } => place.put_link(target, temp, standing),
        Image::File { content, mode } => {
            place.put_file(content, temp, Like { mode: *mode, owner: found.owner, standing })
        }
    }
}

/// The topmost folder that has to be made to put something at `path`, relative to the root.
pub fn new_folder(workspace: &Workspace, path: &WorkspacePath) -> Option<String> {
    let inside = path.absolute().strip_prefix(workspace.root()).ok()?;
    let folders: Vec<_> = inside.ancestors().skip(1).collect();
    let missing = |folder: &&&Path| workspace.root().join(folder).symlink_metadata().is_err();
    let top = folders.iter().rev().find(missing)?;
    Some(slashed(top))
}

/// Removes the folders that were made for `path`, from the lowest up to `top`, as far as they are empty.
pub fn remove_new_folders(workspace: &Workspace, path: &str, top: &str) {
    let mut folder = path;
    while let Some((above, _)) = folder.rsplit_once('/') {
        folder = above;
        let removed = workspace.resolve_name(folder).ok().and_then(|path| {
            let place = Place::of(workspace, &path, NoFolder::Missing).ok()??;
            place.remove_folder().ok()
        });
        if removed.is_none() || folder == top {
            return;
        }
    }
}

/// Removes the folder at `path` with the folders in it, if none of them holds anything else.
///
/// # Errors
/// When one does, or when the system says no.
pub fn remove_empty_folders(workspace: &Workspace, path: &WorkspacePath) -> io::Result<()> {
    let entries = match std::fs::read_dir(path.absolute()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let inner = format!("{}/{}", path.relative(), name.to_string_lossy());
        let inner = workspace.name_at(&inner).map_err(io::Error::other)?;
        if !entry.file_type()?.is_dir() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        remove_empty_folders(workspace, &inner)?;
    }
    match Place::of(workspace, path, NoFolder::Missing)? {
        Some(place) => place.remove_folder(),
        None => Ok(()),
    }
}

/// After a crash: removes what a write left under its temporary name, and says what stands at its path.
pub fn after_crash(workspace: &Workspace, imaged: &Imaged) -> Image<Digest> {
    let look = || -> Option<Image<Digest>> {
        let path = workspace.resolve_name(&imaged.path).ok()?;
        if let Some(place) = Place::of(workspace, &path, NoFolder::Missing).ok()? {
            place.sweep(&temp_name(&imaged.call_id, &imaged.path, imaged.after.digest().as_ref()));
        }
        Some(stands(workspace, &path).ok()?.image.digested())
    };
    look().unwrap_or(Image::Missing)
}

/// What stands at a path, whatever may be done with it.
///
/// # Errors
/// When it is neither a regular file nor a link, or cannot be read.
pub fn stands(workspace: &Workspace, path: &WorkspacePath) -> io::Result<Found> {
    let Some(place) = Place::of(workspace, path, NoFolder::Missing)? else { return Ok(Found::NOTHING) };
    match place.kind()? {
        None => Ok(Found::NOTHING),
        Some(kind) if kind.file_type == FileType::Symlink => {
            Ok(Found::of(&kind, Image::Link { target: place.read_link()? }))
        }
        Some(_) => {
            let (kind, content) = place.read()?;
            Ok(Found::of(&kind, Image::File { content, mode: kind.mode }))
        }
    }
}

pub fn temp_name(act: &str, path: &str, after: Option<&Digest>) -> OsString {
    let after = after.map(Digest::as_str).unwrap_or_default();
    format!(".tandem-{}", Digest::of(format!("{act}\n{path}\n{after}")).short()).into()
}

/// A fault of the system, worded for the model.
pub fn io_error(name: &str, error: &io::Error) -> ToolError {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ErrorKind::Permission,
        _ => ErrorKind::Io,
    };
    ToolError::new(kind, format!("{name}: {error}."))
}
