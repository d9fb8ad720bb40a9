//! `tandem undo` and `tandem redo`: takes back what the agent changed, without a model.

use tandem_executor::undo::{list, undo};
use tandem_shared::store::SessionStore;
use tandem_shared::undo::{ActRow, Earnest, OnConflict, Scope};

use crate::cli::{OutputFormat, Undo};
use crate::exit::Exit;
use crate::front::{say, tell, words};
use crate::machine;
use crate::scene::{Failure, Scene};

/// Acts that are listed: who goes back further names a turn.
const LISTED: usize = 50;

/// Runs `tandem undo`.
pub fn run(scene: &Scene, asked: Undo) -> Result<Exit, Failure> {
    let Undo { session, turn, step, list, dry_run, skip_conflicts } = asked;
    if list {
        return show_list(scene, session.as_deref());
    }
    let scope = match (turn, step) {
        (Some(turn), _) => Scope::Turn(turn),
        (None, Some(id)) => Scope::Call(id),
        (None, None) => Scope::NewestTurn,
    };
    let conflict = if skip_conflicts { OnConflict::Skip } else { OnConflict::Refuse };
    let earnest = if dry_run { Earnest::Tell } else { Earnest::Do };
    take_back(scene, session.as_deref(), &scope, conflict, earnest)
}

/// Runs `tandem redo`.
pub fn redo(scene: &Scene, session: Option<&str>) -> Result<Exit, Failure> {
    take_back(scene, session, &Scope::Redo, OnConflict::Refuse, Earnest::Do)
}

fn open(scene: &Scene, session: Option<&str>) -> Result<SessionStore, Failure> {
    let id = scene.session_id(session)?;
    Ok(SessionStore::open(&scene.state.sessions(), &id, machine::clock())?)
}

fn take_back(
    scene: &Scene,
    session: Option<&str>,
    scope: &Scope,
    conflict: OnConflict,
    earnest: Earnest,
) -> Result<Exit, Failure> {
    let store = open(scene, session)?;
    let report = undo(&store, &scene.workspace, scope, (conflict, earnest), "the user, by command")
        .map_err(|error| Failure::new(error, Exit::NotCompleted))?;
    match scene.global.output_format {
        OutputFormat::Text => say(&words::undone(&report, earnest)),
        OutputFormat::Json | OutputFormat::StreamJson => {
            let text =
                serde_json::to_string(&report).map_err(|error| Failure::new(error, Exit::NotCompleted))?;
            say(&format!("{text}\n"));
        }
    }
    let refused = report.id.is_none() && earnest == Earnest::Do;
    Ok(if refused || report.conflicts().next().is_some() { Exit::NotCompleted } else { Exit::Done })
}

fn show_list(scene: &Scene, session: Option<&str>) -> Result<Exit, Failure> {
    let acts = list(&open(scene, session)?)?;
    if acts.is_empty() {
        tell("The session changed no file.\n");
    }
    for act in acts.iter().rev().take(LISTED) {
        match scene.global.output_format {
            OutputFormat::Text => say(&row(act)),
            OutputFormat::Json | OutputFormat::StreamJson => {
                let text =
                    serde_json::to_string(act).map_err(|error| Failure::new(error, Exit::NotCompleted))?;
                say(&format!("{text}\n"));
            }
        }
    }
    Ok(Exit::Done)
}

fn row(act: &ActRow) -> String {
    let ActRow { id, tool, turn, ts, files, undone } = act;
    let state = if *undone { " (taken back)" } else { "" };
    let files = words::one_line(&files.join(", "));
    format!("turn {turn}  {}  {}  {tool}{state}  {files}\n", machine::minute(*ts), words::one_line(id))
}
