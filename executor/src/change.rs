//! A change of files as a write tool prepares it, and what is told of it before and after.

use tandem_shared::call::Receipt;
use tandem_shared::image::{Image, Turnover};
use tandem_shared::person::Effect;
use tandem_shared::workspace::{Workspace, WorkspacePath};

use crate::diff::{self, Change as Difference};
use crate::file::{self, Found};

/// One path that is to change.
#[derive(Clone, Debug)]
pub struct Change {
    /// Where.
    pub path: WorkspacePath,
    /// What stands there.
    pub found: Found,
    /// What is to stand there.
    pub then: Image<Vec<u8>>,
    /// How it came about, as a receipt tells it.
    pub pass: &'static str,
    /// The topmost folder that has to be made for it.
    pub new_folder: Option<String>,
}

impl Change {
    /// Of the thing that was `found` at `path`.
    pub fn new(
        workspace: &Workspace,
        path: WorkspacePath,
        found: Found,
        then: Image<Vec<u8>>,
        pass: &'static str,
    ) -> Change {
        let new_folder = file::new_folder(workspace, &path);
        Change { path, found, then, pass, new_folder }
    }

    /// The change as the log keeps it.
    pub fn turnover(&self) -> Turnover<'_> {
        Turnover {
            path: self.path.relative(),
            before: &self.found.image,
            after: &self.then,
            new_folder: self.new_folder.as_deref(),
        }
    }

    fn difference(&self) -> Difference {
        let name = self.path.relative();
        if self.pass == MOVED {
            // What moves does not change, so nobody has to read it.
            let gone = self.then == Image::Missing;
            let text = format!("{} {name}\n", if gone { "rename from" } else { "rename to" });
            return Difference { lines: (0, 0), added: 0, removed: 0, text };
        }
        diff::of(name, shown(&self.found.image), shown(&self.then))
    }

    /// What the change did, once it is done.
    pub fn receipt(&self) -> Receipt {
        receipt(self.path.relative(), self.pass, &self.found.image, &self.then, self.difference())
    }
}

/// The pass of both halves of a move.
pub const MOVED: &str = "moved";

/// What a change of one path did.
pub fn receipt(
    path: &str,
    pass: &str,
    before: &Image<Vec<u8>>,
    after: &Image<Vec<u8>>,
    difference: Difference,
) -> Receipt {
    let content = shown(after).unwrap_or_default();
    Receipt {
        path: path.to_owned(),
        pass: pass.to_owned(),
        before: before.digested().digest(),
        after: after.digested().digest(),
        bytes_before: shown(before).map_or(0, |bytes| bytes.len() as u64),
        bytes_after: content.len() as u64,
        lines: difference.lines,
        added: difference.added,
        removed: difference.removed,
        encoding: encoding(content).to_owned(),
        line_end: line_end(content).to_owned(),
        mode: match after {
            Image::File { mode, .. } => format!("{mode:04o}"),
            Image::Missing | Image::Link { .. } => String::new(),
        },
        diff: difference.text,
    }
}

fn shown(image: &Image<Vec<u8>>) -> Option<&[u8]> {
    match image {
        Image::Missing => None,
        Image::File { content, .. } => Some(content),
        Image::Link { target } => Some(target.as_bytes()),
    }
}

fn encoding(content: &[u8]) -> &'static str {
    match std::str::from_utf8(content) {
        Err(_) => "bytes",
        Ok(text) if text.starts_with('\u{feff}') => "utf-8-bom",
        Ok(_) => "utf-8",
    }
}

fn line_end(content: &[u8]) -> &'static str {
    let all = content.iter().filter(|&&byte| byte == b'\n').count();
    let crlf = content.windows(2).filter(|pair| pair == b"\r\n").count();
    match (all, crlf) {
        (0, _) => "none",
        (_, 0) => "lf",
        (all, crlf) if all == crlf => "crlf",
        _ => "mixed",
    }
}

/// What a person is asked to allow.
pub fn effect(changes: &[Change]) -> Effect {
    let differences: Vec<Difference> = changes.iter().map(Change::difference).collect();
    Effect::Write {
        paths: changes.iter().map(|change| change.path.relative().to_owned()).collect(),
        added: differences.iter().map(|difference| difference.added).sum(),
        removed: differences.iter().map(|difference| difference.removed).sum(),
        deleted: changes
            .iter()
            .filter(|change| change.pass != MOVED && change.then == Image::Missing)
            .count(),
        diff: differences.into_iter().map(|difference| difference.text).collect(),
    }
}
