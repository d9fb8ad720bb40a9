//! Lines of which one is remembered by another word, found by those around it.
//!
//! What the file says there and the quote does not was not in the mind of who wrote the quote. So it may only stay: the
//! line that differs is one that the replacement keeps, as it was quoted or as it stands in the file.

use std::borrow::Cow;

use super::fit::kept;
use super::keys::{trim, trim_end};
use super::lines::{Line, count_newlines, is_empty, lines_from, text_start};
use super::quote::Quote;
use super::search::Place;

/// Lines of a file above which nothing is guessed: the time and the memory are not worth it, and chance grows.
const MAX_LINES: usize = 200_000;

/// Lines that are compared before the search is given up, which only a file of equal lines takes.
const MAX_COMPARED: usize = 5_000_000;

/// Places where all quoted lines stand but one between the first and the last, which differs in one word, if at least
/// `floor` hundredths of the lines of substance are alike.
pub fn places(file: &[u8], quote: &Quote<'_>, floor: usize) -> Vec<Place> {
    let quoted: Vec<&[u8]> = quote.old.iter().map(|line| trim_end(line)).collect();
    let substance = quoted.iter().filter(|line| trim(line).len() > 2).count();
    let (Some(first), Some(last)) = (quoted.first(), quoted.last()) else { return Vec::new() };
    let is_enough = substance.saturating_sub(1) * 100 >= substance * floor;
    if quoted.len() < 3 || !is_enough || is_empty(first) || is_empty(last) || count_newlines(file) > MAX_LINES
    {
        return Vec::new();
    }
    let lines: Vec<Line<'_>> = lines_from(file, text_start(file)).collect();
    let mut compared = 0;
    let mut found = Vec::new();
    for (at, window) in lines.windows(quoted.len()).enumerate() {
        let (Some(top), Some(bottom)) = (window.first(), window.last()) else { continue };
        if trim_end(top.text) != *first || trim_end(bottom.text) != *last {
            continue;
        }
        let pairs = window.iter().map(|line| trim_end(line.text)).zip(&quoted);
        let mut differing = pairs.inspect(|_| compared += 1).filter(|(there, quoted)| there != *quoted);
        let one = differing.next().is_some_and(|(there, quoted)| differing_words(there, quoted).is_some());
        if one && differing.next().is_none() {
            found.push(Place { line: at + 1, lines: quoted.len(), last_start: bottom.start });
        }
        if compared > MAX_COMPARED {
            return Vec::new();
        }
    }
    found
}

/// The quote as it should have been, where the replacement keeps the line that was misremembered; else `None`.
pub fn corrected<'a>(there: &[Line<'_>], quote: &Quote<'a>) -> Option<Quote<'a>> {
    let differs = |(line, quoted): (&Line<'_>, &Cow<'_, [u8]>)| trim_end(line.text) != trim_end(quoted);
    let at = there.iter().zip(&quote.old).position(differs)?;
    let seen = trim_end(there.get(at)?.text);
    let said = quote.old.get(at)?;
    let is_new = |line: &[u8]| quote.new.iter().filter(|new| trim_end(new) == line).count();
    let mut corrected = quote.clone();
    match (is_new(trim_end(said)), is_new(seen)) {
        // As wrong in the replacement: only there, so that the wrong word comes into no other line.
        (1, 0) => {
            let (wrong, _) = differing_words(said, seen)?;
            let others =
                quote.new.iter().filter(|new| trim_end(new) != trim_end(said) && !quote.old.contains(new));
            others.map(|new| words(new)).all(|mut words| words.all(|word| word != wrong)).then_some(())?;
        }
        // The replacement has the right word.
        (0, 1) => *corrected.old.get_mut(at)? = Cow::Owned(seen.to_vec()),
        _ => return None,
    }
    kept(&corrected.old, &corrected.new).contains(&Some(at)).then_some(corrected)
}

/// Where two lines are equal but for one word: that word in both.
fn differing_words<'a, 'b>(a: &'a [u8], b: &'b [u8]) -> Option<(&'a [u8], &'b [u8])> {
    let (a, b): (Vec<&[u8]>, Vec<&[u8]>) = (words(trim_end(a)).collect(), words(trim_end(b)).collect());
    let mut differing = a.iter().zip(&b).filter(|(a, b)| a != b);
    let (one, other) = differing.next()?;
    let is_word = |text: &[u8]| text.iter().all(|byte| is_in_word(*byte));
    let only = a.len() == b.len() && is_word(one) && is_word(other) && differing.next().is_none();
    only.then_some((*one, *other))
}

/// A line in words and single other bytes.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.chunk_by(|a, b| is_in_word(*a) && is_in_word(*b))
}

fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
