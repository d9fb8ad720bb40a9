//! Where whole lines of a quote stand in a file, in one sweep: no line of the file is looked at twice, and none is kept.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use memchr::memmem;

use super::keys::Key;
use super::lines::{Line, back, lines_from, text_start};

/// Consecutive lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the first line, counted from 1.
    pub line: usize,
    /// How many lines they are.
    pub lines: usize,
    /// Where the last one begins.
    pub last_start: usize,
}

impl Place {
    /// The numbers of the first and the last line.
    pub fn numbers(&self) -> (usize, usize) {
        (self.line, self.line + self.lines.saturating_sub(1))
    }

    /// The lines themselves.
    pub fn window<'a>(&self, file: &'a [u8]) -> Vec<Line<'a>> {
        let start = back(file, self.last_start, self.lines.saturating_sub(1));
        lines_from(file, start).take(self.lines).collect()
    }
}

/// Places that are counted; nobody tells more of them apart.
pub const MOST_PLACES: usize = 10_000;

/// The places in `file` of lines that are alike under `key`. They do not overlap, unless only overlapping ones show that
/// there is more than one.
pub fn places(file: &[u8], wanted: &[Cow<'_, [u8]>], key: Key) -> Vec<Place> {
    let wanted: Vec<Cow<'_, [u8]>> = wanted.iter().map(|line| key(line)).collect();
    if !may_stand_in(file, &wanted) {
        return Vec::new();
    }
    let falls = falls(&wanted);
    let mut found: Vec<Place> = Vec::new();
    let mut matched = 0;
    for (at, line) in lines_from(file, text_start(file)).enumerate() {
        let text = key(line.text);
        while matched > 0 && wanted.get(matched) != Some(&text) {
            matched = falls.get(matched - 1).copied().unwrap_or_default();
        }
        if wanted.get(matched) == Some(&text) {
            matched += 1;
        }
        if matched == wanted.len() {
            found.push(Place { line: at + 2 - matched, lines: matched, last_start: line.start });
            if found.len() == MOST_PLACES {
                break;
            }
            matched = falls.get(matched - 1).copied().unwrap_or_default();
        }
    }
    apart(found)
}

/// Places that do not overlap the one before; all of them if only one would be left.
fn apart(found: Vec<Place>) -> Vec<Place> {
    let mut next = 0;
    let apart: Vec<Place> = found
        .iter()
        .filter(|place| {
            let is_apart = place.line >= next;
            if is_apart {
                next = place.line + place.lines;
            }
            is_apart
        })
        .copied()
        .collect();
    if apart.len() == 1 { found } else { apart }
}

/// Words that are looked for before the lines are. Nearly every text that does not stand in the file is found out so,
/// by a search that is many times faster.
const SAMPLED: usize = 8;

/// Whether the longest words of the wanted lines stand in the file at all. No key changes a word.
fn may_stand_in(file: &[u8], wanted: &[Cow<'_, [u8]>]) -> bool {
    let words = wanted.iter().flat_map(|line| line.split(|byte| !byte.is_ascii_alphanumeric()));
    let mut words: Vec<&[u8]> = words.collect::<BTreeSet<_>>().into_iter().collect();
    words.sort_by_key(|word| Reverse(word.len()));
    words.into_iter().take(SAMPLED).all(|word| memmem::find(file, word).is_some())
}

/// For each count of matched lines less one, how many of them still match when the next does not.
fn falls(wanted: &[Cow<'_, [u8]>]) -> Vec<usize> {
    let mut falls = vec![0; wanted.len()];
    let mut matched = 0;
    for at in 1..wanted.len() {
        while matched > 0 && wanted.get(matched) != wanted.get(at) {
            matched = falls.get(matched - 1).copied().unwrap_or_default();
        }
        if wanted.get(matched) == wanted.get(at) {
            matched += 1;
        }
        if let Some(slot) = falls.get_mut(at) {
            *slot = matched;
        }
    }
    falls
}
