//! What was probably meant: near file names, and the region of a file that is nearest to a text.

use std::collections::BTreeSet;
use std::path::Path;

use tandem_shared::workspace::slashed;

/// Entries of the tree that are looked at for a near name; a hint is not worth more.
const MAX_ENTRIES: usize = 20_000;

/// Folders that hold no files a person would name.
const SKIPPED: &[&str] = &[".git", "target", "node_modules", ".venv", "__pycache__", ".tandem"];

/// Up to three existing files whose names are near `wanted`, nearest first, relative to `root`.
pub fn paths(root: &Path, wanted: &str) -> Vec<String> {
    let name = wanted.rsplit('/').next().unwrap_or(wanted);
    let mut near: Vec<(f64, String)> = Vec::new();
    let mut folders = vec![root.to_owned()];
    let mut left = MAX_ENTRIES;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            left = left.saturating_sub(1);
            if left == 0 {
                folders.clear();
                break;
            }
            let entry_name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                if !SKIPPED.contains(&entry_name.as_str()) {
                    folders.push(entry.path());
                }
                continue;
            }
            let by_name = strsim::jaro_winkler(name, &entry_name);
            if by_name < 0.85 {
                continue;
            }
            let Ok(relative) = entry.path().strip_prefix(root).map(slashed) else { continue };
            near.push((by_name + strsim::normalized_levenshtein(wanted, &relative), relative));
        }
    }
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    near.into_iter().take(3).map(|(_, path)| path).collect()
}

/// Lines of a file that are compared one by one when no line of the wanted text stands in it.
const MAX_COMPARED: usize = 5_000;

/// Lines of the nearest region that are shown.
const MAX_SHOWN: usize = 30;

/// The region of `file` that is nearest to `wanted`, each line with its number; `None` when nothing is near.
pub fn region(file: &str, wanted: &str) -> Option<String> {
    let lines: Vec<&str> = file.lines().collect();
    let wanted: Vec<&str> = wanted.lines().map(str::trim).collect();
    let start = by_aligned_lines(&lines, &wanted)
        .or_else(|| by_equal_lines(&lines, &wanted))
        .or_else(|| by_likeness(&lines, &wanted))?;
    let shown = lines.iter().enumerate().skip(start).take(wanted.len().clamp(1, MAX_SHOWN));
    Some(shown.map(|(at, line)| format!("{:>6}  {}\n", at + 1, cut(line))).collect())
}

/// Pairs of lines that are compared to align two texts; more would take noticeable time.
const MAX_PAIRS: usize = 4_000_000;

/// The window with the most lines equal to those at the same place of the wanted text, white space at both ends aside.
/// A line of substance counts for more than a bracket.
fn by_aligned_lines(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    if lines.len().saturating_mul(wanted.len()) > MAX_PAIRS {
        return None;
    }
    let weight = |line: &str| if line.len() > 2 { 10 } else { 1 };
    let score = |start: usize| -> usize {
        let there = lines.iter().skip(start).map(|line| line.trim());
        there.zip(wanted).filter(|(there, wanted)| there == *wanted).map(|(line, _)| weight(line)).sum()
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
        .take(MAX_COMPARED)
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

    #[test]
    fn the_nearest_region_has_line_numbers() {
        let file = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n";
        assert_eq!(
            region(file, "fn b() {\n  too();\n}"),
            Some("     5  fn b() {\n     6      two();\n     7  }\n".into())
        );
        assert_eq!(region(file, "    two( );"), Some("     6      two();\n".into()));
        assert_eq!(region(file, "something else entirely"), None);
        assert_eq!(region("", "x"), None);
    }

    #[test]
    fn near_names_are_found_in_other_folders() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("src/deep")).unwrap();
        std::fs::write(root.path().join("src/deep/parser.rs"), "").unwrap();
        std::fs::write(root.path().join("src/other.md"), "").unwrap();
        assert_eq!(paths(root.path(), "src/parsers.rs"), ["src/deep/parser.rs"]);
    }
}
