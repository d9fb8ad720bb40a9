//! Whether there is room for what comes back: a link or a file may stand in the place of a folder, and a folder in the place
//! of a file. They go first where the same taking back removes them, and else nothing is touched.

use std::collections::BTreeSet;
use std::fs;

use tandem_shared::image::Image;
use tandem_shared::undo::Fate;
use tandem_shared::workspace::Workspace;

use super::weighed::Weighed;

/// Entries of a folder that are looked through; one with more is not emptied by a taking back.
const MOST: usize = 10_000;

/// What stands in the place of a folder above `path`, if anything does.
pub fn blocker(workspace: &Workspace, path: &str) -> Option<String> {
    let ends = path.match_indices('/').map(|(at, _)| at);
    let above = ends.filter_map(|end| path.get(..end));
    let blocks = |folder: &&str| {
        fs::symlink_metadata(workspace.root().join(folder)).is_ok_and(|about| !about.is_dir())
    };
    above.into_iter().find(blocks).map(str::to_owned)
}

/// Whether a folder stands at `path`.
pub fn is_folder(workspace: &Workspace, path: &str) -> bool {
    blocker(workspace, path).is_none()
        && fs::symlink_metadata(workspace.root().join(path)).is_ok_and(|about| about.is_dir())
}

/// Makes conflicts of what finds no room, and of what must stay because of that.
pub fn settle(weighed: &mut [Weighed], workspace: &Workspace) {
    loop {
        let gone: BTreeSet<String> = weighed
            .iter()
            .filter(|one| one.changes() && one.then == Image::Missing)
            .map(|one| one.path.clone())
            .collect();
        // What a conflict keeps from coming back may stand elsewhere, and nowhere else.
        let unreturned: Vec<_> = weighed
            .iter()
            .filter(|one| matches!(one.fate, Fate::Conflict { .. }))
            .filter_map(|one| Some((one.path.clone(), one.original.clone()?)))
            .collect();
        let mut settled = true;
        for one in weighed.iter_mut().filter(|one| one.changes()) {
            let why = no_room(one, &gone, workspace).or_else(|| {
                let content = one.found.image.digested().digest().filter(|_| one.then == Image::Missing)?;
                let (path, _) = unreturned.iter().find(|(_, original)| *original == content)?;
                Some(format!("it holds what stood at {path}, which is left as it is"))
            });
            if let Some(why) = why {
                one.fate = Fate::Conflict { why };
                settled = false;
            }
        }
        if settled {
            return;
        }
    }
}

fn no_room(one: &Weighed, gone: &BTreeSet<String>, workspace: &Workspace) -> Option<String> {
    if one.then == Image::Missing {
        return None;
    }
    if let Some(blocker) = one.blocker.as_ref().filter(|blocker| !gone.contains(*blocker)) {
        return Some(format!("{blocker} stands in the place of its folder"));
    }
    let full = one.is_folder && !only_holds(&one.path, gone, workspace);
    full.then(|| "a folder with other files stands in its place".to_owned())
}

/// Whether all files of a folder are `gone` soon.
fn only_holds(folder: &str, gone: &BTreeSet<String>, workspace: &Workspace) -> bool {
    let mut folders = vec![folder.to_owned()];
    let mut left = MOST;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(workspace.root().join(&folder)) else { return false };
        for entry in entries {
            let known = entry
                .ok()
                .and_then(|entry| Some((entry.file_name().into_string().ok()?, entry.file_type().ok()?)));
            let Some((name, kind)) = known.filter(|_| left > 0) else { return false };
            left -= 1;
            let path = format!("{folder}/{name}");
            match kind.is_dir() {
                true => folders.push(path),
                false if !gone.contains(&path) => return false,
                false => {}
            }
        }
    }
    true
}
