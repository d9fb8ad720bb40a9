//! One project's file: a row for each session and each plan. Opened for one transaction at a time, so that many runs
//! in one checkout never stand in each other's way for longer than a millisecond or two.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::file::{self, StoreError};
use crate::digest::Digest;
use crate::plan::Plan;

type Rows = TableDefinition<'static, &'static str, &'static [u8]>;
const SESSIONS: Rows = TableDefinition::new("sessions");
const PLANS: Rows = TableDefinition::new("plans");
const RULES: Rows = TableDefinition::new("rules");
/// Eight runs that close at once take turns of a few milliseconds each; this bounds a stuck process.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a list of sessions shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionRow {
    /// The session's id.
    pub id: String,
    /// The first prompt, on one line, cut.
    pub title: String,
    /// Milliseconds since 1970, UTC.
    pub created: u64,
    /// Milliseconds since 1970, UTC.
    pub updated: u64,
    /// How the newest turn ended, in a word; `running` while it runs.
    pub state: String,
    /// Turns so far.
    pub turns: u32,
    /// US dollars, when all prices are known.
    pub cost: Option<f64>,
}

/// A saved plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanRow {
    /// The first digits of the plan's digest.
    pub id: String,
    /// The plan.
    pub plan: Plan,
    /// The session that drafted it.
    pub session: String,
    /// Milliseconds since 1970, UTC.
    pub created: u64,
    /// Digests of the files that it names as they were then; `None` for a file that did not exist.
    pub files: BTreeMap<String, Option<Digest>>,
}

/// The file of one project.
#[derive(Clone, Debug)]
pub struct ProjectStore {
    path: PathBuf,
}

impl ProjectStore {
    /// The file for the project at the canonical `root`, inside `folder`.
    pub fn new(folder: &Path, root: &Path) -> ProjectStore {
        let name = Digest::of(root.as_os_str().as_encoded_bytes());
        ProjectStore { path: folder.join(format!("{}.redb", name.short())) }
    }

    /// Writes a session's row.
    ///
    /// # Errors
    /// When the file cannot be written within the wait.
    pub fn put_session(&self, row: &SessionRow) -> Result<(), StoreError> {
        self.put(SESSIONS, &row.id, row)
    }

    /// All sessions, oldest first.
    ///
    /// # Errors
    /// When the file is damaged or stays in use.
    pub fn sessions(&self) -> Result<Vec<SessionRow>, StoreError> {
        self.rows(SESSIONS)
    }

    /// Takes a session's row out.
    ///
    /// # Errors
    /// When the file cannot be written within the wait.
    pub fn remove_session(&self, id: &str) -> Result<(), StoreError> {
        self.remove(SESSIONS, id).map(drop)
    }

    /// Writes a plan's row.
    ///
    /// # Errors
    /// When the file cannot be written within the wait.
    pub fn put_plan(&self, row: &PlanRow) -> Result<(), StoreError> {
        self.put(PLANS, &row.id, row)
    }

    /// The plan whose id begins with `id` (at least four digits), if there is exactly one.
    ///
    /// # Errors
    /// When the file is damaged or stays in use.
    pub fn plan(&self, id: &str) -> Result<Option<PlanRow>, StoreError> {
        let rows: Vec<PlanRow> = self.rows(PLANS)?;
        let mut found = rows.into_iter().filter(|row| id.len() >= 4 && row.id.starts_with(id));
        Ok(found.next().filter(|_| found.next().is_none()))
    }

    /// The newest plan that a session drafted.
    ///
    /// # Errors
    /// When the file is damaged or stays in use.
    pub fn newest_plan(&self, session: &str) -> Result<Option<PlanRow>, StoreError> {
        let rows: Vec<PlanRow> = self.rows(PLANS)?;
        Ok(rows.into_iter().filter(|row| row.session == session).max_by_key(|row| row.created))
    }

    /// Keeps a rule that lets commands run without a question.
    ///
    /// # Errors
    /// When the file cannot be written within the wait.
    pub fn keep_rule(&self, rule: &str) -> Result<(), StoreError> {
        self.put(RULES, rule, &rule)
    }

    /// The rules that were kept.
    ///
    /// # Errors
    /// When the file is damaged or stays in use.
    pub fn rules(&self) -> Result<Vec<String>, StoreError> {
        self.rows(RULES)
    }

    /// Takes a kept rule away; answers whether there was one.
    ///
    /// # Errors
    /// When the file cannot be written within the wait.
    pub fn forget_rule(&self, rule: &str) -> Result<bool, StoreError> {
        self.remove(RULES, rule)
    }

    fn open(&self) -> Result<Database, StoreError> {
        file::open(&self.path, PATIENCE)
    }

    fn put(&self, table: Rows, name: &str, row: &impl Serialize) -> Result<(), StoreError> {
        let database = self.open()?;
        let put = || -> Result<(), redb::Error> {
            let bytes = serde_json::to_vec(row).map_err(|error| redb::Error::Io(error.into()))?;
            let writer = database.begin_write()?;
            writer.open_table(table)?.insert(name, bytes.as_slice())?;
            Ok(writer.commit()?)
        };
        put().map_err(|error| StoreError::failed(&self.path, error))
    }

    fn remove(&self, table: Rows, name: &str) -> Result<bool, StoreError> {
        let database = self.open()?;
        let remove = || -> Result<bool, redb::Error> {
            let writer = database.begin_write()?;
            let was_there = writer.open_table(table)?.remove(name)?.is_some();
            writer.commit()?;
            Ok(was_there)
        };
        remove().map_err(|error| StoreError::failed(&self.path, error))
    }

    fn rows<T: DeserializeOwned>(&self, table: Rows) -> Result<Vec<T>, StoreError> {
        if !self.path.exists() {
            return Ok(Vec::new());
        }
        let database = self.open()?;
        let scan = || -> Result<Vec<T>, redb::Error> {
            let reader = database.begin_read()?;
            let table = match reader.open_table(table) {
                Ok(table) => table,
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
                Err(error) => return Err(error.into()),
            };
            let mut rows = Vec::new();
            for row in table.iter()? {
                let (_, bytes) = row?;
                rows.push(
                    serde_json::from_slice(bytes.value()).map_err(|error| redb::Error::Io(error.into()))?,
                );
            }
            Ok(rows)
        };
        scan().map_err(|error| StoreError::Damaged { path: self.path.clone(), reason: error.to_string() })
    }
}
