//! What a patch says, whichever form it was written in.

/// What is to become of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// As it was written, with slashes; never empty.
    pub path: String,
    /// What to do.
    pub act: Act,
}

impl FilePatch {
    /// Every path that the patch names.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let target = match &self.act {
            Act::Update { move_to, .. } => move_to.as_deref(),
            Act::Add { .. } | Act::Delete => None,
        };
        [self.path.as_str()].into_iter().chain(target)
    }
}

/// What to do with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Make it. It must not be there.
    Add {
        /// All of it.
        content: String,
        /// Whether its owner may run it.
        executable: bool,
    },
    /// Remove it.
    Delete,
    /// Change it: at least one of the three.
    Update {
        /// Its new path.
        move_to: Option<String>,
        /// In the order of the patch.
        hunks: Vec<Hunk>,
        /// Whether its owner may run it; nothing to leave that as it is.
        mode: Option<bool>,
    },
}

/// One change in a file: `old` goes, `new` comes. They differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Whole lines with their ends. A last line without one stands only where the patch says so, and then is the last
    /// of the file. Empty for a pure insertion; then the other fields say where, or nothing does.
    pub old: String,
    /// As `old`.
    pub new: String,
    /// The line of the old file, from 1, in which `old` begins; of an insertion, the line that it comes before. Models
    /// count badly: it is a hint between several places that fit, and only for an insertion more.
    pub near_line: Option<usize>,
    /// Lines of the file, trimmed, one after the other and before the hunk.
    pub section: Vec<String>,
    /// Whether `old` ends with the file.
    pub at_end: bool,
}

/// A file's part of a patch.
#[derive(Debug)]
pub struct Entry {
    /// Where it begins in the patch, from 1.
    pub line: usize,
    /// What it says.
    pub patch: FilePatch,
}
