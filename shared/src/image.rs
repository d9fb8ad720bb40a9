//! What stands at a path, as far as taking back a change needs it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// What stands at a path. `Content` is the bytes themselves, or their digest where they are kept elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "image")]
pub enum Image<Content> {
    /// Nothing.
    Missing,
    /// A regular file.
    File {
        /// All its bytes.
        content: Content,
        /// Unix mode bits, without the kind of file.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Where it leads, as written.
        target: String,
    },
}

impl<Content> Image<Content> {
    /// The content of a regular file.
    pub fn content(&self) -> Option<&Content> {
        match self {
            Image::File { content, .. } => Some(content),
            Image::Missing | Image::Link { .. } => None,
        }
    }
}

impl<Content: AsRef<[u8]>> Image<Content> {
    /// The same with the digest in the place of the bytes.
    pub fn digested(&self) -> Image<Digest> {
        match self {
            Image::Missing => Image::Missing,
            Image::File { content, mode } => Image::File { content: Digest::of(content), mode: *mode },
            Image::Link { target } => Image::Link { target: target.clone() },
        }
    }
}

impl Image<Digest> {
    /// What stands for it in a receipt: the digest of a file's bytes, or of a link's target.
    pub fn digest(&self) -> Option<Digest> {
        match self {
            Image::Missing => None,
            Image::File { content, .. } => Some(content.clone()),
            Image::Link { target } => Some(Digest::of(target)),
        }
    }
}

/// A change of one path as the log keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Imaged {
    /// The call that changes it, or the act of taking back.
    pub call_id: String,
    /// Relative to the root, with forward slashes.
    pub path: String,
    /// What stood there; the bytes are a blob.
    pub before: Image<Digest>,
    /// What was to stand there; the bytes are a blob.
    pub after: Image<Digest>,
    /// The topmost folder that had to be made for it, relative to the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_folder: Option<String>,
}

/// A change of one path: what stands there, and what is to stand there.
#[derive(Clone, Copy, Debug)]
pub struct Turnover<'a> {
    /// Relative to the root, with forward slashes.
    pub path: &'a str,
    /// What stands there.
    pub before: &'a Image<Vec<u8>>,
    /// What is to stand there.
    pub after: &'a Image<Vec<u8>>,
    /// The topmost folder that has to be made for it, relative to the root.
    pub new_folder: Option<&'a str>,
}
