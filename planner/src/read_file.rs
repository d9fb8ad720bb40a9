//! `read_file`: a file's lines, numbered, a page at a time.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{Artifact, ErrorKind, Outcome, ToolError, ToolOutput};
use tandem_shared::tool::{ReadCx, ReadTool};

use crate::off_thread::off_thread;
use crate::page::{self, Bounds, Content, Page};
use crate::place;
use crate::stoppable::Stoppable;
use crate::walk;

/// Reads a file.
#[derive(Clone, Copy, Debug)]
pub struct ReadFile;

/// Arguments of `read_file`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFileArgs {
    /// File to read, relative to the project root.
    pub path: String,
    /// First line to read, counted from 1. Default: 1.
    pub start_line: Option<usize>,
    /// Last line to read, inclusive. Default: as far as one read goes.
    pub end_line: Option<usize>,
}

impl ReadTool for ReadFile {
    type Args = ReadFileArgs;
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/read_file.md");

    async fn call(&self, args: ReadFileArgs, cx: ReadCx) -> Outcome {
        if let Err(denied) = place::leave(&cx, Self::NAME, &args.path).await {
            return denied;
        }
        off_thread(move || read(&args, &cx)).await
    }
}

fn read(args: &ReadFileArgs, cx: &ReadCx) -> Result<Outcome, ToolError> {
    let (first, last) = page::line_range(args.start_line, args.end_line)?;
    let has_range = args.start_line.is_some() || args.end_line.is_some();
    let (place, meta) = place::existing(cx, &args.path)?;
    let name = place.relative();
    if meta.is_dir() {
        let text = format!("{name} is a folder. See what is in it with list_dir.");
        return Err(ToolError::new(ErrorKind::InvalidArguments, text));
    }
    // A pipe or a device could keep the reader waiting for ever.
    if !meta.is_file() {
        let text = format!("{name} is not a regular file (a pipe, socket or device) and is not read.");
        return Err(ToolError::new(ErrorKind::Io, text));
    }
    if meta.len() > cx.limits.file_bytes && !has_range {
        return Err(ToolError::new(
            ErrorKind::TooLarge,
            format!(
                "{name} has {} bytes; without a range at most {} are read. Find the place with grep, or read a page: \
                 start_line 1, end_line {}.",
                meta.len(),
                cx.limits.file_bytes,
                cx.limits.read_lines
            ),
        ));
    }
    let bounds =
        Bounds { lines: cx.limits.read_lines, bytes: cx.limits.read_bytes, line_chars: cx.limits.line_chars };
    let scanned = Stoppable::open(place.absolute(), &cx.interrupt)
        .and_then(|file| page::scan(file, first..=last, bounds));
    let content = match scanned {
        Ok(content) => content,
        Err(_) if cx.interrupt.is_raised() => return Ok(walk::interrupted()),
        Err(error) => return Err(place::io_error(name, &error)),
    };
    match content {
        Content::Binary => Err(ToolError::new(
            ErrorKind::Binary,
            format!(
                "{name} is not text (it holds NUL bytes; {} bytes in all) and cannot be shown.",
                meta.len()
            ),
        )),
        Content::Text(page) => {
            let text = shown(name, first, last, &page)?;
            let output = ToolOutput::text(text)
                .from_source(format!("file {name}"))
                .with(Artifact::Read { path: name.to_owned(), digest: page.digest });
            Ok(Outcome::Ok(if has_range { output.as_page() } else { output }))
        }
    }
}

fn shown(name: &str, first: usize, last: usize, page: &Page) -> Result<String, ToolError> {
    if page.total == 0 {
        return Ok(format!("{name} is empty."));
    }
    if first > page.total {
        let text = format!("{name} has {}; start_line {first} lies beyond its end.", lines(page.total));
        return Err(ToolError::new(ErrorKind::InvalidArguments, text));
    }
    let mut text = format!("{name}, {}", lines(page.total));
    for remark in remarks(page) {
        text.push_str(", ");
        text.push_str(&remark);
    }
    text.push('\n');
    for (index, line) in page.lines.iter().enumerate() {
        text.push_str(&format!("{}\t{line}\n", first + index));
    }
    let reached = first + page.lines.len().saturating_sub(1);
    if reached < page.total {
        let next = reached + 1;
        let advice = if reached < last { format!("; go on with start_line {next}") } else { String::new() };
        text.push_str(&format!("[lines {first}-{reached} of {}{advice}]", page.total));
    }
    Ok(text.trim_end_matches('\n').to_owned())
}

/// What an editor of the file has to know of its bytes.
fn remarks(page: &Page) -> Vec<String> {
    let mut remarks = Vec::new();
    // The last line may have no end, and then says nothing about line ends.
    if page.crlf > 0 && page.crlf + 1 >= page.total {
        remarks.push("line ends CRLF".to_owned());
    } else if page.crlf > 0 {
        remarks.push(format!("line ends mixed ({} of them CRLF)", page.crlf));
    }
    if page.has_bom {
        remarks.push("UTF-8 with byte order mark".to_owned());
    }
    if page.is_lossy {
        remarks.push("not UTF-8 (bytes that are not text are shown as \u{fffd})".to_owned());
    }
    remarks
}

fn lines(count: usize) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Answering;
    use crate::testing::{Tree, run};
    use serde_json::json;
    use std::sync::{Arc, Mutex};
    use tandem_shared::call::Extent;
    use tandem_shared::digest::Digest;
    use tandem_shared::person::Answer;

    fn read(tree: &Tree, args: serde_json::Value) -> Outcome {
        run(&tree.cx(), "read_file", args)
    }

    fn text(tree: &Tree, args: serde_json::Value) -> String {
        read(tree, args).content().to_owned()
    }

    #[test]
    fn lines_are_numbered_and_the_whole_file_is_digested() {
        let tree = Tree::of(&[("src/a.rs", "fn a() {}\n\nfn b() {}\n")]);
        let expect = ToolOutput::text("src/a.rs, 3 lines\n1\tfn a() {}\n2\t\n3\tfn b() {}")
            .from_source("file src/a.rs")
            .with(Artifact::Read { path: "src/a.rs".into(), digest: Digest::of("fn a() {}\n\nfn b() {}\n") });
        assert_eq!(read(&tree, json!({"path": "./src/a.rs"})), Outcome::Ok(expect));
    }

    #[test]
    fn a_range_is_a_page_and_digests_the_whole_file() {
        let tree = Tree::of(&[("a", "1\n2\n3\n4\n")]);
        let Outcome::Ok(got) = read(&tree, json!({"path": "a", "start_line": 2, "end_line": 3})) else {
            panic!()
        };
        assert_eq!(got.text, "a, 4 lines\n2\t2\n3\t3\n[lines 2-3 of 4]");
        assert_eq!(got.extent, Extent::Page);
        assert_eq!(got.artifacts, [Artifact::Read { path: "a".into(), digest: Digest::of("1\n2\n3\n4\n") }]);
    }

    #[test]
    fn a_cut_read_says_how_to_go_on() {
        let long: String = (1..=5321).map(|n| format!("{n}\n")).collect();
        let tree = Tree::of(&[("a", &long)]);
        let first = text(&tree, json!({"path": "a"}));
        assert!(
            first.ends_with("\n2000\t2000\n[lines 1-2000 of 5321; go on with start_line 2001]"),
            "{first}"
        );
        let last = text(&tree, json!({"path": "a", "start_line": 4001}));
        assert!(last.ends_with("\n5321\t5321"), "{last}");
    }

    #[test]
    fn ranges_that_cannot_be_read_say_what_is_true() {
        let tree = Tree::of(&[("a", "1\n2\n"), ("empty", "")]);
        let check = |args, expect: &str| {
            let expect = Outcome::error(ErrorKind::InvalidArguments, expect);
            assert_eq!(read(&tree, args), expect);
        };
        check(json!({"path": "a", "start_line": 3}), "a has 2 lines; start_line 3 lies beyond its end.");
        check(
            json!({"path": "a", "start_line": 2, "end_line": 1}),
            "start_line 2 lies after end_line 1. Nothing was read.",
        );
        check(json!({"path": "a", "start_line": 0}), "Lines are counted from 1. Nothing was read.");
        assert_eq!(text(&tree, json!({"path": "empty"})), "empty is empty.");
    }

    #[test]
    fn what_an_editor_must_know_stands_in_the_header() {
        let tree = Tree::of(&[("crlf", "a\r\nb\r\n"), ("mixed", "a\r\nb\nc\n"), ("bom", "\u{feff}a\n")]);
        tree.bytes("latin", b"caf\xe9\n");
        assert_eq!(text(&tree, json!({"path": "crlf"})), "crlf, 2 lines, line ends CRLF\n1\ta\n2\tb");
        assert_eq!(
            text(&tree, json!({"path": "mixed"})),
            "mixed, 3 lines, line ends mixed (1 of them CRLF)\n1\ta\n2\tb\n3\tc"
        );
        assert_eq!(text(&tree, json!({"path": "bom"})), "bom, 1 line, UTF-8 with byte order mark\n1\ta");
        assert_eq!(
            text(&tree, json!({"path": "latin"})),
            "latin, 1 line, not UTF-8 (bytes that are not text are shown as \u{fffd})\n1\tcaf\u{fffd}"
        );
    }

    #[test]
    fn what_is_no_text_file_is_refused_with_a_way_on() {
        let tree = Tree::of(&[("src/a.rs", "")]);
        tree.bytes("bin", b"\x7fELF\0\0");
        let check = |path: &str, kind, expect: &str| {
            assert_eq!(read(&tree, json!({"path": path})), Outcome::error(kind, expect));
        };
        check("src", ErrorKind::InvalidArguments, "src is a folder. See what is in it with list_dir.");
        check(
            "bin",
            ErrorKind::Binary,
            "bin is not text (it holds NUL bytes; 6 bytes in all) and cannot be shown.",
        );
        let Outcome::Error(error) = read(&tree, json!({"path": "../x"})) else { panic!() };
        assert_eq!(error.kind, ErrorKind::OutsideRoot);
    }

    #[test]
    fn a_missing_file_is_answered_with_the_nearest_names() {
        let tree = Tree::of(&[("src/main.rs", ""), ("src/lib.rs", ""), ("deep/er/Config.toml", "")]);
        let check = |path: &str, expect: &str| {
            assert_eq!(read(&tree, json!({"path": path})), Outcome::error(ErrorKind::PathNotFound, expect));
        };
        check("src/mian.rs", "src/mian.rs does not exist. Nearest: src/main.rs.");
        check("scr/main.rs", "scr/main.rs does not exist. Nearest: src, src/main.rs.");
        check("config.toml", "config.toml does not exist. Nearest: deep/er/Config.toml.");
        check("src/main.rs/x", "src/main.rs/x does not exist. Nearest: src/main.rs.");
        check("zzzzzz", "zzzzzz does not exist. Nothing has a name like it; look with list_dir or glob.");
    }

    #[test]
    fn a_read_is_stopped_with_the_run() {
        let tree = Tree::of(&[("a", "x")]);
        let cx = tree.cx();
        cx.interrupt.raise(tandem_shared::interrupt::Cause::Person);
        assert_eq!(run(&cx, "read_file", json!({"path": "a"})), walk::interrupted());
    }

    #[test]
    fn a_large_file_needs_a_range_and_then_streams() {
        let line = format!("{}\n", "x".repeat(99));
        let tree = Tree::of(&[("big", &line.repeat(110_000))]);
        assert_eq!(
            read(&tree, json!({"path": "big"})),
            Outcome::error(
                ErrorKind::TooLarge,
                "big has 11000000 bytes; without a range at most 10485760 are read. Find the place with grep, or \
                 read a page: start_line 1, end_line 2000."
            )
        );
        let got = text(&tree, json!({"path": "big", "start_line": 109_999}));
        assert_eq!(got, format!("big, 110000 lines\n109999\t{0}\n110000\t{0}", "x".repeat(99)));
    }

    #[test]
    fn a_file_that_holds_secrets_is_read_with_leave_only() {
        let tree = Tree::of(&[(".env", "A=1\n"), (".env.example", "A=\n"), ("folder.pem/x", "")]);
        tree.link("plain", ".env");
        tree.hard_link("twin", ".env");
        tree.hard_link("harmless", ".env.example");
        let asked = |answer: Option<Answer>, path: &str| {
            let person = answer.map(|answer| Arc::new(Answering { answer, asked: Mutex::default() }));
            let cx = match &person {
                Some(person) => ReadCx { person: person.clone(), ..tree.cx() },
                None => tree.cx(),
            };
            let outcomes = [(), ()].map(|()| run(&cx, "read_file", json!({ "path": path })).as_str());
            (outcomes, person.map_or(0, |person| person.asked.lock().unwrap().len()))
        };
        let no = Answer::No { reason: String::new() };
        assert_eq!(asked(None, ".env"), (["denied"; 2], 0));
        assert_eq!(asked(None, "plain"), (["denied"; 2], 0));
        assert_eq!(asked(None, "twin"), (["denied"; 2], 0));
        assert_eq!(asked(None, "harmless"), (["ok"; 2], 0));
        assert_eq!(asked(None, ".env.example"), (["ok"; 2], 0));
        assert_eq!(asked(None, "folder.pem"), (["error"; 2], 0));
        assert_eq!(asked(None, "missing.pem"), (["error"; 2], 0));
        assert_eq!(asked(Some(no), ".env"), (["denied"; 2], 2));
        assert_eq!(asked(Some(Answer::Yes), ".env"), (["ok"; 2], 2));
        assert_eq!(asked(Some(Answer::Always), "plain"), (["ok"; 2], 1));
    }
}
