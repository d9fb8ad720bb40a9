//! The edit itself: where a text stands in a file, and what stands there afterwards. Pure, and over bytes.
//!
//! A text that stands in the file exactly is replaced as it is asked. One that was misquoted is looked for by the passes
//! of a table, and its replacement is fitted to the file. What cannot be told is refused: a wrong text is worse.

use memchr::memmem;

use fit::Fitter;
use lines::{Folded, Line, end_at, plain};
use passes::{Found, PASSES, Pass, Way};
use quote::Quote;
use search::Place;

mod exact;
mod passes;
mod search;
mod anchors;
mod keys;
mod look_alikes;
mod escapes;
mod quote;
mod fit;
mod indent;
mod lines;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The text to replace.
    pub old: &'a [u8],
    /// The text to put in its place.
    pub new: &'a [u8],
    /// For which places.
    pub extent: Extent,
    /// The line (counted from 1) near which the place is, for the case that there is more than one.
    pub near_line: Option<usize>,
}

/// Whether an edit is for one place or for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The only place; more are ambiguous.
    One,
    /// Every place where the text stands exactly. One that was misquoted must still have a single place.
    All,
}

/// An edit that can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The whole content after.
    pub content: Vec<u8>,
    /// How the place was found: the name of the pass.
    pub pass: &'static str,
}

/// Why an edit is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Old and new text are the same, line ends aside.
    Identical,
    /// The old text does not stand in the file.
    NotFound,
    /// The old text stands in the file more than once, or lines like it.
    Ambiguous {
        /// The lines where it begins, counted from 1.
        lines: Vec<usize>,
        /// The pass that found them.
        pass: &'static str,
    },
    /// Lines like the old text stand in the file once, but how the new ones are to look there cannot be told.
    Unclear {
        /// The line where they begin, counted from 1.
        line: usize,
        /// The pass that found them.
        pass: &'static str,
    },
}

/// Replaces the old text by the new one in `file`: the one place where it stands, or all of them. Line ends are those of
/// the file, whatever both texts were written with; every byte outside the replaced text stays.
///
/// # Errors
/// See [`Refused`]. The old text must not be empty; an empty one is not found.
pub fn edit(file: &[u8], wanted: &Wanted<'_>) -> Result<Edited, Refused> {
    let (old, new) = (plain(wanted.old), plain(wanted.new));
    if old == new {
        return Err(Refused::Identical);
    }
    let asked = Wanted { old: &old, new: &new, ..*wanted };
    let text = Folded::of(file);
    PASSES.iter().find_map(|pass| attempt(file, &text, &asked, pass)).unwrap_or(Err(Refused::NotFound))
}

/// The lines (counted from 1) where `text` stands in `file`, line ends aside.
pub fn lines_of(file: &[u8], text: &[u8]) -> Vec<usize> {
    let text = plain(text);
    let file = Folded::of(file);
    let offsets = exact::offsets(&file, &text);
    exact::numbers(&file, &offsets, &text).into_iter().map(|(first, _)| first).collect()
}

/// What a pass makes of the edit; `None` if it finds nothing.
fn attempt(
    file: &[u8],
    text: &Folded<'_>,
    asked: &Wanted<'_>,
    pass: &Pass,
) -> Option<Result<Edited, Refused>> {
    let content = match (&pass.way, asked.extent) {
        (Way::Exact, Extent::One) => {
            let offsets = exact::offsets(text, asked.old);
            let numbers = || exact::numbers(text, &offsets, asked.old);
            chosen(offsets.len(), numbers, asked.near_line, pass)?.map(|chosen| {
                let at = offsets.get(chosen).copied();
                exact::replaced(file, text, at.into_iter(), asked.old, asked.new)
            })
        }
        (Way::Every, Extent::All) => {
            let mut offsets = memmem::find_iter(&text.plain, asked.old).peekable();
            offsets.peek().filter(|_| !asked.old.is_empty())?;
            Ok(exact::replaced(file, text, offsets, asked.old, asked.new))
        }
        (Way::Exact, Extent::All) | (Way::Every, Extent::One) => return None,
        (Way::Lines { .. } | Way::Anchors { .. } | Way::Never, _) => {
            let Found { quote, places } = pass.find(file, asked.old, asked.new)?;
            let numbers = || places.iter().map(Place::numbers).collect();
            match chosen(places.len(), numbers, asked.near_line, pass)? {
                Ok(chosen) => {
                    let place = places.get(chosen)?;
                    let there = place.window(file);
                    let quote = pass.settled(quote, &there)?;
                    let unclear = Refused::Unclear { line: place.line, pass: pass.name };
                    let content = fitted(file, &there, &pass.kept(&there, &quote), &quote).ok_or(unclear);
                    // What the new text asks for stands there already.
                    content.and_then(
                        |content| if content == file { Err(Refused::NotFound) } else { Ok(content) },
                    )
                }
                Err(refused) => Err(refused),
            }
        }
    };
    Some(content.map(|content| Edited { content, pass: pass.name }))
}

/// The content with `there` replaced, of which `kept` is what may stay; `None` if what belongs there cannot be told.
fn fitted(file: &[u8], there: &[Line<'_>], kept: &[Line<'_>], quote: &Quote<'_>) -> Option<Vec<u8>> {
    let (first, last) = (there.first()?, there.last()?);
    let (from, to) = (first.start, last.start + last.text.len());
    let end = end_at(file, from, last.after());
    let fitter = Fitter::of(there, &quote.old, &quote.new);
    let text = fit::joined(kept, &quote.old, &quote.new, end, |line| fitter.render(line))?;
    let to = if quote.new.is_empty() { last.after() } else { to };
    Some([file.get(..from)?, &text, file.get(to..)?].concat())
}

/// Which of so many places is meant, by its index: the only one, or the one that is clearly nearest to the line. `None` if
/// there are none. The first and the last line of each are worked out only if they are needed.
fn chosen(
    count: usize,
    numbers: impl FnOnce() -> Vec<(usize, usize)>,
    near_line: Option<usize>,
    pass: &Pass,
) -> Option<Result<usize, Refused>> {
    if count < 2 {
        return (count == 1).then_some(Ok(0));
    }
    let numbers = numbers();
    let distance = |near: usize, (first, last): (usize, usize)| {
        first.saturating_sub(near).max(near.saturating_sub(last))
    };
    let mut by_distance: Vec<(usize, usize)> = near_line
        .into_iter()
        .flat_map(|near| numbers.iter().enumerate().map(move |(at, lines)| (distance(near, *lines), at)))
        .collect();
    by_distance.sort_unstable();
    Some(match by_distance.as_slice() {
        // Line numbers that a model remembers drift: one between two places tells nothing.
        [(nearest, at), (next, _), ..] if nearest < next && nearest * 2 <= *next => Ok(*at),
        _ => {
            let lines = numbers.iter().map(|(first, _)| *first).collect();
            Err(Refused::Ambiguous { lines, pass: pass.name })
        }
    })
}

#[cfg(test)]
mod tests;
