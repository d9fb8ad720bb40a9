//! What has to be looked at since the last time: git names the candidates, and each is judged before git may read it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Access, access};

use super::git::{Git, Uncovered};

/// A place in the tree that is not covered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// Relative to the root, with slashes; bytes that are not UTF-8 are shown as U+FFFD.
    pub path: String,
    /// Why it is not covered.
    pub why: Why,
    raw: Vec<u8>,
    stamp: Stamp,
}

/// Why a place is not covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The file is larger than the bound.
    TooBig,
    /// It is a repository of its own.
    Nested,
    /// The file may not be read.
    Unreadable,
    /// Its name is not UTF-8, so that no tool can name it.
    Name,
}

/// Size, time of the last change in nanoseconds, and identity of a file: as long as they stay, so did the file.
type Stamp = Option<(u64, i128, u64)>;

impl Gap {
    fn new(raw: &[u8], why: Why, meta: Option<&Metadata>) -> Gap {
        let changed =
            |meta: &Metadata| i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec());
        Gap {
            path: String::from_utf8_lossy(raw).into_owned(),
            why,
            raw: raw.to_owned(),
            stamp: meta.map(|meta| (meta.size(), changed(meta), meta.ino())),
        }
    }

    /// The path as the system knows it.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }
}

/// Paths relative to the root, as git names them.
#[derive(Debug, Default)]
pub struct Candidates {
    /// To be looked at: new ones, changed ones, and ignored ones that the user's repository tracks all the same.
    paths: BTreeSet<Vec<u8>>,
    /// Those that the index has.
    known: BTreeSet<Vec<u8>>,
    /// Those that the index has and that are not there any more.
    gone: Vec<Vec<u8>>,
}

/// What the index of `shadow` has and nobody would put there now: what became ignored since, and what lies in a folder
/// that became a repository of its own.
///
/// # Errors
/// When git cannot answer.
pub async fn strays(root: &Path, shadow: &Git<'_>) -> Result<Vec<Vec<u8>>, Uncovered> {
    let (ignored, all) = tokio::try_join!(
        shadow.run(&["ls-files", "-z", "-c", "-i", "--exclude-standard"], &[]),
        shadow.run(&["ls-files", "-z", "-c"], &[]),
    )?;
    let root = root.to_owned();
    let work = move || {
        let known: BTreeSet<&[u8]> = parts(&all).flat_map(folders).collect();
        let is_nested =
            |folder: &&[u8]| root.join(OsStr::from_bytes(folder)).join(".git").symlink_metadata().is_ok();
        let nested: BTreeSet<&[u8]> = known.into_iter().filter(is_nested).collect();
        let within = parts(&all).filter(|path| folders(path).any(|folder| nested.contains(folder)));
        parts(&ignored).chain(within).map(<[u8]>::to_owned).collect()
    };
    tokio::task::spawn_blocking(work).await.map_err(|error| Uncovered::Failed(error.to_string()))
}

/// Asks `shadow` what differs from its index, and `user` what its repository tracks in spite of its ignore rules.
///
/// # Errors
/// When git cannot answer.
pub async fn candidates(shadow: &Git<'_>, user: &Git<'_>) -> Result<Candidates, Uncovered> {
    let (others, changed, forced) = tokio::try_join!(
        shadow.run(&["ls-files", "-z", "-o", "--exclude-standard"], &[]),
        // Names what was touched without comparing contents, so that a touched file is read once and not every time.
        shadow.run(&["diff-files", "-z", "--name-status", "--no-renames", "--relative"], &[]),
        user.ask(&["ls-files", "-z", "-c", "-i", "--exclude-standard"]),
    )?;
    let mut found = Candidates::default();
    found.paths.extend(parts(&others).chain(parts(&forced.unwrap_or_default())).map(<[u8]>::to_owned));
    let mut changed = parts(&changed);
    while let (Some(status), Some(path)) = (changed.next(), changed.next()) {
        // Deleted are also those that stand behind a symbolic link now, where a look at them would find something.
        if status == b"D" {
            found.gone.push(path.to_owned());
        } else {
            found.known.insert(path.to_owned());
            found.paths.insert(path.to_owned());
        }
    }
    Ok(found)
}

/// What git is to do with its index, and what it must not see.
#[derive(Debug, Default)]
pub struct Judged {
    /// To be taken out of the index.
    pub gone: Vec<Vec<u8>>,
    /// To be read into the index.
    pub here: Vec<Vec<u8>>,
    /// Bytes of the latter on disk, no less than what their objects take.
    pub bytes: u64,
    /// Not covered.
    pub gaps: Vec<Gap>,
}

/// How many candidates are looked at before somebody else has a say.
const CHUNK: usize = 4_000;

/// Looks at each candidate below `root`. Files over `file_bytes` are not covered.
///
/// # Errors
/// When the work cannot be done in the background.
pub async fn judge(root: &Path, found: Candidates, file_bytes: u64) -> Result<Judged, Uncovered> {
    let mut judged = Judged { gone: found.gone, ..Judged::default() };
    let mut paths = found.paths.into_iter().peekable();
    let mut known = found.known;
    while paths.peek().is_some() {
        let chunk: Vec<_> = paths.by_ref().take(CHUNK).collect();
        let root = root.to_owned();
        let work = move || {
            for path in chunk {
                judged.add(&root, path, &known, file_bytes);
            }
            (judged, known)
        };
        let done = tokio::task::spawn_blocking(work).await;
        (judged, known) = done.map_err(|error| Uncovered::Failed(error.to_string()))?;
    }
    Ok(judged)
}

impl Judged {
    fn add(&mut self, root: &Path, path: Vec<u8>, known: &BTreeSet<Vec<u8>>, file_bytes: u64) {
        if let Some(folder) = path.strip_suffix(b"/") {
            self.gaps.push(Gap::new(folder, Why::Nested, None));
            return;
        }
        if is_own(&path) {
            return;
        }
        let absolute = root.join(OsStr::from_bytes(&path));
        let meta = absolute.symlink_metadata().ok();
        let gap = match &meta {
            Some(meta) if !meta.is_file() && !meta.is_symlink() => None,
            None => None,
            Some(_) if std::str::from_utf8(&path).is_err() => Some(Why::Name),
            Some(meta) if meta.is_file() && meta.size() > file_bytes => Some(Why::TooBig),
            Some(meta) if meta.is_file() && access(&absolute, Access::READ_OK).is_err() => {
                Some(Why::Unreadable)
            }
            Some(meta) => {
                self.bytes += meta.size().max(meta.blocks() * 512);
                self.here.push(path);
                return;
            }
        };
        self.gaps.extend(gap.map(|why| Gap::new(&path, why, meta.as_ref())));
        if known.contains(&path) {
            self.gone.push(path);
        }
    }
}

/// Whether `path` belongs to git or to tandem, as the write tools see it.
fn is_own(path: &[u8]) -> bool {
    let mut parts = path.split(|&byte| byte == b'/');
    let first = parts.clone().next().unwrap_or_default();
    first.eq_ignore_ascii_case(b".tandem") || parts.any(|part| part.eq_ignore_ascii_case(b".git"))
}

/// Every folder that `path` lies in, below the root.
fn folders(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    ends.filter_map(|(end, _)| path.get(..end))
}

/// The parts of an answer that ends each with a NUL byte.
pub fn parts(answer: &[u8]) -> impl Iterator<Item = &[u8]> {
    answer.split(|&byte| byte == 0).filter(|part| !part.is_empty())
}
