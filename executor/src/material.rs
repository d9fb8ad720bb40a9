//! What a check consists of beside its command line, so that a run which edits its own check is seen.

use std::collections::{BTreeMap, BTreeSet};

use ignore::{DirEntry, WalkBuilder};
use tandem_shared::digest::Digest;
use tandem_shared::workspace::{Workspace, slashed};

use crate::shell::{self, Script, Simple};

/// Test runners, by program and first operand; an empty operand stands for any.
const RUNNERS: &[(&str, &[&str])] = &[
    ("cargo", &["test", "t", "nextest"]),
    ("pytest", &[]),
    ("py.test", &[]),
    ("tox", &[]),
    ("nox", &[]),
    ("python", &["pytest", "unittest", "nose2"]),
    ("python3", &["pytest", "unittest", "nose2"]),
    ("npm", &["test", "t", "run"]),
    ("yarn", &["test", "run"]),
    ("pnpm", &["test", "run"]),
    ("bun", &["test", "run"]),
    ("deno", &["test"]),
    ("npx", &["jest", "vitest", "mocha", "ava", "playwright"]),
    ("jest", &[]),
    ("vitest", &[]),
    ("mocha", &[]),
    ("node", &["--test"]),
    ("go", &["test"]),
    ("make", &["test", "check", "tests"]),
    ("just", &["test", "check"]),
    ("ctest", &[]),
    ("mvn", &["test", "verify"]),
    ("gradle", &["test", "check"]),
    ("gradlew", &["test", "check"]),
    ("dotnet", &["test"]),
    ("mix", &["test"]),
    ("rake", &["test", "spec"]),
    ("rspec", &[]),
    ("phpunit", &[]),
    ("zig", &["test", "build"]),
    ("swift", &["test"]),
];

/// Files that rule how a runner runs, wherever they stand.
const RULING: &[&str] = &[
    "conftest.py",
    "pytest.ini",
    "tox.ini",
    "noxfile.py",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    "Rakefile",
    "CTestTestfile.cmake",
    "phpunit.xml",
    ".mocharc.json",
    ".mocharc.yml",
];

/// What a check consists of beside its command line: files that it runs, tests when it starts a test runner, and files that
/// it names, save those that are the step's own subject (`grep -q done notes.txt` looks at what the step is to change).
pub struct Material<'a> {
    script: Script,
    runs_tests: bool,
    step_files: &'a [String],
}

impl<'a> Material<'a> {
    /// Of the check `command` of a step that was approved to edit `step_files`.
    pub fn of(command: &str, step_files: &'a [String]) -> Material<'a> {
        let script = shell::parse(command);
        let runs_tests = script.commands.iter().any(is_runner);
        Material { script, runs_tests, step_files }
    }

    /// Whether `file` (relative to the root) belongs to it.
    pub fn holds(&self, file: &str) -> bool {
        let commands = &self.script.commands;
        let named = commands.iter().any(|simple| names(simple, file));
        let run = commands.iter().any(|simple| runs(simple, file));
        let subject = self.step_files.iter().any(|own| own == file);
        run || (self.runs_tests && is_test(file)) || (named && (is_test(file) || !subject))
    }

    /// Digests of all its files, as they are now. Ignored files and files over 4 MiB are left out, and the walk is bounded:
    /// what changes a check is a small file of the project.
    pub fn snapshot(&self, workspace: &Workspace) -> BTreeMap<String, Digest> {
        let walk =
            WalkBuilder::new(workspace.root()).hidden(false).require_git(false).filter_entry(not_git).build();
        let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
        let held = files.take(MOST_FILES).filter_map(|entry| {
            let path = slashed(entry.path().strip_prefix(workspace.root()).ok()?);
            let small = entry.metadata().is_ok_and(|meta| meta.len() <= MOST_BYTES);
            (self.holds(&path) && small).then_some(())?;
            Some((path, Digest::of(std::fs::read(entry.path()).ok()?)))
        });
        held.collect()
    }
}

/// Files that differ between two snapshots, those that came or went included.
pub fn changed(before: &BTreeMap<String, Digest>, after: &BTreeMap<String, Digest>) -> Vec<String> {
    let files: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    files.into_iter().filter(|file| before.get(*file) != after.get(*file)).cloned().collect()
}

/// Files that are looked at.
const MOST_FILES: usize = 50_000;
/// Bytes of a file that is looked at.
const MOST_BYTES: u64 = 4 << 20;

fn not_git(entry: &DirEntry) -> bool {
    entry.file_name() != ".git"
}

/// Programs that run a file which they are given.
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "source", ".", "python", "python3", "node", "deno", "bun",
    "perl", "ruby", "php", "lua", "make", "just",
];

/// Whether `simple` runs `file` itself.
fn runs(simple: &Simple, file: &str) -> bool {
    let program = simple
        .words
        .first()
        .is_some_and(|word| plain_path(simple.dir.as_deref().unwrap_or_default(), &word.text) == file);
    program || (INTERPRETERS.contains(&simple.name()) && names(simple, file))
}

fn is_runner(simple: &Simple) -> bool {
    RUNNERS.iter().any(|(program, operands)| {
        // The first operand may follow options with values, such as `make -C dir test`.
        let operand = |wanted: &&str| simple.args().iter().any(|arg| arg.text == **wanted);
        simple.name() == *program && (operands.is_empty() || operands.iter().any(operand))
    })
}

/// Whether `simple` names `file`, as a word, as the value of an option, as a test inside it, or as a folder above it.
fn names(simple: &Simple, file: &str) -> bool {
    let dir = simple.dir.as_deref().unwrap_or_default();
    let redirected = simple.redirects.iter().map(|redirect| &redirect.target);
    simple.words.iter().enumerate().chain(redirected.map(|word| (1, word))).any(|(at, word)| {
        let text = word.text.split("::").next().unwrap_or_default();
        let text = text.rsplit('=').next().unwrap_or(text);
        let joined = plain_path(dir, text);
        let named = joined == file;
        // A folder of scripts or tests counts, the root itself does not: then everything would.
        let above = at > 0
            && !joined.is_empty()
            && file.strip_prefix(&joined).is_some_and(|rest| rest.starts_with('/'));
        named || (above && is_test(file)) || (word.glob && wild_path(&joined, file))
    })
}

fn plain_path(dir: &str, text: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in dir.split('/').chain(text.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn wild_path(pattern: &str, file: &str) -> bool {
    globset::Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(file))
}

/// Whether a file is a test by where it stands or what it is called.
fn is_test(file: &str) -> bool {
    const FOLDERS: &[&str] =
        &["test", "tests", "__tests__", "spec", "specs", "testdata", "__snapshots__", "snapshots"];
    let mut folders: Vec<&str> = file.split('/').collect();
    let name = folders.pop().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or(name);
    folders.iter().any(|folder| FOLDERS.contains(folder))
        || RULING.contains(&name)
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || matches!(stem, "test" | "tests")
        || name.contains(".test.")
        || name.contains(".spec.")
}

#[cfg(test)]
mod tests;
