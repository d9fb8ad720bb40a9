//! The walk over the project's files: what git would show, hidden files with it, and never the insides of `.git`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ignore::{WalkBuilder, WalkState};
use tandem_shared::call::{ErrorKind, Outcome, ToolError};
use tandem_shared::sensitive::is_sensitive;
use tandem_shared::tool::ReadCx;
use tandem_shared::workspace::{WorkspacePath, slashed};

/// A file met on the walk.
pub(crate) struct File<'a> {
    root: &'a Path,
    /// Absolute, as walked.
    pub(crate) absolute: &'a Path,
    /// A symbolic link, which is listed and never followed.
    pub(crate) is_link: bool,
}

impl File<'_> {
    /// Relative to the root, with forward slashes.
    pub(crate) fn relative(&self) -> String {
        slashed(self.absolute.strip_prefix(self.root).unwrap_or(self.absolute))
    }
}

/// Counts the files that a search leaves out because they hold secrets.
#[derive(Debug, Default)]
pub(crate) struct Withheld(AtomicUsize);

impl Withheld {
    /// Whether `file`, met on a walk from `start`, is left out; then it is counted. A file that was named itself is not:
    /// leave was asked for it.
    pub(crate) fn holds(&self, file: &File<'_>, start: &WorkspacePath) -> bool {
        let withheld = file.absolute != start.absolute() && is_sensitive(&file.relative());
        if withheld {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        withheld
    }

    /// A line about them behind `text`, if there are any.
    pub(crate) fn told(&self, mut text: String) -> String {
        let (files, are) = match self.0.load(Ordering::Relaxed) {
            0 => return text,
            1 => ("1 file".to_owned(), "was"),
            count => (format!("{count} files"), "were"),
        };
        text.push_str(&format!(
            "\n[{files} that may hold secrets {are} left out; name one as path to ask the user for leave]"
        ));
        text
    }
}

/// Whether the walk goes on.
pub(crate) enum Next {
    Go,
    Stop,
}

/// How a walk ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Every file was visited, or the visitor had seen enough.
    Done,
    /// The run is to stop.
    Interrupted,
}

/// Whether a folder of that name is left out of every walk: git's own store and ours.
pub(crate) fn is_private(name: &str) -> bool {
    name == ".git" || name == ".tandem"
}

/// Whether some part of `relative` names git's store or ours, on file systems that ignore case too.
pub(crate) fn in_private(relative: &str) -> bool {
    relative.split('/').any(|part| is_private(&part.to_ascii_lowercase()))
}

/// The outcome of a call that was told to stop.
pub(crate) fn interrupted() -> Outcome {
    Outcome::Interrupted("This was stopped before it was through. Nothing was changed.".to_owned())
}

/// The walk below `start` by ripgrep's rules: `.gitignore` (also where there is no repository), `.ignore` and
/// `.git/info/exclude` hold, hidden files are shown, links are not followed. The user's global ignore file is left
/// aside: it is found through environment variables, and an answer should not depend on whose machine it is.
pub(crate) fn builder(cx: &ReadCx, start: &WorkspacePath) -> Result<WalkBuilder, ToolError> {
    if in_private(start.relative()) {
        return Err(ToolError::new(
            ErrorKind::OutsideRoot,
            format!(
                "{} belongs to git's or tandem's own store, which listings and searches leave out. \
                 Search the project's own folders.",
                start.relative()
            ),
        ));
    }
    // Without a repository, ignore files count from wherever they lie; with one, none above it does.
    let in_repository = start.absolute().ancestors().any(|folder| folder.join(".git").exists());
    let mut builder = WalkBuilder::new(start.absolute());
    builder
        .hidden(false)
        .follow_links(false)
        .git_global(false)
        .require_git(in_repository)
        .current_dir(cx.workspace.root())
        .filter_entry(|entry| entry.depth() == 0 || !is_private(&entry.file_name().to_string_lossy()));
    Ok(builder)
}

/// Shows every file and link below `start` (or `start` itself, when it is a file) to visitors that `visitor` makes, one
/// a thread, in no order.
pub(crate) fn each_file<V>(
    cx: &ReadCx,
    start: &WorkspacePath,
    visitor: impl Fn() -> V + Sync,
) -> Result<Ended, ToolError>
where
    V: FnMut(File<'_>) -> Next + Send,
{
    let stopped = AtomicBool::new(false);
    let root = cx.workspace.root();
    builder(cx, start)?.build_parallel().run(|| {
        let (mut visit, stopped) = (visitor(), &stopped);
        Box::new(move |entry| {
            if cx.interrupt.is_raised() {
                stopped.store(true, Ordering::Relaxed);
                return WalkState::Quit;
            }
            // A folder that cannot be read hides its own files only.
            let Ok(entry) = entry else { return WalkState::Continue };
            let Some(kind) = entry.file_type() else { return WalkState::Continue };
            if !kind.is_file() && !kind.is_symlink() {
                return WalkState::Continue;
            }
            match visit(File { root, absolute: entry.path(), is_link: kind.is_symlink() }) {
                Next::Go => WalkState::Continue,
                Next::Stop => WalkState::Quit,
            }
        })
    });
    Ok(if stopped.into_inner() { Ended::Interrupted } else { Ended::Done })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::cases;
    use crate::testing::{Tree, list_failures};
    use serde_json::Value;

    fn listing(tree: &Tree, start: &str) -> Vec<String> {
        let cx = tree.cx();
        let found = Mutex::new(Vec::new());
        let start = cx.workspace.resolve(start).unwrap();
        let ended = each_file(&cx, &start, || {
            |file| {
                found.lock().unwrap().push(file.relative());
                Next::Go
            }
        });
        assert_eq!(ended.unwrap(), Ended::Done);
        let mut found = found.into_inner().unwrap();
        found.sort();
        found
    }

    fn strings(value: &Value) -> Option<Vec<String>> {
        serde_json::from_value(value.clone()).ok()
    }

    #[test]
    fn cases_gitignore() {
        let mut failures = Vec::new();
        for case in cases::load("gitignore") {
            // Ignore rules hold in a repository and where there is none.
            for in_repository in [true, false] {
                let tree = Tree::of(&[]);
                if in_repository {
                    tree.bytes(".git/HEAD", b"ref: refs/heads/main\n");
                }
                for file in strings(&case["files"]).unwrap() {
                    tree.bytes(&file, b"x");
                }
                for (file, text) in case["ignore"].as_object().unwrap() {
                    tree.bytes(file, text.as_str().unwrap().as_bytes());
                }
                let mut right: Vec<_> =
                    ["expect", "expect_ripgrep"].iter().map(|key| strings(&case[*key])).collect();
                right.extend(case["also_accept"].as_array().into_iter().flatten().map(strings));
                let got = listing(&tree, ".");
                if !right.into_iter().flatten().any(|mut right| {
                    right.sort();
                    right == got
                }) {
                    failures.push(format!("{} (in a repository: {in_repository}): {got:?}", case["id"]));
                }
            }
        }
        list_failures(failures);
    }

    #[test]
    fn private_folders_are_never_entered_and_links_never_followed() {
        let outside = Tree::of(&[("secret", "x")]);
        let tree =
            Tree::of(&[("a", ""), (".git/config", ""), (".tandem/x", ""), ("sub/.git/x", ""), (".env", "")]);
        tree.link("out", outside.path().to_str().unwrap());
        tree.link("to-a", "a");
        assert_eq!(listing(&tree, "."), [".env", "a", "out", "to-a"]);
        let cx = tree.cx();
        for inside in [".git", "sub/.git", ".GIT/x", ".tandem/x"] {
            let start = cx.workspace.resolve(inside).unwrap();
            assert_eq!(builder(&cx, &start).unwrap_err().kind, ErrorKind::OutsideRoot, "{inside}");
        }
    }

    #[test]
    fn an_ignored_folder_is_entered_when_it_is_named() {
        let tree = Tree::of(&[(".gitignore", "target/\n"), ("target/x", ""), ("a", "")]);
        assert_eq!(listing(&tree, "."), [".gitignore", "a"]);
        assert_eq!(listing(&tree, "target"), ["target/x"]);
    }

    #[test]
    fn rules_of_the_root_hold_when_the_walk_starts_below_it() {
        let tree = Tree::of(&[(".gitignore", "*.log\n"), ("sub/x.log", ""), ("sub/x.rs", "")]);
        assert_eq!(listing(&tree, "sub"), ["sub/x.rs"]);
    }

    #[test]
    fn rules_above_a_repository_do_not_reach_into_it() {
        let outer = Tree::of(&[(".gitignore", "*.rs\n"), ("repo/.git/HEAD", ""), ("repo/a.rs", "")]);
        let root = tandem_shared::workspace::Workspace::open(&outer.path().join("repo")).unwrap();
        let cx = ReadCx { workspace: root, ..outer.cx() };
        let found = Mutex::new(Vec::new());
        let start = cx.workspace.resolve(".").unwrap();
        each_file(&cx, &start, || {
            |file: File<'_>| {
                found.lock().unwrap().push(file.relative());
                Next::Go
            }
        })
        .unwrap();
        assert_eq!(found.into_inner().unwrap(), ["a.rs"]);
    }

    #[test]
    fn a_raised_interrupt_ends_the_walk() {
        let tree = Tree::of(&[("a", ""), ("b", "")]);
        let cx = tree.cx();
        cx.interrupt.raise(tandem_shared::interrupt::Cause::Person);
        let start = cx.workspace.resolve(".").unwrap();
        let ended = each_file(&cx, &start, || |_: File<'_>| Next::Go).unwrap();
        assert_eq!(ended, Ended::Interrupted);
    }
}
