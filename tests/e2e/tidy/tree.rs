//! The source tree as it lies on disk: every Rust file with its tokens, told apart from what only tests see.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::lexer::{Token, tokens, without_tests};

/// The crates below the root, each in a folder of its name.
pub const ROOMS: [&str; 4] = ["shared", "router", "planner", "executor"];

/// A Rust file.
pub struct Source {
    /// Relative to the repository.
    pub path: String,
    pub text: String,
    /// All of it.
    pub tokens: Vec<Token>,
    /// What is there when no test is built; nothing for a file of tests.
    pub shipped: Vec<Token>,
}

pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file of the workspace.
pub fn sources() -> Vec<Source> {
    let mut paths = Vec::new();
    for folder in ROOMS.iter().chain(&["src", "tests"]) {
        files(&repository().join(folder), &mut paths);
    }
    paths.sort();
    let mut sources: Vec<Source> = Vec::new();
    // Files that only tests see, by path without the ending.
    let mut testing: Vec<PathBuf> = Vec::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let tokens = tokens(&text);
        let (shipped, modules) = without_tests(tokens.clone());
        testing.extend(modules.iter().map(|name| module_folder(path).join(name)));
        let path = relative(path);
        sources.push(Source { path, text, tokens, shipped });
    }
    for source in &mut sources {
        let path = repository().join(&source.path);
        let in_tests = source.path.split('/').any(|part| part == "tests" || part == "benches");
        if in_tests || testing.iter().any(|module| path.with_extension("").starts_with(module)) {
            source.shipped.clear();
        }
    }
    sources
}

/// Where a file's child modules lie.
fn module_folder(path: &Path) -> PathBuf {
    let folder = path.parent().unwrap_or(path);
    match path.file_stem().and_then(|stem| stem.to_str()) {
        Some("lib" | "main" | "mod") | None => folder.to_owned(),
        Some(stem) => folder.join(stem),
    }
}

/// A path relative to the repository, with forward slashes.
pub fn relative(path: &Path) -> String {
    path.strip_prefix(repository()).unwrap_or(path).to_string_lossy().into_owned()
}

/// Every file under `folder`, except build output.
pub fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if !path.is_dir() {
            found.push(path);
        } else if entry.file_name() != "target" && entry.file_name() != "scenarios" {
            files(&path, found);
        }
    }
}

/// The manifest of each crate by the folder it lies in; the root's folder is the empty string.
pub fn manifests() -> BTreeMap<String, toml::Table> {
    let read = |folder: &str| {
        let path = repository().join(folder).join("Cargo.toml");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (folder.to_owned(), text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    };
    ROOMS.iter().copied().chain([""]).map(read).collect()
}
