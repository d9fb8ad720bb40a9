//! Reads the patches that a model writes, in either form, and says exactly what is wrong with one that cannot be read.
//!
//! Nothing is looked up and nothing is applied here: values in, values out.

mod envelope;
mod fault;
mod form;
mod hunk;
mod lines;
mod unified;

use std::collections::HashSet;

pub use fault::PatchFault;
use form::Entry;
pub use form::{Act, FilePatch, Hunk};
use lines::Lines;

/// Reads a patch: a unified diff (plain or as git writes it), or an envelope of `*** Begin Patch` and `*** End Patch`.
/// Text before the first header and a fence around the patch are passed over; everything else must be understood.
///
/// # Errors
/// The first fault found, with its line; then nothing of the patch is to be applied.
pub fn parse(text: &str) -> Result<Vec<FilePatch>, PatchFault> {
    let plain;
    let mut lines = Lines::of(text);
    let (mut form, mut fence) = first_header(&mut lines)?;
    if lines.ends_with_crlf() {
        // Where headers end with CRLF, so does everything on its way here; elsewhere a CR belongs to the content.
        plain = text.replace("\r\n", "\n");
        lines = Lines::of(&plain);
        (form, fence) = first_header(&mut lines)?;
    }
    if let Some(fence) = fence {
        match (lines.cut_at(fence), &form) {
            // It says itself where it ends.
            (Err(PatchFault::CutOff { .. }), Form::Envelope) => {}
            (cut, _) => cut?,
        }
    }
    let entries = match form {
        Form::Envelope => envelope::entries(&mut lines)?,
        Form::Unified => unified::entries(&mut lines)?,
    };
    if entries.is_empty() {
        return Err(PatchFault::NoHeader);
    }
    let mut named = HashSet::new();
    for Entry { line, patch } in &entries {
        for path in patch.paths() {
            if !named.insert(path.strip_prefix("./").unwrap_or(path)) {
                return Err(PatchFault::Twice { line: *line, path: path.to_owned() });
            }
        }
    }
    Ok(entries.into_iter().map(|entry| entry.patch).collect())
}

enum Form {
    Envelope,
    Unified,
}

/// Goes to the first header, and answers the fence that is open there.
fn first_header<'a>(lines: &mut Lines<'a>) -> Result<(Form, Option<&'a str>), PatchFault> {
    let mut fence = None;
    while let Some(line) = lines.peek() {
        if envelope::is_begin(line) {
            return Ok((Form::Envelope, fence));
        }
        if envelope::is_file_header(line) {
            return Err(PatchFault::NoBegin { line: lines.number() });
        }
        if unified::is_file_header(lines) {
            return Ok((Form::Unified, fence));
        }
        fence = match (fence, fence_of(line)) {
            (Some(open), Some(marks)) if marks == open => None,
            (open, marks) => open.or(marks),
        };
        lines.advance();
    }
    Err(PatchFault::NoHeader)
}

/// The marks of a line that opens a fence.
fn fence_of(line: &str) -> Option<&str> {
    let mark = ['`', '~'].into_iter().find(|&mark| line.starts_with(mark))?;
    let end = line.find(|other| other != mark).unwrap_or(line.len());
    line.get(..end).filter(|marks| marks.len() >= 3)
}

#[cfg(test)]
mod tests;
