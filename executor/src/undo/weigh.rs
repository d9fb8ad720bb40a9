//! What taking back means for each path: from what stands there now, back over the acts, the newest first.

use tandem_shared::digest::Digest;
use tandem_shared::image::{Image, Imaged};
use tandem_shared::store::SessionStore;
use tandem_shared::undo::Fate;
use tandem_shared::workspace::Workspace;

use super::error::UndoError;
use super::ledger::Act;
use super::room;
use super::weighed::Weighed;
use crate::file::{self, Found};

/// Weighs every path of `acts`, which are oldest first.
pub fn weigh(acts: &[&Act], workspace: &Workspace, store: &SessionStore) -> Result<Vec<Weighed>, UndoError> {
    let mut paths: Vec<&str> = Vec::new();
    for change in acts.iter().flat_map(|act| &act.changes) {
        if !paths.contains(&change.path.as_str()) {
            paths.push(&change.path);
        }
    }
    // What comes back first is what went last: a folder that a move emptied is there again before its new place goes.
    paths.reverse();
    let mut weighed = paths
        .into_iter()
        .map(|path| weigh_path(path, acts, workspace, store))
        .collect::<Result<Vec<_>, _>>()?;
    room::settle(&mut weighed, workspace);
    Ok(weighed)
}

fn weigh_path(
    path: &str,
    acts: &[&Act],
    workspace: &Workspace,
    store: &SessionStore,
) -> Result<Weighed, UndoError> {
    let changes: Vec<&Imaged> =
        acts.iter().flat_map(|act| &act.changes).filter(|change| change.path == path).collect();
    let made_folder = changes.iter().find_map(|change| change.new_folder.clone());
    let nothing = Found { image: Image::Missing, owner: None, other_names: 0 };
    let original = changes.first().and_then(|change| change.before.content().cloned());
    let (blocker, is_folder) = (room::blocker(workspace, path), room::is_folder(workspace, path));
    let weighed = |found: Found, then, fate, new_folder| {
        let (path, blocker) = (path.to_owned(), blocker.clone());
        let (made_folder, original) = (made_folder.clone(), original.clone());
        Ok(Weighed { path, found, then, fate, new_folder, made_folder, blocker, is_folder, original })
    };
    let resolved = match workspace.name_at(path) {
        Ok(resolved) => resolved,
        Err(error) => {
            let why = format!("{error}");
            return weighed(nothing, Image::Missing, Fate::Conflict { why }, None);
        }
    };
    let stands = match blocker.is_some() || is_folder {
        // What is to stand there makes room for itself, if it can.
        true => Ok(Found { image: Image::Missing, owner: None, other_names: 0 }),
        false => file::stands(workspace, &resolved),
    };
    let found = match stands {
        Ok(found) => found,
        Err(error) => {
            let why = format!("what stands there now cannot be replaced: {error}");
            return weighed(nothing, Image::Missing, Fate::Conflict { why }, None);
        }
    };
    let mut state = found.image.clone();
    let mut merged = Merged::No;
    for change in changes.iter().rev() {
        match back(&state, change, store)? {
            Back::To(image) => state = image,
            Back::Merged(image) => (state, merged) = (image, Merged::Yes),
            Back::Conflict(why) => return weighed(found, state, Fate::Conflict { why }, None),
        }
    }
    let fate = fate_of(&found, &state, merged);
    let new_folder = blocker.clone().or_else(|| file::new_folder(workspace, &resolved));
    weighed(found, state, fate, new_folder)
}

/// What comes of taking back one change from a state.
enum Back {
    To(Image<Vec<u8>>),
    Merged(Image<Vec<u8>>),
    Conflict(String),
}

fn back(state: &Image<Vec<u8>>, change: &Imaged, store: &SessionStore) -> Result<Back, UndoError> {
    if stands_as(state, &change.before) {
        // It never took effect, or is taken back already.
        return Ok(Back::To(state.clone()));
    }
    let before = load(&change.before, &change.path, store)?;
    if stands_as(state, &change.after) {
        return Ok(Back::To(before));
    }
    let conflict = |why: &str| Ok(Back::Conflict(why.to_owned()));
    match (state, &change.after, before) {
        (Image::File { content, mode }, Image::File { content: after, .. }, before)
            if Digest::of(content) == *after =>
        {
            // Only its mode was changed since, and stays.
            Ok(Back::To(match before {
                Image::File { content, .. } => Image::File { content, mode: *mode },
                other => other,
            }))
        }
        (
            Image::File { content: now, mode },
            Image::File { content: after, .. },
            Image::File { content, .. },
        ) => {
            let after = bytes(after, &change.path, store)?;
            merge(now, *mode, &after, &content)
        }
        (Image::Missing, _, _) => conflict("it was deleted since"),
        (_, _, Image::Missing) => {
            conflict("the agent made it, and it was changed since, so it is not removed")
        }
        (_, Image::Missing, _) => {
            conflict("the agent deleted it, and something else was put in its place since")
        }
        _ => conflict("a link or a file was put in its place since"),
    }
}

fn merge(now: &[u8], mode: u32, after: &[u8], before: &[u8]) -> Result<Back, UndoError> {
    if [now, after, before].into_iter().any(file::is_binary) {
        return Ok(Back::Conflict("it is no text, and was changed since".to_owned()));
    }
    Ok(match diffy::merge_bytes(after, now, before) {
        Ok(content) => Back::Merged(Image::File { content, mode }),
        Err(marked) => Back::Conflict(format!(
            "it was changed since in the same lines:\n{}",
            conflicting(&String::from_utf8_lossy(&marked))
        )),
    })
}

/// Lines of a conflict that are shown.
const SHOWN: usize = 40;

/// The marked parts of a merge that did not work out, with words a person knows the sides by.
fn conflicting(marked: &str) -> String {
    let mut shown = String::new();
    let mut inside = false;
    for line in marked.lines() {
        inside |= line.starts_with("<<<<<<<");
        if inside {
            let told = match line.get(..7) {
                Some("<<<<<<<") => "<<<<<<< as it stands now",
                Some("|||||||") => "||||||| as the agent left it",
                Some(">>>>>>>") => ">>>>>>> as it was before the agent",
                _ => line,
            };
            shown.push_str(told);
            shown.push('\n');
        }
        inside &= !line.starts_with(">>>>>>>");
        if shown.lines().count() >= SHOWN {
            shown.push_str("…\n");
            break;
        }
    }
    shown
}

fn load(image: &Image<Digest>, path: &str, store: &SessionStore) -> Result<Image<Vec<u8>>, UndoError> {
    Ok(match image {
        Image::Missing => Image::Missing,
        Image::File { content, mode } => Image::File { content: bytes(content, path, store)?, mode: *mode },
        Image::Link { target } => Image::Link { target: target.clone() },
    })
}

fn bytes(digest: &Digest, path: &str, store: &SessionStore) -> Result<Vec<u8>, UndoError> {
    store.blob(digest.as_str()).ok_or_else(|| UndoError::Lost(path.to_owned()))
}

/// Whether what stands there is what the log says, so that it can be replaced without loss.
fn stands_as(image: &Image<Vec<u8>>, kept: &Image<Digest>) -> bool {
    image.digested() == *kept
}

fn fate_of(found: &Found, then: &Image<Vec<u8>>, merged: Merged) -> Fate {
    match (then, merged) {
        _ if found.image == *then => Fate::Already,
        (Image::Missing, _) => Fate::Removed,
        (_, Merged::Yes) => Fate::Merged,
        (_, Merged::No) => Fate::Restored,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Merged {
    Yes,
    No,
}
