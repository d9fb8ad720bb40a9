//! What tools that replace text in files share: the file as text that may be edited, and the edit with its errors.

use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::image::Image;
use tandem_shared::workspace::WorkspacePath;

use crate::change::Change;
use crate::cx::EffectCx;
use crate::edit::{self, Edited, Extent, Refused, Wanted};
use crate::file::{self, Found};
use crate::{known, nearest};

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
        return Err(identical());
    }
    edit::edit(content, wanted).map_err(|refused| match refused {
        Refused::Identical => identical(),
        Refused::NotFound => not_found(wanted, name, content),
        Refused::Ambiguous(lines) => ambiguous(name, &lines),
    })
}

/// What a call asks for.
pub fn wanted<'a>(old: &'a str, new: &'a str, replace_all: bool, near_line: Option<usize>) -> Wanted<'a> {
    let extent = if replace_all { Extent::All } else { Extent::One };
    Wanted { old: old.as_bytes(), new: new.as_bytes(), extent, near_line }
}

/// The error for an old and a new text that are the same.
pub fn identical() -> ToolError {
    ToolError::new(
        ErrorKind::Identical,
        "The old and the new text are the same (line ends aside), so there is nothing to change. Check whether the \
         change is there already; if not, give the new text as it should be.",
    )
}

fn not_found(wanted: &Wanted<'_>, path: &str, content: &[u8]) -> ToolError {
    let mut text = format!("The old text does not stand in {path}. Nothing was changed.");
    let applied = match wanted.new.trim_ascii() {
        b"" => Vec::new(),
        _ => edit::lines_of(content, wanted.new),
    };
    if let Some(line) = applied.first() {
        text.push_str(&format!(
            " The new text stands there at line {line}: the change seems to be already applied. If so, go on."
        ));
    }
    match nearest::region(&String::from_utf8_lossy(content), &String::from_utf8_lossy(wanted.old)) {
        Some(region) => text.push_str(&format!(
            " The nearest region is this:\n{region}Copy the old text exactly from the file, with its white space."
        )),
        None => text.push_str(" Nothing in the file is near it. Read the file again and copy the old text exactly."),
    }
    ToolError::new(ErrorKind::TextNotFound, text).from_source(format!("file {path}"))
}

/// Line numbers that are listed.
const MAX_PLACES: usize = 50;

fn ambiguous(path: &str, lines: &[usize]) -> ToolError {
    let mut listed: Vec<String> = lines.iter().take(MAX_PLACES).map(usize::to_string).collect();
    if lines.len() > MAX_PLACES {
        listed.push("…".to_owned());
    }
    ToolError::new(
        ErrorKind::Ambiguous,
        format!(
            "The old text stands in {path} {} times, beginning at lines {}. Nothing was changed. Add lines around it \
             until it is unique, or set replace_all to change every one.",
            lines.len(),
            listed.join(", ")
        ),
    )
}
