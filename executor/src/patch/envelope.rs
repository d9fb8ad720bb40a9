//! The form with an envelope: `*** Begin Patch`, parts for files, `*** End Patch`.

use super::fault::PatchFault;
use super::form::{Act, Entry, FilePatch, Hunk};
use super::hunk;
use super::lines::Lines;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// What may stand where a file's part begins.
const FILE: &str = "A file begins with `*** Add File: PATH`, `*** Delete File: PATH` or `*** Update File: PATH`, and the patch ends with \
     `*** End Patch`.";

/// What may stand in the content of a new file.
const ADDED: &str = "Every line of a new file begins with `+`.";

/// What may stand in a hunk.
const HUNK: &str = "A line of a hunk begins with a space, `-` or `+`, and a hunk with `@@`.";

/// Whether `line` opens the envelope.
pub fn is_begin(line: &str) -> bool {
    line.trim() == BEGIN
}

/// Whether `line` begins the part of a file.
pub fn is_file_header(line: &str) -> bool {
    [ADD, DELETE, UPDATE].iter().any(|header| line.starts_with(header))
}

/// The parts of an envelope that begins with the next line.
///
/// # Errors
/// The first fault, and a missing end.
pub fn entries(lines: &mut Lines<'_>) -> Result<Vec<Entry>, PatchFault> {
    lines.advance();
    let mut entries = Vec::new();
    loop {
        lines.skip_blank();
        let Some(text) = lines.peek() else {
            return Err(PatchFault::CutOff { line: lines.number() - 1, mark: format!("`{END}`") });
        };
        if text.trim_end() == END {
            break;
        }
        let line = lines.number();
        let (path, act) = if text.starts_with(ADD) {
            (path(lines, ADD)?, added(lines)?)
        } else if text.starts_with(DELETE) {
            (path(lines, DELETE)?, Act::Delete)
        } else if text.starts_with(UPDATE) {
            (path(lines, UPDATE)?, updated(lines)?)
        } else {
            return Err(lines.stray(FILE));
        };
        if matches!(&act, Act::Update { move_to: None, hunks, .. } if hunks.is_empty()) {
            return Err(PatchFault::NothingToDo { line, path });
        }
        entries.push(Entry { line, patch: FilePatch { path, act } });
    }
    lines.advance();
    lines.skip_blank();
    match lines.peek() {
        None => Ok(entries),
        Some(_) => Err(lines.stray("Nothing may follow `*** End Patch`: put all files into one patch.")),
    }
}

fn path(lines: &mut Lines<'_>, header: &str) -> Result<String, PatchFault> {
    let line = lines.peek().unwrap_or_default();
    match line.strip_prefix(header).map(str::trim) {
        None | Some("") => Err(PatchFault::NoPath { line: lines.number(), text: line.to_owned() }),
        Some(path) => {
            lines.advance();
            Ok(path.to_owned())
        }
    }
}

fn added(lines: &mut Lines<'_>) -> Result<Act, PatchFault> {
    let mut content = String::new();
    // Empty lines whose `+` was lost; those at the end only separate.
    let mut blank = String::new();
    while let Some(line) = lines.peek_content() {
        if line.trim().is_empty() {
            blank.push('\n');
        } else if let Some(text) = line.strip_prefix('+') {
            content.extend([blank.as_str(), text, "\n"]);
            blank.clear();
        } else if line.starts_with("***") {
            break;
        } else {
            return Err(lines.stray(ADDED));
        }
        lines.advance();
    }
    Ok(Act::Add { content, executable: false })
}

fn updated(lines: &mut Lines<'_>) -> Result<Act, PatchFault> {
    let moves = lines.peek().is_some_and(|line| line.starts_with(MOVE));
    let move_to = if moves { Some(path(lines, MOVE)?) } else { None };
    let mut hunks = Vec::new();
    loop {
        lines.skip_blank();
        match lines.peek() {
            None => break,
            Some(line) if line.starts_with("***") => break,
            // Only the first may do without a line of its own.
            Some(line) if line.starts_with("@@") || hunks.is_empty() => hunks.push(one_hunk(lines)?),
            Some(_) => return Err(lines.stray(HUNK)),
        }
    }
    Ok(Act::Update { move_to, hunks, mode: None })
}

fn one_hunk(lines: &mut Lines<'_>) -> Result<Hunk, PatchFault> {
    let mut section = Vec::new();
    let mut near_line = None;
    while lines.peek().is_some_and(|line| line.starts_with("@@")) {
        let place = hunk::place(lines)?;
        near_line = place.near_line.or(near_line);
        section.extend(place.section);
    }
    let starts_well = |line: &str| line.is_empty() || line.starts_with([' ', '+', '-', '*']);
    if !lines.peek().is_none_or(starts_well) {
        return Err(lines.stray(HUNK));
    }
    let hunk = hunk::body(lines, |_| false)?;
    let at_end = lines.peek().is_some_and(|line| line.trim_end() == END_OF_FILE);
    if at_end {
        lines.advance();
    }
    Ok(Hunk { near_line, section, at_end, ..hunk })
}
