//! The state of the tree at one time, and what of it is not covered.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::scan::{Gap, Why};

/// The state of the tree at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The tree object that names every covered file.
    pub(super) tree: String,
    /// Where the object is.
    pub(super) git_dir: PathBuf,
    /// The folder that the tree describes; the root lies in it.
    pub(super) top: PathBuf,
    pub(super) gaps: Vec<Gap>,
}

impl Snapshot {
    /// Files that are not covered because of their size.
    pub fn too_big(&self) -> Vec<&str> {
        self.paths(Why::TooBig)
    }

    /// Repositories inside the project, which are not covered.
    pub fn nested(&self) -> Vec<&str> {
        self.paths(Why::Nested)
    }

    fn paths(&self, why: Why) -> Vec<&str> {
        self.gaps.iter().filter(|gap| gap.why == why).map(|gap| gap.path.as_str()).collect()
    }

    /// Places that changed since `before` and of which nobody can say how: they are not covered now, or were not then.
    /// A repository inside the project is among them only when it came, or went.
    pub fn blind_since<'a>(&'a self, before: &'a Snapshot) -> Vec<&'a Gap> {
        let old: BTreeSet<&Gap> = before.gaps.iter().collect();
        let here: BTreeSet<&[u8]> = self.gaps.iter().map(Gap::raw).collect();
        let new = self.gaps.iter().filter(|gap| !old.contains(gap));
        let went = before.gaps.iter().filter(|gap| !here.contains(gap.raw()));
        new.chain(went).collect::<BTreeSet<_>>().into_iter().collect()
    }
}
