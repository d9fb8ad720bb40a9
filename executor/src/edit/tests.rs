//! The edit over bytes: line ends, glue, and that nothing else changes.

use proptest::prelude::*;

use super::*;

fn wanted<'a>(old: &'a [u8], new: &'a [u8], extent: Extent) -> Wanted<'a> {
    Wanted { old, new, extent, near_line: None }
}

fn one(file: &[u8], old: &[u8], new: &[u8]) -> Result<Edited, Refused> {
    edit(file, &wanted(old, new, Extent::One))
}

fn check(file: &[u8], old: &str, new: &str, expect: &[u8]) {
    let got = one(file, old.as_bytes(), new.as_bytes()).map(|edited| edited.content);
    assert_eq!(got.as_deref().map(String::from_utf8_lossy), Ok(String::from_utf8_lossy(expect)));
    assert_eq!(got.as_deref(), Ok(expect));
}

#[test]
fn line_ends_are_those_of_the_file() {
    check(b"a\r\nb\r\nc\r\n", "b", "B\nD", b"a\r\nB\r\nD\r\nc\r\n");
    check(b"a\r\nb\r\nc\r\n", "a\nb\n", "x\n", b"x\r\nc\r\n");
    check(b"a\nb\nc\n", "a\r\nb", "a\r\nx", b"a\nx\nc\n");
    check(b"a\r\nb", "b", "x\ny", b"a\r\nx\r\ny");
    check(b"a", "a", "x\r\ny", b"x\ny");
}

#[test]
fn a_mixed_file_goes_by_the_place() {
    check(b"a\nb\r\nc\nd\n", "b", "x\ny", b"a\nx\r\ny\r\nc\nd\n");
    check(b"a\nb\r\nc\nd\n", "c", "x\ny", b"a\nb\r\nx\ny\nd\n");
    // Lines that stay keep their own ends.
    check(b"a\r\nb\nc\r\nd\n", "a\nb\nc\nd\n", "a\nB\nc\nd\n", b"a\r\nB\nc\r\nd\n");
    check(b"a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nc\nd", b"a\r\nc\r\nd\n");
}

#[test]
fn bytes_that_are_not_utf8_and_marks_stay() {
    check(b"\xef\xbb\xbfx\ny\n", "x\n", "z\n", b"\xef\xbb\xbfz\ny\n");
    check(b"caf\xe9 one\n", "one", "two", b"caf\xe9 two\n");
    check(b"a\rb\n", "b", "c", b"a\rc\n");
    check(b"{\"a\":1,\n\"b\":2}", "\"a\":1", "\"a\":9", b"{\"a\":9,\n\"b\":2}");
}

#[test]
fn neighbours_are_not_glued() {
    check(b"a\nb\nc\n", "\nb\n", "x", b"a\nx\nc\n");
    check(b"a\nb\nc\n", "\nb\n", "x\n", b"a\nx\nc\n");
    check(b"a\nb\nc\n", "\nb\n", "\nx", b"a\nx\nc\n");
    check(b"a\nb\nc\n", "\nb\n", "", b"a\nc\n");
    check(b"a\r\nb\r\nc\r\n", "\nb\n", "x", b"a\r\nx\r\nc\r\n");
    check(b"a\nb\n\nc\n", "\nb\n", "x", b"a\nx\n\nc\n");
    check(b"a\n\nb\nc\n", "\nb\n", "x", b"a\n\nx\nc\n");
    check(b"a\nb\n", "\nb\n", "x", b"a\nx\n");
    // A text without a newline at one end may join on purpose.
    check(b"f(\n  x)\n", "(\n  x", "(x", b"f(x)\n");
}

#[test]
fn the_first_of_overlapping_places_counts() {
    let all = edit(b"aaaa", &wanted(b"aa", b"b", Extent::All)).map(|edited| edited.content);
    assert_eq!(all, Ok(b"bb".to_vec()));
    assert_eq!(one(b"aaaaa\nxaa", b"aa", b"b"), Err(Refused::Ambiguous(vec![1, 1, 2])));
    assert_eq!(one(b"a\r\n", b"a\r\n", b"a\n"), Err(Refused::Identical));
    assert_eq!(one(b"a", b"", b"b"), Err(Refused::NotFound));
}

proptest! {
    /// An edit and its inverse restore the bytes, and what stands around the place never changes.
    #[test]
    fn an_edit_can_be_undone(
        head in "([ab]{0,3}(\n|\r\n)){0,3}",
        old in "q[ab\n]{0,6}q",
        new in "w[ab\n]{0,6}w",
        tail in "([ab]{0,3}(\n|\r\n)){0,3}",
    ) {
        for end in ["\n", "\r\n"] {
            let with_ends = |text: String| text.replace("\r\n", "\n").replace('\n', end).into_bytes();
            // A first line, so that the file shows its line end.
            let before = with_ends(format!("first\n{head}{old}{tail}"));
            let after = with_ends(format!("first\n{head}{new}{tail}"));
            let there = one(&before, old.as_bytes(), new.as_bytes()).unwrap().content;
            prop_assert_eq!(&there, &after);
            let back = one(&there, new.as_bytes(), old.as_bytes()).unwrap().content;
            prop_assert_eq!(&back, &before);
        }
        let file = format!("{head}{old}{tail}").into_bytes();
        let there = one(&file, old.as_bytes(), new.as_bytes()).unwrap().content;
        prop_assert!(there.starts_with(head.as_bytes()) && there.ends_with(tail.as_bytes()));
    }
}
