//! The project's own notes: the `AGENTS.md` files from the repository's top down to the root, nearest last.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use tandem_shared::context::fence;

const NAME: &str = "AGENTS.md";
/// Bytes of one file that are taken in: notes longer than this would crowd out the work.
const MOST: u64 = 32 * 1024;

/// The notes, fenced, with their files named; empty when there are none.
pub fn project_notes(root: &Path) -> String {
    let mut folders: Vec<&Path> = Vec::new();
    for folder in root.ancestors() {
        folders.push(folder);
        if folder.join(".git").exists() {
            break;
        }
    }
    // Without a repository around it only the root's own file counts: folders above belong to somebody else.
    if !folders.last().is_some_and(|top| top.join(".git").exists()) {
        folders.truncate(1);
    }
    let notes = folders.iter().rev().filter_map(|folder| {
        let path = folder.join(NAME);
        let text = read(&path)?;
        Some(fence(&format!("project notes {}", path.display()), &text))
    });
    notes.collect::<Vec<_>>().join("\n\n")
}

/// The beginning of a plain file. A link could lead to any file of the user, and a pipe or a device would never end.
fn read(path: &Path) -> Option<String> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST + 1).read_to_end(&mut bytes).ok()?;
    let cut = bytes.len() as u64 > MOST;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if cut {
        text.push_str("\n[… cut here …]");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_reach_up_to_the_repository_and_no_further() {
        let outer = tempfile::tempdir().unwrap();
        let repo = outer.path().join("repo");
        let root = repo.join("a/b");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::create_dir(repo.join(".git")).unwrap();
        for (folder, text) in [(outer.path(), "outside"), (&repo, "top"), (&root, "near")] {
            std::fs::write(folder.join(NAME), text).unwrap();
        }
        let notes = project_notes(&root);
        assert!(!notes.contains("outside"), "{notes}");
        assert!(notes.find("top").unwrap() < notes.find("near").unwrap(), "{notes}");
        assert_eq!(project_notes(&repo.join("a")).matches("<material").count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_are_not_followed() {
        let outer = tempfile::tempdir().unwrap();
        std::fs::write(outer.path().join("secret"), "secret").unwrap();
        let root = outer.path().join("root");
        std::fs::create_dir(&root).unwrap();
        std::os::unix::fs::symlink("../secret", root.join(NAME)).unwrap();
        assert_eq!(project_notes(&root), "");
    }
}
