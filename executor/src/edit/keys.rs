//! What of a line is compared, and what is set aside: from the tightest to the loosest.

use std::borrow::Cow;

use super::lines::is_blank;
use super::look_alikes;

/// A way to compare lines: two are alike if their keys are equal.
pub type Key = fn(&[u8]) -> Cow<'_, [u8]>;

/// All but the blanks at its end.
pub fn ends_aside(line: &[u8]) -> Cow<'_, [u8]> {
    Cow::Borrowed(trim_end(line))
}

/// All but the blanks at both ends.
pub fn indentation_aside(line: &[u8]) -> Cow<'_, [u8]> {
    Cow::Borrowed(trim(line))
}

/// The same, with every run of blanks inside it as one space. Blanks that are not there at all are still missed: `f( )`
/// is not `f()`.
pub fn runs_aside(line: &[u8]) -> Cow<'_, [u8]> {
    let line = trim(line);
    let single = line.windows(2).all(|pair| !matches!(pair, [a, b] if is_blank(*a) && is_blank(*b)));
    if single && !line.contains(&b'\t') {
        return Cow::Borrowed(line);
    }
    let mut out: Vec<u8> = Vec::with_capacity(line.len());
    for &byte in line {
        match (is_blank(byte), out.last()) {
            (true, Some(b' ')) => {}
            (true, _) => out.push(b' '),
            (false, _) => out.push(byte),
        }
    }
    Cow::Owned(out)
}

/// The blanks at both ends aside, with typographic quotes, dashes and spaces as their plain forms.
pub fn look_alikes_aside(line: &[u8]) -> Cow<'_, [u8]> {
    match look_alikes::folded(line) {
        Cow::Borrowed(line) => Cow::Borrowed(trim(line)),
        Cow::Owned(line) => Cow::Owned(trim(&line).to_vec()),
    }
}

/// `line` without the blanks at its end.
pub fn trim_end(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|&byte| !is_aside(byte)).map_or(0, |at| at + 1);
    line.get(..end).unwrap_or_default()
}

/// `line` without the blanks at both ends.
pub fn trim(line: &[u8]) -> &[u8] {
    let line = trim_end(line);
    let start = line.iter().position(|&byte| !is_aside(byte)).unwrap_or(line.len());
    line.get(start..).unwrap_or_default()
}

/// A stray CR at a line's end is no text either.
fn is_aside(byte: u8) -> bool {
    is_blank(byte) || byte == b'\r'
}
