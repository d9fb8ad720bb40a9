//! Reads one hunk: the line that opens it, and the lines that go, come and stay.

use super::fault::PatchFault;
use super::form::Hunk;
use super::lines::Lines;

/// What the line of a hunk that begins with `@@` says about its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// As in [`Hunk::near_line`].
    pub near_line: Option<usize>,
    /// Text that is neither numbers nor the rest of a line with numbers.
    pub section: Option<String>,
}

/// Reads the next line as `@@ -1,2 +1,2 @@`, with or without numbers and text.
///
/// # Errors
/// When its numbers cannot be read.
pub fn place(lines: &mut Lines<'_>) -> Result<Place, PatchFault> {
    let line = lines.peek().unwrap_or_default();
    let wrong = || lines.stray("A hunk begins with `@@ -LINE,COUNT +LINE,COUNT @@`, or with `@@` alone.");
    let text = line.strip_prefix("@@").ok_or_else(wrong)?;
    if text.starts_with('@') {
        return Err(PatchFault::Unsupported {
            line: lines.number(),
            what: "the diff of a merge",
            instead: "Write a diff between two states of the file.",
        });
    }
    let text = text.trim();
    let place = if text.starts_with('-') {
        let (numbers, _) = text.split_once("@@").ok_or_else(wrong)?;
        let mut ranges = numbers.split_whitespace();
        let (old, new) = (ranges.next().and_then(range('-')), ranges.next().and_then(range('+')));
        let (Some((start, count)), Some(_), None) = (old, new, ranges.next()) else { return Err(wrong()) };
        // Nothing at line 5 is what stands after it.
        let near = if count == 0 { start.saturating_add(1) } else { start.max(1) };
        Place { near_line: Some(near), section: None }
    } else {
        let section = text.strip_suffix("@@").unwrap_or(text).trim();
        let says_something = !matches!(section, "" | "..." | "…");
        Place { near_line: None, section: says_something.then(|| section.to_owned()) }
    };
    lines.advance();
    Ok(place)
}

/// Reads `SIGN LINE[,COUNT]`.
fn range(sign: char) -> impl Fn(&str) -> Option<(usize, usize)> {
    move |text| {
        let text = text.strip_prefix(sign)?;
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    }
}

/// Reads lines up to the first that cannot belong to a hunk, or that `ends` it. The counts of the header are not asked:
/// models get them wrong more often than not, and the lines are there. An empty line is context whose space was lost;
/// at the end of a hunk it only separates.
///
/// # Errors
/// When nothing changes.
pub fn body(lines: &mut Lines<'_>, ends: impl Fn(&Lines<'_>) -> bool) -> Result<Hunk, PatchFault> {
    let first = lines.number();
    let mut hunk = Hunk::default();
    let mut last = ' ';
    let mut blank = String::new();
    while let Some(line) = lines.peek_content().filter(|_| !ends(lines)) {
        let Some(mark @ (' ' | '+' | '-' | '\\')) = line.chars().next().filter(|&mark| mark != '\r') else {
            if !line.trim_end_matches('\r').is_empty() {
                break;
            }
            blank.extend([line, "\n"]);
            lines.advance();
            continue;
        };
        if mark == '\\' {
            // What is said of a line is said of each side that has it.
            on_sides(&mut hunk, last, |side| side.truncate(side.strip_suffix('\n').unwrap_or(side).len()));
        } else {
            let mut whole = true;
            let context = std::mem::take(&mut blank);
            let text = line.get(1..).unwrap_or_default();
            on_sides(&mut hunk, ' ', |side| side.push_str(&context));
            on_sides(&mut hunk, mark, |side| {
                whole &= side.is_empty() || side.ends_with('\n');
                side.extend([text, "\n"]);
            });
            if !whole {
                return Err(
                    lines.stray("Nothing of a file can follow a line of it that has no newline at its end.")
                );
            }
            last = mark;
        }
        lines.advance();
    }
    if hunk.old == hunk.new { Err(PatchFault::NoChange { line: first }) } else { Ok(hunk) }
}

/// Does `change` to each side that has lines with this mark.
fn on_sides(hunk: &mut Hunk, mark: char, mut change: impl FnMut(&mut String)) {
    if mark != '+' {
        change(&mut hunk.old);
    }
    if mark != '-' {
        change(&mut hunk.new);
    }
}
