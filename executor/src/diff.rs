//! A unified diff of two contents, and where and how much they differ.

use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices};

use crate::file;

/// What changed between two contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// First and last changed line of the new content, counted from 1; for a pure deletion, the line it stood before.
    pub lines: (usize, usize),
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
    /// Unified diff; bytes that are not UTF-8 are shown as U+FFFD.
    pub text: String,
}

/// Lines around a change.
const CONTEXT: usize = 3;

/// Bytes of a diff that are kept: a log holds many, and nobody reads more.
const MAX_BYTES: usize = 64 * 1024;

/// The change from `before` to `after`, where `None` is no file.
pub fn of(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> Change {
    let region = Region::of(before.unwrap_or_default(), after.unwrap_or_default());
    let Region { old, new, skipped } = &region;
    let ops = operations(old, new);
    let mut change = Change { lines: (0, 0), added: 0, removed: 0, text: String::new() };
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let (old, new) = (op.old_range(), op.new_range());
        change.removed += old.len();
        change.added += new.len();
        let first = skipped + new.start + 1;
        if change.lines.0 == 0 {
            change.lines.0 = first;
        }
        change.lines.1 = (skipped + new.end).max(first);
    }
    let side = |mark: char, content: Option<&[u8]>| match content {
        Some(_) => format!("{mark}/{path}"),
        None => "/dev/null".to_owned(),
    };
    change.text = format!("--- {}\n+++ {}\n", side('a', before), side('b', after));
    if [before, after].into_iter().flatten().any(file::is_binary) {
        change.text.push_str("(binary content)\n");
        return change;
    }
    for hunk in similar::group_diff_ops(ops, CONTEXT) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let range = |start: usize, end: usize| match end - start {
            0 => format!("{},0", skipped + start),
            1 => format!("{}", skipped + start + 1),
            count => format!("{},{count}", skipped + start + 1),
        };
        change.text.push_str(&format!(
            "@@ -{} +{} @@\n",
            range(first.old_range().start, last.old_range().end),
            range(first.new_range().start, last.new_range().end)
        ));
        for line in hunk.iter().flat_map(|op| op.iter_changes(old, new)) {
            if change.text.len() > MAX_BYTES {
                change.text.push_str("(the rest of the diff is left out)\n");
                return change;
            }
            change.text.push(match line.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            });
            change.text.push_str(&String::from_utf8_lossy(line.value()));
            if !line.value().ends_with(b"\n") {
                change.text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    change
}

/// The lines in which two contents differ, with some around them: a small change of a large file is small work.
struct Region<'a> {
    old: Vec<&'a [u8]>,
    new: Vec<&'a [u8]>,
    /// Lines before it.
    skipped: usize,
}

impl<'a> Region<'a> {
    fn of(old: &'a [u8], new: &'a [u8]) -> Region<'a> {
        let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let start = (0..=CONTEXT).fold(head, |at, _| {
            let before = old.get(..at.saturating_sub(1)).unwrap_or_default();
            before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1)
        });
        let (old_rest, new_rest) =
            (old.get(start..).unwrap_or_default(), new.get(start..).unwrap_or_default());
        let most = old_rest.len().min(new_rest.len());
        let tail =
            old_rest.iter().rev().zip(new_rest.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        // The tail begins behind a newline, some lines further on.
        let shared = old_rest.get(old_rest.len() - tail..).unwrap_or_default();
        let mut end = 0;
        for _ in 0..=CONTEXT {
            let rest = shared.get(end..).unwrap_or_default();
            end += rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |newline| newline + 1);
        }
        let cut = shared.len() - end;
        let lines = |rest: &'a [u8]| -> Vec<&'a [u8]> {
            let region = rest.get(..rest.len() - cut).unwrap_or_default();
            region.split_inclusive(|&byte| byte == b'\n').collect()
        };
        let skipped = old.get(..start).unwrap_or_default().iter().filter(|&&byte| byte == b'\n').count();
        Region { old: lines(old_rest), new: lines(new_rest), skipped }
    }
}

/// Lines between the shared head and tail up to which they are compared; the time grows with the square of them.
const MAX_COMPARED: usize = 8_000;

fn operations(old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let shorter = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(shorter).take_while(|(a, b)| a == b).count();
    let (old_len, new_len) = (old.len() - head - tail, new.len() - head - tail);
    if old_len + new_len <= MAX_COMPARED {
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let equal = |old_index, new_index, len| DiffOp::Equal { old_index, new_index, len };
    vec![
        equal(0, 0, head),
        DiffOp::Replace { old_index: head, old_len, new_index: head, new_len },
        equal(head + old_len, head + new_len, tail),
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_diff_shows_hunks_counts_and_lines() {
        let change = of("a", Some(b"1\n2\n3\n4\n5\n6\n7\n"), Some(b"1\n2\n3\n4\nfive\n6\n7"));
        let text = "--- a/a\n+++ b/a\n@@ -2,6 +2,6 @@\n 2\n 3\n 4\n-5\n+five\n 6\n-7\n+7\n\\ No newline at end of file\n";
        assert_eq!(change, Change { lines: (5, 7), added: 2, removed: 2, text: text.to_owned() });
    }

    #[test]
    fn a_new_file_and_a_deletion_have_places() {
        let text = "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n".to_owned();
        assert_eq!(of("n", None, Some(b"x\n")), Change { lines: (1, 1), added: 1, removed: 0, text });
        let text = "--- a/n\n+++ b/n\n@@ -1,2 +1 @@\n x\n-y\n".to_owned();
        assert_eq!(
            of("n", Some(b"x\ny\n"), Some(b"x\n")),
            Change { lines: (2, 2), added: 0, removed: 1, text }
        );
    }

    #[test]
    fn a_change_deep_in_a_file_has_its_line_numbers() {
        let before = (1..200).map(|n| format!("{n}\n")).collect::<String>();
        let after = before.replace("\n100\n", "\nC\n");
        let change = of("a", Some(before.as_bytes()), Some(after.as_bytes()));
        let text =
            "--- a/a\n+++ b/a\n@@ -97,7 +97,7 @@\n 97\n 98\n 99\n-100\n+C\n 101\n 102\n 103\n".to_owned();
        assert_eq!(change, Change { lines: (100, 100), added: 1, removed: 1, text });
    }

    #[test]
    fn what_goes_and_what_is_no_text_is_said() {
        assert_eq!(of("a", Some(b"x\n"), None).text, "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
        assert_eq!(of("a", Some(b"x\n"), Some(b"\0")).text, "--- a/a\n+++ b/a\n(binary content)\n");
    }

    proptest! {
        /// Looking only at the region of the change tells the same as looking at everything.
        #[test]
        fn a_region_tells_what_the_whole_tells(head in "[ab\n]{0,40}", old in "[ab\n]{0,9}", new in "[ab\n]{0,9}", tail in "[ab\n]{0,40}") {
            let (before, after) = (format!("{head}{old}{tail}"), format!("{head}{new}{tail}"));
            let change = of("a", Some(before.as_bytes()), Some(after.as_bytes()));
            let lines = |text: &str| text.split_inclusive('\n').count();
            prop_assert_eq!(lines(&before) + change.added, lines(&after) + change.removed);
            let shown = |mark: char| change.text.lines().skip(2).filter(|line| line.starts_with(mark)).count();
            prop_assert_eq!((shown('+'), shown('-')), (change.added, change.removed));
        }
    }

    #[test]
    fn a_change_too_large_to_compare_is_shown_as_a_whole() {
        let numbered = |mark: &str| (0..9_000).map(|n| format!("{mark}{n}\n")).collect::<String>();
        let before = format!("head\n{}tail\n", numbered("a"));
        let after = format!("head\n{}tail\n", numbered("b"));
        let change = of("n", Some(before.as_bytes()), Some(after.as_bytes()));
        assert_eq!((change.lines, change.added, change.removed), ((2, 9_001), 9_000, 9_000));
        assert!(change.text.starts_with("--- a/n\n+++ b/n\n@@ -1,9002 +1,9002 @@\n head\n-a0\n-a1\n"));
        assert!(change.text.ends_with("(the rest of the diff is left out)\n"));
    }
}
