//! The replacement fitted to the file: its line ends, its indentation, and its own characters where nothing changes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::indent::Indents;
use super::keys::trim;
use super::lines::{Line, is_empty, split_indent};
use super::look_alikes::Hand;

/// Lines of both texts up to which they are compared; the time grows with the square of them.
const MAX_COMPARED: usize = 8_000;

/// Puts `new` in the place of `there`, which are the lines that `old` stands for. A line that `old` and `new` share is
/// that of the file, with its own end; another is rendered, and ends with `end`. The last one has no end.
pub fn joined<R>(
    there: &[Line<'_>],
    old: &[Cow<'_, [u8]>],
    new: &[Cow<'_, [u8]>],
    end: &[u8],
    mut render: R,
) -> Option<Vec<u8>>
where
    R: FnMut(&[u8]) -> Option<Vec<u8>>,
{
    let kept = kept(old, new);
    let mut out = Vec::new();
    let mut kept_lines = kept.iter();
    for (at, line) in new.iter().enumerate() {
        let own = match kept_lines.next() {
            Some(Some(old_at)) => {
                let line = there.get(*old_at)?;
                out.extend_from_slice(line.text);
                line.end
            }
            _ => {
                out.extend_from_slice(&render(line)?);
                b""
            }
        };
        if at + 1 < new.len() {
            out.extend_from_slice(if own.is_empty() { end } else { own });
        }
    }
    Some(out)
}

/// For each new line the old one that it is, if it is one.
pub fn kept(old: &[Cow<'_, [u8]>], new: &[Cow<'_, [u8]>]) -> Vec<Option<usize>> {
    let mut kept = vec![None; new.len()];
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let shorter = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(shorter).take_while(|(a, b)| a == b).count();
    let (old_middle, new_middle) = (old.get(head..old.len() - tail), new.get(head..new.len() - tail));
    let (old_middle, new_middle) = (old_middle.unwrap_or_default(), new_middle.unwrap_or_default());
    let mut keep = |old_at: usize, new_at: usize, len: usize| {
        for at in 0..len {
            if let Some(slot) = kept.get_mut(new_at + at) {
                *slot = Some(old_at + at);
            }
        }
    };
    keep(0, 0, head);
    keep(old.len() - tail, new.len() - tail, tail);
    if old_middle.len() + new_middle.len() <= MAX_COMPARED {
        for op in capture_diff_slices(Algorithm::Myers, old_middle, new_middle) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                keep(head + old_index, head + new_index, len);
            }
        }
    }
    kept
}

/// Renders new lines as the file would have them.
pub struct Fitter<'a> {
    indents: Indents,
    hand: Hand,
    /// Quoted lines that the file has with other characters, and what it has; `None` where that differs by the place.
    respelt: BTreeMap<&'a [u8], Option<&'a [u8]>>,
}

impl<'a> Fitter<'a> {
    /// Learns from quoted lines and those of the file that they stand for.
    pub fn of(there: &[Line<'a>], old: &'a [Cow<'a, [u8]>], new: &[Cow<'_, [u8]>]) -> Fitter<'a> {
        let pairs = || old.iter().zip(there).map(|(quoted, there)| (quoted.as_ref(), there.text));
        let texts = || pairs().map(|(quoted, there)| (trim(quoted), trim(there)));
        let mut respelt = BTreeMap::new();
        for (quoted, there) in texts().filter(|(quoted, there)| quoted != there) {
            let known = respelt.entry(quoted).or_insert(Some(there));
            *known = known.filter(|known| *known == there);
        }
        let hand = Hand::of(texts());
        // Of a line that the replacement has more often than the quote, which is the file's own cannot be told.
        let count = |lines: &[Cow<'_, [u8]>]| {
            let mut counts: BTreeMap<&[u8], usize> = respelt.keys().map(|text| (*text, 0)).collect();
            for line in lines {
                if let Some(count) = counts.get_mut(trim(line)) {
                    *count += 1;
                }
            }
            counts.into_values().collect::<Vec<_>>()
        };
        let counts = count(old).into_iter().zip(count(new));
        for ((quoted, known), (before, after)) in respelt.iter_mut().zip(counts) {
            let is_sure = |there: &&[u8]| after <= before || hand.fitted(quoted).as_deref() == Some(*there);
            *known = known.filter(is_sure);
        }
        Fitter { indents: Indents::of(pairs()), hand, respelt }
    }

    /// A new line as the file would have it; `None` if that cannot be told.
    pub fn render(&self, line: &[u8]) -> Option<Vec<u8>> {
        let (indent, text) = split_indent(line);
        if is_empty(line) {
            let blanks = if line.is_empty() { None } else { self.indents.fitted(indent) };
            return Some(blanks.unwrap_or_else(|| line.to_vec()));
        }
        let mut out = self.indents.fitted(indent)?;
        match self.respelt.get(text) {
            // A line that only moved keeps the file's characters.
            Some(there) => out.extend_from_slice((*there)?),
            None => out.extend_from_slice(&self.hand.fitted(text)?),
        }
        Some(out)
    }
}
