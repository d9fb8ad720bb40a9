//! What a search found: the first hits in order of path, however the files came in, and a count of all.

use std::collections::BTreeMap;

use tandem_shared::tool::ReadLimits;

/// Collects from several threads what is then shown in order. Holds no more than it will show.
#[derive(Debug)]
pub(crate) struct Hits {
    limit: usize,
    kept: BTreeMap<String, Vec<String>>,
    kept_count: usize,
    total: usize,
    files: usize,
}

impl Hits {
    pub(crate) fn new(limits: &ReadLimits) -> Hits {
        Hits { limit: limits.matches, kept: BTreeMap::new(), kept_count: 0, total: 0, files: 0 }
    }

    /// Hits of all files.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// Adds the hits of one file in order of line: the first of them as text, and how many there are in all.
    pub(crate) fn add(&mut self, path: String, lines: Vec<String>, count: usize) {
        self.total += count;
        self.files += 1;
        let comes_too_late = self.kept_count >= self.limit
            && self.kept.last_key_value().is_some_and(|(last, _)| last.as_str() < path.as_str());
        if comes_too_late {
            return;
        }
        self.kept_count += lines.len();
        self.kept.insert(path, lines);
        while let Some(last) = self.kept.last_entry() {
            if self.kept_count - last.get().len() < self.limit {
                break;
            }
            self.kept_count -= last.remove().len();
        }
    }

    /// `path:hit` lines by path, as many as the limits allow; the last line says what was left out.
    pub(crate) fn render(&self, noun: &str, limits: &ReadLimits) -> String {
        let in_files = if self.files == 1 { "1 file".to_owned() } else { format!("{} files", self.files) };
        let mut text = String::new();
        let mut shown = 0;
        let mut chars = 0;
        let lines = self.kept.iter().flat_map(|(path, lines)| lines.iter().map(move |line| (path, line)));
        for (path, line) in lines.take(self.limit) {
            chars += path.chars().count() + line.chars().count() + 2;
            // One hit always goes through.
            if chars > limits.match_chars && shown > 0 {
                break;
            }
            text.push_str(&format!("{path}:{line}\n"));
            shown += 1;
        }
        let plural = if self.total == 1 { noun.to_owned() } else { format!("{noun}es") };
        if shown < self.total {
            text.push_str(&format!(
                "[{shown} of {} {plural} in {in_files} shown, {} more left out; narrow it by path or pattern]",
                self.total,
                self.total - shown
            ));
        } else {
            text.push_str(&format!("[{} {plural} in {in_files}]", self.total));
        }
        text
    }
}

/// `text` cut to about `width` characters around the bytes from `start` to `end`, with `…` where something was cut.
pub(crate) fn cut_around(text: &str, start: usize, end: usize, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_owned();
    }
    let before = text.get(..start).map_or(0, |head| head.chars().count());
    let hit = text.get(start..end).map_or(0, |hit| hit.chars().count());
    // The hit in the middle, moved so that no width is lost at either end.
    let lead = width.saturating_sub(hit) / 2;
    let first = before.saturating_sub(lead).min(count - width);
    let middle: String = text.chars().skip(first).take(width).collect();
    let (open, close) = (if first > 0 { "…" } else { "" }, if first + width < count { "…" } else { "" });
    format!("{open}{middle}{close}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn limits(matches: usize, match_chars: usize) -> ReadLimits {
        ReadLimits { read_lines: 1, read_bytes: 1, line_chars: 1, file_bytes: 1, matches, match_chars }
    }

    fn collect(files: &[(String, usize)], limits: &ReadLimits) -> String {
        let mut hits = Hits::new(limits);
        for (path, count) in files {
            let lines = (1..=*count).take(limits.matches).map(|line| format!("{line}: x")).collect();
            hits.add(path.clone(), lines, *count);
        }
        hits.render("match", limits)
    }

    #[test]
    fn the_first_hits_by_path_are_shown_and_the_rest_counted() {
        let files = [("b".to_owned(), 2), ("c".to_owned(), 5), ("a".to_owned(), 1)];
        assert_eq!(
            collect(&files, &limits(4, 1000)),
            "a:1: x\nb:1: x\nb:2: x\nc:1: x\n[4 of 8 matches in 3 files shown, 4 more left out; narrow it by path or pattern]"
        );
        assert_eq!(
            collect(&files, &limits(100, 20)),
            "a:1: x\nb:1: x\n[2 of 8 matches in 3 files shown, 6 more left out; narrow it by path or pattern]"
        );
        assert_eq!(collect(&files[2..], &limits(4, 1000)), "a:1: x\n[1 match in 1 file]");
    }

    #[test]
    fn a_long_line_is_cut_around_the_hit() {
        let check = |start, end, expect: &str| assert_eq!(cut_around("0123456789", start, end, 4), expect);
        check(5, 6, "…4567…");
        check(0, 1, "0123…");
        check(9, 10, "…6789");
        check(2, 9, "…2345…");
        assert_eq!(cut_around("0123", 1, 2, 4), "0123");
        assert_eq!(cut_around("ééééXéééé", 8, 9, 3), "…éXé…");
    }

    proptest! {
        #[test]
        fn the_answer_does_not_depend_on_the_order_of_files(
            counts in proptest::collection::vec(1_usize..6, 1..12),
            limit in 1_usize..12,
            turn in 0_usize..12,
        ) {
            let mut files: Vec<_> = counts.iter().enumerate().map(|(n, c)| (format!("{n:02}"), *c)).collect();
            let ordered = collect(&files, &limits(limit, 10_000));
            let by = turn % files.len();
            files.rotate_left(by);
            prop_assert_eq!(&collect(&files, &limits(limit, 10_000)), &ordered);
            files.reverse();
            prop_assert_eq!(&collect(&files, &limits(limit, 10_000)), &ordered);
        }
    }
}
