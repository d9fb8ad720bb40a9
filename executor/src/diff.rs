//! A unified diff of two contents, and where and how much they differ.

use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices};

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

/// The change from `before` (`None`: no file) to `after`.
pub fn of(path: &str, before: Option<&[u8]>, after: &[u8]) -> Change {
    let old: Vec<&[u8]> = before.unwrap_or_default().split_inclusive(|&byte| byte == b'\n').collect();
    let new: Vec<&[u8]> = after.split_inclusive(|&byte| byte == b'\n').collect();
    let ops = operations(&old, &new);
    let mut change = Change { lines: (0, 0), added: 0, removed: 0, text: String::new() };
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let (old, new) = (op.old_range(), op.new_range());
        change.removed += old.len();
        change.added += new.len();
        let first = new.start + 1;
        if change.lines.0 == 0 {
            change.lines.0 = first;
        }
        change.lines.1 = new.end.max(first);
    }
    let from = if before.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
    change.text = format!("--- {from}\n+++ b/{path}\n");
    for hunk in similar::group_diff_ops(ops, CONTEXT) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let range = |start: usize, end: usize| match end - start {
            0 => format!("{start},0"),
            1 => format!("{}", start + 1),
            count => format!("{},{count}", start + 1),
        };
        change.text.push_str(&format!(
            "@@ -{} +{} @@\n",
            range(first.old_range().start, last.old_range().end),
            range(first.new_range().start, last.new_range().end)
        ));
        for line in hunk.iter().flat_map(|op| op.iter_changes(&old, &new)) {
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
    use super::*;

    #[test]
    fn a_diff_shows_hunks_counts_and_lines() {
        let change = of("a", Some(b"1\n2\n3\n4\n5\n6\n7\n"), b"1\n2\n3\n4\nfive\n6\n7");
        let text = "--- a/a\n+++ b/a\n@@ -2,6 +2,6 @@\n 2\n 3\n 4\n-5\n+five\n 6\n-7\n+7\n\\ No newline at end of file\n";
        assert_eq!(change, Change { lines: (5, 7), added: 2, removed: 2, text: text.to_owned() });
    }

    #[test]
    fn a_new_file_and_a_deletion_have_places() {
        let text = "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n".to_owned();
        assert_eq!(of("n", None, b"x\n"), Change { lines: (1, 1), added: 1, removed: 0, text });
        let text = "--- a/n\n+++ b/n\n@@ -1,2 +1 @@\n x\n-y\n".to_owned();
        assert_eq!(of("n", Some(b"x\ny\n"), b"x\n"), Change { lines: (2, 2), added: 0, removed: 1, text });
    }

    #[test]
    fn a_change_too_large_to_compare_is_shown_as_a_whole() {
        let numbered = |mark: &str| (0..9_000).map(|n| format!("{mark}{n}\n")).collect::<String>();
        let before = format!("head\n{}tail\n", numbered("a"));
        let after = format!("head\n{}tail\n", numbered("b"));
        let change = of("n", Some(before.as_bytes()), after.as_bytes());
        assert_eq!((change.lines, change.added, change.removed), ((2, 9_001), 9_000, 9_000));
        assert!(change.text.starts_with("--- a/n\n+++ b/n\n@@ -1,9002 +1,9002 @@\n head\n-a0\n-a1\n"));
        assert!(change.text.ends_with("(the rest of the diff is left out)\n"));
    }
}
