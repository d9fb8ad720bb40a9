//! Patches that cannot be read, and what is said of them.

use super::super::*;

fn check(text: &str, expect: &str) {
    assert_eq!(parse(text).map_err(|fault| fault.to_string()), Err(expect.to_owned()), "{text}");
}

/// In the body of an update of `f`, which begins in line 3.
fn check_hunk(body: &str, expect: &str) {
    check(&format!("--- a/f\n+++ b/f\n{body}"), expect);
}

#[test]
fn a_patch_names_a_file() {
    let expect = "The patch names no file. Begin with `--- a/PATH` and `+++ b/PATH` for a unified diff, or with `*** Begin \
                  Patch` and `*** Update File: PATH`.";
    for text in ["", "\n", "hello", "@@ -1 +1 @@\n-a\n+b\n", "*** Begin Patch\n*** End Patch\n", "--- a/f\n"]
    {
        check(text, expect);
    }
    let expect = "Line 1: no path can be read from `--- `. Write the path from the project root, unquoted.";
    check("--- \n+++ b/f\n", expect);
    let expect =
        "Line 1: no path can be read from `--- /dev/null`. Write the path from the project root, unquoted.";
    check("--- /dev/null\n+++ /dev/null\n@@\n-a\n", expect);
    let expect = "Line 2: no path can be read from `*** Delete File: `. Write the path from the project root, unquoted.";
    check("*** Begin Patch\n*** Delete File: \n*** End Patch\n", expect);
}

#[test]
fn a_patch_is_whole() {
    let expect = "Line 3: the patch ends here without `*** End Patch`, so a part of it may be missing. Send all of it again, \
                  and split it if it is long.";
    check("*** Begin Patch\n*** Add File: f\n+a", expect);
    let expect = "Line 5: the patch ends here without the closing ```, so a part of it may be missing. Send all of it \
                  again, and split it if it is long.";
    check("```\n--- a/f\n+++ b/f\n@@\n+b\n", expect);
    let expect = "Line 1: there is no `*** Begin Patch` before this line. Put it on a line of its own before the first file.";
    check("*** Update File: f\n@@\n-a\n+b\n*** End Patch\n", expect);
}

#[test]
fn every_line_has_a_meaning() {
    let unified = "A line of a hunk begins with a space, `-` or `+`, a hunk with `@@`, and a file with `--- a/PATH` and `+++ \
                   b/PATH`.";
    check_hunk("@@ -1 +1 @@\n-a\n+b\nc\n", &format!("Line 6: `c` has no meaning here. {unified}"));
    check_hunk("a\n", &format!("Line 3: `a` has no meaning here. {unified}"));
    let header = "A hunk begins with `@@ -LINE,COUNT +LINE,COUNT @@`, or with `@@` alone.";
    check_hunk("@@ -1,x +1 @@\n-a\n", &format!("Line 3: `@@ -1,x +1 @@` has no meaning here. {header}"));
    check_hunk("@@ -1 +1\n-a\n", &format!("Line 3: `@@ -1 +1` has no meaning here. {header}"));
    let expect = "Line 6: `-b` has no meaning here. Nothing of a file can follow a line of it that has no newline at its end.";
    check_hunk("@@ @@\n-a\n\\ No newline at end of file\n-b\n", expect);

    let hunk = "A line of a hunk begins with a space, `-` or `+`, and a hunk with `@@`.";
    let file = "A file begins with `*** Add File: PATH`, `*** Delete File: PATH` or `*** Update File: PATH`, and the patch \
                ends with `*** End Patch`.";
    for (body, expect) in [
        ("*** Update File: f\n@@\n-a\nb\n", format!("Line 5: `b` has no meaning here. {hunk}")),
        ("*** Update File: f\nb\n", format!("Line 3: `b` has no meaning here. {hunk}")),
        ("*** Add File: f\nb\n", "Line 3: `b` has no meaning here. Every line of a new file begins with `+`.".to_owned()),
        ("*** Rename File: f\n", format!("Line 2: `*** Rename File: f` has no meaning here. {file}")),
        ("*** Delete File: f\n-a\n", format!("Line 3: `-a` has no meaning here. {file}")),
        (
            "*** End Patch\nb\n",
            "Line 3: `b` has no meaning here. Nothing may follow `*** End Patch`: put all files into one patch.".to_owned(),
        ),
    ] {
        check(&format!("*** Begin Patch\n{body}*** End Patch\n"), &expect);
    }
    let expect = "Line 7: `Done.` has no meaning here. Nothing may follow the fence around the patch: send one patch, without comment.";
    check("```\n--- a/f\n+++ b/f\n@@\n+b\n```\nDone.\n", expect);
}

#[test]
fn something_is_to_be_done() {
    let expect = "Line 4: the hunk changes nothing. Begin removed lines with `-` and added lines with `+`.";
    check_hunk("@@ -1 +1 @@\n a\n", expect);
    check_hunk("@@ -1 +1 @@\n", expect);
    check_hunk("", "Line 1: nothing is to be done with f. Give it a hunk, or leave it out.");
    let expect = "Line 2: nothing is to be done with f. Give it a hunk, or leave it out.";
    check("*** Begin Patch\n*** Update File: f\n*** End Patch\n", expect);
}

#[test]
fn a_file_is_named_once_and_by_one_path() {
    let expect =
        "Line 4: f was named before. Put all that is to be done with a file into one part of the patch.";
    check(
        "*** Begin Patch\n*** Add File: f\n+a\n*** Delete File: ./f\n*** End Patch\n",
        &expect.replace("f was", "./f was"),
    );
    check_hunk("@@\n-a\n--- a/f\n+++ b/f\n@@\n-a\n", &expect.replace("Line 4", "Line 5"));
    let expect = "Line 1: the old path is f and the new one is g. Use the same path in both; to move a file, write `diff --git \
                  a/OLD b/NEW`, `rename from OLD` and `rename to NEW` first.";
    check("--- a/f\n+++ b/g\n@@\n-a\n", expect);
    let expect = expect.replace("is f and", "is /dev/null and").replace("one is g", "one is h");
    check("diff --git a/f b/g\nrename from f\nrename to g\n--- /dev/null\n+++ b/h\n", &expect);
}

#[test]
fn new_and_deleted_files_have_one_side() {
    let expect = "Line 1: f is a new file, so every line of its hunks must begin with `+`.";
    check("--- /dev/null\n+++ b/f\n@@\n+a\n b\n", expect);
    let expect = "Line 1: f is deleted, so every line of its hunks must begin with `-`.";
    check("--- a/f\n+++ /dev/null\n@@\n-a\n b\n", expect);
}

#[test]
fn what_a_patch_cannot_do_is_said() {
    let git = |headers: &str| format!("diff --git a/f b/g\n{headers}");
    let expect = "Line 3: a copy cannot be patched. Add the new file with its whole content.";
    check(&git("similarity index 100%\ncopy from f\ncopy to g\n"), expect);
    let expect = "Line 3: a binary file cannot be patched. Leave it out, or make it with a command.";
    check(&git("index 1..2\nBinary files a/f and b/g differ\n"), expect);
    check(&git("index 1..2\nGIT binary patch\nliteral 1\nx\n"), expect);
    let expect = "Line 2: anything but a regular file of mode 100644 or 100755 cannot be patched. Make it with a command.";
    check(&git("new file mode 120000\n"), expect);
    let expect =
        "Line 3: the diff of a merge cannot be patched. Write a diff between two states of the file.";
    check_hunk("@@@ -1 -1 +1 @@@\n--a\n", expect);
}
