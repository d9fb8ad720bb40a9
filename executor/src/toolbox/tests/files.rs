//! `edit_file` and `write_file` on real files: what is kept, what is refused, and what is answered.

use std::os::unix::fs::{PermissionsExt, symlink};

use tandem_shared::call::Receipt;

use super::*;

fn receipt(outcome: &Outcome) -> Receipt {
    match outcome.artifacts() {
        [Artifact::Wrote(receipt)] => receipt.clone(),
        other => panic!("{other:?} {outcome:?}"),
    }
}

fn mode(room: &Room, name: &str) -> u32 {
    std::fs::metadata(room.path(name)).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn an_edit_answers_with_a_receipt() {
    let room = Room::new(Approval::Auto, None);
    room.put("a.txt", "1\n2\n3\n");
    std::fs::set_permissions(room.path("a.txt"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let outcome = room.edit("./a.txt", "2\n", "two\nzwei\n").await;
    assert_eq!(outcome.content(), "Edited a.txt: lines 2-3, +2 -1 (exact match, 13 bytes).");
    let expect = Receipt {
        path: "a.txt".to_owned(),
        pass: "exact".to_owned(),
        before: Some(Digest::of("1\n2\n3\n")),
        after: Digest::of("1\ntwo\nzwei\n3\n"),
        bytes_before: 6,
        bytes_after: 13,
        lines: (2, 3),
        added: 2,
        removed: 1,
        encoding: "utf-8".to_owned(),
        line_end: "lf".to_owned(),
        mode: "0640".to_owned(),
        diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n 1\n-2\n+two\n+zwei\n 3\n".to_owned(),
    };
    assert_eq!(receipt(&outcome), expect);
    assert_eq!(room.names(), ["a.txt"], "no temporary file is left");
}

#[tokio::test]
async fn mode_link_bom_and_foreign_bytes_are_kept() {
    let room = Room::new(Approval::Auto, None);
    let before = b"\xef\xbb\xbf#!/bin/sh\r\necho caf\xe9 one\r\nend";
    room.put("run.sh", before);
    std::fs::set_permissions(room.path("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("run.sh", room.path("link")).unwrap();
    let outcome = room.edit("link", "one", "two\nthree").await;
    assert_eq!(receipt(&outcome).path, "run.sh");
    assert_eq!((receipt(&outcome).encoding.as_str(), receipt(&outcome).line_end.as_str()), ("bytes", "crlf"));
    assert_eq!(room.bytes("run.sh"), b"\xef\xbb\xbf#!/bin/sh\r\necho caf\xe9 two\r\nthree\r\nend");
    assert_eq!(mode(&room, "run.sh"), 0o755);
    assert_eq!(std::fs::read_link(room.path("link")).unwrap(), PathBuf::from("run.sh"));
    assert_eq!(room.names(), ["link", "run.sh"]);
}

#[tokio::test]
async fn edits_of_one_round_build_on_each_other() {
    let room = Room::new(Approval::Auto, None);
    assert_eq!(kind(&room.run("write_file", json!({ "path": "d/e/n", "content": "a\n" })).await), "ok");
    assert_eq!(kind(&room.edit("d/e/n", "a", "b").await), "ok");
    assert_eq!(kind(&room.edit("d/e/n", "b", "c").await), "ok");
    assert_eq!(room.bytes("d/e/n"), b"c\n");
}

#[tokio::test]
async fn a_write_is_refused_for_a_file_that_is_not_known() {
    let room = Room::new(Approval::Auto, None);
    std::fs::write(room.path("new"), "one").unwrap();
    room.put("old", "one");
    std::fs::write(room.path("old"), "one more").unwrap();
    room.saw("gone", "x");
    for (path, part) in
        [("new", "was not read"), ("old", "has changed since"), ("gone", "does not exist any more")]
    {
        let outcome = room.edit(path, "one", "two").await;
        assert_eq!(kind(&outcome), "Stale");
        assert!(outcome.content().contains(part), "{}", outcome.content());
    }
    let outcome = room.run("write_file", json!({ "path": "new", "content": "two" })).await;
    assert_eq!(kind(&outcome), "Stale");
    assert_eq!((room.bytes("new"), room.bytes("old")), (b"one".to_vec(), b"one more".to_vec()));
}

#[tokio::test]
async fn what_is_not_a_tools_to_write_is_refused() {
    let room = Room::new(Approval::Auto, None);
    std::fs::create_dir_all(room.path("sub/.git")).unwrap();
    std::fs::create_dir_all(room.path(".tandem")).unwrap();
    symlink("/etc", room.path("out")).unwrap();
    room.put("ro", "one");
    std::fs::set_permissions(room.path("ro"), std::fs::Permissions::from_mode(0o444)).unwrap();
    room.put("bin", b"one\0");
    for (path, expect) in [
        ("../x", "OutsideRoot"),
        ("/etc/passwd", "OutsideRoot"),
        ("out/passwd", "OutsideRoot"),
        (".git/config", "OutsideRoot"),
        ("sub/.GIT/hooks/x", "OutsideRoot"),
        (".tandem/config.toml", "OutsideRoot"),
        ("sub", "InvalidArguments"),
        ("", "InvalidArguments"),
        ("ro", "Permission"),
        ("bin", "Binary"),
        ("none", "PathNotFound"),
    ] {
        assert_eq!(kind(&room.edit(path, "one", "two").await), expect, "{path}");
    }
    assert_eq!(
        kind(&room.run("write_file", json!({ "path": ".git/x", "content": "" })).await),
        "OutsideRoot"
    );
    assert_eq!(room.bytes("ro"), b"one");
}

#[tokio::test]
async fn an_error_says_what_is_true_instead() {
    let room = Room::new(Approval::Auto, None);
    room.put("main.rs", "fn a() {\n    one();\n}\nfn b() {\n    one();\n}\n");
    let text = |outcome: Outcome| outcome.content().to_owned();
    assert_eq!(
        text(room.edit("main.rs", "    one();", "x").await),
        "The old text stands in main.rs 2 times, beginning at lines 2, 5. Nothing was changed. Add lines around it \
         until it is unique, or set replace_all to change every one."
    );
    assert_eq!(
        text(room.edit("main.rs", "fn b() {\n  won();\n}", "x").await),
        "The old text does not stand in main.rs. Nothing was changed. The nearest region is this:\n     4  fn b() {\n     \
         5      one();\n     6  }\nCopy the old text exactly from the file, with its white space."
    );
    let applied = text(room.edit("main.rs", "fn c() {}", "fn b() {\n    one();").await);
    assert!(applied.contains("line 4: the change seems to be already applied"), "{applied}");
    assert!(text(room.edit("mian.rs", "a", "b").await).contains("Near it are: main.rs."));
    assert!(text(room.edit("main.rs", "", "b").await).contains("use write_file"));
}

#[tokio::test]
async fn write_file_takes_the_content_as_given_and_keeps_the_mode() {
    let room = Room::new(Approval::Auto, None);
    room.put("a", "one\r\n");
    std::fs::set_permissions(room.path("a"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let outcome = room.run("write_file", json!({ "path": "a", "content": "two\n" })).await;
    assert_eq!(outcome.content(), "Overwrote a: 4 bytes, +1 -1, content as given.");
    assert_eq!((room.bytes("a"), mode(&room, "a")), (b"two\n".to_vec(), 0o700));
    let outcome = room.run("write_file", json!({ "path": "a", "content": "two\n" })).await;
    assert_eq!(kind(&outcome), "Identical");
    let outcome = room.run("write_file", json!({ "path": "n/m", "content": "x\n" })).await;
    assert_eq!(outcome.content(), "Created n/m: 2 bytes, +1 -0, content as given.");
    assert_eq!(receipt(&outcome).pass, "created");
}

#[tokio::test]
async fn a_file_with_other_names_is_noticed() {
    let room = Room::new(Approval::Auto, None);
    room.put("a", "one");
    std::fs::hard_link(room.path("a"), room.path("b")).unwrap();
    assert!(room.edit("a", "one", "two").await.content().contains("hard links"));
    assert_eq!((room.bytes("a"), room.bytes("b")), (b"two".to_vec(), b"one".to_vec()));
}
