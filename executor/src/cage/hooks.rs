//! What git would run: hooks and settings of every repository, looked at before and after a command, and put back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, fchmod, fstat, openat, readlinkat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::reached::Reached;
use super::repos::{Repositories, find};
use crate::environment::Environment;

/// Files in a git folder that decide what runs, or from where git takes such files.
const FILES: [&str; 3] = ["config", "config.worktree", "commondir"];

/// A look before a command.
pub struct Watch {
    root: PathBuf,
    repositories: Repositories,
    reached: Reached,
    before: BTreeMap<PathBuf, Stands>,
    held: Option<Held>,
}

/// What the kernel keeps the command from.
struct Held {
    /// Folders that it cannot change, whatever others do.
    folders: Vec<PathBuf>,
    /// The project's own repository. When somebody else replaces its settings, as git does, the command can write to
    /// the new file.
    own: PathBuf,
}

/// How long the command runs that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// It is waited for, and nobody else is likely to change anything meanwhile.
    Short,
    /// It goes on in the background, while the person and the file tools work on.
    Long,
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stands {
    File {
        content: Vec<u8>,
        mode: u32,
    },
    Link {
        target: Vec<u8>,
    },
    /// Something that no hook and no setting is.
    Other,
}

impl Watch {
    /// Looks at every repository in and around `root`. Blocks.
    pub fn begin(root: &Path, env: &Environment) -> Watch {
        let repositories = find(root);
        let reached = Reached::by(&repositories, root, env);
        let mut watch =
            Watch { root: root.to_owned(), repositories, reached, before: BTreeMap::new(), held: None };
        watch.before = watch.look(&watch.repositories);
        watch
    }

    /// Notes that the kernel holds the command, and answers which files and folders of the project it has to hold beside
    /// the repositories: those that git would run or take settings from.
    pub fn hold(&mut self) -> Vec<PathBuf> {
        let own = self.root.join(".git");
        let hooks = own.join("hooks");
        let folders = self.reached.folders.iter().chain([&hooks]).filter(|folder| folder.is_dir());
        self.held = Some(Held { folders: folders.cloned().collect(), own });
        self.reached.all().cloned().collect()
    }

    /// The repositories that were there.
    pub fn repositories(&self) -> &Repositories {
        &self.repositories
    }

    /// Looks again, puts back what changed, and says so, a sentence each. What a long command may not have changed itself
    /// is said, but stays. Blocks.
    pub fn settle(self, span: Span) -> Vec<String> {
        let now = find(&self.root);
        let mut after = self.look(&now);
        // A folder that is no repository any more is still looked at where it was.
        after.extend(self.look(&self.repositories));
        let mut said = Vec::new();
        let paths: BTreeSet<&PathBuf> = self.before.keys().chain(after.keys()).collect();
        for path in paths {
            let (before, stands) = (self.before.get(path), after.get(path));
            if before == stands || !(before.is_some() || self.is_ours(path)) {
                continue;
            }
            let gone = |bare: &PathBuf| path.starts_with(bare) && !now.bare.contains(bare);
            if self.repositories.bare.iter().any(gone) {
                // It is no repository any more, so git takes nothing from it.
                continue;
            }
            let shown = path.strip_prefix(&self.root).unwrap_or(path).display();
            if self.held.iter().flat_map(|held| &held.folders).any(|folder| path.starts_with(folder)) {
                // Somebody else did it.
                continue;
            }
            if span == Span::Long && self.may_be_others(path) {
                said.push(format!(
                    "{shown}, which git runs or reads, was changed by it or by somebody else, and stays so"
                ));
                continue;
            }
            let made =
                if self.reached.holds(path) && before.is_some() { self.make_folders(path) } else { Ok(()) };
            let done = made.and_then(|()| put_back(path, before));
            said.push(match (before, done) {
                (_, Err(error)) => format!("{shown} was changed and could NOT be put back: {error}"),
                (None, Ok(())) => format!("{shown} was made, and was removed"),
                (Some(_), Ok(())) => format!("{shown} was changed, and was put back"),
            });
        }
        let new = now.folders.iter().chain(&now.bare).filter(|folder| self.is_new(folder));
        said.extend(new.map(|folder| {
            let shown = folder.strip_prefix(&self.root).unwrap_or(folder).display();
            format!("{shown} is a new repository, whose settings were not looked at")
        }));
        said
    }

    fn look(&self, repositories: &Repositories) -> BTreeMap<PathBuf, Stands> {
        let mut found = BTreeMap::new();
        let mut note = |path: PathBuf| {
            if let Some(stands) = stands(&path) {
                found.insert(path, stands);
            }
        };
        repositories.pointers.iter().cloned().for_each(&mut note);
        for folder in repositories.all() {
            FILES.iter().map(|file| folder.join(file)).for_each(&mut note);
            note_folder(&folder.join("hooks"), &mut note);
        }
        for path in self.reached.all() {
            // Something else in the place of a folder on the way.
            let on_the_way = path.ancestors().skip(1).take_while(|folder| *folder != self.root);
            let odd =
                on_the_way.filter(|folder| folder.symlink_metadata().is_ok_and(|about| !about.is_dir()));
            odd.map(Path::to_owned).for_each(&mut note);
        }
        self.reached.files.iter().cloned().for_each(&mut note);
        self.reached.folders.iter().for_each(|folder| note_folder(folder, &mut note));
        found
    }

    /// Makes the folders again that lead to a path of the project. None of them is a link by now.
    fn make_folders(&self, path: &Path) -> io::Result<()> {
        let missing: Vec<&Path> =
            path.ancestors().skip(1).take_while(|folder| folder.symlink_metadata().is_err()).collect();
        for folder in missing.into_iter().rev() {
            rustix::fs::mkdirat(folder_of(folder)?, name_of(folder)?, Mode::from_raw_mode(0o777))?;
        }
        Ok(())
    }

    /// Whether it may well be that somebody else than the command changed it: a file that people and tools work on, or
    /// settings that the kernel kept the command from at first.
    fn may_be_others(&self, path: &Path) -> bool {
        let is_gits = self.repositories.all().any(|folder| path.starts_with(folder));
        let is_kept = |held: &Held| path.parent() == Some(&held.own) && self.before.contains_key(path);
        !is_gits && self.reached.holds(path) || self.held.as_ref().is_some_and(is_kept)
    }

    /// A repository that the command made; a worktree belongs to one that was there.
    fn is_new(&self, folder: &Path) -> bool {
        let known = |folder: &Path| self.repositories.all().any(|known| known == folder);
        let is_worktree = folder
            .parent()
            .is_some_and(|parent| parent.ends_with("worktrees") && parent.parent().is_some_and(known));
        !known(folder) && !is_worktree
    }

    /// Whether what is new there must go: anything in a repository that was there, and of a new one the hooks, save the
    /// samples that git itself puts there.
    fn is_ours(&self, path: &Path) -> bool {
        let in_hooks = path.parent().is_some_and(|parent| parent.ends_with("hooks"));
        let folder = if in_hooks { path.parent().and_then(Path::parent) } else { path.parent() };
        let known = folder.is_some_and(|folder| self.repositories.all().any(|known| known == folder));
        known
            || self.reached.holds(path)
            || in_hooks && path.extension().is_none_or(|ending| ending != "sample")
    }
}

/// Passes on what lies in a folder of hooks, or the link that stands in its place.
fn note_folder(folder: &Path, note: &mut impl FnMut(PathBuf)) {
    match fs::symlink_metadata(folder) {
        Ok(about) if about.is_dir() => {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
            files.map(|entry| entry.path()).for_each(note);
        }
        Ok(_) => note(folder.to_owned()),
        Err(_) => {}
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The folder of a path, reached without following links: somebody may still put one there.
fn folder_of(path: &Path) -> io::Result<OwnedFd> {
    let mut folder = rustix::fs::open("/", FOLDER, Mode::empty())?;
    for part in path.parent().unwrap_or(Path::new("/")).components() {
        if let Component::Normal(part) = part {
            folder = openat(&folder, part, FOLDER, Mode::empty())?;
        }
    }
    Ok(folder)
}

fn name_of(path: &Path) -> io::Result<&std::ffi::OsStr> {
    path.file_name().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn stands(path: &Path) -> Option<Stands> {
    let (folder, name) = (folder_of(path).ok()?, name_of(path).ok()?);
    let about = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(match FileType::from_raw_mode(about.st_mode) {
        FileType::Symlink => readlinkat(&folder, name, Vec::new())
            .map_or(Stands::Other, |target| Stands::Link { target: target.into_bytes() }),
        FileType::RegularFile => read(&folder, name).unwrap_or(Stands::Other),
        _ => Stands::Other,
    })
}

#[allow(clippy::unnecessary_cast, reason = "the width of a mode differs between systems")]
fn read(folder: &OwnedFd, name: &std::ffi::OsStr) -> io::Result<Stands> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(openat(folder, name, flags, Mode::empty())?);
    let mode = fstat(&file)?.st_mode as u32 & 0o7777;
    let mut content = Vec::new();
    file.read_to_end(&mut content)?;
    Ok(Stands::File { content, mode })
}

fn put_back(path: &Path, before: Option<&Stands>) -> io::Result<()> {
    let name = name_of(path)?;
    let folder = match folder_of(path) {
        Err(error)
            if error.kind() == io::ErrorKind::NotFound
                && path.parent().is_some_and(|p| p.ends_with("hooks")) =>
        {
            // The folder of the hooks is gone with all of them.
            let hooks = path.parent().unwrap_or(path);
            rustix::fs::mkdirat(folder_of(hooks)?, name_of(hooks)?, Mode::from_raw_mode(0o777))?;
            folder_of(path)?
        }
        other => other?,
    };
    match unlinkat(&folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(Errno::ISDIR | Errno::PERM) => {
            // Git runs no folder, but one may stand where a file was. It is set aside, not lost.
            let mut aside = name.to_owned();
            aside.push(".set-aside");
            rustix::fs::renameat(&folder, name, &folder, &aside)?;
        }
        Err(error) => return Err(error.into()),
    }
    match before {
        None | Some(Stands::Other) => Ok(()),
        Some(Stands::Link { target }) => Ok(symlinkat(target.as_slice(), &folder, name)?),
        Some(Stands::File { content, mode }) => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut file = File::from(openat(&folder, name, flags, Mode::RUSR | Mode::WUSR)?);
            file.write_all(content)?;
            Ok(fchmod(&file, Mode::from_raw_mode(*mode as _))?)
        }
    }
}

#[cfg(test)]
mod tests;
