//! Repositories in and around the project, whose hooks and settings git would run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that are looked through, nearest first. Two looks at so many take some 0.4 s, and most projects have fewer.
const MOST_FOLDERS: usize = 8_000;

/// The repositories of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repositories {
    /// Every folder that git reads settings or hooks from, links resolved.
    pub folders: BTreeSet<PathBuf>,
    /// Files that name such a folder, in the place of a `.git` folder.
    pub pointers: BTreeSet<PathBuf>,
    /// Those of the folders that lie outside the project and that its own repository needs to write to.
    pub outside: Vec<PathBuf>,
    /// Folders with files to work on, and the git folder of each.
    pub tops: BTreeMap<PathBuf, PathBuf>,
    /// Repositories without such files, which are no `.git` of anything: git that runs inside one takes its settings.
    pub bare: BTreeSet<PathBuf>,
    /// Files and folders of the project that the command can only read, because git would run or read them.
    pub shut: Vec<PathBuf>,
}

impl Repositories {
    /// Every folder that git reads settings or hooks from.
    pub fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.folders.iter().chain(&self.bare)
    }
}

/// Looks for them in `root` and, for a part of a repository, above it.
pub fn find(root: &Path) -> Repositories {
    let mut found = Repositories::default();
    let own = root.ancestors().map(|folder| folder.join(".git")).find(|git| git.symlink_metadata().is_ok());
    if let Some(entry) = own {
        add(&entry, &mut found);
        let outside: Vec<PathBuf> =
            found.folders.iter().filter(|folder| !folder.starts_with(root)).cloned().collect();
        // Those that lie in another of them come with it.
        let within =
            |folder: &PathBuf| outside.iter().any(|other| other != folder && folder.starts_with(other));
        found.outside = outside.iter().filter(|folder| !within(folder)).cloned().collect();
    }
    let mut folders = VecDeque::from([root.to_owned()]);
    let mut left = MOST_FOLDERS;
    while let (Some(folder), 1..) = (folders.pop_front(), left) {
        left -= 1;
        let (mut below, mut has_head) = (Vec::new(), false);
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            has_head |= name == "HEAD";
            if name == ".git" {
                add(&entry.path(), &mut found);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                below.push(entry.path());
            }
        }
        // Most folders are known to be none by their names alone.
        let is_bare = has_head && is_git_folder(&folder);
        if is_bare {
            found.bare.insert(folder.clone());
        }
        // What lies in one is git's own.
        if !is_bare || folder == root {
            folders.extend(below);
        }
    }
    let known = &found.folders;
    found.bare.retain(|folder| !known.contains(folder));
    found
}

/// One `.git`: a folder, a link to one, or a file that names one.
fn add(entry: &Path, found: &mut Repositories) {
    let Ok(about) = fs::metadata(entry) else { return };
    if about.is_file() {
        found.pointers.insert(entry.to_owned());
    }
    let named = if about.is_dir() { Some(entry.to_owned()) } else { named_folder(entry) };
    if let Some(folder) = named.and_then(|folder| fs::canonicalize(folder).ok()) {
        add_folder(&folder, found);
        if let Some(top) = entry.parent().filter(|_| found.folders.contains(&folder)) {
            found.tops.insert(top.to_owned(), folder);
        }
    }
}

fn add_folder(folder: &Path, found: &mut Repositories) {
    if !is_git_folder(folder) || !found.folders.insert(folder.to_owned()) {
        return;
    }
    if let Some(common) = common_folder(folder) {
        add_folder(&common, found);
    }
    for worktree in fs::read_dir(folder.join("worktrees")).into_iter().flatten().flatten() {
        add_folder(&worktree.path(), found);
    }
    add_modules(&folder.join("modules"), found, 4);
}

/// Submodules have names with slashes, so they lie at any depth.
fn add_modules(folder: &Path, found: &mut Repositories, depth: usize) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if is_git_folder(&path) {
            add_folder(&path, found);
        } else if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            add_modules(&path, found, depth - 1);
        }
    }
}

/// Whether git would take it for one. A file that names any other folder must not open that one to writing.
fn is_git_folder(folder: &Path) -> bool {
    let complete = folder.join("objects").is_dir() && folder.join("refs").is_dir();
    folder.join("HEAD").symlink_metadata().is_ok() && (complete || folder.join("commondir").is_file())
}

/// The folder that a `.git` file names.
pub fn named_folder(pointer: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(pointer).ok()?;
    let named = text.strip_prefix("gitdir:")?.trim();
    Some(pointer.parent()?.join(named))
}

/// The repository that a worktree belongs to.
fn common_folder(folder: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(folder.join("commondir")).ok()?;
    fs::canonicalize(folder.join(text.trim())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git_folder(folder: &Path) {
        for part in ["objects", "refs"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn nested_repositories_submodules_and_worktrees_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for git in [".git", ".git/modules/lib/a", "deep/er/.git"] {
            git_folder(&root.join(git));
        }
        fs::create_dir(root.join("lib")).unwrap();
        fs::write(root.join("lib/.git"), "gitdir: ../.git/modules/lib/a\n").unwrap();
        fs::create_dir(root.join("lies")).unwrap();
        fs::write(root.join("lies/.git"), "gitdir: /etc\n").unwrap();
        let found = find(&root);
        let inside: Vec<_> =
            found.folders.iter().map(|path| path.strip_prefix(&root).unwrap().to_owned()).collect();
        assert_eq!(inside, [".git", ".git/modules/lib/a", "deep/er/.git"].map(PathBuf::from));
        assert_eq!(found.pointers.len(), 2);
        assert_eq!(found.outside, Vec::<PathBuf>::new());
    }

    #[test]
    fn bare_repositories_are_found_and_not_gone_through() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for git in [".git", "fixtures/bare.git", "fixtures/bare.git/objects/x"] {
            git_folder(&root.join(git));
        }
        fs::create_dir_all(root.join("docs/objects")).unwrap();
        fs::write(root.join("docs/HEAD"), "no repository").unwrap();
        let found = find(&root);
        assert_eq!(found.bare, BTreeSet::from([root.join("fixtures/bare.git")]));
        assert_eq!(found.tops, BTreeMap::from([(root.clone(), root.join(".git"))]));
    }

    #[test]
    fn the_repository_of_a_worktree_lies_outside() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        git_folder(&top.join("main/.git"));
        let admin = top.join("main/.git/worktrees/w");
        fs::create_dir_all(&admin).unwrap();
        fs::create_dir(top.join("w")).unwrap();
        fs::write(admin.join("HEAD"), "x").unwrap();
        fs::write(admin.join("commondir"), "../..\n").unwrap();
        fs::write(top.join("w/.git"), format!("gitdir: {}\n", admin.display())).unwrap();
        assert_eq!(find(&top.join("w")).outside, [top.join("main/.git")]);
    }
}
