//! Lines of a file as bytes, each with its own line end, and a content with its line ends set aside.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memmem, memrchr};

/// A line and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where it begins.
    pub start: usize,
    /// Its text, without its end.
    pub text: &'a [u8],
    /// LF, CRLF, or nothing at the end of a file.
    pub end: &'a [u8],
}

impl Line<'_> {
    /// Where the next line begins.
    pub fn after(&self) -> usize {
        self.start + self.text.len() + self.end.len()
    }
}

/// The lines of `content` from the offset `at`, which begins one. What follows the last line end is a line if it is not
/// empty.
pub fn lines_from(content: &[u8], at: usize) -> impl Iterator<Item = Line<'_>> {
    let mut start = at;
    std::iter::from_fn(move || {
        let rest = content.get(start..).filter(|rest| !rest.is_empty())?;
        let whole = memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
        let line = rest.get(..whole)?;
        let text = line.strip_suffix(b"\n").map_or(line, |text| text.strip_suffix(b"\r").unwrap_or(text));
        let line = Line { start, text, end: line.get(text.len()..).unwrap_or_default() };
        start = line.after();
        Some(line)
    })
}

/// Where the text of a file begins: behind its byte order mark.
pub fn text_start(content: &[u8]) -> usize {
    if content.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
}

/// Where the line begins that is `count` lines before the one that begins at `at`.
pub fn back(content: &[u8], at: usize, count: usize) -> usize {
    let mut start = at;
    for _ in 0..count {
        let before = content.get(..start.saturating_sub(1)).unwrap_or_default();
        start = memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    }
    start.max(text_start(content).min(at))
}

/// Line ends in `bytes`.
pub fn count_newlines(bytes: &[u8]) -> usize {
    memchr_iter(b'\n', bytes).count()
}

/// `text` with every CRLF as LF. Copied only if it has one.
pub fn plain(text: &[u8]) -> Cow<'_, [u8]> {
    if !has_crlf(text) {
        return Cow::Borrowed(text);
    }
    let crlfs = memmem::find_iter(text, b"\r\n");
    let mut out = Vec::with_capacity(text.len());
    let mut copied = 0;
    for at in crlfs {
        out.extend_from_slice(text.get(copied..at).unwrap_or_default());
        copied = at + 1;
    }
    out.extend_from_slice(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

fn has_crlf(text: &[u8]) -> bool {
    // Most files have no CR at all, which is found out in less time.
    memchr(b'\r', text).is_some() && memmem::find(text, b"\r\n").is_some()
}

/// A content with every CRLF as LF, and the way back.
pub struct Folded<'a> {
    /// What is searched.
    pub plain: Cow<'a, [u8]>,
    /// Where the LFs of CRLFs stand in `plain`.
    crlfs: Vec<usize>,
}

impl<'a> Folded<'a> {
    /// Folds a content.
    pub fn of(content: &'a [u8]) -> Folded<'a> {
        let plain = plain(content);
        let crlfs = match plain {
            Cow::Borrowed(_) => Vec::new(),
            Cow::Owned(_) => {
                memmem::find_iter(content, b"\r\n").enumerate().map(|(gone, at)| at - gone).collect()
            }
        };
        Folded { plain, crlfs }
    }

    /// Whether there was a CRLF.
    pub fn has_crlf(&self) -> bool {
        !self.crlfs.is_empty()
    }

    /// The place in the content of a place in `plain`; that of a line end is before its CR.
    pub fn real(&self, at: usize) -> usize {
        at + self.crlfs.partition_point(|&crlf| crlf < at)
    }
}

/// The end of new lines at `from..to`: as most of the replaced lines have it, else the line they stand on, else the line
/// before.
pub fn end_at(content: &[u8], from: usize, to: usize) -> &'static [u8] {
    let is_crlf = |newline: usize| newline > 0 && content.get(newline - 1) == Some(&b'\r');
    let within = content.get(from..to).unwrap_or_default();
    let newlines = count_newlines(within);
    let crlf = if newlines > 0 {
        memmem::find_iter(within, b"\r\n").count() * 2 > newlines
    } else if let Some(ahead) = memchr(b'\n', content.get(to..).unwrap_or_default()) {
        is_crlf(to + ahead)
    } else {
        memrchr(b'\n', content.get(..from).unwrap_or_default()).is_some_and(is_crlf)
    };
    if crlf { b"\r\n" } else { b"\n" }
}

/// The blanks at the beginning of a line, and the rest.
pub fn split_indent(line: &[u8]) -> (&[u8], &[u8]) {
    let at = line.iter().position(|byte| !is_blank(*byte)).unwrap_or(line.len());
    line.split_at(at)
}

/// A space or a tab.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Whether nothing but blanks stands in a line.
pub fn is_empty(line: &[u8]) -> bool {
    line.iter().all(|&byte| is_blank(byte) || byte == b'\r')
}
