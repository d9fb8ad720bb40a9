//! Edits that cannot be made, in words for the model: what was wrong, what stands there, what to do next.

use tandem_shared::call::{ErrorKind, ToolError};

use crate::edit::{self, Refused, Wanted};
use crate::nearest;

/// The error for an edit of the file `name` that was refused.
pub fn of(name: &str, content: &[u8], wanted: &Wanted<'_>, refused: Refused) -> ToolError {
    match refused {
        Refused::Identical => identical(),
        Refused::NotFound => not_found(wanted, name, content),
        Refused::Ambiguous(lines) => ambiguous(name, &lines),
    }
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
