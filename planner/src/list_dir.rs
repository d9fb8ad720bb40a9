//! `list_dir`: what is in a folder.

use std::collections::BTreeSet;
use std::ffi::OsString;

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{ErrorKind, Outcome, ToolError, ToolOutput};
use tandem_shared::tool::{ReadCx, ReadTool};

use crate::off_thread::off_thread;
use crate::{place, walk};

/// Entries shown at most: a folder with more is better looked into by glob.
const ENTRIES: usize = 500;

/// Lists a folder.
#[derive(Clone, Copy, Debug)]
pub struct ListDir;

/// Arguments of `list_dir`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDirArgs {
    /// Folder to list, relative to the project root. Default: the root.
    pub path: Option<String>,
}

impl ReadTool for ListDir {
    type Args = ListDirArgs;
    const NAME: &'static str = "list_dir";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/list_dir.md");

    async fn call(&self, args: ListDirArgs, cx: ReadCx) -> Outcome {
        off_thread(move || list(&args, &cx)).await
    }
}

fn list(args: &ListDirArgs, cx: &ReadCx) -> Result<Outcome, ToolError> {
    let (place, meta) = place::start(cx, args.path.as_deref())?;
    let name = place.relative();
    if !meta.is_dir() {
        let text = format!("{name} is a file, not a folder. Read it with read_file.");
        return Err(ToolError::new(ErrorKind::InvalidArguments, text));
    }
    let walk = walk::builder(cx, &place)?.max_depth(Some(1)).build();
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    let mut shown: BTreeSet<OsString> = BTreeSet::new();
    for entry in walk.flatten().filter(|entry| entry.depth() == 1) {
        shown.insert(entry.file_name().to_owned());
        let entry_name = entry.file_name().to_string_lossy().into_owned();
        match entry.file_type() {
            Some(kind) if kind.is_dir() => folders.push(format!("{entry_name}/")),
            Some(kind) if kind.is_symlink() => {
                let target = std::fs::read_link(entry.path());
                let target = target.map_or("?".to_owned(), |target| target.display().to_string());
                files.push(format!("{entry_name} -> {target}"));
            }
            Some(kind) if kind.is_file() => {
                let size = entry.metadata().map_or(0, |meta| meta.len());
                files.push(format!("{entry_name}\t{size}"));
            }
            _ => files.push(format!("{entry_name}\tnot a regular file")),
        }
    }
    let all = place.absolute().read_dir().map_err(|error| place::io_error(name, &error))?;
    let ignored = all
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|entry| !shown.contains(entry) && !walk::is_private(&entry.to_string_lossy()))
        .count();
    folders.sort();
    files.sort();
    let text = listed(name, &folders, &files, ignored);
    Ok(Outcome::Ok(ToolOutput::text(text).from_source(format!("folder {name}"))))
}

fn listed(name: &str, folders: &[String], files: &[String], ignored: usize) -> String {
    let count = folders.len() + files.len();
    let mut text = match name {
        "." => "The project root".to_owned(),
        name => format!("{name}/"),
    };
    text.push_str(&match count {
        0 => " is empty".to_owned(),
        1 => ", 1 entry (files with their size in bytes)".to_owned(),
        _ => format!(", {count} entries (files with their size in bytes)"),
    });
    if ignored > 0 {
        text.push_str(&format!(", {ignored} more ignored by git and left out"));
    }
    for entry in folders.iter().chain(files).take(ENTRIES) {
        text.push('\n');
        text.push_str(entry);
    }
    if count > ENTRIES {
        text.push_str(&format!("\n[{} more left out; find files by name with glob]", count - ENTRIES));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Tree, run};
    use serde_json::json;

    fn check(tree: &Tree, args: serde_json::Value, expect: &str) {
        assert_eq!(run(&tree.cx(), "list_dir", args.clone()).content(), expect, "{args}");
    }

    #[test]
    fn folders_come_first_and_ignored_entries_are_counted() {
        let tree = Tree::of(&[
            ("b.txt", "12345"),
            ("a.txt", ""),
            ("src/x", ""),
            (".github/w", ""),
            (".git/HEAD", ""),
            (".gitignore", "target/\n"),
            ("target/x", ""),
        ]);
        tree.link("link", "a.txt");
        let text = "The project root, 6 entries (files with their size in bytes), 1 more ignored by git and left out\n\
                    .github/\nsrc/\n.gitignore\t8\na.txt\t0\nb.txt\t5\nlink -> a.txt";
        let expect = Outcome::Ok(ToolOutput::text(text).from_source("folder ."));
        assert_eq!(run(&tree.cx(), "list_dir", json!({})), expect);
        check(&tree, json!({"path": "src/"}), "src/, 1 entry (files with their size in bytes)\nx\t0");
        check(&tree, json!({"path": "b.txt"}), "b.txt is a file, not a folder. Read it with read_file.");
        check(&tree, json!({"path": "scr"}), "scr does not exist. Nearest: src.");
    }

    #[test]
    fn an_empty_folder_and_a_huge_one_say_so() {
        check(&Tree::of(&[]), json!({}), "The project root is empty");
        let names: Vec<String> = (0..510).map(|n| format!("{n:03}")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        let got = run(&Tree::of(&files).cx(), "list_dir", json!({}));
        assert_eq!(got.content().lines().count(), 502);
        assert!(got.content().ends_with("\n[10 more left out; find files by name with glob]"));
    }
}
