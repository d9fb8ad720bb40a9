//! `apply_patch` on real files: several files, all or none.

use std::os::unix::fs::PermissionsExt;

use super::*;

async fn patched(room: &Room, patch: &str) -> Outcome {
    room.run("apply_patch", json!({ "patch": patch })).await
}

fn room() -> Room {
    let room = Room::new(Approval::Auto, None);
    room.put("a.txt", "one\ntwo\nthree\n");
    room.put("b.txt", "x\r\ny\r\nz");
    room.put("old.txt", "going\n");
    room
}

#[tokio::test]
async fn a_unified_diff_changes_adds_deletes_and_moves() {
    let room = room();
    let patch = "\
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,4 @@
 one
-two
+zwei
+drei
 three
diff --git a/b.txt b/moved/b.txt
rename from b.txt
rename to moved/b.txt
--- a/b.txt
+++ b/moved/b.txt
@@ -1,3 +1,3 @@
 x
-y
+why
 z
diff --git a/run.sh b/run.sh
new file mode 100755
--- /dev/null
+++ b/run.sh
@@ -0,0 +1 @@
+echo hi
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-going
";
    let outcome = patched(&room, patch).await;
    assert_eq!(kind(&outcome), "ok", "{outcome:?}");
    assert_eq!(room.names(), ["a.txt", "moved", "run.sh"]);
    assert_eq!(room.bytes("a.txt"), b"one\nzwei\ndrei\nthree\n");
    assert_eq!(room.bytes("moved/b.txt"), b"x\r\nwhy\r\nz", "line ends and the missing last newline stay");
    assert_ne!(std::fs::metadata(room.path("run.sh")).unwrap().permissions().mode() & 0o100, 0);
    let passes: Vec<&str> = outcome
        .artifacts()
        .iter()
        .map(|artifact| match artifact {
            Artifact::Wrote(receipt) => receipt.pass.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(passes, ["patched", "patched", "moved", "created", "deleted"]);
}

#[tokio::test]
async fn an_envelope_finds_its_place_by_sections_and_order() {
    let room = Room::new(Approval::Auto, None);
    room.put(
        "m.py",
        "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n",
    );
    let patch = "\
*** Begin Patch
*** Update File: m.py
@@ class B:
     def f(self):
-        return 1
+        return 2
*** Add File: n.py
+x = 1
*** End Patch
";
    let outcome = patched(&room, patch).await;
    assert_eq!(kind(&outcome), "ok", "{outcome:?}");
    let text =
        "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 2\n";
    assert_eq!(String::from_utf8(room.bytes("m.py")).unwrap(), text);
    assert_eq!(room.bytes("n.py"), b"x = 1\n");
}

#[tokio::test]
async fn lines_are_added_where_the_numbers_or_the_end_say() {
    let room = room();
    let outcome = patched(&room, "--- a/a.txt\n+++ b/a.txt\n@@ -1,0 +2 @@\n+one and a half\n").await;
    assert_eq!(kind(&outcome), "ok", "{outcome:?}");
    assert_eq!(room.bytes("a.txt"), b"one\none and a half\ntwo\nthree\n");
    let end = "*** Begin Patch\n*** Update File: b.txt\n@@\n+end\n*** End of File\n*** End Patch\n";
    assert_eq!(kind(&patched(&room, end).await), "ok");
    assert_eq!(room.bytes("b.txt"), b"x\r\ny\r\nz\r\nend\r\n", "in the file's own line ends");
    let nowhere = "*** Begin Patch\n*** Update File: a.txt\n@@\n+where\n*** End Patch\n";
    assert_eq!(kind(&patched(&room, nowhere).await), "Ambiguous");
}

#[tokio::test]
async fn a_patch_that_fits_in_part_changes_nothing() {
    let room = room();
    let before = (room.names(), room.bytes("a.txt"));
    let hunk = "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n";
    let cases = [
        (
            format!("--- a/a.txt\n+++ b/a.txt\n{hunk}@@ -9 +9 @@\n-nine\n+neun\n"),
            "TextNotFound",
            "Hunk 2 of 2",
        ),
        (
            format!("--- a/a.txt\n+++ b/a.txt\n{hunk}--- a/none.txt\n+++ b/none.txt\n@@ -1 +1 @@\n-a\n+b\n"),
            "PathNotFound",
            "File 2 of 2, none.txt",
        ),
        (
            format!("--- a/a.txt\n+++ b/a.txt\n{hunk}--- /dev/null\n+++ b/old.txt\n@@ -0,0 +1 @@\n+b\n"),
            "InvalidArguments",
            "exists already",
        ),
        (format!("--- a/a.txt\n+++ b/../a.txt\n{hunk}"), "InvalidArguments", ""),
        ("--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+b\n".to_owned(), "OutsideRoot", ""),
        ("nothing of a patch".to_owned(), "InvalidArguments", "Nothing was changed"),
    ];
    for (patch, expect, part) in cases {
        let outcome = patched(&room, &patch).await;
        assert_eq!(kind(&outcome), expect, "{patch}\n{outcome:?}");
        assert!(outcome.content().contains(part), "{part}: {outcome:?}");
        assert_eq!((room.names(), room.bytes("a.txt")), before, "{patch}");
    }
}

#[tokio::test]
async fn what_was_written_before_a_failure_is_put_back() {
    let room = room();
    // What the second file is called until it is whole stands there as a folder, so that it cannot be written.
    let temp = crate::file::temp_name("c1", "z.txt", Some(&Digest::of("z\n")));
    std::fs::create_dir(room.path(temp.to_str().unwrap())).unwrap();
    let names = room.names();
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+eins\n--- /dev/null\n+++ b/d/e/y.txt\n@@ -0,0 +1 @@\n+y\n\
                 --- /dev/null\n+++ b/z.txt\n@@ -0,0 +1 @@\n+z\n";
    let outcome = patched(&room, patch).await;
    assert_eq!(kind(&outcome), "Io");
    assert!(outcome.content().contains("that this call changed before are as they were, too"), "{outcome:?}");
    assert_eq!((room.bytes("a.txt"), room.names()), (b"one\ntwo\nthree\n".to_vec(), names));
    assert_eq!(*room.notes.halted.lock().unwrap(), None);
}

#[tokio::test]
async fn when_putting_back_fails_nothing_more_is_written() {
    let room = room();
    let block = |path: &str, content: &str| {
        let temp = crate::file::temp_name("c1", path, Some(&Digest::of(content)));
        std::fs::create_dir(room.path(temp.to_str().unwrap())).unwrap();
    };
    block("z.txt", "z\n");
    block("a.txt", "one\ntwo\nthree\n");
    let patch =
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+eins\n--- /dev/null\n+++ b/z.txt\n@@ -0,0 +1 @@\n+z\n";
    let outcome = patched(&room, patch).await;
    assert!(outcome.content().contains("a.txt could not be put back"), "{outcome:?}");
    let outcome = room.run("write_file", json!({ "path": "n", "content": "x" })).await;
    assert_eq!(kind(&outcome), "denied");
    assert!(outcome.content().starts_with("Nothing more is changed in this session"), "{outcome:?}");
    assert!(!room.path("n").exists());
}

#[tokio::test]
async fn a_file_must_be_known_to_be_patched() {
    let room = Room::new(Approval::Auto, None);
    std::fs::write(room.path("a.txt"), "one\n").unwrap();
    let outcome = patched(&room, "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+eins\n").await;
    assert_eq!(kind(&outcome), "Stale");
    assert_eq!(room.bytes("a.txt"), b"one\n");
}
