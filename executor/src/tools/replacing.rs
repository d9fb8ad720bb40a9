//! What tools that replace text in files share: the file as text that may be edited, and the edit with its errors.

use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::image::Image;
use tandem_shared::workspace::WorkspacePath;

use crate::change::Change;
use crate::cx::EffectCx;
use crate::edit::{self, Edited, Extent, Wanted};
use crate::file::{self, Found};
use crate::{known, refusal};

/// A file whose content is to change.
pub struct Text {
    /// Where, with links followed.
    pub path: WorkspacePath,
    found: Found,
}

/// Whether a file may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// It is to be made then.
    Fine,
    /// There is nothing to edit then.
    Fault,
}

impl Text {
    /// Loads a file that may be edited as text.
    ///
    /// # Errors
    /// When it may not be written, is not text, or is missing where that is a fault.
    pub fn load(cx: &EffectCx, path: &str, absent: Absent) -> Result<Text, ToolError> {
        let workspace = &cx.read().workspace;
        let path = file::resolve(workspace, path)?;
        let found = file::load(workspace, &path, cx.edits().file_bytes)?;
        if found.image == Image::Missing && absent == Absent::Fault {
            return Err(known::missing(cx, &path));
        }
        if found.content().is_some_and(file::is_binary) {
            return Err(ToolError::new(
                ErrorKind::Binary,
                format!(
                    "{} is a binary file, which cannot be edited as text. Nothing was changed.",
                    path.relative()
                ),
            ));
        }
        Ok(Text { path, found })
    }

    /// The bytes, if there is a file.
    pub fn content(&self) -> Option<&[u8]> {
        self.found.content()
    }

    /// Refuses a file that the agent does not know as it is now.
    ///
    /// # Errors
    /// [`ErrorKind::Stale`].
    pub fn must_be_known(&self, cx: &EffectCx) -> Result<(), ToolError> {
        match self.content() {
            Some(content) => known::must_be_known(cx, self.path.relative(), content),
            None => Ok(()),
        }
    }

    /// The change that gives it this content.
    pub fn becoming(self, cx: &EffectCx, content: Vec<u8>, pass: &'static str) -> Change {
        let mode = self.found.mode();
        Change::new(&cx.read().workspace, self.path, self.found, Image::File { content, mode }, pass)
    }
}

/// Replaces a text in the content of the file `name`.
///
/// # Errors
/// When the text does not stand there as it must; the error says what does.
pub fn edited(name: &str, content: &[u8], wanted: &Wanted<'_>) -> Result<Edited, ToolError> {
    if wanted.old == wanted.new {
        return Err(refusal::identical());
    }
    edit::edit(content, wanted).map_err(|refused| {
        let (old, new) = (String::from_utf8_lossy(wanted.old), String::from_utf8_lossy(wanted.new));
        refusal::told(name, content, &old, &new, &refused)
    })
}

/// What a call asks for.
pub fn wanted<'a>(old: &'a str, new: &'a str, replace_all: bool, near_line: Option<usize>) -> Wanted<'a> {
    let extent = if replace_all { Extent::All } else { Extent::One };
    Wanted { old: old.as_bytes(), new: new.as_bytes(), extent, near_line }
}
