//! From the indentation of a quote to that of the file: learnt from the lines that the quote and the file share.

use std::collections::{BTreeMap, BTreeSet};

use super::lines::{is_empty, split_indent};

/// What an indentation of the quote is in the file.
#[derive(Debug)]
pub struct Indents {
    /// The indentation of quoted lines and that of the same lines in the file.
    known: BTreeMap<Vec<u8>, Vec<u8>>,
    rule: Option<Rule>,
}

/// What holds for every line that the quote and the file share.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    Same,
    /// The quote lost this much at the left.
    Deeper {
        by: Vec<u8>,
        /// Whether any quoted line kept some indentation, which shows that its unit is that of the file.
        shown: bool,
    },
    /// The quote has this much too much at the left.
    Flatter(Vec<u8>),
    Columns(Columns),
}

/// Indentations compared as widths: tabs against spaces, and another depth or unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    /// Columns of a tab.
    tab: usize,
    /// Columns of the file for so many of the quote.
    scale: (usize, usize),
    /// Columns to add.
    shift: isize,
    /// Whether the file writes tabs.
    tabs: bool,
}

/// Widths of a tab that people use, the most usual first.
const TAB_WIDTHS: &[usize] = &[4, 2, 8, 3];

impl Indents {
    /// Learns from quoted lines beside those of the file.
    pub fn of<'a>(pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Indents {
        let pairs: BTreeSet<(&[u8], &[u8])> = pairs
            .filter(|(quoted, _)| !is_empty(quoted))
            .map(|(quoted, there)| (split_indent(quoted).0, split_indent(there).0))
            .collect();
        let pairs: Vec<(&[u8], &[u8])> = pairs.into_iter().collect();
        let known =
            one_to_one(&pairs).then(|| pairs.iter().map(|(quoted, there)| (quoted.to_vec(), there.to_vec())));
        Indents { known: known.into_iter().flatten().collect(), rule: rule(&pairs) }
    }

    /// The file's indentation for one of the quote; `None` if it cannot be told.
    pub fn fitted(&self, indent: &[u8]) -> Option<Vec<u8>> {
        match (self.known.get(indent), &self.rule) {
            (Some(known), _) => Some(known.clone()),
            (None, Some(rule)) => rule.applied(indent),
            (None, None) => None,
        }
    }
}

/// Whether every depth of the quote is one of the file, and no two of them the same.
fn one_to_one(pairs: &[(&[u8], &[u8])]) -> bool {
    let quoted: BTreeSet<&[u8]> = pairs.iter().map(|(quoted, _)| *quoted).collect();
    let there: BTreeSet<&[u8]> = pairs.iter().map(|(_, there)| *there).collect();
    quoted.len() == pairs.len() && there.len() == pairs.len()
}

impl Rule {
    fn applied(&self, indent: &[u8]) -> Option<Vec<u8>> {
        match self {
            Rule::Same => Some(indent.to_vec()),
            Rule::Deeper { by, shown } => {
                let tabs = |blanks: &[u8]| blanks.contains(&b'\t');
                (*shown || tabs(by) == tabs(indent)).then(|| [by.as_slice(), indent].concat())
            }
            Rule::Flatter(by) => indent.strip_prefix(by.as_slice()).map(<[u8]>::to_vec),
            Rule::Columns(columns) => columns.applied(indent),
        }
    }
}

fn rule(pairs: &[(&[u8], &[u8])]) -> Option<Rule> {
    let (first_quoted, first_there) = pairs.first()?;
    if pairs.iter().all(|(quoted, there)| quoted == there) {
        return Some(Rule::Same);
    }
    let shown = pairs.iter().any(|(quoted, _)| !quoted.is_empty());
    if let Some(by) = first_there.strip_suffix(*first_quoted)
        && pairs.iter().all(|(quoted, there)| there.strip_suffix(*quoted) == Some(by))
    {
        return Some(Rule::Deeper { by: by.to_vec(), shown });
    }
    if let Some(by) = first_quoted.strip_suffix(*first_there)
        && pairs.iter().all(|(quoted, there)| quoted.strip_suffix(*there) == Some(by))
    {
        return Some(Rule::Flatter(by.to_vec()));
    }
    columns(pairs).map(Rule::Columns)
}

/// The reading of all pairs as widths: no shift before a shift, a shift before a scale. Readings of one rank that
/// differ are told apart by what they say of one more level.
fn columns(pairs: &[(&[u8], &[u8])]) -> Option<Columns> {
    let tabs = pairs.iter().any(|(_, there)| there.contains(&b'\t'));
    let reading = |tab: usize| {
        let widths: Vec<(usize, usize)> =
            pairs.iter().map(|(quoted, there)| (width(quoted, tab), width(there, tab))).collect();
        let (quoted, there) = *widths.iter().max()?;
        let shift = there.cast_signed() - quoted.cast_signed();
        if widths.iter().all(|(quoted, there)| there.cast_signed() - quoted.cast_signed() == shift) {
            return Some((u8::from(shift != 0), Columns { tab, scale: (1, 1), shift, tabs }));
        }
        let scaled = quoted > 0 && widths.iter().all(|(q, t)| t * quoted == q * there);
        scaled.then_some((2, Columns { tab, scale: (there, quoted), shift: 0, tabs }))
    };
    let mut readings: Vec<(u8, Columns)> = TAB_WIDTHS.iter().filter_map(|&tab| reading(tab)).collect();
    readings.sort_by_key(|(rank, _)| *rank);
    let (best, chosen) = *readings.first()?;
    let deepest = pairs.iter().map(|(quoted, _)| *quoted).max_by_key(|quoted| quoted.len())?;
    let deeper = [deepest, deepest.get(..deepest.len().min(2)).unwrap_or_default()].concat();
    let told = chosen.applied(&deeper);
    let agreed =
        readings.iter().filter(|(rank, _)| *rank == best).all(|(_, other)| other.applied(&deeper) == told);
    agreed.then_some(chosen)
}

impl Columns {
    fn applied(&self, indent: &[u8]) -> Option<Vec<u8>> {
        let (there, quoted) = self.scale;
        let scaled = width(indent, self.tab) * there;
        if !scaled.is_multiple_of(quoted) {
            return None;
        }
        let columns = usize::try_from((scaled / quoted).cast_signed() + self.shift).ok()?;
        if !self.tabs {
            return Some(vec![b' '; columns]);
        }
        let mut out = vec![b'\t'; columns / self.tab];
        out.resize(out.len() + columns % self.tab, b' ');
        Some(out)
    }
}

fn width(indent: &[u8], tab: usize) -> usize {
    indent.iter().fold(0, |at, byte| if *byte == b'\t' { (at / tab + 1) * tab } else { at + 1 })
}
