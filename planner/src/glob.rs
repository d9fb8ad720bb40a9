//! `glob`: files by name.

use std::sync::Mutex;

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{ErrorKind, Outcome, ToolError, ToolOutput};
use tandem_shared::tool::{ReadCx, ReadTool};

use crate::off_thread::off_thread;
use crate::path_pattern::PathPattern;
use crate::place;
use crate::walk::{self, Ended, File, Next};

/// Finds files by name.
#[derive(Clone, Copy, Debug)]
pub struct Glob;

/// Arguments of `glob`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlobArgs {
    /// Glob, such as *.rs, src/**/*.py or {lib,main}.rs. Without a slash it matches at any depth.
    pub pattern: String,
    /// Folder to look in. Default: the project root.
    pub path: Option<String>,
}

impl ReadTool for Glob {
    type Args = GlobArgs;
    const NAME: &'static str = "glob";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/glob.md");

    async fn call(&self, args: GlobArgs, cx: ReadCx) -> Outcome {
        off_thread(move || find(&args, &cx)).await
    }
}

fn find(args: &GlobArgs, cx: &ReadCx) -> Result<Outcome, ToolError> {
    // An absolute pattern inside the root is meant from the root.
    let root = format!("{}/", cx.workspace.root().display());
    let pattern = PathPattern::new(args.pattern.strip_prefix(&root).unwrap_or(&args.pattern))?;
    let (start, _) = place::start(cx, args.path.as_deref())?;
    let base = start.relative();
    let found = Mutex::new((0_usize, Vec::new()));
    let ended = walk::each_file(cx, &start, || {
        |file: File<'_>| {
            let relative = file.relative();
            let is_match = pattern.is_match(&relative, base);
            let Ok(mut found) = found.lock() else { return Next::Stop };
            found.0 += 1;
            if is_match {
                found.1.push(relative);
            }
            Next::Go
        }
    })?;
    if ended == Ended::Interrupted {
        return Ok(walk::interrupted());
    }
    let (seen, mut paths) =
        found.into_inner().map_err(|_| ToolError::new(ErrorKind::Io, "The search broke down."))?;
    if paths.is_empty() {
        let place = if base == "." { "the project" } else { base };
        return Ok(Outcome::text(format!("None of the {seen} files in {place} matches {:?}.", args.pattern)));
    }
    paths.sort();
    Ok(Outcome::Ok(ToolOutput::text(listed(&paths, cx)).from_source("search")))
}

fn listed(paths: &[String], cx: &ReadCx) -> String {
    let mut text = String::new();
    let mut shown = 0;
    for path in paths.iter().take(cx.limits.matches) {
        if shown > 0 && text.len() + path.len() > cx.limits.match_chars {
            break;
        }
        text.push_str(path);
        text.push('\n');
        shown += 1;
    }
    let files = if paths.len() == 1 { "1 file".to_owned() } else { format!("{} files", paths.len()) };
    if shown < paths.len() {
        text.push_str(&format!(
            "[{shown} of {files} shown, {} more left out; narrow it by path or pattern]",
            paths.len() - shown
        ));
    } else {
        text.push_str(&format!("[{files}]"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Tree, run};
    use serde_json::json;

    fn check(tree: &Tree, args: serde_json::Value, expect: &str) {
        assert_eq!(run(&tree.cx(), "glob", args.clone()).content(), expect, "{args}");
    }

    #[test]
    fn files_come_by_path() {
        let tree = Tree::of(&[
            ("src/b.rs", ""),
            ("src/a.rs", ""),
            ("src/x/c.rs", ""),
            (".env", ""),
            (".gitignore", "*.log\n"),
            ("x.log", ""),
        ]);
        let expect = ToolOutput::text("src/a.rs\nsrc/b.rs\nsrc/x/c.rs\n[3 files]").from_source("search");
        assert_eq!(run(&tree.cx(), "glob", json!({"pattern": "*.rs"})), Outcome::Ok(expect));
        check(&tree, json!({"pattern": "src/*.rs"}), "src/a.rs\nsrc/b.rs\n[2 files]");
        check(&tree, json!({"pattern": "**/c.*", "path": "src"}), "src/x/c.rs\n[1 file]");
        check(&tree, json!({"pattern": ".env*"}), ".env\n[1 file]");
        check(&tree, json!({"pattern": "*.log"}), "None of the 5 files in the project matches \"*.log\".");
        let absolute = format!("{}/src/*.rs", tree.cx().workspace.root().display());
        check(&tree, json!({"pattern": absolute}), "src/a.rs\nsrc/b.rs\n[2 files]");
    }

    #[test]
    fn many_files_are_cut_and_counted() {
        let names: Vec<String> = (0..250).map(|n| format!("{n:03}")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        let got = run(&Tree::of(&files).cx(), "glob", json!({"pattern": "*"}));
        let lines: Vec<_> = got.content().lines().collect();
        assert_eq!((lines.len(), lines[199]), (201, "199"));
        assert_eq!(lines[200], "[200 of 250 files shown, 50 more left out; narrow it by path or pattern]");
    }

    #[test]
    fn a_pattern_that_is_no_glob_is_refused() {
        let Outcome::Error(error) = run(&Tree::of(&[]).cx(), "glob", json!({"pattern": "{a"})) else {
            panic!()
        };
        assert_eq!(error.kind, ErrorKind::InvalidPattern);
    }
}
