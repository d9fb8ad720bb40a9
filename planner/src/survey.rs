//! The state of the tree by names, sizes, times and modes: to show that planning changed nothing.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;

use ignore::WalkBuilder;
use tandem_shared::digest::{Digest, Digester};
use tandem_shared::workspace::{Workspace, slashed};

/// Files that are looked at: a tree with more is shown by these.
const MOST: usize = 200_000;

/// A file's size, mode and time of its last change.
type Stamp = (u64, u32, i64, i64);

/// Every file of a tree, with what would differ had it been written.
pub struct Survey(BTreeMap<String, Stamp>);

impl Survey {
    /// Looks at all files that git does not ignore. Blocks.
    pub fn of(workspace: &Workspace) -> Survey {
        let walk = WalkBuilder::new(workspace.root())
            .hidden(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        let files = walk.flatten().filter(|entry| !entry.file_type().is_some_and(|kind| kind.is_dir()));
        let stamped = files.take(MOST).filter_map(|entry| {
            let meta = entry.path().symlink_metadata().ok()?;
            let path = slashed(entry.path().strip_prefix(workspace.root()).ok()?);
            Some((path, (meta.size(), meta.mode(), meta.ctime(), meta.ctime_nsec())))
        });
        Survey(stamped.collect())
    }

    /// One digest for all of it.
    pub fn digest(&self) -> Digest {
        let mut digester = Digester::default();
        for (path, stamp) in &self.0 {
            digester.update(format!("{path}\n{stamp:?}\n").as_bytes());
        }
        digester.finish()
    }

    /// How many files there are.
    pub fn files(&self) -> usize {
        self.0.len()
    }

    /// Files that were changed, made or removed since `before`.
    pub fn changed_since(&self, before: &Survey) -> Vec<String> {
        let gone = before.0.keys().filter(|path| !self.0.contains_key(*path));
        let other =
            self.0.iter().filter(|(path, stamp)| before.0.get(*path) != Some(stamp)).map(|(path, _)| path);
        let mut changed: Vec<String> = gone.chain(other).cloned().collect();
        changed.sort();
        changed
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_told_by_name() {
        let root = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(root.path().join(name), "x").unwrap();
        }
        std::fs::write(root.path().join(".gitignore"), "ignored\n").unwrap();
        let workspace = Workspace::open(root.path()).unwrap();
        let before = Survey::of(&workspace);
        std::fs::write(root.path().join("ignored"), "x").unwrap();
        assert_eq!(Survey::of(&workspace).digest(), before.digest());
        std::fs::write(root.path().join("a"), "y").unwrap();
        std::fs::remove_file(root.path().join("b")).unwrap();
        std::fs::write(root.path().join("d"), "x").unwrap();
        let after = Survey::of(&workspace);
        assert_eq!(after.changed_since(&before), ["a", "b", "d"]);
        assert_ne!(after.digest(), before.digest());
        assert_eq!((before.files(), after.files()), (4, 4));
    }
}
