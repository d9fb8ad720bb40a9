//! One session's file: the append-only log, the blobs, and what is folded from the log.
//!
//! Facts and history are not stored beside the log: they are folded from it when the file is opened, so they cannot
//! disagree with it, and the transaction that appends a record is the one that changes them.

mod outputs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use uuid::Uuid;

use super::file::{self, StoreError};
use crate::call::{ErrorKind, Outcome, ToolCall, ToolError};
use crate::digest::Digest;
use crate::facts::Facts;
use crate::folded::Folded;
use crate::history::History;
use crate::image::{Image, Imaged, Turnover};
use crate::journal::{Granted, Journal};
use crate::record::{Audit, Entry, Record, TurnEnd};
use crate::role::Role;

const LOG: TableDefinition<u64, &[u8]> = TableDefinition::new("log");
const BLOBS: TableDefinition<&str, &[u8]> = TableDefinition::new("blobs");
/// A session that another process runs is not waited for.
const PATIENCE: Duration = Duration::from_millis(300);

/// Says what stands at a path that a call was about to change when the program ended.
pub type Look<'a> = &'a dyn Fn(&Imaged) -> Image<Digest>;

/// Milliseconds since 1970, UTC. Handed in, so that time can be chosen in a test.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// An open session. Held open while it runs, so that no other process can write it.
pub struct SessionStore {
    id: String,
    path: PathBuf,
    database: Database,
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    /// When the first record was made.
    created: u64,
    folded: Folded,
    /// The number of the next long output, once it is known.
    next_output: Option<u64>,
    /// Taken in, but not yet durable.
    waiting: Vec<Entry>,
}

impl SessionStore {
    /// Starts a session in `folder`.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(
        folder: &Path,
        root: &Path,
        version: &str,
        clock: Clock,
    ) -> Result<SessionStore, StoreError> {
        let id = Uuid::now_v7().to_string();
        let path = session_path(folder, &id);
        let database = file::open(&path, PATIENCE)?;
        let store = SessionStore { id, path, database, clock, state: Mutex::default() };
        store.record([Record::Opened { root: root.display().to_string(), version: version.to_owned() }])?;
        Ok(store)
    }

    /// Takes a session up again. Calls that were in flight get [`Outcome::Interrupted`], which is saved at once; `look`
    /// says what stands at a path that one of them was about to change.
    ///
    /// # Errors
    /// When there is none, when it is in use, or when it is damaged.
    pub fn resume(folder: &Path, id: &str, clock: Clock, look: Look<'_>) -> Result<SessionStore, StoreError> {
        let store = SessionStore::open(folder, id, clock)?;
        store.settle_crash(look)?;
        Ok(store)
    }

    /// Opens a session without going on with it.
    ///
    /// # Errors
    /// When there is none, when it is in use, or when it is damaged.
    pub fn open(folder: &Path, id: &str, clock: Clock) -> Result<SessionStore, StoreError> {
        let path = session_path(folder, id);
        if !path.exists() {
            return Err(StoreError::Missing(id.to_owned()));
        }
        let database = file::open(&path, PATIENCE)?;
        let entries = read_log(&database, &path)?;
        let mut state = State::default();
        for entry in &entries {
            if entry.seq == 0 {
                state.created = entry.ts;
            }
            state.next = entry.seq + 1;
            state.folded.apply(&entry.record);
        }
        Ok(SessionStore { id: id.to_owned(), path, database, clock, state: Mutex::new(state) })
    }

    /// All entries of a session, without taking it up.
    ///
    /// # Errors
    /// When there is none or it is damaged.
    pub fn read(folder: &Path, id: &str) -> Result<Vec<Entry>, StoreError> {
        let path = session_path(folder, id);
        if !path.exists() {
            return Err(StoreError::Missing(id.to_owned()));
        }
        read_log(file::open_to_read(&path, PATIENCE)?.as_ref(), &path)
    }

    /// Deletes a session's file.
    ///
    /// # Errors
    /// When there is none, or when a process has it open.
    pub fn delete(folder: &Path, id: &str) -> Result<(), StoreError> {
        let path = session_path(folder, id);
        if !path.exists() {
            return Err(StoreError::Missing(id.to_owned()));
        }
        match file::open(&path, PATIENCE) {
            // A damaged file is no reason to keep it.
            Ok(_) | Err(StoreError::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
        std::fs::remove_file(&path).map_err(|error| StoreError::failed(&path, error))
    }

    /// The session's id, a UUID of version 7.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// When the session began, in milliseconds since 1970, UTC.
    pub fn created(&self) -> u64 {
        self.state().created
    }

    /// Takes a record into history and facts; it becomes durable with the next [`SessionStore::commit`].
    pub fn note(&self, record: Record) {
        let mut state = self.state();
        state.folded.apply(&record);
        let entry = Entry { seq: state.next, ts: (self.clock)(), record };
        if entry.seq == 0 {
            state.created = entry.ts;
        }
        state.next += 1;
        state.waiting.push(entry);
    }

    /// Makes everything that was noted durable, in one transaction.
    ///
    /// # Errors
    /// When the disk fails; the records stay waiting.
    pub fn commit(&self) -> Result<(), StoreError> {
        self.commit_with(&[])
    }

    /// The same, with blobs that belong to the records.
    fn commit_with(&self, blobs: &[(Digest, &[u8])]) -> Result<(), StoreError> {
        let mut state = self.state();
        if state.waiting.is_empty() {
            return Ok(());
        }
        self.write(&state.waiting, blobs).map_err(|error| StoreError::failed(&self.path, error))?;
        state.waiting.clear();
        Ok(())
    }

    /// Notes records and makes them durable.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn record(&self, records: impl IntoIterator<Item = Record>) -> Result<(), StoreError> {
        for record in records {
            self.note(record);
        }
        self.commit()
    }

    /// Looks at the facts.
    pub fn facts<T>(&self, look: impl FnOnce(&Facts) -> T) -> T {
        look(&self.state().folded.facts)
    }

    /// Looks at the history.
    pub fn history<T>(&self, look: impl FnOnce(&History) -> T) -> T {
        look(&self.state().folded.history)
    }

    /// Keeps bytes by their digest.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn put_blob(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        let digest = Digest::of(bytes);
        self.write_blob(digest.as_str(), bytes).map_err(|error| StoreError::failed(&self.path, error))?;
        Ok(digest)
    }

    /// All durable entries.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn entries(&self) -> Result<Vec<Entry>, StoreError> {
        read_log(&self.database, &self.path)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, entries: &[Entry], blobs: &[(Digest, &[u8])]) -> Result<(), redb::Error> {
        let writer = self.database.begin_write()?;
        if !blobs.is_empty() {
            let mut table = writer.open_table(BLOBS)?;
            for (digest, bytes) in blobs {
                // Most contents are the result of an earlier change, and need not be written again.
                if table.get(digest.as_str())?.is_none() {
                    table.insert(digest.as_str(), *bytes)?;
                }
            }
        }
        {
            let mut log = writer.open_table(LOG)?;
            for entry in entries {
                let bytes = serde_json::to_vec(entry).map_err(|error| redb::Error::Io(error.into()))?;
                log.insert(entry.seq, bytes.as_slice())?;
            }
        }
        Ok(writer.commit()?)
    }

    fn write_blob(&self, name: &str, bytes: &[u8]) -> Result<(), redb::Error> {
        let writer = self.database.begin_write()?;
        writer.open_table(BLOBS)?.insert(name, bytes)?;
        Ok(writer.commit()?)
    }

    /// Gives what was in flight an outcome, and closes a turn that never ended.
    fn settle_crash(&self, look: Look<'_>) -> Result<(), StoreError> {
        let pending = self.history(History::pending);
        let mut effects: BTreeMap<String, String> = BTreeMap::new();
        if !pending.is_empty() {
            for entry in self.entries()? {
                let Record::Imaged(imaged) = entry.record else { continue };
                if pending.iter().any(|call| call.id == imaged.call_id) {
                    let now = look(&imaged);
                    let effect = effect_on(&imaged, &now);
                    effects.entry(imaged.call_id.clone()).or_default().push_str(&effect);
                    let Imaged { call_id, path, before, .. } = imaged;
                    self.note(Record::Settled { call_id, path, before, now });
                }
            }
        }
        let turn_open = self.history(|history| history.turns().last().is_some_and(|turn| turn.end.is_none()));
        for call in &pending {
            let granted = self.facts(|facts| facts.granted.get(&call.id).cloned());
            let role = self.facts(|facts| facts.turn.role.map_or(Role::Planner, Role::from));
            let text = match (effects.get(&call.id), granted.is_some()) {
                (Some(effects), _) => {
                    format!("This call was interrupted: tandem ended while it ran.{effects}")
                }
                (None, true) => {
                    "This call was interrupted: tandem ended while it ran. Whether it took effect is \
                     unknown; look before you rely on it, and do not simply repeat it."
                        .to_owned()
                }
                (None, false) => {
                    "This call was interrupted: tandem ended before it ran. It had no effect.".to_owned()
                }
            };
            self.note(Record::Stepped {
                call_id: call.id.clone(),
                outcome: Outcome::Interrupted(text),
                audit: Audit {
                    tool: call.name.clone(),
                    args_hash: Digest::of(crate::doom_loop::canonical(&call.arguments)).short().to_owned(),
                    path_scope: Vec::new(),
                    result: "interrupted".to_owned(),
                    duration_ms: 0,
                    approved_by: granted.as_ref().map(|leave| leave.by),
                    effect_digest: granted.and_then(|leave| leave.effect_digest),
                    rollback_of: None,
                    turn: self.facts(|facts| facts.turns),
                    role,
                },
            });
        }
        if turn_open {
            self.note(Record::TurnClosed { end: TurnEnd::Crashed });
        }
        let interrupted = pending.iter().map(|call| call.name.clone()).collect();
        self.note(Record::Resumed { interrupted });
        self.commit()
    }
}

impl Journal for SessionStore {
    fn started(&self, call: &ToolCall, granted: &Granted) -> Result<(), ToolError> {
        self.record([Record::Started { call_id: call.id.clone(), granted: granted.clone() }])
            .map_err(not_durable)
    }

    fn turning(&self, act: &str, turnovers: &[Turnover<'_>]) -> Result<(), ToolError> {
        let mut blobs = Vec::new();
        for turnover in turnovers {
            self.note(Record::Imaged(imaged(act, turnover, &mut blobs)));
        }
        self.commit_with(&blobs).map_err(not_durable)
    }

    fn turned(&self, act: &str, turnovers: &[Turnover<'_>], blind: &[String]) -> Result<(), ToolError> {
        let mut blobs = Vec::new();
        for turnover in turnovers {
            let imaged = imaged(act, turnover, &mut blobs);
            let Imaged { call_id, path, before, after: now, .. } = imaged.clone();
            self.note(Record::Imaged(imaged));
            self.note(Record::Settled { call_id, path, before, now });
        }
        for why in blind {
            self.note(Record::Uncovered { call_id: act.to_owned(), why: why.clone() });
        }
        self.commit_with(&blobs).map_err(not_durable)
    }

    fn halt(&self, why: &str) -> Result<(), ToolError> {
        self.record([Record::Halted { why: why.to_owned() }]).map_err(not_durable)
    }

    fn halted(&self) -> Option<String> {
        self.facts(|facts| facts.halted.clone())
    }

    fn last_seen(&self, path: &str) -> Option<Digest> {
        self.facts(|facts| facts.seen.get(path).cloned())
    }
}

/// A change as the log keeps it; the bytes of both sides are added to `blobs`.
fn imaged<'a>(act: &str, turnover: &Turnover<'a>, blobs: &mut Vec<(Digest, &'a [u8])>) -> Imaged {
    let (before, after) = (turnover.before.digested(), turnover.after.digested());
    for (image, digest) in [(turnover.before, &before), (turnover.after, &after)] {
        if let (Some(bytes), Some(digest)) = (image.content(), digest.content()) {
            blobs.push((digest.clone(), bytes.as_slice()));
        }
    }
    Imaged {
        call_id: act.to_owned(),
        path: turnover.path.to_owned(),
        before,
        after,
        new_folder: turnover.new_folder.map(str::to_owned),
    }
}

/// What became of a path that a call was about to change, for the model.
fn effect_on(imaged: &Imaged, now: &Image<Digest>) -> String {
    let what = if *now == imaged.after {
        "the change took effect; do not repeat it"
    } else if *now == imaged.before {
        "nothing was changed"
    } else {
        "it is neither as it was nor as it was to be; read it before you go on"
    };
    format!(" {}: {what}.", imaged.path)
}

fn session_path(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.redb"))
}

fn not_durable(error: StoreError) -> ToolError {
    ToolError::new(
        ErrorKind::Io,
        format!("Nothing was done, because the session's log could not be written: {error}"),
    )
}

fn read_log(database: &dyn ReadableDatabase, path: &Path) -> Result<Vec<Entry>, StoreError> {
    let scan = || -> Result<Vec<Entry>, redb::Error> {
        let reader = database.begin_read()?;
        let table = match reader.open_table(LOG) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut entries = Vec::new();
        for row in table.iter()? {
            let (_, bytes) = row?;
            let entry =
                serde_json::from_slice(bytes.value()).map_err(|error| redb::Error::Io(error.into()))?;
            entries.push(entry);
        }
        Ok(entries)
    };
    scan().map_err(|error| StoreError::Damaged { path: path.to_owned(), reason: error.to_string() })
}
