//! A text that stands in the file as it was quoted, line ends aside.

use memchr::memmem;

use super::fit;
use super::lines::{Folded, Line, count_newlines, end_at, lines_from};
use super::quote::split;
use super::search::MOST_PLACES;

/// Where `old` begins, none overlapping the one before; two that overlap if there is no other to show that there is more
/// than one.
pub fn offsets(text: &Folded<'_>, old: &[u8]) -> Vec<usize> {
    if old.is_empty() {
        return Vec::new();
    }
    let mut offsets: Vec<usize> = memmem::find_iter(&text.plain, old).take(MOST_PLACES).collect();
    if let [only] = offsets.as_slice() {
        let end = text.plain.len().min(only + old.len() * 2);
        let rest = text.plain.get(only + 1..end).unwrap_or_default();
        offsets.extend(memmem::find(rest, old).map(|ahead| only + 1 + ahead));
    }
    offsets
}

/// The first and the last line, counted from 1, of the text at each of these offsets.
pub fn numbers(text: &Folded<'_>, offsets: &[usize], old: &[u8]) -> Vec<(usize, usize)> {
    // A line end at the end of the text is that of its last line.
    let more = count_newlines(old.strip_suffix(b"\n").unwrap_or(old));
    let (mut counted, mut line) = (0, 1);
    let numbers = offsets.iter().map(|&at| {
        line += count_newlines(text.plain.get(counted..at).unwrap_or_default());
        counted = at;
        (line, line + more)
    });
    numbers.collect()
}

/// `file` with the places at these offsets of `text` replaced.
pub fn replaced(
    file: &[u8],
    text: &Folded<'_>,
    offsets: impl Iterator<Item = usize>,
    old: &[u8],
    new: &[u8],
) -> Vec<u8> {
    let mut content = Vec::with_capacity(file.len() + new.len());
    let mut copied = 0;
    for at in offsets {
        let fitted = unglued(&text.plain, at, old, new);
        let (from, to) = (text.real(at + fitted.head), text.real(at + old.len() - fitted.tail));
        content.extend_from_slice(file.get(copied..from).unwrap_or_default());
        if text.has_crlf() {
            let old = old.get(fitted.head..old.len() - fitted.tail).unwrap_or_default();
            content.extend_from_slice(&with_ends(file, from, to, old, new));
        } else {
            content.extend_from_slice(new);
        }
        copied = to;
    }
    content.extend_from_slice(file.get(copied..).unwrap_or_default());
    content
}

/// `new` with the line ends of the place; lines that it shares with `old` keep their own.
fn with_ends(file: &[u8], from: usize, to: usize, old: &[u8], new: &[u8]) -> Vec<u8> {
    let region = file.get(..to).unwrap_or_default();
    let mut there: Vec<Line<'_>> = lines_from(region, from).collect();
    if there.last().is_none_or(|line| !line.end.is_empty()) {
        // Behind the last line end the next line begins, of which nothing is quoted.
        there.push(Line { start: to, text: b"", end: b"" });
    }
    let verbatim = |line: &[u8]| Some(line.to_vec());
    fit::joined(&there, &split(old), &split(new), end_at(file, from, to), verbatim).unwrap_or_default()
}

/// How much at both ends of a quote its replacement leaves alone.
struct Unglued {
    head: usize,
    tail: usize,
}

/// What of `old` at `at` stays so that its neighbours are not glued to `new`. Line ends at both ends of `old` of which
/// `new` has none were only copied around the quote; where `new` has them at one end, one is lacking at the other only if
/// lines would be glued together.
fn unglued(file: &[u8], at: usize, old: &[u8], new: &[u8]) -> Unglued {
    let end = at + old.len();
    let encloses = old.len() > 1 && old.starts_with(b"\n") && old.ends_with(b"\n");
    if !encloses || old.iter().all(u8::is_ascii_whitespace) {
        return Unglued { head: 0, tail: 0 };
    }
    let text_before = at > 0 && file.get(at - 1) != Some(&b'\n');
    let text_after = file.get(end).is_some_and(|&byte| byte != b'\n');
    let (begins, ends) = (new.starts_with(b"\n"), new.ends_with(b"\n"));
    if new.is_empty() {
        return Unglued { head: usize::from(text_before && text_after), tail: 0 };
    }
    if !begins && !ends {
        let is_newline = |byte: &&u8| **byte == b'\n';
        return Unglued {
            head: old.iter().take_while(is_newline).count(),
            tail: old.iter().rev().take_while(is_newline).count(),
        };
    }
    Unglued { head: usize::from(text_before && !begins), tail: usize::from(text_after && !ends) }
}
