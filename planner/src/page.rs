//! One page of a text: the lines asked for, within bounds, from a stream that is read once and never held whole.

use std::io::{self, Read};
use std::ops::RangeInclusive;

use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::digest::{Digest, Digester};

/// Bytes looked at to tell text from binary; git's own measure.
const SNIFFED: usize = 8 * 1024;

/// Bounds of one page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Lines at most.
    pub(crate) lines: usize,
    /// Bytes at most, by the text shown.
    pub(crate) bytes: usize,
    /// Characters of one line at most.
    pub(crate) line_chars: usize,
}

/// What one pass over a text found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The lines shown, without line ends, from the first one asked for.
    pub(crate) lines: Vec<String>,
    /// Lines of the whole text. A line end at the very end begins no further line.
    pub(crate) total: usize,
    /// Lines of the whole text that end in CR LF.
    pub(crate) crlf: usize,
    /// The text begins with a UTF-8 byte order mark, which is not shown.
    pub(crate) has_bom: bool,
    /// Some line shown holds bytes that are not UTF-8.
    pub(crate) is_lossy: bool,
    /// Of all bytes.
    pub(crate) digest: Digest,
}

/// What a stream turned out to hold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Text.
    Text(Page),
    /// Bytes that are not text: there is a NUL byte near the beginning.
    Binary,
}

/// The first and last line asked for, counted from 1, or what is wrong with the range.
pub(crate) fn line_range(start: Option<usize>, end: Option<usize>) -> Result<(usize, usize), ToolError> {
    let (first, last) = (start.unwrap_or(1), end.unwrap_or(usize::MAX));
    let problem = if first == 0 || last == 0 {
        "Lines are counted from 1.".to_owned()
    } else if first > last {
        format!("start_line {first} lies after end_line {last}.")
    } else {
        return Ok((first, last));
    };
    Err(ToolError::new(ErrorKind::InvalidArguments, format!("{problem} Nothing was read.")))
}

/// Reads all of `source` and keeps the lines of `wanted` (counted from 1) that fit within `bounds`.
pub(crate) fn scan(
    mut source: impl Read,
    wanted: RangeInclusive<usize>,
    bounds: Bounds,
) -> io::Result<Content> {
    let mut pass = Pass::new(wanted, bounds);
    let mut buffer = vec![0; 64 * 1024];
    let mut seen = 0;
    loop {
        let count = match source.read(&mut buffer) {
            Ok(0) => return Ok(Content::Text(pass.finish())),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let piece = buffer.get(..count).unwrap_or_default();
        if piece.iter().take(SNIFFED.saturating_sub(seen)).any(|byte| *byte == 0) {
            return Ok(Content::Binary);
        }
        seen += count;
        pass.take(piece);
    }
}

/// The state of one pass.
struct Pass {
    wanted: RangeInclusive<usize>,
    bounds: Bounds,
    digester: Digester,
    /// The line being read, up to what can be shown of it.
    line: Vec<u8>,
    /// Bytes of the line being read, line end left aside.
    line_bytes: usize,
    last_byte: Option<u8>,
    shown: Vec<String>,
    shown_bytes: usize,
    is_full: bool,
    total: usize,
    crlf: usize,
    has_bom: bool,
    is_lossy: bool,
}

impl Pass {
    fn new(wanted: RangeInclusive<usize>, bounds: Bounds) -> Pass {
        Pass {
            wanted,
            bounds,
            digester: Digester::default(),
            line: Vec::new(),
            line_bytes: 0,
            last_byte: None,
            shown: Vec::new(),
            shown_bytes: 0,
            is_full: false,
            total: 0,
            crlf: 0,
            has_bom: false,
            is_lossy: false,
        }
    }

    fn take(&mut self, piece: &[u8]) {
        self.digester.update(piece);
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = match part.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (part, false),
            };
            // Four bytes hold any character; one character more tells whether the line goes on.
            let room = (self.bounds.line_chars + 1).saturating_mul(4).saturating_sub(self.line.len());
            self.line.extend(text.iter().take(room));
            self.line_bytes += text.len();
            self.last_byte = text.last().copied().or(self.last_byte.filter(|_| self.line_bytes > 0));
            if ends {
                if self.last_byte == Some(b'\r') {
                    self.crlf += 1;
                    if self.line.len() == self.line_bytes {
                        self.line.pop();
                    }
                    self.line_bytes -= 1;
                }
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        self.total += 1;
        if self.total == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
            self.has_bom = true;
            self.line.drain(..3);
            self.line_bytes -= 3;
        }
        if self.wanted.contains(&self.total) && !self.is_full {
            self.show_line();
        }
        self.line.clear();
        self.line_bytes = 0;
        self.last_byte = None;
    }

    fn show_line(&mut self) {
        let is_whole = self.line.len() == self.line_bytes;
        if let Err(error) = std::str::from_utf8(&self.line) {
            // A character that our own cut split is not the file's fault.
            self.is_lossy |= is_whole || error.error_len().is_some();
        }
        let text = String::from_utf8_lossy(&self.line);
        let cut_at = text.char_indices().nth(self.bounds.line_chars).map(|(at, _)| at);
        let shown = match cut_at.and_then(|at| text.get(..at)) {
            Some(head) => format!("{head} … [line cut here; it has {} bytes]", self.line_bytes),
            None => text.into_owned(),
        };
        let bytes = self.shown_bytes + shown.len() + 1;
        let has_room = self.shown.len() < self.bounds.lines && bytes <= self.bounds.bytes;
        // One line always goes through, or a reader could never get past it.
        if has_room || self.shown.is_empty() {
            self.shown_bytes = bytes;
            self.shown.push(shown);
        } else {
            self.is_full = true;
        }
    }

    fn finish(mut self) -> Page {
        if self.line_bytes > 0 {
            self.end_line();
        }
        Page {
            lines: self.shown,
            total: self.total,
            crlf: self.crlf,
            has_bom: self.has_bom,
            is_lossy: self.is_lossy,
            digest: self.digester.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BOUNDS: Bounds = Bounds { lines: 3, bytes: 1000, line_chars: 5 };

    /// Hands out one byte at a time, so that every boundary between pieces is met.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    fn page(text: &[u8], wanted: RangeInclusive<usize>) -> Page {
        let at_once = scan(text, wanted.clone(), BOUNDS).unwrap();
        assert_eq!(scan(Drip(text), wanted, BOUNDS).unwrap(), at_once);
        let Content::Text(page) = at_once else { panic!("binary") };
        page
    }

    fn check(text: &[u8], lines: &[&str], total: usize, crlf: usize) {
        let got = page(text, 1..=usize::MAX);
        assert_eq!(
            (got.lines, got.total, got.crlf),
            (lines.iter().map(|l| l.to_string()).collect(), total, crlf)
        );
        assert_eq!(got.digest, Digest::of(text));
    }

    #[test]
    fn a_final_line_end_begins_no_line() {
        check(b"", &[], 0, 0);
        check(b"\n", &[""], 1, 0);
        check(b"a\nb", &["a", "b"], 2, 0);
        check(b"a\nb\n", &["a", "b"], 2, 0);
        check(b"a\n\n", &["a", ""], 2, 0);
    }

    #[test]
    fn crlf_is_counted_and_not_shown() {
        check(b"a\r\n\r\nb\n", &["a", "", "b"], 3, 2);
        check(b"a\rb\n", &["a\rb"], 1, 0);
        check(b"a\r", &["a\r"], 1, 0);
        check(b"12345\r\n", &["12345"], 1, 1);
    }

    #[test]
    fn a_long_line_is_cut_by_characters_and_says_so() {
        check("ééééé\n".as_bytes(), &["ééééé"], 1, 0);
        check("éééééé\n".as_bytes(), &["ééééé … [line cut here; it has 12 bytes]"], 1, 0);
        let long = page("🦀".repeat(40).as_bytes(), 1..=1);
        assert_eq!(long.lines, ["🦀🦀🦀🦀🦀 … [line cut here; it has 160 bytes]"]);
        assert!(!long.is_lossy, "a cut of our own is not the file's fault");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_marked() {
        let got = page(b"a\xffb\n", 1..=1);
        assert_eq!((got.lines, got.is_lossy), (vec!["a\u{fffd}b".to_owned()], true));
    }

    #[test]
    fn a_byte_order_mark_is_told_and_not_shown() {
        let got = page(b"\xef\xbb\xbfa\n", 1..=1);
        assert_eq!((got.lines, got.has_bom), (vec!["a".to_owned()], true));
    }

    #[test]
    fn a_nul_near_the_beginning_is_binary() {
        assert_eq!(scan(&b"ELF\0"[..], 1..=1, BOUNDS).unwrap(), Content::Binary);
        assert_eq!(scan(Drip(b"ELF\0"), 1..=1, BOUNDS).unwrap(), Content::Binary);
    }

    proptest! {
        #[test]
        fn pages_in_a_row_are_the_whole_text(text in "[ab\r\n]{0,60}") {
            let mut got = Vec::new();
            let mut total = page(text.as_bytes(), 1..=1).total;
            while got.len() < total {
                let next = page(text.as_bytes(), got.len() + 1..=usize::MAX);
                total = next.total;
                got.extend(next.lines);
            }
            let expect: Vec<String> = text
                .strip_suffix('\n')
                .unwrap_or(&text)
                .split('\n')
                .enumerate()
                .map(|(index, line)| {
                    let ends = index + 1 < text.split('\n').count();
                    let line = if ends { line.strip_suffix('\r').unwrap_or(line) } else { line };
                    match line.char_indices().nth(BOUNDS.line_chars) {
                        Some((at, _)) => format!("{} … [line cut here; it has {} bytes]", &line[..at], line.len()),
                        None => line.to_owned(),
                    }
                })
                .collect();
            prop_assert_eq!(got, if text.is_empty() { Vec::new() } else { expect });
        }
    }
}
