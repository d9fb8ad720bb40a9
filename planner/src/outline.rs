//! `outline`: what a source file defines, with line numbers.

use std::fs::File;
use std::io::Read;

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{ErrorKind, Outcome, ToolError, ToolOutput};
use tandem_shared::tool::{ReadCx, ReadTool};

use crate::ast::{self, Item, Lang};
use crate::off_thread::off_thread;
use crate::place;

/// Shows what a file defines.
#[derive(Clone, Copy, Debug)]
pub struct Outline;

/// Arguments of `outline`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutlineArgs {
    /// Source file, relative to the project root.
    pub path: String,
}

impl ReadTool for Outline {
    type Args = OutlineArgs;
    const NAME: &'static str = "outline";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/outline.md");

    async fn call(&self, args: OutlineArgs, cx: ReadCx) -> Outcome {
        if let Err(denied) = place::leave(&cx, Self::NAME, &args.path).await {
            return denied;
        }
        off_thread(move || outline(&args, &cx)).await
    }
}

fn outline(args: &OutlineArgs, cx: &ReadCx) -> Result<Outcome, ToolError> {
    let (place, meta) = place::existing(cx, &args.path)?;
    let name = place.relative();
    let refuse = |kind, text: String| Err(ToolError::new(kind, text));
    if !meta.is_file() {
        let text =
            format!("{name} is not a file. See what is in a folder with list_dir, then outline one file.");
        return refuse(ErrorKind::InvalidArguments, text);
    }
    let Some(lang) = Lang::from_path(name) else {
        let known = Lang::names();
        let text = format!("{name} has no outline: the languages known are {known}. Use read_file or grep.");
        return refuse(ErrorKind::InvalidArguments, text);
    };
    if meta.len() > cx.limits.file_bytes {
        let text = format!("{name} has {} bytes, too many to outline. Find the place with grep.", meta.len());
        return refuse(ErrorKind::TooLarge, text);
    }
    let mut bytes = Vec::new();
    File::open(place.absolute())
        .and_then(|file| file.take(cx.limits.file_bytes).read_to_end(&mut bytes))
        .map_err(|error| place::io_error(name, &error))?;
    let source = String::from_utf8_lossy(&bytes);
    let items =
        ast::outline(lang, &source).map_err(|error| ToolError::new(ErrorKind::Io, error.to_string()))?;
    let text = listed(name, lang, source.lines().count(), &items, cx.limits.match_chars);
    Ok(Outcome::Ok(ToolOutput::text(text).from_source(format!("file {name}"))))
}

fn listed(name: &str, lang: Lang, lines: usize, items: &[Item], chars: usize) -> String {
    let mut text = format!("{name}, {}, {lines} lines", lang.name());
    if items.is_empty() {
        text.push_str(", defines nothing that an outline shows");
    }
    let mut used = 0;
    for (index, item) in items.iter().enumerate() {
        let line =
            format!("\n{}-{}\t{}{}", item.start_line, item.end_line, "  ".repeat(item.depth), item.signature);
        used += line.chars().count();
        if used > chars && index > 0 {
            let left = items.len() - index;
            text.push_str(&format!("\n[{left} more items from line {} on left out]", item.start_line));
            break;
        }
        text.push_str(&line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Tree, run};
    use serde_json::json;

    fn check(tree: &Tree, path: &str, expect: Outcome) {
        assert_eq!(run(&tree.cx(), "outline", json!({ "path": path })), expect);
    }

    #[test]
    fn definitions_are_shown_with_their_lines() {
        let tree = Tree::of(&[("a.rs", "impl A {\n    fn b() {}\n}\n"), ("c.txt", ""), ("e.py", "")]);
        check(
            &tree,
            "a.rs",
            Outcome::Ok(
                ToolOutput::text("a.rs, rust, 3 lines\n1-3\timpl A\n2-2\t  fn b()").from_source("file a.rs"),
            ),
        );
        check(
            &tree,
            "e.py",
            Outcome::Ok(
                ToolOutput::text("e.py, python, 0 lines, defines nothing that an outline shows")
                    .from_source("file e.py"),
            ),
        );
        check(
            &tree,
            "c.txt",
            Outcome::error(
                ErrorKind::InvalidArguments,
                "c.txt has no outline: the languages known are rust, python. Use read_file or grep.",
            ),
        );
    }

    #[test]
    fn a_long_outline_is_cut_and_says_from_where() {
        let source: String = (1..=2000).map(|n| format!("fn f{n}() {{}}\n")).collect();
        let got = run(&Tree::of(&[("a.rs", &source)]).cx(), "outline", json!({"path": "a.rs"}));
        let last = got.content().lines().last().unwrap();
        assert!(last.starts_with('[') && last.contains("more items from line"), "{last}");
        assert!(got.content().chars().count() < 10_200);
    }
}
