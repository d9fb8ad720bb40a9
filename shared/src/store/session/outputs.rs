//! The outputs of a session, read back by their ids. A long one is kept piece by piece, while it comes, and neither then nor
//! later is it ever held whole.

use std::io::{self, Cursor, Read};
use std::path::Path;

use redb::{ReadableDatabase, ReadableTable, TableDefinition, TableError};

use super::{BLOBS, PATIENCE, SessionStore, session_path};
use crate::store::file::{self, StoreError};
use crate::tool::Archive;

/// By the number of the output and that of the piece.
const PIECES: TableDefinition<(u64, u32), &[u8]> = TableDefinition::new("outputs");

/// What stands before the number in an id.
const PREFIX: &str = "output-";

/// Digits of a digest from which it is one that somebody was shown.
const LEAST_DIGITS: usize = 8;

impl SessionStore {
    /// The bytes behind a digest or its first digits.
    pub fn blob(&self, id: &str) -> Option<Vec<u8>> {
        blob_in(&self.database, id).ok()?
    }

    /// Hands an output of a session to `take`, byte for byte as it was kept, without taking the session up; whether there
    /// is one of that id.
    ///
    /// # Errors
    /// When there is no such session, or when it is damaged.
    pub fn output(
        folder: &Path,
        id: &str,
        output: &str,
        mut take: impl FnMut(&[u8]),
    ) -> Result<bool, StoreError> {
        let path = session_path(folder, id);
        if !path.exists() {
            return Err(StoreError::Missing(id.to_owned()));
        }
        let failed = |error: redb::Error| StoreError::failed(&path, error);
        let database = file::open_to_read(&path, PATIENCE)?;
        let database = database.as_ref();
        let mut source: Box<dyn Read> = match number_in(output) {
            Some(number) => match Pieces::of(database, number).map_err(failed)? {
                Some(pieces) => Box::new(pieces),
                None => return Ok(false),
            },
            None => match blob_in(database, output).map_err(failed)? {
                Some(bytes) => Box::new(Cursor::new(bytes)),
                None => return Ok(false),
            },
        };
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match source.read(&mut buffer).map_err(|error| StoreError::failed(&path, error))? {
                0 => return Ok(true),
                count => take(buffer.get(..count).unwrap_or_default()),
            }
        }
    }
}

impl Archive for SessionStore {
    fn recall<'a>(&'a self, id: &str) -> Option<Box<dyn Read + 'a>> {
        if let Some(number) = number_in(id) {
            return Some(Box::new(Pieces::of(&self.database, number).ok()??));
        }
        let bytes = self.blob(id).or_else(|| {
            self.history(|history| {
                let step = history.steps().find(|step| step.call.id == id)?;
                Some(step.outcome.content().as_bytes().to_vec())
            })
        })?;
        Some(Box::new(Cursor::new(bytes)))
    }

    fn new_output(&self) -> Option<String> {
        let mut state = self.state();
        let number = match state.next_output {
            Some(number) => number,
            None => next(&self.database).ok()?,
        };
        state.next_output = Some(number + 1);
        Some(id_of(number))
    }

    fn keep(&self, id: &str, piece: u32, bytes: &[u8]) -> Result<(), String> {
        let number = number_in(id).ok_or("there is no such output")?;
        if !has_room(&self.path, bytes.len() as u64) {
            return Err("the disk is nearly full".to_owned());
        }
        put(&self.database, number, piece, bytes).map_err(|error| error.to_string())
    }
}

/// Bytes of the disk that long outputs leave free: after a write that found no room, the whole store would be lost to the
/// session.
const LEFT_FREE: u64 = 64 << 20;

/// Whether there is room for an output's piece and for the log after it. Where that is not known, there is.
fn has_room(path: &Path, bytes: u64) -> bool {
    // When it grows, a database doubles.
    let size = std::fs::metadata(path).map_or(0, |about| about.len());
    let needed = LEFT_FREE + bytes + size;
    rustix::fs::statvfs(path).map_or(true, |disk| disk.f_bavail.saturating_mul(disk.f_frsize) >= needed)
}

/// The id of an output.
fn id_of(output: u64) -> String {
    format!("{PREFIX}{output}")
}

/// The number in an id.
fn number_in(id: &str) -> Option<u64> {
    id.strip_prefix(PREFIX)?.parse().ok()
}

/// The first number that no output has.
fn next(database: &dyn ReadableDatabase) -> Result<u64, redb::Error> {
    let reader = database.begin_read()?;
    let table = match reader.open_table(PIECES) {
        Ok(table) => table,
        Err(TableError::TableDoesNotExist(_)) => return Ok(1),
        Err(error) => return Err(error.into()),
    };
    let last = table.last()?;
    Ok(last.map_or(1, |(key, _)| key.value().0 + 1))
}

/// Keeps a piece.
fn put(database: &redb::Database, output: u64, piece: u32, bytes: &[u8]) -> Result<(), redb::Error> {
    let writer = database.begin_write()?;
    writer.open_table(PIECES)?.insert((output, piece), bytes)?;
    Ok(writer.commit()?)
}

fn get(database: &dyn ReadableDatabase, output: u64, piece: u32) -> Result<Option<Vec<u8>>, redb::Error> {
    let reader = database.begin_read()?;
    let table = match reader.open_table(PIECES) {
        Ok(table) => table,
        Err(TableError::TableDoesNotExist(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let found = table.get((output, piece))?;
    Ok(found.map(|bytes| bytes.value().to_vec()))
}

/// An output, from its beginning. One piece of it is in memory.
struct Pieces<'a> {
    database: &'a dyn ReadableDatabase,
    output: u64,
    next: u32,
    piece: Cursor<Vec<u8>>,
}

impl<'a> Pieces<'a> {
    /// Of the output of that number, if there is one.
    fn of(database: &'a dyn ReadableDatabase, output: u64) -> Result<Option<Pieces<'a>>, redb::Error> {
        let first = get(database, output, 0)?;
        Ok(first.map(|piece| Pieces { database, output, next: 1, piece: Cursor::new(piece) }))
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.piece.read(buffer)? {
                0 if !buffer.is_empty() => {}
                count => return Ok(count),
            }
            match get(self.database, self.output, self.next).map_err(io::Error::other)? {
                Some(piece) => self.piece = Cursor::new(piece),
                None => return Ok(0),
            }
            self.next += 1;
        }
    }
}

/// The bytes behind a digest or its first digits.
fn blob_in(database: &dyn ReadableDatabase, id: &str) -> Result<Option<Vec<u8>>, redb::Error> {
    let reader = database.begin_read()?;
    let table = match reader.open_table(BLOBS) {
        Ok(table) => table,
        Err(TableError::TableDoesNotExist(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let Some(row) = table.range(id..)?.next() else { return Ok(None) };
    let (name, bytes) = row?;
    Ok((id.len() >= LEAST_DIGITS && name.value().starts_with(id)).then(|| bytes.value().to_vec()))
}
