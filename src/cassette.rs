//! The files behind `--record` and `--replay`.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use tandem_router::{Cassette, Head, Recorder, RouterError};
use thiserror::Error;

/// The form of cassettes that is written.
const FORM: u32 = 1;

/// Why a cassette cannot be used.
#[derive(Debug, Error)]
pub enum CassetteError {
    /// The file is there already; it may be anything.
    #[error("--record: {} is already there; name a new file, or delete it first", .0.display())]
    Exists(PathBuf),
    /// It cannot be made or written.
    #[error("--record: {} cannot be written: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// It cannot be read.
    #[error("--replay: {} cannot be read: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// It is no cassette.
    #[error("--replay: {}: {error}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: RouterError,
    },
}

/// Begins a cassette in a new file that only its owner can read: it holds what the models are shown.
///
/// # Errors
/// When the file is there already, or cannot be made.
pub fn record(path: &Path, root: &Path, now_ms: u64) -> Result<Recorder, CassetteError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => CassetteError::Exists(path.to_owned()),
        _ => CassetteError::Write { path: path.to_owned(), error },
    };
    let head = Head {
        cassette: FORM,
        root: Some(root.display().to_string()),
        started_ms: Some(now_ms),
        ..Head::default()
    };
    Recorder::new(new_file(path).map_err(failed)?, &head).map_err(failed)
}

/// Reads a cassette for a project in `root`.
///
/// # Errors
/// When it cannot be read, or is none.
pub fn replay(path: &Path, root: &Path) -> Result<Cassette, CassetteError> {
    let text =
        fs::read_to_string(path).map_err(|error| CassetteError::Read { path: path.to_owned(), error })?;
    let cassette =
        Cassette::parse(&text).map_err(|error| CassetteError::Invalid { path: path.to_owned(), error })?;
    Ok(cassette.played_in(&root.display().to_string()))
}

fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
