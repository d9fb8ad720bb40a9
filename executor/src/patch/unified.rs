//! The unified form: `--- OLD`, `+++ NEW` and hunks, plain or with the headers of git.

mod header;

use super::fault::PatchFault;
use super::form::{Act, Entry, FilePatch, Hunk};
use super::hunk;
use super::lines::Lines;
use header::{Header, Kind};

/// What may stand where a file's part begins.
const FILE: &str = "A line of a hunk begins with a space, `-` or `+`, a hunk with `@@`, and a file with `--- a/PATH` and \
                    `+++ b/PATH`.";

/// Whether the next line begins the part of a file.
pub fn is_file_header(lines: &Lines<'_>) -> bool {
    lines.peek().is_some_and(|line| line.starts_with("diff --git ")) || lines.name_two_sides()
}

/// Whether the next line begins the part of a file although it could be a line of a hunk: a line is removed, another
/// added, and a hunk begins. No language writes comments so that this is likely, and counts would not tell, because
/// those of models are often too large by one.
fn interrupts(lines: &Lines<'_>) -> bool {
    lines.name_two_sides() && lines.ahead(2).is_none_or(|line| line.starts_with("@@"))
}

/// The parts of a diff that begins with the next line.
///
/// # Errors
/// The first fault.
pub fn entries(lines: &mut Lines<'_>) -> Result<Vec<Entry>, PatchFault> {
    let mut entries = Vec::new();
    loop {
        lines.skip_blank();
        if lines.peek().is_none() {
            return Ok(entries);
        }
        let line = lines.number();
        let header = Header::read(lines)?;
        let mut hunks = Vec::new();
        loop {
            lines.skip_blank();
            if !lines.peek().is_some_and(|line| line.starts_with("@@")) {
                break;
            }
            let place = hunk::place(lines)?;
            let hunk = hunk::body(lines, interrupts)?;
            hunks.push(Hunk {
                near_line: place.near_line,
                section: place.section.into_iter().collect(),
                ..hunk
            });
        }
        if lines.peek().is_some() && !is_file_header(lines) {
            return Err(lines.stray(FILE));
        }
        entries.push(Entry { line, patch: entry(line, header, hunks)? });
    }
}

fn entry(line: usize, header: Header, hunks: Vec<Hunk>) -> Result<FilePatch, PatchFault> {
    let Header { path, kind } = header;
    let one_sided = |state, mark| PatchFault::OneSided { line, path: path.clone(), state, mark };
    let act = match kind {
        Kind::New { executable } => {
            if hunks.iter().any(|hunk| !hunk.old.is_empty()) {
                return Err(one_sided("a new file", '+'));
            }
            Act::Add { content: hunks.into_iter().map(|hunk| hunk.new).collect(), executable }
        }
        Kind::Deleted => {
            if hunks.iter().any(|hunk| !hunk.new.is_empty()) {
                return Err(one_sided("deleted", '-'));
            }
            Act::Delete
        }
        Kind::Changed { move_to, mode } => {
            if hunks.is_empty() && move_to.is_none() && mode.is_none() {
                return Err(PatchFault::NothingToDo { line, path });
            }
            Act::Update { move_to, hunks, mode }
        }
    };
    Ok(FilePatch { path, act })
}
