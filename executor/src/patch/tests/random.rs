//! Whatever is written, and every diff of our own.

use proptest::prelude::*;

use super::super::*;
use crate::diff;

/// Puts each hunk exactly where it says it belongs.
fn apply(before: &str, hunks: &[Hunk]) -> Option<String> {
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    let (mut after, mut at) = (String::new(), 0);
    for hunk in hunks {
        let start = hunk.near_line? - 1;
        let count = hunk.old.split_inclusive('\n').count();
        if lines.get(start..start + count)?.concat() != hunk.old {
            return None;
        }
        after += &lines.get(at..start)?.concat();
        after += &hunk.new;
        at = start + count;
    }
    after.push_str(&lines.get(at..)?.concat());
    Some(after)
}

/// A text of few different lines, so that many of two texts are equal.
fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "a\n",
        "b\n",
        "\n",
        "a\r\n",
        "-- x\n",
        "++y\n",
        "\\ z\n",
        " \n",
        "@@ -1 +1 @@\n",
        "*** End Patch\n",
        "```\n",
        "ä\n",
    ]);
    let last = prop::sample::select(vec!["", "end", "\r", "-"]);
    (prop::collection::vec(line, 0..30), last).prop_map(|(lines, last)| lines.concat() + last)
}

fn patch() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "*** Begin Patch\n",
        "*** End Patch\n",
        "*** Add File: f\n",
        "*** Update File: g\n",
        "*** Delete File: ä\n",
        "*** Move to: h\n",
        "*** End of File\n",
        "*** ",
        "@@",
        "@@ -1,2 +3 @@\n",
        "@@ x\n",
        "--- a/f\n",
        "+++ b/f\n",
        "--- \"a/\\303",
        "\"\n",
        "+++ /dev/null\n",
        "diff --git ",
        "a/x b/x\n",
        "\"a/\\\"",
        "rename from f\n",
        "rename to g\n",
        "new file mode 100755\n",
        "old mode ",
        "\\ No newline at end of file\n",
        "+a\n",
        "-b\n",
        " c\n",
        "\n",
        "\r\n",
        "```",
        "ä",
        "\t",
        "-",
        "+",
    ]);
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nothing_written_is_a_surprise(text in ".*", pieces in patch()) {
        let _ = parse(&text);
        for patch in parse(&pieces).unwrap_or_default() {
            prop_assert!(patch.paths().all(|path| !path.is_empty()));
        }
    }

    #[test]
    fn a_diff_of_our_own_leads_from_before_to_after(before in text(), after in text()) {
        prop_assume!(before != after);
        let diff = diff::of("d/f", Some(before.as_bytes()), Some(after.as_bytes())).text;
        let patches = parse(&diff);
        let Ok([FilePatch { path, act: Act::Update { move_to: None, hunks, mode: None } }]) = patches.as_deref() else {
            panic!("{patches:?}\n{diff}");
        };
        prop_assert_eq!(path, "d/f");
        let applied = apply(&before, hunks);
        prop_assert_eq!(applied.as_deref(), Some(after.as_str()), "{}", diff);
    }

    #[test]
    fn a_new_file_of_our_own_is_added(after in text()) {
        let diff = diff::of("f", None, Some(after.as_bytes())).text;
        let expect = FilePatch { path: "f".to_owned(), act: Act::Add { content: after, executable: false } };
        prop_assert_eq!(parse(&diff), Ok(vec![expect]));
    }
}
