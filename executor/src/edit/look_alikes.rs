//! Typographic characters that stand for a plain one: quotes, dashes, hard spaces.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// A character that looks like a plain one.
struct LookAlike {
    typographic: &'static str,
    plain: u8,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Quote,
    Dash,
    Space,
}

const fn row(typographic: &'static str, plain: u8, kind: Kind) -> LookAlike {
    LookAlike { typographic, plain, kind }
}

const LOOK_ALIKES: &[LookAlike] = &[
    row("\u{2018}", b'\'', Kind::Quote),
    row("\u{2019}", b'\'', Kind::Quote),
    row("\u{201a}", b'\'', Kind::Quote),
    row("\u{201b}", b'\'', Kind::Quote),
    row("\u{02bc}", b'\'', Kind::Quote),
    row("\u{2032}", b'\'', Kind::Quote),
    row("\u{201c}", b'"', Kind::Quote),
    row("\u{201d}", b'"', Kind::Quote),
    row("\u{201e}", b'"', Kind::Quote),
    row("\u{201f}", b'"', Kind::Quote),
    row("\u{2033}", b'"', Kind::Quote),
    row("\u{2010}", b'-', Kind::Dash),
    row("\u{2011}", b'-', Kind::Dash),
    row("\u{2012}", b'-', Kind::Dash),
    row("\u{2013}", b'-', Kind::Dash),
    row("\u{2014}", b'-', Kind::Dash),
    row("\u{2015}", b'-', Kind::Dash),
    row("\u{2212}", b'-', Kind::Dash),
    row("\u{00a0}", b' ', Kind::Space),
    row("\u{2002}", b' ', Kind::Space),
    row("\u{2003}", b' ', Kind::Space),
    row("\u{2007}", b' ', Kind::Space),
    row("\u{2009}", b' ', Kind::Space),
    row("\u{202f}", b' ', Kind::Space),
    row("\u{3000}", b' ', Kind::Space),
];

/// `text` with every look-alike as its plain form. Bytes that are not UTF-8 stay.
pub fn folded(text: &[u8]) -> Cow<'_, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    for unit in units(text) {
        match typographic(unit) {
            Some(row) => out.push(row.plain),
            None => out.extend_from_slice(unit),
        }
    }
    Cow::Owned(out)
}

/// What a quote of the file shows about the hand that wrote it: which typographic characters stand there for plain
/// ones of the file. Lines that it adds are written by the same hand.
#[derive(Debug, Default)]
pub struct Hand {
    /// Typographic, and whether the file has the plain form (`true`) or the same (`false`) where the quote has it.
    seen: BTreeMap<&'static str, bool>,
    /// A character for which the quote was right in one place and wrong in another.
    torn: bool,
}

impl Hand {
    /// Compares quoted lines with those of the file, which are equal when look-alikes are folded.
    pub fn of<'a>(pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Hand {
        let mut hand = Hand::default();
        for (quoted, there) in pairs.filter(|(quoted, _)| !quoted.is_ascii()) {
            for (quoted, there) in units(quoted).zip(units(there)) {
                let Some(row) = typographic(quoted) else { continue };
                let plain = there == [row.plain];
                if plain || there == quoted {
                    let before = hand.seen.insert(row.typographic, plain);
                    hand.torn |= before.is_some_and(|before| before != plain);
                }
            }
        }
        hand
    }

    /// A line of the replacement as the file would have it, or `None` if that cannot be told. What this hand writes for
    /// plain characters becomes plain. A dash between digits is a range, which is a matter of taste and stays.
    pub fn fitted<'t>(&self, text: &'t [u8]) -> Option<Cow<'t, [u8]>> {
        if text.is_ascii() || !(self.torn || self.seen.values().any(|plain| *plain)) {
            return Some(Cow::Borrowed(text));
        }
        let all: Vec<&[u8]> = units(text).collect();
        let is_digit =
            |at: Option<usize>| at.and_then(|at| all.get(at)?.first()).is_some_and(u8::is_ascii_digit);
        let mut out = Vec::with_capacity(text.len());
        for (at, unit) in all.iter().enumerate() {
            match typographic(unit) {
                Some(row)
                    if row.kind == Kind::Dash && is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)) =>
                {
                    out.extend_from_slice(unit);
                }
                Some(row) if self.is_plain(row)? => out.push(row.plain),
                _ => out.extend_from_slice(unit),
            }
        }
        Some(Cow::Owned(out))
    }

    /// Whether this hand means the plain character; `None` if it writes this one now for the plain one and now for
    /// itself, or was not seen to write one of its kind.
    fn is_plain(&self, row: &LookAlike) -> Option<bool> {
        let of_kind = LOOK_ALIKES.iter().filter(|other| other.kind == row.kind);
        let mut seen = of_kind.filter_map(|other| self.seen.get(other.typographic).copied());
        let first = seen.next()?;
        (!self.torn && seen.all(|other| other == first)).then_some(first)
    }
}

fn typographic(unit: &[u8]) -> Option<&'static LookAlike> {
    if unit.len() < 2 {
        return None;
    }
    LOOK_ALIKES.iter().find(|row| row.typographic.as_bytes() == unit)
}

/// The characters of `text` as bytes; a byte that belongs to none stands alone.
fn units(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.utf8_chunks().flat_map(|chunk| {
        let valid = chunk.valid();
        let chars = valid
            .char_indices()
            .map(move |(at, char)| valid.as_bytes().get(at..at + char.len_utf8()).unwrap_or_default());
        chars.chain(chunk.invalid().chunks(1))
    })
}
