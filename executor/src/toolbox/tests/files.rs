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
        after: Some(Digest::of("1\ntwo\nzwei\n3\n")),
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
         until it is unique, set near_line to a line of the one that is meant, or set replace_all to change every one."
    );
    assert_eq!(
        text(room.edit("main.rs", "fn b() {\n    won();\n}", "x").await),
        "The old text does not stand in main.rs. Nothing was changed. The nearest region is this:\n     4  fn b() {\n     \
         5      one();\n     6  }\nWord by word, with [-what only the old text has-] and {+what only the file has+}:\n     \
         5      [-won-]{+one+}();\nCopy the old text exactly from the file, with its white space."
    );
    let applied = text(room.edit("main.rs", "fn c() {}", "fn b() {\n    one();").await);
    assert!(applied.contains("line 4: the change seems to be already applied"), "{applied}");
    assert!(text(room.edit("mian.rs", "a", "b").await).contains("Near it are: main.rs."));
    assert!(text(room.edit("main.rs", "", "b").await).contains("use write_file"));
}

#[tokio::test]
async fn a_mask_is_never_written_over_the_secret_that_it_stands_for() {
    let room = Room::new(Approval::Auto, None);
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    room.put("conf", format!("a = {secret}\n"));
    let write = |content: &'static str| room.run("write_file", json!({ "path": "conf", "content": content }));
    assert!(write("a = ghp_***\nb\n").await.content().contains("secret would be lost"));
    let outcome = room.edit("conf", "a = ghp_***", "a = 1").await;
    assert!(outcome.content().contains("stands for a secret that was masked"));
    assert_eq!(room.bytes("conf"), format!("a = {secret}\n").into_bytes());
    assert_eq!(kind(&write("a = 1\n").await), "ok");
    assert_eq!(kind(&write("a = ***\n").await), "ok");
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

#[tokio::test]
async fn several_edits_are_made_together_or_not_at_all() {
    let room = Room::new(Approval::Auto, None);
    room.put("a", "one\ntwo\nthree\n");
    let edits = |second: &str| {
        json!({ "path": "a", "edits": [
            { "old": "one", "new": "1" },
            { "old": second, "new": "1 and 2" },
        ] })
    };
    let outcome = room.run("multi_edit", edits("zwei")).await;
    assert_eq!(kind(&outcome), "TextNotFound");
    assert!(
        outcome.content().starts_with("Edit 2 of 2: The old text does not stand"),
        "{}",
        outcome.content()
    );
    assert_eq!(room.bytes("a"), b"one\ntwo\nthree\n");
    let outcome = room.run("multi_edit", edits("1\ntwo")).await;
    assert_eq!(outcome.content(), "Edited a: line 1, +1 -2 (exact match, 14 bytes).");
    assert_eq!(room.bytes("a"), b"1 and 2\nthree\n");
    assert_eq!(kind(&room.run("multi_edit", json!({ "path": "a", "edits": [] })).await), "InvalidArguments");
}

#[tokio::test]
async fn a_line_tells_equal_places_apart() {
    let room = Room::new(Approval::Auto, None);
    room.put("a", "x\n\n\n\nx\n");
    let near = |line: usize| json!({ "path": "a", "old": "x", "new": "y", "near_line": line });
    assert_eq!(kind(&room.run("edit_file", near(3)).await), "Ambiguous");
    assert_eq!(kind(&room.run("edit_file", near(4)).await), "ok");
    assert_eq!(room.bytes("a"), b"x\n\n\n\ny\n");
}

#[tokio::test]
async fn a_link_is_moved_and_deleted_itself() {
    let room = Room::new(Approval::Auto, None);
    room.put("a", "one");
    symlink("a", room.path("link")).unwrap();
    let outcome = room.run("move_file", json!({ "from": "link", "to": "sub/l" })).await;
    assert_eq!(outcome.content(), "Moved to sub/l.\nIt no longer stands at link.");
    assert_eq!(std::fs::read_link(room.path("sub/l")).unwrap(), PathBuf::from("a"));
    assert_eq!(kind(&room.run("delete_file", json!({ "path": "sub/l" })).await), "ok");
    assert_eq!(room.names(), ["a", "sub"]);
    assert_eq!(room.bytes("a"), b"one");
}

#[tokio::test]
async fn a_move_keeps_mode_and_bytes_and_replaces_nothing() {
    let room = Room::new(Approval::Auto, None);
    room.put("a", b"\xff\0bytes");
    room.put("b", "here");
    std::fs::set_permissions(room.path("a"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let outcome = room.run("move_file", json!({ "from": "a", "to": "b" })).await;
    assert_eq!(
        outcome.content(),
        "b exists already. Nothing was changed. Choose another path, or delete it first if it is not needed."
    );
    assert_eq!(kind(&room.run("move_file", json!({ "from": "a", "to": "./a" })).await), "Identical");
    assert_eq!(kind(&room.run("move_file", json!({ "from": "a", "to": "../c" })).await), "OutsideRoot");
    assert_eq!(kind(&room.run("move_file", json!({ "from": "none", "to": "c" })).await), "PathNotFound");
    assert_eq!(kind(&room.run("move_file", json!({ "from": "a", "to": "d/c" })).await), "ok");
    assert_eq!((room.bytes("d/c"), mode(&room, "d/c")), (b"\xff\0bytes".to_vec(), 0o755));
    let outcome = room.run("delete_file", json!({ "path": "d/c" })).await;
    assert_eq!(outcome.content(), "Deleted d/c (7 bytes).");
    assert_eq!(room.names(), ["b", "d"]);
    assert_eq!(kind(&room.run("delete_file", json!({ "path": "d" })).await), "InvalidArguments");
}

#[tokio::test]
async fn a_folder_that_becomes_a_link_leads_nowhere() {
    let outside = tempfile::tempdir().unwrap();
    let room = Room::new(Approval::Auto, None);
    std::fs::create_dir(room.path("sub")).unwrap();
    room.put("sub/a", "one");
    // As it was proven; then somebody swaps the folder for a link.
    let workspace = Workspace::open(room.folder.path()).unwrap();
    let path = crate::file::resolve(&workspace, "sub/new").unwrap();
    std::fs::rename(room.path("sub"), room.path("moved")).unwrap();
    symlink(outside.path(), room.path("sub")).unwrap();
    let found = crate::file::stands(&workspace, &path);
    assert!(found.is_err(), "{found:?}");
    let nothing =
        crate::file::load(&workspace, &crate::file::resolve(&workspace, "none").unwrap(), 9).unwrap();
    let then = tandem_shared::image::Image::File { content: b"x".to_vec(), mode: 0o644 };
    assert!(crate::file::put(&workspace, &path, &nothing, &then, "c").is_err());
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_file_over_the_bound_is_refused_unread() {
    let room = Room::new(Approval::Auto, None);
    std::fs::File::create(room.path("big")).unwrap().set_len((1 << 20) + 1).unwrap();
    let outcome = room.edit("big", "a", "b").await;
    assert_eq!(kind(&outcome), "TooLarge");
    assert!(outcome.content().contains("1048577 bytes"), "{}", outcome.content());
}

#[tokio::test]
async fn a_new_syntax_error_is_told_with_its_line() {
    let room = Room::new(Approval::Auto, None);
    room.put("a.rs", "fn a() {}\nfn b() {}\n");
    let outcome = room.edit("a.rs", "fn b() {}", "fn b( {}").await;
    assert!(
        outcome.content().contains("a.rs has a syntax error at line 2 that it did not have"),
        "{outcome:?}"
    );
    assert!(outcome.artifacts().contains(&Artifact::SyntaxError { path: "a.rs".to_owned(), line: 2 }));
    let outcome = room.edit("a.rs", "fn a() {}", "fn c() {}").await;
    assert!(!outcome.content().contains("syntax error"), "it was there before: {outcome:?}");
}

#[tokio::test]
async fn a_move_that_fails_leaves_the_file_where_it_was() {
    let room = Room::new(Approval::Auto, None);
    room.put("a", "one");
    std::fs::create_dir(room.path("sub")).unwrap();
    // What the write of `sub/b` is called until it is whole stands there as a folder, so that write fails.
    let temp = crate::file::temp_name("c1", "sub/b", Some(&Digest::of("one")));
    std::fs::create_dir(room.path("sub").join(&temp)).unwrap();
    let outcome = room.run("move_file", json!({ "from": "a", "to": "sub/b" })).await;
    assert_eq!(kind(&outcome), "Io");
    assert_eq!(room.bytes("a"), b"one");
}
