//! The region of a file that is nearest to a text, and how they differ word by word.

use std::collections::BTreeSet;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Lines of a file that are searched for a near region; a hint is not worth more.
const MAX_LINES: usize = 200_000;

/// Lines of a file that are compared one by one when no line of the wanted text stands in it.
const MAX_LIKENED: usize = 5_000;

/// Lines of the nearest region that are shown.
const MAX_SHOWN: usize = 30;

/// Lines of which the difference is told word by word.
const MAX_DIFFERING: usize = 10;

/// Pairs of lines that are compared to align two texts; more would take noticeable time.
const MAX_PAIRS: usize = 4_000_000;

/// The region of `file` that is nearest to `wanted`, each line with its number, and then how its lines differ from the
/// wanted ones; `None` when nothing is near.
pub fn region(file: &str, wanted: &str) -> Option<String> {
    let lines: Vec<&str> = file.lines().take(MAX_LINES).collect();
    let wanted: Vec<&str> = wanted.lines().collect();
    let trimmed: Vec<&str> = wanted.iter().map(|line| line.trim()).collect();
    let start = by_aligned_lines(&lines, &trimmed)
        .or_else(|| by_equal_lines(&lines, &trimmed))
        .or_else(|| by_likeness(&lines, &trimmed))?;
    let there = lines.iter().enumerate().skip(start).take(wanted.len().clamp(1, MAX_SHOWN));
    let mut text: String =
        there.clone().map(|(at, line)| format!("{:>6}  {}\n", at + 1, cut(line))).collect();
    let differing: Vec<String> = there
        .zip(&wanted)
        .filter(|((_, there), wanted)| there != wanted)
        .filter_map(|((at, there), wanted)| Some(format!("{:>6}  {}\n", at + 1, words(wanted, there)?)))
        .take(MAX_DIFFERING)
        .collect();
    if !differing.is_empty() {
        text.push_str("Word by word, with [-what only the old text has-] and {+what only the file has+}:\n");
        text.extend(differing);
    }
    Some(text)
}

/// How two lines differ, word by word; `None` if they have too little in common to be compared.
fn words(wanted: &str, there: &str) -> Option<String> {
    if wanted.len().max(there.len()) > 400 {
        return None;
    }
    let (old, new) = (tokens(wanted), tokens(there));
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let all: usize = old.iter().chain(&new).map(|token| token.trim().len()).sum();
    let equal: usize = ops
        .iter()
        .filter(|op| matches!(op, DiffOp::Equal { .. }))
        .flat_map(|op| old.get(op.old_range()).unwrap_or_default())
        .map(|token| token.trim().len() * 2)
        .sum();
    if equal * 3 < all {
        return None;
    }
    let mut text = String::new();
    for op in ops {
        let (old, new) =
            (old.get(op.old_range()).unwrap_or_default(), new.get(op.new_range()).unwrap_or_default());
        if matches!(op, DiffOp::Equal { .. }) {
            text.push_str(&old.concat());
            continue;
        }
        if !old.is_empty() {
            text.push_str(&format!("[-{}-]", visible(&old.concat())));
        }
        if !new.is_empty() {
            text.push_str(&format!("{{+{}+}}", visible(&new.concat())));
        }
    }
    Some(text)
}

/// Tabs, hard spaces and carriage returns look like what they are not.
fn visible(text: &str) -> String {
    text.replace('\t', "\\t").replace('\r', "\\r").replace('\u{a0}', "\\u{a0}")
}

/// A line in words, runs of spaces, and single other characters.
fn tokens(line: &str) -> Vec<&str> {
    let kind = |char: char| match char {
        '_' => 1,
        char if char.is_alphanumeric() => 1,
        ' ' | '\t' => 2,
        _ => 0,
    };
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, char) in line.char_indices() {
        let now = kind(char);
        if before.is_some_and(|before| before != now || now == 0) {
            tokens.push(line.get(start..at).unwrap_or_default());
            start = at;
        }
        before = Some(now);
    }
    tokens.push(line.get(start..).unwrap_or_default());
    tokens
}

/// The window with the most lines equal to those at the same place of the wanted text, white space at both ends aside.
/// A line of substance counts for more than a bracket.
fn by_aligned_lines(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    if lines.len().saturating_mul(wanted.len()) > MAX_PAIRS {
        return None;
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    let weight = |line: &str| if line.len() > 2 { 10 } else { 1 };
    let score = |start: usize| -> usize {
        let there = lines.iter().skip(start);
        there.zip(wanted).filter(|(there, wanted)| there == wanted).map(|(line, _)| weight(line)).sum()
    };
    let (start, best) =
        (0..lines.len()).map(|start| (start, score(start))).rev().max_by_key(|(_, score)| *score)?;
    (best >= 10).then_some(start)
}

/// The window with the most lines in common, in any order, white space at both ends aside.
fn by_equal_lines(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let known: BTreeSet<&str> = wanted.iter().copied().filter(|line| line.len() > 2).collect();
    let hits: Vec<usize> = lines.iter().map(|line| usize::from(known.contains(line.trim()))).collect();
    let width = wanted.len().max(1);
    let mut count: usize = hits.iter().take(width).sum();
    let (mut best, mut start) = (count, 0);
    for at in 1..(hits.len() + 1).saturating_sub(width) {
        count = count - hits.get(at - 1)? + hits.get(at + width - 1)?;
        if count > best {
            (best, start) = (count, at);
        }
    }
    (best > 0).then_some(start)
}

/// The line that is most like the first line of substance.
fn by_likeness(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let (offset, first) = wanted.iter().enumerate().find(|(_, line)| line.len() > 2)?;
    let alike = |line: &str| {
        let line = line.trim();
        // Lengths alone bound the likeness, and the time to tell it grows with the square of them.
        let (short, long) = (line.len().min(first.len()), line.len().max(first.len()));
        if short * 2 < long || long > 200 { 0.0 } else { strsim::normalized_levenshtein(line, first) }
    };
    let (at, likeness) = lines
        .iter()
        .take(MAX_LIKENED)
        .enumerate()
        .map(|(at, line)| (at, alike(line)))
        .max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(&a.0)))?;
    (likeness > 0.6).then(|| at.saturating_sub(offset))
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY_WORD: &str =
        "Word by word, with [-what only the old text has-] and {+what only the file has+}:\n";

    #[test]
    fn the_nearest_region_has_line_numbers_and_its_differences() {
        let file = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n";
        assert_eq!(
            region(file, "fn b() {\n    too();\n}"),
            Some(format!(
                "     5  fn b() {{\n     6      two();\n     7  }}\n{BY_WORD}     6      [-too-]{{+two+}}();\n"
            ))
        );
        assert_eq!(
            region(file, "    two( );"),
            Some(format!("     6      two();\n{BY_WORD}     6      two([- -]);\n"))
        );
        assert_eq!(region(file, "something else entirely"), None);
        assert_eq!(region("", "x"), None);
    }

    #[test]
    fn white_space_that_differs_can_be_seen() {
        assert_eq!(words("  a b", "\ta b").as_deref(), Some("[-  -]{+\\t+}a b"));
        assert_eq!(words("a b", "a\u{a0}b").as_deref(), Some("a[- -]{+\\u{a0}+}b"));
        assert_eq!(words("nothing alike", "other words here"), None);
    }
}
