//! The ways in which an old text that does not stand in the file as it was quoted may still be found, in order.
//!
//! The first pass that finds anything decides: one place, or an error that names them all.

use std::borrow::Cow;

use super::anchors;
use super::escapes;
use super::keys::{Key, ends_aside, indentation_aside, look_alikes_aside, runs_aside, trim, trim_end};
use super::lines::{Line, is_empty};
use super::quote::Quote;
use super::search::{self, Place};

/// A row of the table.
pub struct Pass {
    /// Its name in receipts.
    pub name: &'static str,
    /// What it does.
    pub way: Way,
}

/// How a pass looks for a quote.
pub enum Way {
    /// The text itself, in the one place where it stands.
    Exact,
    /// The text itself, in every place.
    Every,
    /// Whole lines that are alike, under the first of these readings and keys that finds any.
    Lines {
        /// How the quote is read.
        readings: &'static [Reading],
        /// What of a line is compared.
        keys: &'static [Key],
        /// Of lines that stay.
        blanks: Blanks,
        /// More than so many hundredths of the lines must be alike with no more than their indentation set aside; a line
        /// alone need not be.
        floor: usize,
    },
    /// Whole lines of which all but one between the first and the last are alike; that one differs in one word, and is
    /// kept by the replacement.
    Anchors {
        /// The least share of alike lines, in hundredths of those that hold more than a bracket.
        floor: usize,
    },
    /// It may not act.
    Never,
}

/// Whose blanks at line ends a line has that the replacement keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blanks {
    /// The file's.
    File,
    /// None, where the quote has none.
    Quote,
}

/// How a quote may be read: the old text and the new one, as lines.
pub type Reading = fn(&[u8], &[u8]) -> Option<Quote<'static>>;

/// The table, from the tightest to the loosest: no pass sets aside less than one above it.
pub const PASSES: &[Pass] = &[
    Pass { name: "exact", way: Way::Exact },
    Pass { name: "all", way: Way::Every },
    Pass {
        name: "line_trimmed",
        way: Way::Lines { readings: &[written], keys: &[ends_aside], blanks: Blanks::Quote, floor: 0 },
    },
    Pass {
        name: "indentation",
        way: Way::Lines { readings: &[written], keys: &[indentation_aside], blanks: Blanks::File, floor: 0 },
    },
    Pass {
        name: "trimmed_boundary",
        way: Way::Lines {
            readings: &[bare],
            keys: &[ends_aside, indentation_aside],
            blanks: Blanks::File,
            floor: 0,
        },
    },
    Pass {
        name: "escapes",
        way: Way::Lines {
            readings: &[unescaped, bare_unescaped],
            keys: &[ends_aside, indentation_aside],
            blanks: Blanks::File,
            floor: 0,
        },
    },
    // Lines of which most are aligned in another way are those of another version.
    Pass {
        name: "white_space",
        way: Way::Lines { readings: &[written, bare], keys: &[runs_aside], blanks: Blanks::File, floor: 50 },
    },
    Pass {
        name: "look_alikes",
        way: Way::Lines {
            readings: &[written, bare],
            keys: &[look_alikes_aside],
            blanks: Blanks::File,
            floor: 0,
        },
    },
    // A stale text has lost half of its lines or more. With one line that may differ, this asks for three.
    Pass { name: "block_anchors", way: Way::Anchors { floor: 60 } },
    // Some lines of context alone are what a stale text has, too.
    Pass { name: "context_lines", way: Way::Never },
];

/// What a pass found.
pub struct Found {
    /// The quote as it was read.
    pub quote: Quote<'static>,
    /// Where its lines stand; one or more.
    pub places: Vec<Place>,
}

impl Pass {
    /// Where lines like those of `old` stand in `file`. Nothing for the passes over the text itself.
    pub fn find(&self, file: &[u8], old: &[u8], new: &[u8]) -> Option<Found> {
        match self.way {
            Way::Exact | Way::Every | Way::Never => None,
            Way::Lines { readings, keys, .. } => readings.iter().find_map(|reading| {
                let quote = reading(old, new)?;
                let places = keys.iter().map(|key| search::places(file, &quote.old, *key));
                let places = places.into_iter().find(|places| !places.is_empty())?;
                Some(Found { quote, places })
            }),
            Way::Anchors { floor } => {
                let quote = written(old, new)?;
                let places = anchors::places(file, &quote, floor);
                (!places.is_empty()).then_some(Found { quote, places })
            }
        }
    }

    /// The lines of a place as they stay where the replacement keeps them. A quote that differs from them in nothing but
    /// blanks at line ends, and has none itself, is taken at its word: they go.
    pub fn kept<'a>(&self, there: &[Line<'a>], quote: &Quote<'_>) -> Vec<Line<'a>> {
        let as_quoted = |(line, quoted): (&Line<'a>, &Cow<'_, [u8]>)| match trim_end(line.text) {
            text if text == quoted.as_ref() => Line { text, ..*line },
            _ => *line,
        };
        match self.way {
            Way::Lines { blanks: Blanks::Quote, .. } => there.iter().zip(&quote.old).map(as_quoted).collect(),
            _ => there.to_vec(),
        }
    }

    /// The quote as it must have been meant, once its place is known; `None` if too little of it is sure.
    pub fn settled(&self, quote: Quote<'static>, there: &[Line<'_>]) -> Option<Quote<'static>> {
        match self.way {
            Way::Anchors { .. } => anchors::corrected(there, &quote),
            Way::Lines { floor, .. } => {
                let pairs = there.iter().zip(&quote.old).filter(|(_, quoted)| !is_empty(quoted));
                let all = pairs.clone().count();
                let alike = pairs.filter(|(line, quoted)| trim(line.text) == trim(quoted)).count();
                (all == 1 || floor == 0 || alike * 100 > all * floor).then_some(quote)
            }
            Way::Exact | Way::Every | Way::Never => Some(quote),
        }
    }
}

/// As it stands there.
fn written(old: &[u8], new: &[u8]) -> Option<Quote<'static>> {
    Quote::written(old, new).filter(|quote| !quote.is_only_enclosed()).map(Quote::owned)
}

/// Without the blank lines at both ends.
fn bare(old: &[u8], new: &[u8]) -> Option<Quote<'static>> {
    Quote::written(old, new)?.without_blank_ends().map(Quote::owned)
}

/// With the escapes of the quote resolved.
fn unescaped(old: &[u8], new: &[u8]) -> Option<Quote<'static>> {
    escapes::unescaped(old, new).filter(|quote| !quote.is_only_enclosed())
}

fn bare_unescaped(old: &[u8], new: &[u8]) -> Option<Quote<'static>> {
    escapes::unescaped(old, new)?.without_blank_ends()
}
