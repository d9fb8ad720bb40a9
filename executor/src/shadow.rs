//! What a command changed in the tree: the state before and after, told apart by a git directory of our own.
//!
//! Nothing is ever written inside the project, and the user's repository is only read: its ignore rules, and which
//! ignored files it tracks. Bytes are taken as they are, whatever its settings and attributes say.

mod compare;
mod git;
mod place;
mod scan;
mod snapshot;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tandem_shared::workspace::Workspace;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::environment::Environment;
pub use compare::{Changed, Side};
use git::Git;
pub use git::Uncovered;
use place::{Place, Want};
pub use scan::{Gap, Why};
use scan::{Judged, parts};
pub use snapshot::Snapshot;

/// A git directory of our own, outside the project, that can tell two states of the tree apart.
pub struct Shadow {
    folder: PathBuf,
    session: String,
    workspace: Workspace,
    bounds: ShadowBounds,
    env: Arc<Environment>,
    state: Mutex<State>,
}

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadowBounds {
    /// Larger files are not covered.
    pub file_bytes: u64,
    /// For one snapshot, and for one comparison.
    pub time: Duration,
}

/// What one look leaves for the next.
#[derive(Default)]
struct State {
    /// The top of the repository around the root, or the root. The first look decides, so that two states of the tree
    /// can be compared even when a command made or removed a repository.
    top: Option<PathBuf>,
    used: Option<Used>,
    trust: Trust,
}

/// Whether the git directories that are found can be relied on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Trust {
    /// Nothing speaks against it.
    #[default]
    Kept,
    /// There was a failure: the next look begins with a new one.
    Lost,
    /// It did. One that fails as well has other reasons, and stays.
    Renewed,
}

/// The git directory in use.
#[derive(Clone)]
struct Used {
    place: Place,
    /// Bytes that its objects take, and how many they may take.
    size: u64,
    limit: u64,
    index: Index,
}

/// Who filled the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Index {
    /// Some session before this one, by the rules of that time, or nobody.
    Seed,
    /// This session.
    Own,
}

/// Files that are read into the index at once. After each such part the work is kept, even if the time runs out.
const BATCH: usize = 4_000;

impl Shadow {
    /// `folder` is where git directories are kept, one folder for each project; it is made when it is needed, for its
    /// owner only. `session` names this session's own index and must be a file name. `env` is what commands get.
    pub fn new(
        folder: PathBuf,
        session: &str,
        workspace: Workspace,
        bounds: ShadowBounds,
        env: Arc<Environment>,
    ) -> Shadow {
        Shadow { folder, session: session.to_owned(), workspace, bounds, env, state: Mutex::default() }
    }

    /// The state of the tree now. Snapshots of one session are taken one at a time. When it is dropped or too slow, its
    /// processes are killed.
    ///
    /// # Errors
    /// See [`Uncovered`]; the tree is as it was in any case.
    pub async fn snapshot(&self) -> Result<Snapshot, Uncovered> {
        self.bounded(self.look()).await
    }

    /// Files that differ between two snapshots, in the order of paths, with what stood there before and after. Those
    /// that one of the snapshots did not cover are left out; [`Snapshot::blind_since`] names them.
    ///
    /// # Errors
    /// See [`Uncovered`].
    pub async fn changes(&self, before: &Snapshot, after: &Snapshot) -> Result<Vec<Changed>, Uncovered> {
        if before.tree == after.tree {
            return Ok(Vec::new());
        }
        let root = self.workspace.root();
        let mut shadow = Git::of_shadow(root, &self.env, &after.git_dir, &after.top);
        if before.git_dir != after.git_dir {
            shadow = shadow.with_objects_of(&before.git_dir);
        }
        self.bounded(compare::compare(&shadow, before, after)).await
    }

    async fn bounded<T>(&self, work: impl Future<Output = Result<T, Uncovered>>) -> Result<T, Uncovered> {
        let done = timeout(self.bounds.time, work).await.unwrap_or(Err(Uncovered::TooSlow(self.bounds.time)));
        if let Err(Uncovered::Failed(_)) = &done {
            self.distrust();
        }
        done
    }

    async fn look(&self) -> Result<Snapshot, Uncovered> {
        let root = self.workspace.root();
        let user = Git::of_user(root, &self.env);
        let top = self.top(&user).await?;
        let mut used = self.place(&top).await?;
        let mut shadow =
            Git::of_shadow(root, &self.env, used.place.git_dir(), &top).with_index(used.place.index());
        let (own_rules, personal) = tokio::try_join!(
            user.ask(&["rev-parse", "--git-path", "info/exclude"]),
            user.ask(&["config", "--type=path", "-z", "--get", "core.excludesFile"]),
        )?;
        if let Some(file) = personal.as_deref().and_then(|answer| parts(answer).next()) {
            shadow = shadow.with_excludes(&OsString::from_vec(file.to_owned()));
        }
        let own_rules = own_rules.map(|answer| root.join(path_of(answer)));
        let place = used.place.clone();
        in_background(move || {
            let rules = own_rules.and_then(|file| std::fs::read(file).ok());
            place.set_excludes(&rules.unwrap_or_default())
        })
        .await?;
        if used.index == Index::Seed {
            remove(&shadow, &scan::strays(root, &shadow).await?).await?;
        }
        let judged = match self.read(&shadow, &user).await {
            // A file that goes while it is read makes git give up.
            Err(Uncovered::Failed(_)) => self.read(&shadow, &user).await?,
            read => read?,
        };
        let tree = String::from_utf8_lossy(&shadow.run(&["write-tree"], &[]).await?).trim().to_owned();
        let read_any = !(judged.here.is_empty() && judged.gone.is_empty());
        used.size = used.size.saturating_add(judged.bytes);
        used = in_background(move || {
            if used.limit == u64::MAX {
                used.limit = used.place.set_weight(used.size);
            }
            if read_any {
                used.place.leave_seed();
            }
            Ok(Used { index: Index::Own, ..used })
        })
        .await?;
        let git_dir = used.place.git_dir().to_owned();
        self.with_state(|state| state.used = Some(used));
        Ok(Snapshot { tree, git_dir, top, gaps: judged.gaps })
    }

    /// Brings the index up to the tree.
    async fn read(&self, shadow: &Git<'_>, user: &Git<'_>) -> Result<Judged, Uncovered> {
        let found = scan::candidates(shadow, user).await?;
        let judged = scan::judge(self.workspace.root(), found, self.bounds.file_bytes).await?;
        remove(shadow, &judged.gone).await?;
        for batch in judged.here.chunks(BATCH) {
            let args = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
            shadow.run(&args, &fed(batch)).await?;
        }
        Ok(judged)
    }

    /// The top of the repository whose ignore rules hold in the root.
    async fn top(&self, user: &Git<'_>) -> Result<PathBuf, Uncovered> {
        if let Some(top) = self.with_state(|state| state.top.clone()) {
            return Ok(top);
        }
        let root = self.workspace.root();
        let mut top = user.ask(&["rev-parse", "--show-toplevel"]).await?.map_or(root.to_owned(), path_of);
        // A root that its repository ignores as a whole is a project of its own.
        let ignored = async || user.ask(&["check-ignore", "-q", "."]).await.map(|answer| answer.is_some());
        if top != root && (!root.starts_with(&top) || ignored().await?) {
            top = root.to_owned();
        }
        self.with_state(|state| state.top = Some(top.clone()));
        Ok(top)
    }

    /// The git directory for this look.
    async fn place(&self, top: &Path) -> Result<Used, Uncovered> {
        let depth = self.workspace.root().components().count() - top.components().count();
        let (folder, session) = (self.folder.clone(), self.session.clone());
        let (used, trust) = self.with_state(|state| (state.used.clone(), state.trust));
        if trust == Trust::Lost {
            self.with_state(|state| state.trust = Trust::Renewed);
        }
        in_background(move || {
            let want = match used {
                Some(used) if used.size <= used.limit => match used.place.enter() {
                    Ok(()) => return Ok(used),
                    Err(_) => Want::Newest,
                },
                Some(_) => Want::Fresh,
                None if trust == Trust::Lost => Want::Fresh,
                None => Want::Newest,
            };
            let place = Place::open(&folder, &session, depth, want)?;
            let (size, limit) = place.room();
            Ok(Used { place, size, limit, index: Index::Seed })
        })
        .await
    }

    fn distrust(&self) {
        self.with_state(|state| {
            if state.trust == Trust::Kept {
                (state.trust, state.used) = (Trust::Lost, None);
            }
        });
    }

    fn with_state<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, Uncovered> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| Uncovered::io(&error)),
        Err(error) => Err(Uncovered::Failed(error.to_string())),
    }
}

async fn remove(shadow: &Git<'_>, paths: &[Vec<u8>]) -> Result<(), Uncovered> {
    if !paths.is_empty() {
        shadow.run(&["update-index", "-z", "--force-remove", "--stdin"], &fed(paths)).await?;
    }
    Ok(())
}

/// Paths as git reads them.
fn fed(paths: &[Vec<u8>]) -> Vec<u8> {
    paths.iter().flat_map(|path| [path.as_slice(), b"\0"]).flatten().copied().collect()
}

/// A path on a line of its own, as git prints it.
fn path_of(mut line: Vec<u8>) -> PathBuf {
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    OsString::from_vec(line).into()
}

#[cfg(test)]
mod tests;
