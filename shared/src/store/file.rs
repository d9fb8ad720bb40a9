//! Opening redb files: private to the user, small cache, checked before use, with a bounded wait.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use redb::{Builder, ConcurrencyMode, Database, DatabaseError, ReadableDatabase};
use thiserror::Error;

/// Bytes of cache for one file. The package's own default of 1 GiB is far beyond what a session touches.
const CACHE: usize = 4 << 20;
/// Between two tries to open a file that another process holds.
const PAUSE: Duration = Duration::from_millis(15);

/// Why the store failed.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Another process has it open.
    #[error("{} is in use by another tandem process; wait for it to end, or stop it", .0.display())]
    Busy(PathBuf),
    /// There is no such file.
    #[error("there is no session {0}; `tandem sessions list` names those of this project")]
    Missing(String),
    /// The file is damaged. It is left as it is.
    #[error("{} is damaged ({reason}); it was left as it is", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// The disk or the database failed.
    #[error("{}: {reason}", path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// What happened.
        reason: String,
    },
}

impl StoreError {
    /// A fault of the file system or the database at `path`.
    pub(super) fn failed(path: &Path, reason: impl ToString) -> StoreError {
        StoreError::Failed { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// Opens or creates `path`, waiting up to `patience` while another process holds it.
pub(super) fn open(path: &Path, patience: Duration) -> Result<Database, StoreError> {
    if let Some(folder) = path.parent() {
        private_folder(folder).map_err(|error| StoreError::failed(folder, error))?;
    }
    private_file(path).map_err(|error| StoreError::failed(path, error))?;
    wait(path, patience, || builder().create(path))
}

/// Opens `path` for reading. Where no process holds it, it is opened as if to be written, because only then is it
/// checked, and what a crash left behind repaired; else it is read beside its writer.
pub(super) fn open_to_read(path: &Path, patience: Duration) -> Result<Box<dyn ReadableDatabase>, StoreError> {
    wait(path, patience, || match builder().open(path) {
        Ok(database) => Ok(Box::new(database) as Box<dyn ReadableDatabase>),
        Err(DatabaseError::DatabaseAlreadyOpen) => Ok(Box::new(builder().open_read_only(path)?)),
        Err(error) => Err(error),
    })
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE);
    builder.set_concurrency_mode(ConcurrencyMode::SingleWriter);
    // Without it a scan of a damaged file may panic instead of failing.
    builder.set_check_integrity_on_open(true);
    builder
}

fn wait<T>(
    path: &Path,
    patience: Duration,
    try_open: impl Fn() -> Result<T, DatabaseError>,
) -> Result<T, StoreError> {
    let deadline = Instant::now() + patience;
    loop {
        match try_open() {
            Ok(database) => return Ok(database),
            Err(DatabaseError::DatabaseAlreadyOpen) if Instant::now() < deadline => std::thread::sleep(PAUSE),
            Err(DatabaseError::DatabaseAlreadyOpen) => return Err(StoreError::Busy(path.to_owned())),
            Err(DatabaseError::Storage(redb::StorageError::Io(error))) => {
                return Err(StoreError::failed(path, error));
            }
            Err(error) => {
                return Err(StoreError::Damaged { path: path.to_owned(), reason: error.to_string() });
            }
        }
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Makes the file before the database does, so that it is never readable for others, not even for a moment.
fn private_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}
