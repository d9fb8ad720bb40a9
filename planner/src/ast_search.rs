//! `ast_search`: code by its structure, with ast-grep's patterns.

use std::fs::File as OpenFile;
use std::io::Read;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{ErrorKind, Outcome, ToolError, ToolOutput};
use tandem_shared::tool::{ReadCx, ReadTool};

use crate::ast::{Lang, Match, Pattern};
use crate::hits::{Hits, cut_around};
use crate::off_thread::off_thread;
use crate::place;
use crate::walk::{self, Ended, File, Next, Withheld};

/// Characters shown of a match's first line.
const TEXT_CHARS: usize = 200;
/// Characters shown of what a hole stands for: a name or a short expression. A body is better read in its file.
const HOLE_CHARS: usize = 40;

/// Searches code by structure.
#[derive(Clone, Copy, Debug)]
pub struct AstSearch;

/// Arguments of `ast_search`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AstSearchArgs {
    /// Code with holes: $X for one node, $$$X for any number, such as $X.unwrap() or print($$$A).
    pub pattern: String,
    /// Language of the pattern, such as rust or python. Default: every language in which the pattern can be read.
    pub lang: Option<String>,
    /// File or folder to search. Default: the project root.
    pub path: Option<String>,
}

impl ReadTool for AstSearch {
    type Args = AstSearchArgs;
    const NAME: &'static str = "ast_search";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/ast_search.md");

    async fn call(&self, args: AstSearchArgs, cx: ReadCx) -> Outcome {
        if let Err(denied) = place::leave(&cx, Self::NAME, args.path.as_deref().unwrap_or(".")).await {
            return denied;
        }
        off_thread(move || search(&args, &cx)).await
    }
}

fn search(args: &AstSearchArgs, cx: &ReadCx) -> Result<Outcome, ToolError> {
    let (start, meta) = place::start(cx, args.path.as_deref())?;
    let langs = langs(place::given(args.lang.as_deref()), meta.is_file().then(|| start.relative()))?;
    let patterns = patterns(&args.pattern, &langs)?;
    let hits = Mutex::new(Hits::new(&cx.limits));
    let (searched, too_large) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let withheld = Withheld::default();

    let ended = walk::each_file(cx, &start, || {
        |file: File<'_>| {
            let Some(lang) = Lang::from_path(file.absolute).filter(|_| !file.is_link) else {
                return Next::Go;
            };
            let Some(pattern) = patterns.iter().find(|pattern| pattern.lang() == lang) else {
                return Next::Go;
            };
            if withheld.holds(&file, &start) {
                return Next::Go;
            }
            // A file that cannot be read, or vanished since it was listed, has no matches.
            let Some(source) = source(file.absolute, cx.limits.file_bytes) else {
                too_large.fetch_add(1, Ordering::Relaxed);
                return Next::Go;
            };
            searched.fetch_add(1, Ordering::Relaxed);
            let (found, total) = pattern.search(&source, cx.limits.matches);
            if total > 0 {
                let lines = found.iter().map(shown).collect();
                let Ok(mut hits) = hits.lock() else { return Next::Stop };
                hits.add(file.relative(), lines, total);
            }
            Next::Go
        }
    })?;

    if ended == Ended::Interrupted {
        return Ok(walk::interrupted());
    }
    let hits = hits.into_inner().map_err(|_| ToolError::new(ErrorKind::Io, "The search broke down."))?;
    if hits.total() > 0 {
        return Ok(Outcome::Ok(
            ToolOutput::text(withheld.told(hits.render("match", &cx.limits))).from_source("search"),
        ));
    }
    let langs: Vec<Lang> = patterns.iter().map(Pattern::lang).collect();
    let text = no_match(start.relative(), &langs, searched.into_inner(), too_large.into_inner());
    Ok(Outcome::text(withheld.told(text)))
}

/// The languages to search in: the one asked for, that of the one file searched, or all.
fn langs(asked: Option<&str>, file: Option<&str>) -> Result<Vec<Lang>, ToolError> {
    let unknown = |what: String| {
        let text = format!("{what}: the languages known are {}. For other files use grep.", Lang::names());
        ToolError::new(ErrorKind::InvalidArguments, text)
    };
    let of_file = match file {
        Some(file) => Some(
            Lang::from_path(file)
                .ok_or_else(|| unknown(format!("{file} cannot be searched by structure")))?,
        ),
        None => None,
    };
    match asked {
        Some(name) => {
            let lang = Lang::from_name(name).ok_or_else(|| unknown(format!("No language {name:?}")))?;
            match (file, of_file) {
                (Some(file), Some(other)) if other != lang => {
                    let text = format!("{file} is {}, not {}. Leave lang out.", other.name(), lang.name());
                    Err(ToolError::new(ErrorKind::InvalidArguments, text))
                }
                _ => Ok(vec![lang]),
            }
        }
        None => Ok(of_file.map_or_else(|| Lang::all().collect(), |lang| vec![lang])),
    }
}

/// The pattern in every language in which it can be read; an error when there is none.
fn patterns(pattern: &str, langs: &[Lang]) -> Result<Vec<Pattern>, ToolError> {
    let mut patterns = Vec::new();
    let mut faults: Vec<String> = Vec::new();
    for lang in langs {
        match Pattern::new(*lang, pattern) {
            Ok(pattern) => patterns.push(pattern),
            Err(fault) => {
                let fault = fault.to_string();
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
        }
    }
    if patterns.is_empty() {
        return Err(ToolError::new(
            ErrorKind::InvalidPattern,
            format!(
                "{pattern:?} is not a pattern: {}. Write one whole expression, statement or definition as it would \
                 stand in the code, with $X for one part and $$$X for any number (in capitals): $X.unwrap(), fn $N($$$P) {{ $$$B }}, \
                 class $N: $$$B. For loose text use grep.",
                faults.join("; ")
            ),
        ));
    }
    Ok(patterns)
}

/// The text of a file of at most `limit` bytes.
fn source(path: &Path, limit: u64) -> Option<String> {
    let file = OpenFile::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > limit {
        return None;
    }
    Some(
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    )
}

/// `line: first line of the match {X: what it stands for}`.
fn shown(found: &Match) -> String {
    let first = found.text.lines().next().unwrap_or_default();
    let mut text = format!("{}: {}", found.start_line, cut_around(first, 0, 0, TEXT_CHARS));
    if found.end_line > found.start_line {
        text.push_str(&format!(" … (to line {})", found.end_line));
    }
    let one_line = |text: &str| {
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        cut_around(&joined, 0, 0, HOLE_CHARS)
    };
    let single = found.captures.iter().map(|(name, held)| format!("{name}: {}", one_line(held)));
    let multi = found.multi.iter().map(|(name, held)| format!("{name}: [{}]", one_line(&held.join(", "))));
    let holes: Vec<String> = single.chain(multi).collect();
    if !holes.is_empty() {
        text.push_str(&format!("  {{{}}}", holes.join("; ")));
    }
    text
}

fn no_match(base: &str, langs: &[Lang], searched: usize, too_large: usize) -> String {
    let place = if base == "." { "the project" } else { base };
    let names = langs.iter().map(|lang| lang.name()).collect::<Vec<_>>().join(" or ");
    if searched == 0 {
        return format!("Nothing was searched: there are no {names} files in {place}.");
    }
    let files = if searched == 1 { "1 file".to_owned() } else { format!("{searched} files") };
    let left_out = match too_large {
        0 => String::new(),
        count => format!("; {count} were too large or unreadable"),
    };
    let unseen: String = langs
        .iter()
        .map(|lang| lang.unseen())
        .filter(|told| !told.is_empty())
        .map(|told| format!(" {told}"))
        .collect();
    format!(
        "No matches in {files} of {names} in {place}{left_out}. A pattern matches whole syntax: everything that the \
         code has (pub, async, a return type, a body) must stand in it or be a hole.{unseen}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Tree, run};
    use serde_json::json;

    fn tree() -> Tree {
        Tree::of(&[
            ("src/b.rs", "fn b() { x.unwrap(); }\n// y.unwrap()\n"),
            ("src/a.rs", "fn a() {\n    let v = f(\n        1,\n        2,\n    ).unwrap();\n}\n"),
            ("t.py", "x.unwrap()\nprint('a', b)\n"),
            ("notes.md", "x.unwrap()\n"),
            (".gitignore", "gen/\n"),
            ("gen/g.rs", "fn g() { x.unwrap(); }\n"),
        ])
    }

    fn check(args: serde_json::Value, expect: &str) {
        assert_eq!(run(&tree().cx(), "ast_search", args.clone()).content(), expect, "{args}");
    }

    #[test]
    fn matches_come_by_path_with_what_the_holes_hold() {
        let text = "src/a.rs:2: f( … (to line 5)  {X: f( 1, 2, )}\nsrc/b.rs:1: x.unwrap()  {X: x}\n\
                    t.py:1: x.unwrap()  {X: x}\n[3 matches in 3 files]";
        let expect = Outcome::Ok(ToolOutput::text(text).from_source("search"));
        assert_eq!(run(&tree().cx(), "ast_search", json!({"pattern": "$X.unwrap()"})), expect);
        check(
            json!({"pattern": "$X.unwrap()", "lang": "python"}),
            "t.py:1: x.unwrap()  {X: x}\n[1 match in 1 file]",
        );
        check(
            json!({"pattern": "$X.unwrap()", "path": "src/b.rs"}),
            "src/b.rs:1: x.unwrap()  {X: x}\n[1 match in 1 file]",
        );
        check(json!({"pattern": "print($$$A)"}), "t.py:2: print('a', b)  {A: ['a', b]}\n[1 match in 1 file]");
        check(
            json!({"pattern": "$X.unwrap()", "path": "gen"}),
            "gen/g.rs:1: x.unwrap()  {X: x}\n[1 match in 1 file]",
        );
    }

    #[test]
    fn nothing_found_says_where_it_looked() {
        check(
            json!({"pattern": "nosuch($A)", "lang": "rust"}),
            "No matches in 2 files of rust in the project. A pattern matches whole syntax: everything that the code \
             has (pub, async, a return type, a body) must stand in it or be a hole. What stands inside a macro call, \
             such as assert!(…), is not seen; grep sees it.",
        );
        check(
            json!({"pattern": "f($A)", "lang": "python", "path": "src"}),
            "Nothing was searched: there are no python files in src.",
        );
    }

    #[test]
    fn what_cannot_be_searched_is_refused_with_what_can() {
        let kind = |args: serde_json::Value| match run(&tree().cx(), "ast_search", args) {
            Outcome::Error(error) => Some(error.kind),
            _ => None,
        };
        assert_eq!(kind(json!({"pattern": "foo("})), Some(ErrorKind::InvalidPattern));
        assert_eq!(
            kind(json!({"pattern": "fn $N() { $$$B }", "lang": "python"})),
            Some(ErrorKind::InvalidPattern)
        );
        check(
            json!({"pattern": "x", "lang": "cobol"}),
            "No language \"cobol\": the languages known are rust, python. For other files use grep.",
        );
        check(
            json!({"pattern": "x", "path": "notes.md"}),
            "notes.md cannot be searched by structure: the languages known are rust, python. For other files use grep.",
        );
        check(
            json!({"pattern": "x", "path": "t.py", "lang": "rust"}),
            "t.py is python, not rust. Leave lang out.",
        );
    }
}
