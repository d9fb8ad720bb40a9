//! Why a patch cannot be read, in words for the model that wrote it.

use thiserror::Error;

/// What is wrong with a patch. Lines are those of the patch, from 1.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PatchFault {
    /// There is nothing in it that names a file.
    #[error(
        "The patch names no file. Begin with `--- a/PATH` and `+++ b/PATH` for a unified diff, or with `*** Begin Patch` \
         and `*** Update File: PATH`."
    )]
    NoHeader,
    /// A part of an envelope without the envelope.
    #[error(
        "Line {line}: there is no `*** Begin Patch` before this line. Put it on a line of its own before the first file."
    )]
    NoBegin {
        /// Where it should have been.
        line: usize,
    },
    /// The end is missing.
    #[error(
        "Line {line}: the patch ends here without {mark}, so a part of it may be missing. Send all of it again, and \
         split it if it is long."
    )]
    CutOff {
        /// The last line.
        line: usize,
        /// What should have ended it.
        mark: String,
    },
    /// A line that means nothing where it stands.
    #[error("Line {line}: `{text}` has no meaning here. {right}")]
    Stray {
        /// Where.
        line: usize,
        /// The line.
        text: String,
        /// What may stand there.
        right: &'static str,
    },
    /// A hunk that changes nothing.
    #[error("Line {line}: the hunk changes nothing. Begin removed lines with `-` and added lines with `+`.")]
    NoChange {
        /// Where it begins.
        line: usize,
    },
    /// A file to which nothing happens.
    #[error("Line {line}: nothing is to be done with {path}. Give it a hunk, or leave it out.")]
    NothingToDo {
        /// Where its part begins.
        line: usize,
        /// The file.
        path: String,
    },
    /// A header without a path, or with one that cannot be read.
    #[error(
        "Line {line}: no path can be read from `{text}`. Write the path from the project root, unquoted."
    )]
    NoPath {
        /// Where.
        line: usize,
        /// The header.
        text: String,
    },
    /// Two paths where there must be one.
    #[error(
        "Line {line}: the old path is {old} and the new one is {new}. Use the same path in both; to move a file, write \
         `diff --git a/OLD b/NEW`, `rename from OLD` and `rename to NEW` first."
    )]
    TwoPaths {
        /// Where.
        line: usize,
        /// That of `---`.
        old: String,
        /// That of `+++`.
        new: String,
    },
    /// The content of a new file or of a deleted one is more than that.
    #[error("Line {line}: {path} is {state}, so every line of its hunks must begin with `{mark}`.")]
    OneSided {
        /// Where its part begins.
        line: usize,
        /// The file.
        path: String,
        /// What it is.
        state: &'static str,
        /// With what its lines begin.
        mark: char,
    },
    /// Something that is not done by a patch.
    #[error("Line {line}: {what} cannot be patched. {instead}")]
    Unsupported {
        /// Where.
        line: usize,
        /// What it is.
        what: &'static str,
        /// What to do in its place.
        instead: &'static str,
    },
    /// Two parts for one file.
    #[error(
        "Line {line}: {path} was named before. Put all that is to be done with a file into one part of the patch."
    )]
    Twice {
        /// Where the second begins.
        line: usize,
        /// The file.
        path: String,
    },
}
