//! What the model reads of an edit that is refused: what was wrong, what is true, what to do next.

use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::secret::MASK;

use crate::edit::{self, Refused};
use crate::nearest;

/// The error for an edit of `old` into `new` in the file at `path`.
pub fn told(path: &str, content: &[u8], old: &str, new: &str, refused: &Refused) -> ToolError {
    match refused {
        Refused::Identical => identical(),
        Refused::NotFound => not_found(path, content, old, new),
        Refused::Ambiguous { lines, pass } => ambiguous(path, lines, pass),
        Refused::Unclear { line, pass } => unclear(path, *line, pass),
    }
}

/// The error for an edit that would change nothing.
pub fn identical() -> ToolError {
    ToolError::new(
        ErrorKind::Identical,
        "The old and the new text are the same (line ends aside), so there is nothing to change. Check whether the \
         change is there already; if not, give the new text as it should be.",
    )
}

/// The error for a content that was read with a mask in it and would be written with the mask in the secret's place.
pub fn would_lose_a_secret(path: &str) -> ToolError {
    ToolError::new(
        ErrorKind::InvalidArguments,
        format!(
            "The content holds {MASK}, which stands for a secret that was masked when {path} was shown; written like this, the \
             secret would be lost. Nothing was changed. Change the other lines with edit_file or multi_edit."
        ),
    )
}

fn not_found(path: &str, content: &[u8], old: &str, new: &str) -> ToolError {
    let mut text = format!("The old text does not stand in {path}. Nothing was changed.");
    let applied = match new.trim() {
        "" => Vec::new(),
        _ => edit::lines_of(content, new.as_bytes()),
    };
    if let Some(line) = applied.first() {
        text.push_str(&format!(
            " The new text stands there at line {line}: the change seems to be already applied. If so, go on."
        ));
    }
    match nearest::region(&String::from_utf8_lossy(content), old) {
        Some(region) => text.push_str(&format!(
            " The nearest region is this:\n{region}Copy the old text exactly from the file, with its white space."
        )),
        None => text.push_str(" Nothing in the file is near it. Read the file again and copy the old text exactly."),
    }
    if old.contains(MASK) && memchr::memmem::find(content, MASK.as_bytes()).is_none() {
        text.push_str(
            " The old text holds ***, which stands for a secret that was masked when the file was shown: it is not in the \
             file. Choose lines without it.",
        );
    }
    ToolError::new(ErrorKind::TextNotFound, text).from_source(format!("file {path}"))
}

/// Line numbers that are listed.
const MAX_PLACES: usize = 50;

fn ambiguous(path: &str, lines: &[usize], pass: &str) -> ToolError {
    let mut listed: Vec<String> = lines.iter().take(MAX_PLACES).map(usize::to_string).collect();
    if lines.len() > MAX_PLACES {
        listed.push("…".to_owned());
    }
    let (what, else_) = match pass {
        "exact" => (
            "The old text stands",
            "set near_line to a line of the one that is meant, or set replace_all to change every one",
        ),
        _ => (
            "Nothing is exactly the old text, but lines like it stand",
            "or set near_line to a line of the one that is meant",
        ),
    };
    ToolError::new(
        ErrorKind::Ambiguous,
        format!(
            "{what} in {path} {} times, beginning at lines {}. Nothing was changed. Add lines around it until it is \
             unique, {else_}.",
            lines.len(),
            listed.join(", ")
        ),
    )
}

fn unclear(path: &str, line: usize, pass: &str) -> ToolError {
    ToolError::new(
        ErrorKind::TextNotFound,
        format!(
            "The old text does not stand in {path} exactly. Lines like it begin at line {line} ({pass} match), but how \
             the new lines are to look there cannot be told. Nothing was changed. Read these lines and copy the old \
             text exactly, with its white space and quote marks; write the new text in the same way."
        ),
    )
    .from_source(format!("file {path}"))
}
