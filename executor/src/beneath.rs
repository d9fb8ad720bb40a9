//! Paths reached from the root folder by folder, never through a link.
//!
//! A [`WorkspacePath`] was proven to lie inside the root when it was made. Between that and the write somebody may put a
//! link in the place of a folder; here the system is asked for each folder again, relative to the one above it and
//! without following links, so that such a path fails instead of leading out. This is what openat2's
//! `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS` does, in calls that every Unix has.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{self, AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;
use tandem_shared::workspace::{Workspace, WorkspacePath};

/// A name in a folder that is held open.
pub struct Place {
    folder: OwnedFd,
    name: OsString,
}

/// What becomes of folders that are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFolder {
    /// The path is not there either.
    Missing,
    /// They are made.
    Make,
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The kind and size of what stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Regular file, link, folder, or something else.
    pub file_type: FileType,
    /// Mode bits without the kind.
    pub mode: u32,
    /// Size in bytes.
    pub bytes: u64,
    /// Owner and group.
    pub owner: (u32, u32),
    /// Names that it has.
    pub names: u64,
}

impl Kind {
    #[allow(clippy::unnecessary_cast, reason = "the widths of these fields differ between systems")]
    fn of(stat: &Stat) -> Kind {
        Kind {
            file_type: FileType::from_raw_mode(stat.st_mode),
            mode: stat.st_mode as u32 & 0o7777,
            bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            owner: (stat.st_uid, stat.st_gid),
            names: stat.st_nlink as u64,
        }
    }
}

impl Place {
    /// The place of `path`; `None` when a folder above it is not there.
    pub fn of(workspace: &Workspace, path: &WorkspacePath, missing: NoFolder) -> io::Result<Option<Place>> {
        let inside = path.absolute().strip_prefix(workspace.root()).map_err(io::Error::other)?;
        let name = inside.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_owned();
        let mut folder = fs::open(workspace.root(), FOLDER, Mode::empty())?;
        for part in inside.parent().unwrap_or(Path::new("")).components() {
            let Component::Normal(part) = part else { return Err(io::ErrorKind::InvalidInput.into()) };
            folder = match fs::openat(&folder, part, FOLDER, Mode::empty()) {
                Err(Errno::NOENT) if missing == NoFolder::Missing => return Ok(None),
                Err(Errno::NOENT) => {
                    match fs::mkdirat(&folder, part, Mode::from_raw_mode(0o777)) {
                        // Somebody else made it in between.
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    fs::openat(&folder, part, FOLDER, Mode::empty())?
                }
                other => other?,
            };
        }
        Ok(Some(Place { folder, name }))
    }

    /// What stands there; `None` for nothing. Links are not followed.
    pub fn kind(&self) -> io::Result<Option<Kind>> {
        match fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Kind::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads a regular file whole.
    pub fn read(&self) -> io::Result<(Kind, Vec<u8>)> {
        // A pipe that took the place of the file must not be waited for.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = File::from(fs::openat(&self.folder, &self.name, flags, Mode::empty())?);
        let kind = Kind::of(&fs::fstat(&file)?);
        if kind.file_type != FileType::RegularFile {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut content = Vec::with_capacity(usize::try_from(kind.bytes).unwrap_or_default());
        file.read_to_end(&mut content)?;
        Ok((kind, content))
    }

    /// Where a link leads, as written. A target that is not UTF-8 is an error, because it could not be put back.
    pub fn read_link(&self) -> io::Result<String> {
        let target = fs::readlinkat(&self.folder, &self.name, Vec::new())?;
        target.into_string().map_err(io::Error::other)
    }

    /// Puts a file with this content there, as a whole or not at all. `temp` is the name it has until then.
    pub fn put_file(&self, content: &[u8], temp: &OsStr, like: Like) -> io::Result<()> {
        let made = self.write_temp(content, temp, like).and_then(|()| self.move_in(temp, like.standing));
        if made.is_err() {
            _ = fs::unlinkat(&self.folder, temp, AtFlags::empty());
        }
        made
    }

    fn write_temp(&self, content: &[u8], temp: &OsStr, like: Like) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || fs::openat(&self.folder, temp, flags, Mode::RUSR | Mode::WUSR);
        let file = match open() {
            // Left over from a write that was cut off.
            Err(Errno::EXIST) => {
                fs::unlinkat(&self.folder, temp, AtFlags::empty())?;
                open()?
            }
            other => other?,
        };
        let mut file = File::from(file);
        file.write_all(content)?;
        let new = Kind::of(&fs::fstat(&file)?);
        if let Some((user, group)) = like.owner.filter(|owner| *owner != new.owner) {
            fs::fchown(&file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))?;
        }
        // After the owner, because a change of owner clears the set-id bits.
        fs::fchmod(&file, Mode::from_raw_mode(like.mode as _))?;
        file.sync_all()
    }

    /// Puts a link there.
    pub fn put_link(&self, target: &str, temp: &OsStr, standing: Standing) -> io::Result<()> {
        match fs::symlinkat(target, &self.folder, temp) {
            Err(Errno::EXIST) => {
                fs::unlinkat(&self.folder, temp, AtFlags::empty())?;
                fs::symlinkat(target, &self.folder, temp)?;
            }
            other => other?,
        }
        let moved = self.move_in(temp, standing);
        if moved.is_err() {
            _ = fs::unlinkat(&self.folder, temp, AtFlags::empty());
        }
        moved
    }

    fn move_in(&self, temp: &OsStr, standing: Standing) -> io::Result<()> {
        match standing {
            Standing::Replaced => fs::renameat(&self.folder, temp, &self.folder, &self.name)?,
            // Somebody may have made the file since it was looked for.
            Standing::Nothing => self.move_to_free(temp)?,
        }
        self.sync()
    }

    fn move_to_free(&self, temp: &OsStr) -> io::Result<()> {
        let moved = fs::renameat_with(&self.folder, temp, &self.folder, &self.name, RenameFlags::NOREPLACE);
        match moved {
            // Not every file system can do it in one step.
            Err(Errno::INVAL | Errno::NOSYS) if self.kind()?.is_none() => {
                Ok(fs::renameat(&self.folder, temp, &self.folder, &self.name)?)
            }
            Err(Errno::INVAL | Errno::NOSYS) => Err(Errno::EXIST.into()),
            other => Ok(other?),
        }
    }

    /// Removes the file or link that stands there.
    pub fn remove(&self) -> io::Result<()> {
        fs::unlinkat(&self.folder, &self.name, AtFlags::empty())?;
        self.sync()
    }

    /// Removes an empty folder that stands there.
    pub fn remove_folder(&self) -> io::Result<()> {
        Ok(fs::unlinkat(&self.folder, &self.name, AtFlags::REMOVEDIR)?)
    }

    /// Removes what a write that was cut off left under its temporary name.
    pub fn sweep(&self, temp: &OsStr) {
        // Most often there is nothing.
        _ = fs::unlinkat(&self.folder, temp, AtFlags::empty());
    }

    fn sync(&self) -> io::Result<()> {
        Ok(fs::fsync(&self.folder)?)
    }
}

/// What a new file takes over from the one that it replaces.
#[derive(Clone, Copy, Debug)]
pub struct Like {
    /// Mode bits.
    pub mode: u32,
    /// Owner and group; those of the process when absent.
    pub owner: Option<(u32, u32)>,
    /// What stands at the place.
    pub standing: Standing,
}

/// What stands at a place that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Something that is replaced.
    Replaced,
    /// Nothing; what appears there in the meantime is not replaced.
    Nothing,
}

/// Mode bits of a new file, by the umask of the process.
pub fn usual_mode() -> u32 {
    // The mask can only be read by setting it; the strict one in between gives away nothing.
    let mask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    rustix::process::umask(mask);
    0o666 & !mask.bits()
}
