//! The edit itself: where a text stands in a file, and what stands there afterwards. Pure, and over bytes.

use std::borrow::Cow;

/// An edit that can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The whole content after.
    pub content: Vec<u8>,
    /// How the place was found: `exact` or `all`.
    pub pass: &'static str,
}

/// Why an edit is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Old and new text are the same, line ends aside.
    Identical,
    /// The old text does not stand in the file.
    NotFound,
    /// The old text stands in the file more than once; the lines where it begins, counted from 1.
    Ambiguous(Vec<usize>),
}

/// Replaces `old` by `new` in `file`: the one place where it stands, or all of them. Line ends of both texts are those
/// of the file, whatever they were written with; every byte outside the replaced text stays.
///
/// # Errors
/// See [`Refused`]. `old` must not be empty; an empty one is not found.
pub fn edit(file: &[u8], wanted: &Wanted<'_>) -> Result<Edited, Refused> {
    let (old, new, extent) = (plain(wanted.old), plain(wanted.new), wanted.extent);
    if old == new {
        return Err(Refused::Identical);
    }
    let text = Lines::of(file);
    let mut places = find_all(&text.plain, &old);
    let pass = match extent {
        Extent::All => "all",
        Extent::One => "exact",
    };
    if places.is_empty() {
        return Err(Refused::NotFound);
    }
    if extent == Extent::One && places.len() > 1 {
        let line = |at: &usize| 1 + count_newlines(text.plain.get(..*at).unwrap_or_default());
        let lines: Vec<usize> = places.iter().map(line).collect();
        let Some(nearest) = nearest(&lines, wanted.near_line) else { return Err(Refused::Ambiguous(lines)) };
        places = places.into_iter().skip(nearest).take(1).collect();
    }
    let mut content = Vec::with_capacity(file.len() + new.len());
    let mut copied = 0;
    for at in places {
        let end = at + old.len();
        let fitted = unglued(&text.plain, at, end, &old, &new);
        // Lines that old and new share at both ends are left alone, so that they keep their own line ends.
        let (head, tail) = shared_lines(&old, &fitted);
        let (from, to) = (text.real(at + head), text.real(end - tail));
        let middle = fitted.get(head..fitted.len() - tail).unwrap_or_default();
        content.extend_from_slice(file.get(copied..from).unwrap_or_default());
        push_with_ends(&mut content, middle, text.ends_with_crlf(file, from, to));
        copied = to;
    }
    content.extend_from_slice(file.get(copied..).unwrap_or_default());
    Ok(Edited { content, pass })
}

/// What is to be replaced by what.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The text to replace.
    pub old: &'a [u8],
    /// The text to put in its place.
    pub new: &'a [u8],
    /// One place, or all.
    pub extent: Extent,
    /// The line (counted from 1) that tells equal places apart.
    pub near_line: Option<usize>,
}

/// The one of `lines` that is nearest to `line`; `None` when two are equally near.
fn nearest(lines: &[usize], line: Option<usize>) -> Option<usize> {
    let line = line?;
    let mut by_distance: Vec<(usize, usize)> =
        lines.iter().enumerate().map(|(index, at)| (at.abs_diff(line), index)).collect();
    by_distance.sort_unstable();
    match by_distance.as_slice() {
        [(first, index), (second, _), ..] if first < second => Some(*index),
        [(_, index)] => Some(*index),
        _ => None,
    }
}

/// Whether an edit is for one place or for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The only place; more are ambiguous.
    One,
    /// Every place.
    All,
}

/// The lines (counted from 1) where `text` stands in `file`, line ends aside.
pub fn lines_of(file: &[u8], text: &[u8]) -> Vec<usize> {
    let file = Lines::of(file);
    let line = |at: usize| 1 + count_newlines(file.plain.get(..at).unwrap_or_default());
    find_all(&file.plain, &plain(text)).into_iter().map(line).collect()
}

/// A content with every CRLF as LF, and the way back.
struct Lines<'a> {
    plain: Cow<'a, [u8]>,
    /// Where the LFs of CRLFs stand in `plain`.
    crlfs: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(content: &'a [u8]) -> Lines<'a> {
        let mut crlfs = Vec::new();
        for (at, _) in content.windows(2).enumerate().filter(|(_, pair)| pair == b"\r\n") {
            crlfs.push(at - crlfs.len());
        }
        Lines { plain: plain(content), crlfs }
    }

    /// The place in the content of a place in `plain`; that of a line end is before its CR.
    fn real(&self, at: usize) -> usize {
        at + self.crlfs.partition_point(|&crlf| crlf < at)
    }

    /// Whether new lines at `from..to` end with CRLF: as the replaced lines do, else the line they stand on, else the
    /// line before, else most lines of the file.
    fn ends_with_crlf(&self, file: &[u8], from: usize, to: usize) -> bool {
        let is_crlf = |newline: usize| newline > 0 && file.get(newline - 1) == Some(&b'\r');
        let within = file.get(from..to).unwrap_or_default();
        let newlines = count_newlines(within);
        if newlines > 0 {
            return within.windows(2).filter(|pair| pair == b"\r\n").count() * 2 > newlines;
        }
        if let Some(ahead) = file.get(to..).unwrap_or_default().iter().position(|&byte| byte == b'\n') {
            return is_crlf(to + ahead);
        }
        file.get(..from).unwrap_or_default().iter().rposition(|&byte| byte == b'\n').is_some_and(is_crlf)
    }
}

fn plain(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.windows(2).any(|pair| pair == b"\r\n") {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    for (at, &byte) in text.iter().enumerate() {
        if byte != b'\r' || text.get(at + 1) != Some(&b'\n') {
            out.push(byte);
        }
    }
    Cow::Owned(out)
}

fn push_with_ends(out: &mut Vec<u8>, plain: &[u8], crlf: bool) {
    for &byte in plain {
        if byte == b'\n' && crlf {
            out.push(b'\r');
        }
        out.push(byte);
    }
}

fn count_newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

/// Where `needle` begins in `hay`, without overlaps.
fn find_all(hay: &[u8], needle: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let Some((&first, rest)) = needle.split_first() else { return found };
    let mut at = 0;
    while let Some(ahead) = hay.get(at..).and_then(|hay| hay.iter().position(|&byte| byte == first)) {
        at += ahead;
        if hay.get(at + 1..).is_some_and(|hay| hay.starts_with(rest)) {
            found.push(at);
            at += needle.len();
        } else {
            at += 1;
        }
    }
    found
}

/// `new`, with the newlines that it lacks when `old` has one at each end. Where `new` has none at all, both were only
/// copied around the quote, so both stay; where it has one, the other is lacking only if lines would be glued together.
fn unglued<'n>(file: &[u8], at: usize, end: usize, old: &[u8], new: &'n [u8]) -> Cow<'n, [u8]> {
    let encloses = old.len() > 1 && old.starts_with(b"\n") && old.ends_with(b"\n");
    let text_before = at > 0 && file.get(at - 1) != Some(&b'\n');
    let text_after = file.get(end).is_some_and(|&byte| byte != b'\n');
    if !encloses || old.iter().all(u8::is_ascii_whitespace) {
        return Cow::Borrowed(new);
    }
    if new.is_empty() {
        return if text_before && text_after { Cow::Borrowed(b"\n") } else { Cow::Borrowed(new) };
    }
    let bare = !new.starts_with(b"\n") && !new.ends_with(b"\n");
    let head = bare || (text_before && !new.starts_with(b"\n"));
    let tail = bare || (text_after && !new.ends_with(b"\n"));
    if !head && !tail {
        return Cow::Borrowed(new);
    }
    let mut fitted = Vec::with_capacity(new.len() + 2);
    fitted.extend(head.then_some(b'\n'));
    fitted.extend_from_slice(new);
    fitted.extend(tail.then_some(b'\n'));
    Cow::Owned(fitted)
}

/// Bytes of the whole lines that two texts share at their beginning and at their end.
fn shared_lines(old: &[u8], new: &[u8]) -> (usize, usize) {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let head =
        old.get(..same).unwrap_or_default().iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let (old, new) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    // The tail begins at a newline, which stays with it.
    let tail = old.get(old.len() - same..).unwrap_or_default();
    let tail = tail.iter().position(|&byte| byte == b'\n').map_or(0, |at| tail.len() - at);
    (head, tail)
}

#[cfg(test)]
mod tests;
