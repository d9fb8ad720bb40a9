//! Line ends, tabs and quote marks that were written as a backslash and a letter.
//!
//! A text that has backslashes of its own cannot be told from an escaped one in every place. So only a text without a
//! line end of its own is read as escaped, and where the replacement leaves a doubt there is no reading.

use std::collections::BTreeSet;

use memchr::memmem;

use super::lines::split_indent;
use super::quote::{Quote, split};

/// `old` and `new` as they were meant, if they were written escaped and can be told apart from their own backslashes.
pub fn unescaped(old: &[u8], new: &[u8]) -> Option<Quote<'static>> {
    if old.contains(&b'\n') || !old.contains(&b'\\') {
        return None;
    }
    let meant_old = resolved(old, |_| true)?;
    let meant_new = match (new.contains(&b'\\'), new.contains(&b'\n')) {
        (false, _) => new.to_vec(),
        // Written with real line ends, so its backslashes are its own, or it is half and half.
        (true, true) => return None,
        (true, false) => {
            // The same hand escapes the same characters; a tab may be new where the old text has none of any kind.
            let tab_is_new = !old.contains(&b'\t') && !new.contains(&b'\t');
            let is_known = |letter| match letter {
                b't' => tab_is_new,
                letter => memmem::find(old, &[b'\\', letter]).is_some(),
            };
            let meant = resolved(new, is_known)?;
            let old_lines = split(&meant_old);
            let added: Vec<&[u8]> = meant.split(|&byte| byte == b'\n').collect();
            // An old line stands in the file, so that it and one which opens a text like it are whole.
            let openings: BTreeSet<&[u8]> = old_lines.iter().map(|line| opening(line)).collect();
            let is_old = |line: &[u8]| openings.contains(opening(line));
            let next = added.iter().skip(1).map(Some).chain([None]);
            if added.iter().zip(next).any(|(line, next)| !is_old(line) && is_torn(line, next.copied())) {
                return None;
            }
            meant
        }
    };
    Quote::written(&meant_old, &meant_new).map(Quote::owned)
}

/// The text without its escapes. `None` if one is not known, or not of a kind that is read.
fn resolved(text: &[u8], is_known: impl Fn(u8) -> bool) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let &letter = bytes.next().filter(|letter| is_known(**letter))?;
        out.push(match letter {
            b'n' => b'\n',
            b't' => b'\t',
            b'"' | b'\'' => letter,
            _ => return None,
        });
    }
    Some(out)
}

/// Whether a line looks as if it had been torn apart: a quote mark is left open, a tab stands where no indentation is, or
/// a blank where nothing follows.
fn is_torn(line: &[u8], next: Option<&[u8]>) -> bool {
    let text = split_indent(line).1;
    let goes_on_with = |mark: u8| next.is_some_and(|next| split_indent(next).1.first() == Some(&mark));
    match open_quote(text).and_then(|at| text.get(at)) {
        _ if text.contains(&b'\t') || text.ends_with(b" ") => true,
        None => false,
        // Marks of this kind also stand alone: in words, before names.
        Some(b'\'') => goes_on_with(b'\''),
        Some(_) => true,
    }
}

/// The line as far as the quote mark that it leaves open, or all of it if there is none; without its indentation.
fn opening(line: &[u8]) -> &[u8] {
    let line = split_indent(line).1;
    open_quote(line).and_then(|at| line.get(..=at)).unwrap_or(line)
}

/// Where the quote mark stands that is open at the end of a line.
fn open_quote(text: &[u8]) -> Option<usize> {
    let mut open: Option<usize> = None;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let in_word = at.checked_sub(1).and_then(|at| text.get(at)).is_some_and(u8::is_ascii_alphanumeric);
        match open {
            Some(opened) if text.get(opened) == Some(&byte) => open = None,
            None if matches!(byte, b'"' | b'\'' | b'`') => {
                // Three of them open and close a text over lines, which is whole with any number of lines.
                if text.get(at..).is_some_and(|rest| rest.starts_with(&[byte; 3])) {
                    at += 2;
                } else if !in_word || byte != b'\'' {
                    open = Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    open
}
