//! Reads a configuration file that may come from anybody.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::error::ConfigError;

/// More than any configuration, and little enough to read at start.
const LARGEST: u64 = 1 << 20;

/// The text of a file; `None` when there is none. A project may come from anywhere, so what is not a plain file of
/// moderate size is refused instead of read.
///
/// # Errors
/// [`ConfigError::Read`] when it is there and is no such file, or the system says no.
pub fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let fault = |source| ConfigError::Read { path: path.to_owned(), source };
    let meta = match std::fs::metadata(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(fault(error)),
        Ok(meta) => meta,
    };
    if !meta.is_file() || meta.len() > LARGEST {
        return Err(fault(io::Error::other("not a file of text of at most 1 MiB")));
    }
    let mut text = String::new();
    File::open(path).and_then(|file| file.take(LARGEST).read_to_string(&mut text)).map_err(fault)?;
    Ok(Some(text))
}
