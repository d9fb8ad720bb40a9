//! The executor's tools on real files, through the one way in which calls are run.

mod cases;
mod commands;
mod corpus;
mod files;
mod gated;
mod patches;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use serde_json::{Value, json};
use tandem_shared::call::{Artifact, ToolError};
use tandem_shared::digest::Digest;
use tandem_shared::image::Turnover;
use tandem_shared::interrupt::{Cause, Interrupt};
use tandem_shared::journal::{Granted, Journal};
use tandem_shared::leave::ReadLeave;
use tandem_shared::person::{Nobody, Person};
use tandem_shared::plan::ApprovedPlan;
use tandem_shared::settings::{Approval, CommandSettings, EditSettings, ReadLimits};
use tandem_shared::tool::{Archive, ReadCx, ReadTools};
use tandem_shared::workspace::Workspace;

use super::*;
use crate::cage::Cage;
use crate::coverage::Coverage;
use crate::environment::Environment;
use crate::jobs::Jobs;
use crate::shell::Rules;
use crate::tools::write_tools;

/// Keeps what it is told, in order.
#[derive(Default)]
struct Notes {
    entries: Mutex<Vec<String>>,
    seen: Mutex<BTreeMap<String, Digest>>,
    halted: Mutex<Option<String>>,
    broken: std::sync::atomic::AtomicBool,
}

impl Notes {
    fn note(&self, entry: String) -> Result<(), ToolError> {
        if self.broken.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(ToolError::new(ErrorKind::Io, "the disk is full"));
        }
        self.entries.lock().unwrap().push(entry);
        Ok(())
    }
}

impl Journal for Notes {
    fn started(&self, call: &ToolCall, granted: &Granted) -> Result<(), ToolError> {
        self.note(format!("started {} {:?}", call.name, granted.by))
    }

    fn turning(&self, _act: &str, turnovers: &[Turnover<'_>]) -> Result<(), ToolError> {
        turnovers.iter().try_for_each(|turnover| {
            let before = turnover.before.content().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            self.note(format!("before {} {before:?}", turnover.path))
        })
    }

    fn turned(&self, _act: &str, turnovers: &[Turnover<'_>], blind: &[String]) -> Result<(), ToolError> {
        let paths = turnovers.iter().map(|turnover| turnover.path);
        self.note(format!("turned {:?} {blind:?}", paths.collect::<Vec<_>>()))
    }

    fn halt(&self, why: &str) -> Result<(), ToolError> {
        *self.halted.lock().unwrap() = Some(why.to_owned());
        Ok(())
    }

    fn halted(&self) -> Option<String> {
        self.halted.lock().unwrap().clone()
    }

    fn last_seen(&self, path: &str) -> Option<Digest> {
        self.seen.lock().unwrap().get(path).cloned()
    }
}

struct Empty;

impl Archive for Empty {
    fn recall<'a>(&'a self, _: &str) -> Option<Box<dyn std::io::Read + 'a>> {
        None
    }
}

/// A project folder with a toolbox on it.
struct Room {
    folder: tempfile::TempDir,
    notes: Arc<Notes>,
    toolbox: ExecutorToolbox,
}

impl Room {
    fn new(approval: Approval, plan: Option<ApprovedPlan>) -> Room {
        Room::with(approval, plan, write_tools(ReadTools::new()))
    }

    fn with(approval: Approval, plan: Option<ApprovedPlan>, tools: WriteTools) -> Room {
        Room::before(Arc::new(Nobody), approval, plan, tools)
    }

    fn before(
        person: Arc<dyn Person>,
        approval: Approval,
        plan: Option<ApprovedPlan>,
        tools: WriteTools,
    ) -> Room {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let notes = Arc::new(Notes::default());
        let limits = ReadLimits {
            read_lines: 9,
            read_bytes: 9,
            line_chars: 9,
            file_bytes: 9,
            matches: 9,
            match_chars: 9,
        };
        let read = ReadCx {
            workspace: workspace.clone(),
            archive: Arc::new(Empty),
            person: Arc::new(Nobody),
            interrupt: Interrupt::new(),
            leave: ReadLeave::none(),
            limits: Arc::new(limits),
        };
        let commands = CommandSettings {
            idle_s: 20,
            absolute_s: 30,
            output_chars: 15_000,
            ..crate::plain::command_settings()
        };
        let variables = vec![("PATH".to_owned(), std::env::var("PATH").unwrap())];
        let env = Arc::new(Environment { variables, secrets: Default::default() });
        let gate = Gate::new(workspace, approval, Rules::default(), plan, person);
        let edits =
            EditSettings { ask_over_files: 20, file_bytes: 1 << 20, cover_file_bytes: 1 << 20, cover_s: 10 };
        let around = Surroundings {
            read,
            journal: notes.clone(),
            edits,
            commands,
            jobs: Jobs::default(),
            output: Arc::new(|_, _| {}),
            coverage: Arc::new(Coverage::Off("it is off in this test")),
            env,
            cage: Arc::new(Cage::off()),
        };
        Room { folder, notes, toolbox: ExecutorToolbox::new(tools, Arc::new(gate), around) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts a file there, as if the agent had read it.
    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content.as_ref()).unwrap();
        self.saw(name, content);
    }

    fn saw(&self, name: &str, content: impl AsRef<[u8]>) {
        self.notes.seen.lock().unwrap().insert(name.to_owned(), Digest::of(content));
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    async fn run(&self, name: &str, arguments: Value) -> Outcome {
        let call = ToolCall { id: "c1".to_owned(), name: name.to_owned(), arguments: arguments.to_string() };
        self.toolbox.run(&call).await
    }

    async fn edit(&self, path: &str, old: &str, new: &str) -> Outcome {
        self.run("edit_file", json!({ "path": path, "old": old, "new": new })).await
    }

    fn entries(&self) -> Vec<String> {
        self.notes.entries.lock().unwrap().clone()
    }
}

fn kind(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Error(error) => format!("{:?}", error.kind),
        other => other.as_str().to_owned(),
    }
}
