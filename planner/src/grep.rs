//! `grep`: lines that match a regular expression, by ripgrep's libraries.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};
use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{ErrorKind, Outcome, ToolError, ToolOutput};
use tandem_shared::tool::{ReadCx, ReadTool};

use crate::hits::{Hits, cut_around};
use crate::off_thread::off_thread;
use crate::path_pattern::PathPattern;
use crate::place;
use crate::stoppable::Stoppable;
use crate::walk::{self, Ended, File, Next, Withheld};

/// Characters shown of a matching line: enough for a long statement, so that 200 matches do not all end in the middle.
const LINE_CHARS: usize = 300;

/// Memory that one line may take; a file with a longer one is generated data and is passed over.
const LINE_BYTES: usize = 64 * 1024 * 1024;

/// Searches text.
#[derive(Clone, Copy, Debug)]
pub struct Grep;

/// Arguments of `grep`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepArgs {
    /// Regular expression in Rust syntax, matched within a line. (?i) in front ignores case.
    pub pattern: String,
    /// File or folder to search. Default: the project root.
    pub path: Option<String>,
    /// Only files that match this glob, such as *.rs or src/**/*.py; with ! in front, only the others.
    pub glob: Option<String>,
}

impl ReadTool for Grep {
    type Args = GrepArgs;
    const NAME: &'static str = "grep";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/grep.md");

    async fn call(&self, args: GrepArgs, cx: ReadCx) -> Outcome {
        if let Err(denied) = place::leave(&cx, Self::NAME, args.path.as_deref().unwrap_or(".")).await {
            return denied;
        }
        off_thread(move || search(&args, &cx)).await
    }
}

fn search(args: &GrepArgs, cx: &ReadCx) -> Result<Outcome, ToolError> {
    let matcher = matcher(&args.pattern)?;
    let glob = place::given(args.glob.as_deref()).map(PathPattern::new).transpose()?;
    let (start, meta) = place::start(cx, args.path.as_deref())?;
    let base = start.relative();
    let hits = Mutex::new(Hits::new(&cx.limits));
    let (searched, left_out) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let withheld = Withheld::default();

    let ended = walk::each_file(cx, &start, || {
        let (matcher, mut searcher) = (matcher.clone(), searcher());
        let (glob, hits, searched, left_out) = (&glob, &hits, &searched, &left_out);
        let (withheld, start) = (&withheld, &start);
        move |file: File<'_>| {
            if file.is_link || glob.as_ref().is_some_and(|glob| !glob.is_match(&file.relative(), base)) {
                return Next::Go;
            }
            if withheld.holds(&file, start) {
                return Next::Go;
            }
            let mut found = FileHits::new(&matcher, cx.limits.matches);
            let is_read = Stoppable::open(file.absolute, &cx.interrupt)
                .and_then(|source| searcher.search_reader(&matcher, source, &mut found))
                .is_ok();
            if !is_read || found.is_binary {
                left_out.fetch_add(1, Ordering::Relaxed);
                return Next::Go;
            }
            searched.fetch_add(1, Ordering::Relaxed);
            if found.count > 0 {
                let Ok(mut hits) = hits.lock() else { return Next::Stop };
                hits.add(file.relative(), found.lines, found.count);
            }
            Next::Go
        }
    })?;

    if ended == Ended::Interrupted || cx.interrupt.is_raised() {
        return Ok(walk::interrupted());
    }
    let hits = hits.into_inner().map_err(|_| ToolError::new(ErrorKind::Io, "The search broke down."))?;
    if hits.total() > 0 {
        return Ok(Outcome::Ok(
            ToolOutput::text(withheld.told(hits.render("match", &cx.limits))).from_source("search"),
        ));
    }
    let (searched, left_out) = (searched.into_inner(), left_out.into_inner());
    if meta.is_file() && left_out > 0 {
        let text = format!("{base} is not text, or cannot be read, and was not searched.");
        return Err(ToolError::new(ErrorKind::Binary, text));
    }
    Ok(Outcome::text(withheld.told(no_match(args, base, searched, left_out))))
}

fn no_match(args: &GrepArgs, base: &str, searched: usize, left_out: usize) -> String {
    let of_glob =
        place::given(args.glob.as_deref()).map(|glob| format!(" that match {glob:?}")).unwrap_or_default();
    let place = if base == "." { "the project".to_owned() } else { base.to_owned() };
    if searched == 0 {
        return format!("Nothing was searched: there are no text files{of_glob} in {place}.");
    }
    let files = if searched == 1 { "1 file".to_owned() } else { format!("{searched} files") };
    let left_out = match left_out {
        0 => String::new(),
        1 => "; 1 that is not text, or cannot be read, was left out".to_owned(),
        count => format!("; {count} that are not text, or cannot be read, were left out"),
    };
    format!("No matches in {files}{of_glob} in {place}{left_out}. Case counts unless (?i) stands in front.")
}

fn matcher(pattern: &str) -> Result<RegexMatcher, ToolError> {
    if pattern.is_empty() {
        let text =
            "An empty pattern matches every line. Say what to look for, or read the file with read_file.";
        return Err(ToolError::new(ErrorKind::InvalidPattern, text));
    }
    // `crlf` lets `$` match before CR LF; `multi_line` makes `^` and `$` mean the line, as in every grep.
    RegexMatcherBuilder::new().multi_line(true).crlf(true).build(pattern).map_err(|error| {
        ToolError::new(
            ErrorKind::InvalidPattern,
            format!(
                "{pattern:?} is not a regular expression in Rust syntax: {error}\nA character that is meant as itself \
                 needs a backslash when it is one of . + * ? ( ) | [ ] {{ }} ^ $ \\. A match never spans lines, and \
                 there is no look-around."
            ),
        )
    })
}

fn searcher() -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .line_terminator(LineTerminator::crlf())
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(LINE_BYTES))
        .build()
}

/// The hits of one file.
struct FileHits<'a> {
    matcher: &'a RegexMatcher,
    limit: usize,
    lines: Vec<String>,
    count: usize,
    is_binary: bool,
}

impl FileHits<'_> {
    fn new(matcher: &RegexMatcher, limit: usize) -> FileHits<'_> {
        FileHits { matcher, limit, lines: Vec::new(), count: 0, is_binary: false }
    }
}

impl Sink for FileHits<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += 1;
        if self.lines.len() < self.limit {
            let line = found.bytes();
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let hit = self.matcher.find(line).ok().flatten();
            let (start, end) = hit.map_or((0, 0), |hit| (hit.start(), hit.end()));
            let number = found.line_number().unwrap_or_default();
            self.lines.push(format!("{number}: {}", shown(line, start, end)));
        }
        Ok(true)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.is_binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// A line as text, cut around its hit. The hit's place is counted anew, since bytes that are no text grow when shown.
fn shown(line: &[u8], start: usize, end: usize) -> String {
    let part = |range: std::ops::Range<usize>| String::from_utf8_lossy(line.get(range).unwrap_or_default());
    let (head, hit, tail) = (part(0..start), part(start..end), part(end..line.len()));
    let (from, to) = (head.len(), head.len() + hit.len());
    cut_around(&format!("{head}{hit}{tail}"), from, to, LINE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Tree, run};
    use proptest::prelude::*;
    use serde_json::json;

    fn grep(tree: &Tree, args: serde_json::Value) -> Outcome {
        run(&tree.cx(), "grep", args)
    }

    #[test]
    fn files_that_hold_secrets_are_left_out_and_counted() {
        let tree = Tree::of(&[(".env", "x=1\n"), ("tls/a.pem", "x=2\n"), ("a.txt", "x=3\n")]);
        let told =
            "\n[2 files that may hold secrets were left out; name one as path to ask the user for leave]";
        let found = grep(&tree, json!({ "pattern": "x=" }));
        assert_eq!(found.content(), format!("a.txt:1: x=3\n[1 match in 1 file]{told}"));
        assert!(grep(&tree, json!({ "pattern": "y" })).content().ends_with(told));
        assert_eq!(grep(&tree, json!({ "pattern": "x", "path": ".env" })).as_str(), "denied");
    }

    fn check(tree: &Tree, args: serde_json::Value, expect: &str) {
        assert_eq!(grep(tree, args.clone()).content(), expect, "{args}");
    }

    #[test]
    fn matches_come_by_path_and_line() {
        let tree = Tree::of(&[
            ("b.rs", "fn one() {}\n\nfn two() {}\n"),
            ("a/x.py", "def fn(): pass\n"),
            (".github/w.yml", "on: fn\n"),
            (".gitignore", "target\n"),
            ("target/x", "fn\n"),
        ]);
        let text = ".github/w.yml:1: on: fn\na/x.py:1: def fn(): pass\nb.rs:1: fn one() {}\nb.rs:3: fn two() {}\n\
                    [4 matches in 3 files]";
        let expect = Outcome::Ok(ToolOutput::text(text).from_source("search"));
        assert_eq!(grep(&tree, json!({"pattern": r"\bfn\b"})), expect);
        check(&tree, json!({"pattern": "fn", "path": "a"}), "a/x.py:1: def fn(): pass\n[1 match in 1 file]");
        check(
            &tree,
            json!({"pattern": "TWO|(?i)ONE", "path": "b.rs"}),
            "b.rs:1: fn one() {}\n[1 match in 1 file]",
        );
        check(
            &tree,
            json!({"pattern": "fn", "glob": "*.py"}),
            "a/x.py:1: def fn(): pass\n[1 match in 1 file]",
        );
        check(&tree, json!({"pattern": "fn", "path": "target"}), "target/x:1: fn\n[1 match in 1 file]");
    }

    #[test]
    fn anchors_mean_the_line_whatever_its_end() {
        let tree = Tree::of(&[("a", "one\r\ntwo\nxone\n")]);
        check(&tree, json!({"pattern": "^one$"}), "a:1: one\n[1 match in 1 file]");
        check(&tree, json!({"pattern": "^two$"}), "a:2: two\n[1 match in 1 file]");
    }

    #[test]
    fn nothing_found_says_where_it_looked() {
        let tree = Tree::of(&[("a.rs", "x\n"), ("b.rs", "y\n")]);
        tree.bytes("bin", b"needle\0");
        check(
            &tree,
            json!({"pattern": "needle"}),
            "No matches in 2 files in the project; 1 that is not text, or cannot be read, was left out. Case counts unless (?i) stands in front.",
        );
        check(
            &tree,
            json!({"pattern": "x", "glob": "*.py"}),
            "Nothing was searched: there are no text files that match \"*.py\" in the project.",
        );
        assert_eq!(
            grep(&tree, json!({"pattern": "needle", "path": "bin"})),
            Outcome::error(ErrorKind::Binary, "bin is not text, or cannot be read, and was not searched.")
        );
    }

    #[test]
    fn a_pattern_that_is_no_regex_is_refused_with_a_hint() {
        let tree = Tree::of(&[]);
        for pattern in ["foo(", "", r"a\nb", "(?=x)"] {
            let Outcome::Error(error) = grep(&tree, json!({"pattern": pattern})) else {
                panic!("{pattern:?}")
            };
            assert_eq!(error.kind, ErrorKind::InvalidPattern, "{pattern:?}");
        }
        let got = grep(&tree, json!({"pattern": "foo("}));
        assert!(got.content().contains("unclosed group") && got.content().contains("backslash"), "{got:?}");
    }

    #[test]
    fn many_matches_are_cut_and_counted() {
        let tree = Tree::of(&[("b", &"x\n".repeat(150)), ("a", &"x\n".repeat(150))]);
        let got = grep(&tree, json!({"pattern": "x"}));
        let lines: Vec<_> = got.content().lines().collect();
        assert_eq!(lines.len(), 201);
        assert_eq!((lines[0], lines[199]), ("a:1: x", "b:50: x"));
        assert_eq!(
            lines[200],
            "[200 of 300 matches in 2 files shown, 100 more left out; narrow it by path or pattern]"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_line_with_the_word_is_found_and_no_other(text in "(ab|a|b|\\r\\n|\\n|é){0,40}") {
            let found: Vec<String> = text
                .lines()
                .enumerate()
                .filter(|(_, line)| line.contains("ab"))
                .map(|(index, line)| format!("f:{}: {line}", index + 1))
                .collect();
            let got = grep(&Tree::of(&[("f", &text)]), json!({"pattern": "ab"}));
            let lines: Vec<&str> = got.content().lines().filter(|line| line.starts_with("f:")).collect();
            prop_assert_eq!(lines, found);
        }
    }

    #[test]
    fn a_long_line_is_cut_around_the_match() {
        let tree = Tree::of(&[("a", &format!("{}needle{}\n", "x".repeat(5000), "y".repeat(5000)))]);
        let expect = format!("a:1: …{}needle{}…\n[1 match in 1 file]", "x".repeat(147), "y".repeat(147));
        check(&tree, json!({"pattern": "needle"}), &expect);
    }
}
