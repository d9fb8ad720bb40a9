//! Patches as they are written, and what is read from them.

mod faults;
mod random;

use super::*;

fn check(text: &str, expect: &[FilePatch]) {
    assert_eq!(parse(text).as_deref(), Ok(expect), "{text}");
}

fn file(path: &str, act: Act) -> FilePatch {
    FilePatch { path: path.to_owned(), act }
}

fn update(path: &str, hunks: &[Hunk]) -> FilePatch {
    file(path, Act::Update { move_to: None, hunks: hunks.to_vec(), mode: None })
}

fn add(path: &str, content: &str) -> FilePatch {
    file(path, Act::Add { content: content.to_owned(), executable: false })
}

/// A hunk of a unified diff.
fn at(line: usize, old: &str, new: &str) -> Hunk {
    Hunk { near_line: Some(line), ..hunk(old, new) }
}

fn hunk(old: &str, new: &str) -> Hunk {
    Hunk { old: old.to_owned(), new: new.to_owned(), ..Hunk::default() }
}

fn below(section: &[&str], old: &str, new: &str) -> Hunk {
    Hunk { section: section.iter().map(|&line| line.to_owned()).collect(), ..hunk(old, new) }
}

#[test]
fn unified_hunks_have_places_and_both_sides() {
    check(
        "--- a/f\n+++ b/f\n@@ -2,2 +2,2 @@ fn x()\n a\n-b\n+c\n",
        &[update("f", &[at(2, "a\nb\n", "a\nc\n")])],
    );
    check(
        "--- f\t2020-01-01 00:00:00\n+++ f\t2020-01-02 00:00:00\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n",
        &[update("f", &[at(1, "a\n", "b\n"), at(9, "c\n", "d\n")])],
    );
    check(
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
        &[update("f", &[at(1, "a\n", "b\n")]), update("g", &[at(1, "a\n", "b\n")])],
    );
    // An insertion stands before a line.
    check("--- a/f\n+++ b/f\n@@ -5,0 +6 @@\n+a\n", &[update("f", &[at(6, "", "a\n")])]);
    check("--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", &[update("f", &[at(1, "", "a\n")])]);
}

#[test]
fn lines_are_trusted_and_counts_are_not() {
    for counts in ["-2,1 +2,9", "-2,9 +2,9", "-2 +2", "-2,0 +1,0"] {
        let text =
            format!("--- a/f\n+++ b/f\n@@ {counts} @@\n a\n-b\n+c\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n");
        let line = if counts.starts_with("-2,0") { 3 } else { 2 };
        check(&text, &[update("f", &[at(line, "a\nb\n", "a\nc\n")]), update("g", &[at(1, "a\n", "b\n")])]);
    }
    for header in ["@@ @@", "@@", "@@ ... @@"] {
        check(&format!("--- a/f\n+++ b/f\n{header}\n-b\n+c\n"), &[update("f", &[hunk("b\n", "c\n")])]);
    }
    check("--- a/f\n+++ b/f\n@@ fn x() @@\n-b\n+c\n", &[update("f", &[below(&["fn x()"], "b\n", "c\n")])]);
}

#[test]
fn a_line_may_look_like_a_header() {
    check("--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n--- a\n b\n", &[update("f", &[at(1, "-- a\nb\n", "b\n")])]);
    check("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+++ b\n", &[update("f", &[at(1, "a\n", "++ b\n")])]);
    check(
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n c\n",
        &[update("f", &[at(1, "-- a\nc\n", "++ b\nc\n")])],
    );
}

#[test]
fn a_missing_newline_is_said_of_a_side() {
    let told = "\\ No newline at end of file\n";
    let head = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n";
    check(&format!("{head}-a\n{told}+b\n"), &[update("f", &[at(1, "a", "b\n")])]);
    check(&format!("{head}-a\n+b\n{told}"), &[update("f", &[at(1, "a\n", "b")])]);
    check(&format!("{head}-a\n+b\n c\n{told}"), &[update("f", &[at(1, "a\nc", "b\nc")])]);
    check(&format!("{head}-a\n{told}+a\n"), &[update("f", &[at(1, "a", "a\n")])]);
}

#[test]
fn empty_context_lines_may_have_lost_their_space() {
    check(
        "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n\n",
        &[update("f", &[at(1, "a\n\nb\n", "a\n\nc\n")])],
    );
    check(
        "*** Begin Patch\n*** Update File: f\n@@\n a\n\n-b\n+c\n\n*** Add File: g\n+x\n\n+y\n\n*** End Patch\n",
        &[update("f", &[hunk("a\n\nb\n", "a\n\nc\n")]), add("g", "x\n\ny\n")],
    );
}

#[test]
fn line_ends_of_the_patch_are_not_those_of_the_content() {
    check(
        "--- a/f\r\n+++ b/f\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n",
        &[update("f", &[at(1, "a\nb\n", "a\nc\n")])],
    );
    check(
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n \r\n-b\r\n+c\r\n",
        &[update("f", &[at(1, "\r\nb\r\n", "\r\nc\r\n")])],
    );
    check("*** Begin Patch\r\n*** Add File: f\r\n+a\r\n*** End Patch\r\n", &[add("f", "a\n")]);
}

#[test]
fn files_come_and_go() {
    check("--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n", &[add("f", "a\nb\n")]);
    check("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", &[file("f", Act::Delete)]);
    check(
        "diff --git a/f b/f\nnew file mode 100755\nindex 0000000..1111111\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n",
        &[file("f", Act::Add { content: "a".to_owned(), executable: true })],
    );
    check(
        "diff --git a/a b b/a b\nnew file mode 100644\nindex 0..0\ndiff --git a/g b/g\ndeleted file mode 100644\nindex 0..0\n",
        &[add("a b", ""), file("g", Act::Delete)],
    );
}

#[test]
fn git_moves_files_and_changes_modes() {
    let moved = |hunks, mode| file("f", Act::Update { move_to: Some("d/g".to_owned()), hunks, mode });
    let head = "diff --git a/f b/d/g\nsimilarity index 90%\nrename from f\nrename to d/g\n";
    check(head, &[moved(Vec::new(), None)]);
    check(
        &format!("old mode 100644\nnew mode 100755\n{head}")
            .replacen("diff --git a/f b/d/g\n", "", 1)
            .replacen("old", "diff --git a/f b/d/g\nold", 1),
        &[moved(Vec::new(), Some(true))],
    );
    check(
        &format!("{head}index 1..2 100644\n--- a/f\n+++ b/d/g\n@@ -1 +1 @@\n-a\n+b\n"),
        &[moved(vec![at(1, "a\n", "b\n")], None)],
    );
    check(
        "diff --git a/f b/f\nold mode 100755\nnew mode 100644\n",
        &[file("f", Act::Update { move_to: None, hunks: Vec::new(), mode: Some(false) })],
    );
}

#[test]
fn names_may_be_quoted_and_prefixes_may_be_missing() {
    let body = "@@ -1 +1 @@\n-a\n+b\n";
    let hunks = [at(1, "a\n", "b\n")];
    for (old, new, path) in [
        ("a/f", "b/f", "f"),
        ("f", "f", "f"),
        ("a/f", "a/f", "a/f"),
        ("b/f", "b/f", "b/f"),
        ("a/f g\t", "b/f g\t", "f g"),
        (r#""a/n\303\244 \"q\" \\\t""#, r#""b/n\303\244 \"q\" \\\t""#, "nä \"q\" \\\t"),
    ] {
        check(&format!("--- {old}\n+++ {new}\n{body}"), &[update(path, &hunks)]);
    }
    for (names, path) in
        [("a/f b/f", "f"), ("a/x b/y b/x b/y", "x b/y"), (r#""a/\303\244" "b/\303\244""#, "ä")]
    {
        check(&format!("diff --git {names}\n{body}"), &[update(path, &hunks)]);
    }
}

#[test]
fn an_envelope_holds_many_files() {
    check(
        "*** Begin Patch\n*** Add File: a b\n+x\n+\n*** Delete File: d\n*** Update File: u\n*** Move to: v\n@@ class X\n@@ def y\n a\n-b\n+c\n@@\n+end\n*** End of File\n*** Update File: w\n-a\n+b\n*** End Patch",
        &[
            add("a b", "x\n\n"),
            file("d", Act::Delete),
            file(
                "u",
                Act::Update {
                    move_to: Some("v".to_owned()),
                    hunks: vec![
                        below(&["class X", "def y"], "a\nb\n", "a\nc\n"),
                        Hunk { at_end: true, ..hunk("", "end\n") },
                    ],
                    mode: None,
                },
            ),
            update("w", &[hunk("a\n", "b\n")]),
        ],
    );
    check("*** Begin Patch\n*** Add File: e\n*** End Patch\n", &[add("e", "")]);
    check(
        "*** Begin Patch\n*** Update File: f\n*** Move to: g\n*** End Patch\n",
        &[file("f", Act::Update { move_to: Some("g".to_owned()), hunks: Vec::new(), mode: None })],
    );
    check(
        "*** Begin Patch\n*** Update File: f\n@@ -4,2 +4,2 @@\n--- a\n+++ b\n*** End Patch\n",
        &[update("f", &[at(4, "-- a\n", "++ b\n")])],
    );
}

#[test]
fn comment_before_a_patch_and_a_fence_around_it_are_passed_over() {
    let hunks = [at(1, "a\n", "```\n")];
    check("Look:\n\n```diff\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+```\n```\n\n", &[update("f", &hunks)]);
    check("```\nx\n```\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+```\n", &[update("f", &hunks)]);
    check("```\n*** Begin Patch\n*** Add File: f\n+a\n*** End Patch\n", &[add("f", "a\n")]);
    check("~~~~\n*** Begin Patch\n*** Add File: f\n+a\n*** End Patch\n~~~~", &[add("f", "a\n")]);
}
