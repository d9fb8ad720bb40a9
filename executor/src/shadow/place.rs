//! Where the shadow lives on disk: numbered git directories, the newest in use, each with a folder for every session.
//!
//! Nothing in a git directory is ever collected: objects are handed out as soon as they are known, so a directory that
//! has grown too large is left for a new one, and is removed when nobody has used it for a day. Everything here blocks.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The file that says how large a git directory was after the first look at the tree.
const WEIGHT: &str = "weight";

/// Bytes up to which a git directory may grow in any project.
const FREE_GROWTH: u64 = 512 * 1024 * 1024;

/// How many times its first size a git directory of a large project may reach.
const GROWTH: u64 = 4;

/// How long a session's index is kept after its last use.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Bytes are what they are in the project: no setting of a person, and no attribute file of the tree, comes above these.
const CONFIG: &str = "\
[core]
\trepositoryformatversion = 0
\tbare = false
\tfilemode = true
\tsymlinks = true
\tignorecase = false
\tprecomposeunicode = false
\tautocrlf = false
\tsafecrlf = false
\tfsmonitor = false
\thooksPath = /dev/null
\tattributesFile = /dev/null
\tprotectNTFS = false
\tprotectHFS = false
\tsplitIndex = false
\tloosecompression = 1
[gc]
\tauto = 0
[maintenance]
\tauto = false
";
const ATTRIBUTES: &str = "* -text -ident -filter !eol !working-tree-encoding\n";

/// A session's place in a git directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    git_dir: PathBuf,
    session: PathBuf,
    depth: usize,
}

/// Which git directory a session opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The newest there is, unless it has grown too large.
    Newest,
    /// One that nobody has used.
    Fresh,
}

impl Place {
    /// Opens a git directory below `folder` for `session`, and removes what others left there. `depth` is how many
    /// folders lie between the root and the top of the repository around it: paths of an index begin at the top.
    ///
    /// # Errors
    /// When the file system fails.
    pub fn open(folder: &Path, session: &str, depth: usize, want: Want) -> io::Result<Place> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let newest = numbers(folder)?.into_iter().max();
        let outgrown = |number: u64| {
            let git_dir = folder.join(number.to_string());
            size_of(&git_dir) > limit_of(&git_dir)
        };
        let number = match (newest, want) {
            (None, _) => 1,
            (Some(number), Want::Newest) if !outgrown(number) => number,
            (Some(number), _) => number + 1,
        };
        let git_dir = folder.join(number.to_string());
        if newest != Some(number) {
            create(folder, &git_dir)?;
        }
        let session = git_dir.join("sessions").join(session);
        let place = Place { git_dir, session, depth };
        place.enter()?;
        sweep(folder, number);
        Ok(place)
    }

    /// Makes the place ready for one look at the tree: it is marked as used, and what a killed process left is removed.
    ///
    /// # Errors
    /// When the file system fails, as it does when the git directory is gone.
    pub fn enter(&self) -> io::Result<()> {
        match DirBuilder::new().create(&self.session) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => File::open(&self.session)?.set_modified(SystemTime::now())?,
        }
        let index = self.index();
        let _ = fs::remove_file(index.with_extension("lock"));
        if !index.exists() {
            // Git replaces an index and never writes into one, so that one file can serve several sessions, with the
            // time of its last change intact, by which git knows what it has to look at again.
            let _ = fs::hard_link(self.seed(), &index);
        }
        Ok(())
    }

    /// Lets later sessions begin with this one's index.
    pub fn leave_seed(&self) {
        let offered = self.session.join("seed");
        let _ = fs::remove_file(&offered);
        // Without it, a later session is slow at first and nothing else.
        if fs::hard_link(self.index(), &offered).is_ok() {
            let _ = fs::rename(&offered, self.seed());
        }
    }

    /// The git directory.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// This session's index.
    pub fn index(&self) -> PathBuf {
        self.session.join(format!("index-{}", self.depth))
    }

    fn seed(&self) -> PathBuf {
        self.git_dir.join(format!("seed-{}", self.depth))
    }

    /// Sets the ignore rules that stand beside the tree.
    ///
    /// # Errors
    /// When the file system fails.
    pub fn set_excludes(&self, rules: &[u8]) -> io::Result<()> {
        let file = self.git_dir.join("info/exclude");
        if fs::read(&file).is_ok_and(|old| old == rules) {
            return Ok(());
        }
        // By rename, because another session may be reading it.
        let new = self.session.join("exclude");
        fs::write(&new, rules)?;
        fs::rename(new, file)
    }

    /// Bytes that the objects take, and how many they may take.
    pub fn room(&self) -> (u64, u64) {
        (size_of(&self.git_dir), limit_of(&self.git_dir))
    }

    /// Remembers how large the first whole look at the tree was, and answers the limit that follows.
    pub fn set_weight(&self, bytes: u64) -> u64 {
        let _ = fs::write(self.git_dir.join(WEIGHT), bytes.to_string());
        limit_of(&self.git_dir)
    }
}

/// Written beside and moved into place, so that nobody meets half a git directory.
fn create(folder: &Path, git_dir: &Path) -> io::Result<()> {
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(folder)?;
    let path = new.path();
    for part in ["objects", "refs", "info", "sessions"] {
        fs::create_dir(path.join(part))?;
    }
    fs::write(path.join("HEAD"), "ref: refs/heads/none\n")?;
    fs::write(path.join("config"), CONFIG)?;
    fs::write(path.join("info/attributes"), ATTRIBUTES)?;
    match fs::rename(path, git_dir) {
        // Another session was first, which is as well.
        Err(_) if git_dir.join("HEAD").is_file() => Ok(()),
        moved => moved,
    }
}

fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        found.extend(entry?.file_name().to_str().and_then(|name| name.parse::<u64>().ok()));
    }
    Ok(found)
}

/// Removes sessions that ended, and git directories that nobody uses any more. What cannot be removed stays.
fn sweep(folder: &Path, current: u64) {
    for number in numbers(folder).unwrap_or_default() {
        let git_dir = folder.join(number.to_string());
        let sessions = git_dir.join("sessions");
        for session in fs::read_dir(&sessions).into_iter().flatten().flatten() {
            let age =
                session.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > KEPT) {
                let _ = fs::remove_dir_all(session.path());
            }
        }
        let unused = fs::read_dir(&sessions).is_ok_and(|mut left| left.next().is_none());
        if number < current && unused {
            let _ = fs::remove_dir_all(git_dir);
        }
    }
}

fn size_of(git_dir: &Path) -> u64 {
    let folders = fs::read_dir(git_dir.join("objects")).into_iter().flatten().flatten();
    let objects = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    objects.filter_map(|object| object.metadata().ok()).map(|meta| meta.blocks() * 512).sum()
}

/// Without a weight nobody has seen the whole tree yet, and whatever there is belongs to it.
fn limit_of(git_dir: &Path) -> u64 {
    let weight = fs::read_to_string(git_dir.join(WEIGHT)).ok().and_then(|text| text.parse::<u64>().ok());
    weight.map_or(u64::MAX, |weight| FREE_GROWTH.max(weight.saturating_mul(GROWTH)))
}
