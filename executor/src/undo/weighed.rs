//! A path in a taking back.

use tandem_shared::digest::Digest;
use tandem_shared::image::Image;
use tandem_shared::undo::Fate;

use crate::file::Found;

/// A path with what stands there and what is to stand there.
pub struct Weighed {
    pub path: String,
    pub found: Found,
    pub then: Image<Vec<u8>>,
    pub fate: Fate,
    /// The topmost folder that has to be made for it now.
    pub new_folder: Option<String>,
    /// The topmost folder that the agent made for it.
    pub made_folder: Option<String>,
    /// What stands in the place of a folder above it, to be gone first.
    pub blocker: Option<String>,
    /// Whether a folder stands there, to be gone first.
    pub is_folder: bool,
    /// What stood there before the acts.
    pub original: Option<Digest>,
}

impl Weighed {
    /// Whether the path is to be removed before others are written, deepest first: it stands in their way.
    pub fn is_in_the_way_of(&self, others: &[&Weighed]) -> bool {
        let within =
            |path: &str, folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let written = others.iter().filter(|one| one.then != Image::Missing);
        self.then == Image::Missing
            && written
                .map(|one| one.path.as_str())
                .any(|path| within(path, &self.path) || within(&self.path, path))
    }

    /// Whether the path is to be written.
    pub fn changes(&self) -> bool {
        !matches!(self.fate, Fate::Already | Fate::Conflict { .. })
    }
}
