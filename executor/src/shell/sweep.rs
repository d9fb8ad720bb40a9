//! A part of the project that a command reads without naming what is in it.

use super::reader::Sees;
use super::script::{Simple, Word};

/// A part of the project that a command reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sweep {
    /// Where it begins, as the command writes it; `None` where that is only known when it runs.
    pub start: Option<String>,
    /// Whether that is a pattern of the shell's.
    pub glob: bool,
    /// The folder that it is relative to; `None` where nobody can say.
    pub dir: Option<String>,
    /// Levels below it, 0 for files alone; `None` for all.
    pub depth: Option<usize>,
    /// What of it is taken.
    pub sees: Sees,
    /// Whether links are followed.
    pub follows: bool,
    /// Globs as ripgrep takes them; `!` before one leaves out.
    pub globs: Vec<String>,
    /// Whether the globs hold in small and capital letters.
    pub any_case: bool,
    /// Ripgrep's types of files that are taken, and those that are not (`!rust`).
    pub types: Vec<String>,
    /// What a path below the start must look like, `*` for any text; `None` for anything.
    pub fits: Option<String>,
}

impl Sweep {
    /// Everything below the folder that the command runs in.
    pub(super) fn here(simple: &Simple) -> Sweep {
        Sweep {
            start: Some(".".to_owned()),
            glob: false,
            dir: simple.dir.clone(),
            depth: None,
            sees: Sees::All,
            follows: false,
            globs: Vec::new(),
            any_case: false,
            types: Vec::new(),
            fits: None,
        }
    }

    /// The same from another place.
    pub(super) fn from(self, word: &Word) -> Sweep {
        Sweep { start: word.known.then(|| word.text.clone()), glob: word.glob, ..self }
    }
}
