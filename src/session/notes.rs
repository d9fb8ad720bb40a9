//! The project's own notes: the `AGENTS.md` files from the repository's top down to the root, nearest last.

use std::path::Path;

use tandem_shared::context::fence;

const NAME: &str = "AGENTS.md";
/// Bytes of one file that are taken in: notes longer than this would crowd out the work.
const MOST: usize = 32 * 1024;

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
        let bytes = std::fs::read(&path).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let end = (0..=text.len().min(MOST)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let cut = if end < text.len() { "\n[… cut here …]" } else { "" };
        Some(fence(&format!("project notes {}", path.display()), &format!("{}{cut}", text.get(..end)?)))
    });
    notes.collect::<Vec<_>>().join("\n\n")
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
}
