//! The edit over bytes: line ends, glue, what is found, how it is fitted, and that nothing else changes.

mod properties;

use super::*;

fn wanted<'a>(old: &'a str, new: &'a str, extent: Extent) -> Wanted<'a> {
    Wanted { old: old.as_bytes(), new: new.as_bytes(), extent, near_line: None }
}

fn one(file: &[u8], old: &str, new: &str) -> Result<Edited, Refused> {
    edit(file, &wanted(old, new, Extent::One))
}

fn check(file: &[u8], old: &str, new: &str, expect: &[u8]) {
    let got = one(file, old, new).map(|edited| edited.content);
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
    let all = edit(b"aaaa", &wanted("aa", "b", Extent::All)).map(|edited| edited.content);
    assert_eq!(all, Ok(b"bb".to_vec()));
    let ambiguous = |lines: &[usize]| Err(Refused::Ambiguous { lines: lines.to_vec(), pass: "exact" });
    assert_eq!(one(b"aaaaa\nxaa", "aa", "b"), ambiguous(&[1, 1, 2]));
    assert_eq!(one(b"a\na\na\n", "a\na", "b"), ambiguous(&[1, 2]));
    assert_eq!(one(b"a\r\n", "a\r\n", "a\n"), Err(Refused::Identical));
    assert_eq!(one(b"a", "", "b"), Err(Refused::NotFound));
}

fn refused(file: &str, old: &str, new: &str) -> Refused {
    one(file.as_bytes(), old, new).unwrap_err()
}

/// The edit is made by this pass.
fn fits(pass: &str, file: &str, old: &str, new: &str, expect: &str) {
    let got = one(file.as_bytes(), old, new).unwrap();
    assert_eq!((String::from_utf8_lossy(&got.content).as_ref(), got.pass), (expect, pass));
}

#[test]
fn the_names_of_passes_are_the_table() {
    let names: Vec<&str> = PASSES.iter().map(|pass| pass.name).collect();
    let table = [
        "exact",
        "all",
        "line_trimmed",
        "indentation",
        "trimmed_boundary",
        "escapes",
        "white_space",
        "look_alikes",
        "block_anchors",
        "context_lines",
    ];
    assert_eq!(names, table);
}

#[test]
fn indentation_is_that_of_the_file() {
    // Lost, and too much.
    fits(
        "indentation",
        "m {\n    f(\n        a);\n}\n",
        "f(\n    a);",
        "f(\n    b,\n    a);",
        "m {\n    f(\n        b,\n        a);\n}\n",
    );
    fits("indentation", "a:\n  b\n  c\n", "    b\n    c\n", "    b\n      d\n", "a:\n  b\n    d\n");
    // Spaces for tabs of any width, and tabs for spaces.
    fits(
        "indentation",
        "{\n\ta\n\t\tb\n}\n",
        "  a\n    b",
        "  a\n    b\n      c",
        "{\n\ta\n\t\tb\n\t\t\tc\n}\n",
    );
    fits("indentation", "{\n  a\n    b\n}\n", "{\n\ta\n\t\tb", "{\n\t\t\tc", "{\n      c\n}\n");
    // Another unit.
    fits("indentation", "{\n    a\n        b\n}\n", "{\n  a\n    b", "{\n      c", "{\n            c\n}\n");
    // Blank lines stay blank.
    fits("indentation", "{\n    a\n\n    b\n}\n", "a\n\nb", "a\n\nc", "{\n    a\n\n    c\n}\n");
}

#[test]
fn an_indentation_that_nothing_shows_is_refused() {
    let unclear = |line| Refused::Unclear { line, pass: "indentation" };
    // Two depths of the file as one.
    assert_eq!(refused("if a:\n    b\n        c\n", "b\nc\n", "b\nd\n"), unclear(2));
    // Spaces where the lines that are shared show no unit of the file's tabs.
    assert_eq!(refused("{\n\ta\n\tb\n}\n", "a\nb\n", "a\n    c\n"), unclear(2));
    // Less than what the quote has too much.
    assert_eq!(refused("{\n  a\n  b\n}\n", "    a\n    b\n", "    a\n c\n"), unclear(2));
}

#[test]
fn lines_that_stay_keep_what_the_file_has() {
    fits("look_alikes", "a “b”\nc\n", "a \"b\"\nc\n", "a \"b\"\nd\n", "a “b”\nd\n");
    fits("indentation", "  a\t\n  b\n", "a\nb\n", "a\nc\n", "  a\t\n  c\n");
    fits(
        "white_space",
        "  a  =  1\n  b = 2\n  c = 3\n",
        "a = 1\nb = 2\nc = 3\n",
        "a = 1\nb = 2\nd = 3\n",
        "  a  =  1\n  b = 2\n  d = 3\n",
    );
    // Only blanks at line ends differ: the quote is taken at its word.
    fits("line_trimmed", "a \nb\t\n", "a\nb\n", "a\nc\n", "a\nc\n");
    // In a mixed file every line keeps its own end.
    fits("indentation", " a\r\n b\n c\r\n", "a\nb\nc\n", "a\nx\nb\nc\n", " a\r\n x\r\n b\n c\r\n");
    // A line that moves keeps its characters too.
    fits("look_alikes", "a ‘b’\nc\n", "a 'b'\nc\n", "if d:\n    a 'b'\nc\n", "if d:\n    a ‘b’\nc\n");
}

#[test]
fn typographic_characters_of_the_quote_become_those_of_the_file() {
    fits("look_alikes", "f(\"a\")\ng()\n", "f(“a”)\ng()\n", "f(“b”)\ng()\n", "f(\"b\")\ng()\n");
    // A hand that writes quotes for plain ones and was not seen to write a dash.
    let refusal = Refused::Unclear { line: 1, pass: "look_alikes" };
    assert_eq!(refused("f(\"a\")\n", "f(“a”)\n", "f(“a” — b)\n"), refusal);
}

#[test]
fn escapes_are_resolved_where_they_are_no_text() {
    fits("escapes", "a\n\tb\nc\n", "a\\n\\tb", "a\\n\\td", "a\n\td\nc\n");
    fits("escapes", "say(\"a\")\n", "say(\\\"a\\\")", "say()", "say()\n");
    assert_eq!(refused("a\nb\n", "a\\nb", "a\\nprint(\"x\\n\")\\nb"), Refused::NotFound);
    assert_eq!(refused("a\nb\n", "a\\nb", "a\\nb(/\\d/)"), Refused::NotFound);
    fits("exact", "a\\nb\n", "a\\nb", "c\\nd", "c\\nd\n");
}

#[test]
fn a_misremembered_word_is_passed_over_only_where_it_stays() {
    let file = "fn a() {\n    let x = load();\n    show(x);\n    done();\n}\n";
    let old = "fn a() {\n    let x = read();\n    show(x);\n    done();\n}";
    fits("block_anchors", file, old, &old.replace("done", "end"), &file.replace("done", "end"));
    fits(
        "block_anchors",
        file,
        old,
        &old.replace("read", "load").replace("done", "end"),
        &file.replace("done", "end"),
    );
    // It would be lost, or come into another line.
    assert_eq!(refused(file, old, "fn a() {\n    done();\n}"), Refused::NotFound);
    assert_eq!(refused(file, old, &old.replace("done();", "read();")), Refused::NotFound);
    // Two words, and a file with two such places.
    let two = old.replace("show", "print");
    assert_eq!(refused(file, &two, &two.replace("done", "end")), Refused::NotFound);
    let twice = format!("{file}{file}");
    let ambiguous = Refused::Ambiguous { lines: vec![1, 6], pass: "block_anchors" };
    assert_eq!(refused(&twice, old, &old.replace("done", "end")), ambiguous);
}

#[test]
fn blank_lines_around_a_quote_are_no_lines_of_the_file() {
    fits("trimmed_boundary", "a\nb\nc\n", "\n\nb\n\n", "x", "a\nx\nc\n");
    fits("trimmed_boundary", "a\nb\nc\n", "\n\nb\n\n", "\n\nx\n\n", "a\nx\nc\n");
    fits("exact", "a\n\nb\n\nc\n", "\n\nb\n\n", "x", "a\n\nx\n\nc\n");
    assert_eq!(refused("a\n \nb\n", "\n  \n", "c"), Refused::NotFound);
}

#[test]
fn near_line_chooses_the_one_that_is_clearly_nearest() {
    let near = |file: &str, old: &str, line| {
        let wanted = Wanted { near_line: Some(line), ..wanted(old, "x", Extent::One) };
        edit(file.as_bytes(), &wanted).map(|edited| String::from_utf8(edited.content).unwrap())
    };
    let file = "a\n\n\n\n  a\n\n\n\n  a\n";
    assert_eq!(near(file, "a", 1).as_deref(), Ok("x\n\n\n\n  a\n\n\n\n  a\n"));
    assert_eq!(near(file, "a", 6).as_deref(), Ok("a\n\n\n\n  x\n\n\n\n  a\n"));
    let indented = format!("  {file}");
    assert_eq!(near(&indented, "a \n", 9).as_deref(), Ok("  a\n\n\n\n  a\n\n\n\n  x\n"));
    assert_eq!(near(file, "a", 3), Err(Refused::Ambiguous { lines: vec![1, 5, 9], pass: "exact" }));
    // On one line none is nearer.
    assert_eq!(near("a a", "a", 1), Err(Refused::Ambiguous { lines: vec![1, 1], pass: "exact" }));
}
