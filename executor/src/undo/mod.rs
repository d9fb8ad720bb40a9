//! Taking back what the agent changed: exactly the paths that it changed, from what the log kept, and nothing else.
//!
//! Git is never asked: neither HEAD nor index, refs or stash are looked at or touched.

mod error;
mod ledger;
mod room;
mod weigh;
mod weighed;

use std::collections::BTreeMap;

use tandem_shared::image::{Image, Turnover};
use tandem_shared::journal::Journal as _;
use tandem_shared::record::Record;
use tandem_shared::store::{SessionStore, StoreError};
use tandem_shared::undo::{ActRow, Earnest, FileRow, OnConflict, Scope, UndoReport};
use tandem_shared::workspace::Workspace;

use crate::file;
pub use error::UndoError;
pub use ledger::CHECK;
use ledger::{Act, Ledger};
use weigh::weigh;
use weighed::Weighed;

/// What the session changed that can be taken back, oldest first.
///
/// # Errors
/// When the log is damaged.
pub fn list(store: &SessionStore) -> Result<Vec<ActRow>, StoreError> {
    Ok(Ledger::of(&store.entries()?).acts().iter().map(Act::row).collect())
}

/// Takes back what `scope` names. `why` says who wants it. Blocks.
///
/// # Errors
/// When there is nothing, or when it failed; see [`UndoError`].
pub fn undo(
    store: &SessionStore,
    workspace: &Workspace,
    scope: &Scope,
    (conflict, earnest): (OnConflict, Earnest),
    why: &str,
) -> Result<UndoReport, UndoError> {
    store.commit()?;
    let ledger = Ledger::of(&store.entries()?);
    let acts = ledger.choose(scope).map_err(UndoError::Nothing)?;
    let weighed = weigh(&acts, workspace, store)?;
    let mut report = UndoReport {
        id: None,
        acts: acts.iter().map(|act| act.row()).collect(),
        files: weighed.iter().map(|one| FileRow { path: one.path.clone(), fate: one.fate.clone() }).collect(),
        uncovered: acts.iter().flat_map(|act| act.uncovered.clone()).collect(),
    };
    let blocked = report.conflicts().next().is_some() && conflict == OnConflict::Refuse;
    if blocked || earnest == Earnest::Tell {
        return Ok(report);
    }
    let id = ledger.next_id();
    let changed: Vec<&Weighed> = weighed.iter().filter(|one| one.changes()).collect();
    let (mut first, rest): (Vec<&Weighed>, Vec<&Weighed>) =
        changed.iter().partition(|one| one.is_in_the_way_of(&changed));
    first.sort_by_key(|one| std::cmp::Reverse(one.path.matches('/').count()));
    let changed: Vec<&Weighed> = first.into_iter().chain(rest).collect();
    restore(store, workspace, &id, &changed)?;
    let restored: BTreeMap<String, _> =
        changed.iter().map(|one| (one.path.clone(), one.then.digested())).collect();
    let of: Vec<String> = acts.iter().map(|act| act.id.clone()).collect();
    tracing::info!(target: "tandem::audit", session = store.id(), call_id = %id, tool = "undo", path_scope = ?restored.keys(),
        result = "ok", approved_by = why, rollback_of = ?of, "call");
    store.record([Record::Undone { id: id.clone(), of, why: why.to_owned(), restored }])?;
    report.id = Some(id);
    Ok(report)
}

fn restore(
    store: &SessionStore,
    workspace: &Workspace,
    id: &str,
    changed: &[&Weighed],
) -> Result<(), UndoError> {
    let turnovers: Vec<Turnover<'_>> = changed
        .iter()
        .map(|one| Turnover {
            path: &one.path,
            before: &one.found.image,
            after: &one.then,
            new_folder: one.new_folder.as_deref(),
        })
        .collect();
    store.turning(id, &turnovers).map_err(|fault| UndoError::NotKept(fault.text))?;
    let mut done: Vec<&str> = Vec::new();
    for one in changed {
        let put = workspace.name_at(&one.path).map_err(|error| error.to_string()).and_then(|path| {
            if one.is_folder {
                file::remove_empty_folders(workspace, &path).map_err(|error| error.to_string())?;
            }
            file::put(workspace, &path, &one.found, &one.then, id).map_err(|fault| fault.text)
        });
        if let Err(reason) = put {
            let done = if done.is_empty() { "none".to_owned() } else { done.join(", ") };
            let error = UndoError::HalfWay { path: one.path.clone(), reason, done };
            store
                .halt(&format!("taking back failed at {}", one.path))
                .map_err(|f| UndoError::NotKept(f.text))?;
            return Err(error);
        }
        if let (Image::Missing, Some(top)) = (&one.then, &one.made_folder) {
            file::remove_new_folders(workspace, &one.path, top);
        }
        done.push(&one.path);
    }
    Ok(())
}
