//! What stands on both sides of every path in which two trees differ.

use std::collections::HashSet;

use super::git::{Git, Uncovered};
use super::scan::{Gap, Why, parts};
use super::snapshot::Snapshot;

/// A file that differs between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Relative to the root, with slashes.
    pub path: String,
    /// What stood there.
    pub before: Side,
    /// What stands there.
    pub after: Side,
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// Nothing, or a folder.
    Missing,
    /// A regular file.
    File {
        /// All its bytes.
        content: Vec<u8>,
        /// Whether its owner may run it.
        executable: bool,
    },
    /// A symbolic link.
    Link {
        /// As it is written, not followed.
        target: Vec<u8>,
    },
}

/// The differences between two snapshots whose objects `git` can read, without those that lie in a gap of either.
///
/// # Errors
/// When git cannot answer, or answers too much.
pub async fn compare(git: &Git<'_>, before: &Snapshot, after: &Snapshot) -> Result<Vec<Changed>, Uncovered> {
    let args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--relative"];
    let trees = [before.tree.as_str(), after.tree.as_str()];
    let answer = git.run(&[&args[..], &trees[..]].concat(), &[]).await?;
    let mut rows = rows(&answer);
    let hidden = Hidden::of(before.gaps.iter().chain(&after.gaps));
    rows.retain(|row| !hidden.has(&row.path));
    let asked = rows.iter().flat_map(|row| [&row.before, &row.after]).filter(|entry| entry.has_content());
    let asked: String = asked.map(|entry| format!("{}\n", entry.id)).collect();
    let contents = match asked.as_str() {
        "" => Vec::new(),
        asked => git.run(&["cat-file", "--batch"], asked.as_bytes()).await?,
    };
    let mut left = contents.as_slice();
    let mut changed = Vec::with_capacity(rows.len());
    for Row { path, before, after } in rows {
        let before = before.side(&mut left)?;
        changed.push(Changed { path, before, after: after.side(&mut left)? });
    }
    Ok(changed)
}

/// Places of which one side is not known.
struct Hidden<'a> {
    places: HashSet<&'a [u8]>,
    folders: Vec<&'a [u8]>,
}

impl<'a> Hidden<'a> {
    fn of(gaps: impl Iterator<Item = &'a Gap>) -> Hidden<'a> {
        let mut hidden = Hidden { places: HashSet::new(), folders: Vec::new() };
        for gap in gaps {
            hidden.places.insert(gap.raw());
            if gap.why == Why::Nested {
                hidden.folders.push(gap.raw());
            }
        }
        hidden
    }

    fn has(&self, path: &str) -> bool {
        let path = path.as_bytes();
        let below = |folder: &&[u8]| path.strip_prefix(*folder).is_some_and(|rest| rest.starts_with(b"/"));
        self.places.contains(path) || self.folders.iter().any(below)
    }
}

struct Row {
    path: String,
    before: Entry,
    after: Entry,
}

/// A mode and an object, as a tree has them.
struct Entry {
    mode: String,
    id: String,
}

/// Reads rows of `:MODE MODE ID ID STATUS NUL PATH NUL`.
fn rows(answer: &[u8]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut parts = parts(answer);
    while let (Some(head), Some(path)) = (parts.next(), parts.next()) {
        let head = String::from_utf8_lossy(head);
        let mut words = head.trim_start_matches(':').split(' ').map(str::to_owned);
        let (Some(old_mode), Some(new_mode), Some(old), Some(new)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        // Only names in UTF-8 are ever read into an index.
        let path = String::from_utf8_lossy(path).into_owned();
        let (before, after) = (Entry { mode: old_mode, id: old }, Entry { mode: new_mode, id: new });
        if before.is_covered() && after.is_covered() {
            rows.push(Row { path, before, after });
        }
    }
    rows
}

impl Entry {
    fn has_content(&self) -> bool {
        self.mode != "000000"
    }

    /// Whether it is nothing, a file or a link: a folder that becomes a repository in the moment it is read may stand in
    /// a tree as one.
    fn is_covered(&self) -> bool {
        self.mode != "160000"
    }

    /// What it is, with its content from the head of `contents`, which is in the order of entries.
    fn side(&self, contents: &mut &[u8]) -> Result<Side, Uncovered> {
        if !self.has_content() {
            return Ok(Side::Missing);
        }
        let content = self
            .content(contents)
            .ok_or_else(|| Uncovered::Failed(format!("git cat-file: {} cannot be read", self.id)))?
            .to_owned();
        Ok(match self.mode.as_str() {
            "120000" => Side::Link { target: content },
            mode => Side::File { content, executable: mode == "100755" },
        })
    }

    /// Takes `ID blob SIZE LF CONTENT LF` from `contents`.
    fn content<'c>(&self, contents: &mut &'c [u8]) -> Option<&'c [u8]> {
        let end = contents.iter().position(|&byte| byte == b'\n')?;
        let (head, rest) = contents.split_at_checked(end)?;
        let size =
            std::str::from_utf8(head).ok()?.strip_prefix(&format!("{} blob ", self.id))?.parse().ok()?;
        let (content, rest) = rest.get(1..)?.split_at_checked(size)?;
        *contents = rest.strip_prefix(b"\n")?;
        Some(content)
    }
}
