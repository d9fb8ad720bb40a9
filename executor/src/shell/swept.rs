//! Looks on the disk for files of secrets among what a command reads without naming them: the one place of the judge that
//! does not go by the text alone. It reads names, never what is in a file.

use std::cell::{Cell, RefCell};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::TypesBuilder;
use ignore::{DirEntry, WalkBuilder};
use tandem_planner::secrets::{ENTRIES, linked_secret, of_packages, secret_name};
use tandem_shared::sensitive::is_sensitive;

use super::allow::wild;
use super::place::Place;
use super::reader::Sees;
use super::script::Script;
use super::sweep::Sweep;
use super::tracked::is_tracked;
use super::unnamed::sweeps;

/// Files that are named in a question; more are only counted as "more".
const NAMED: usize = 3;

/// What one judgement has seen. It lasts for that judgement alone.
pub(super) struct Sight<'a> {
    /// What paths are judged against.
    pub place: Place<'a>,
    seen: RefCell<Vec<(Vec<Sweep>, Finding)>>,
    left: Cell<usize>,
}

/// Files of secrets among what a command reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Finding {
    /// The first of them, relative to the root.
    pub files: Vec<String>,
    /// Whether there are more of them.
    pub more: bool,
    /// Whether there was too much to look at all of it.
    pub unseen: bool,
}

impl<'a> Sight<'a> {
    pub(super) fn new(place: Place<'a>) -> Sight<'a> {
        Sight { place, seen: RefCell::default(), left: Cell::new(ENTRIES) }
    }

    /// What the command at `at` reads of secrets without naming it.
    pub(super) fn of(&self, script: &Script, at: usize) -> Finding {
        let wanted = sweeps(script, at);
        if wanted.is_empty() {
            return Finding::default();
        }
        if let Some((_, known)) = self.seen.borrow().iter().find(|(swept, _)| *swept == wanted) {
            return known.clone();
        }
        let mut finding = Finding::default();
        for sweep in &wanted {
            self.look(sweep, &mut finding);
        }
        self.seen.borrow_mut().push((wanted, finding.clone()));
        finding
    }

    /// Takes one entry off what may still be looked at.
    fn spend(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    fn look(&self, sweep: &Sweep, into: &mut Finding) {
        let root = self.place.root;
        let dir = self.place.absolute(".", sweep.dir.as_deref()).unwrap_or_else(|| root.to_owned());
        let Some(start) = &sweep.start else { return self.below(root, root, sweep, into) };
        let starts = match (sweep.glob, self.place.absolute(start, Some(&dir.to_string_lossy()))) {
            (true, _) => self.meant(start, &dir, into),
            (false, Some(path)) => vec![path],
            (false, None) => vec![root.to_owned()],
        };
        for start in starts {
            // A folder around the project holds the project.
            let start = if root.starts_with(&start) { root.to_owned() } else { start };
            if !start.starts_with(root) {
                // What lies outside is judged by its name alone.
                if sweep.depth != Some(0) && is_sensitive(&start.join("any").to_string_lossy()) {
                    into.add(start.display().to_string());
                }
                continue;
            }
            match fs::metadata(&start) {
                Ok(met) if met.is_dir() => self.below(&start, &dir, sweep, into),
                Ok(met) => self.file(&start, &met, into),
                // In git such a word may name a commit, with all its files.
                Err(_) if sweep.sees == Sees::Tracked => self.below(&dir, &dir, sweep, into),
                Err(_) => {}
            }
        }
    }

    /// A file that is named, or met by a pattern: by its own name, and by that of what it is a link to.
    fn file(&self, path: &Path, met: &Metadata, into: &mut Finding) {
        if !self.spend() {
            into.unseen = true;
        }
        if let Some(secret) = linked_secret(self.place.root, path, met) {
            into.add(secret);
        }
    }

    /// Walks the folder `start` as `sweep` says.
    fn below(&self, start: &Path, dir: &Path, sweep: &Sweep, into: &mut Finding) {
        if sweep.depth == Some(0) {
            return;
        }
        for entry in walk(start, dir, self.place.root, sweep) {
            if !self.spend() {
                into.unseen = true;
                return;
            }
            let Ok(entry) = entry else { continue };
            let Some(secret) = secret_at(&entry, self.place.root, sweep.follows) else { continue };
            let fits = |pattern: &String| {
                let path = entry.path().strip_prefix(start).unwrap_or(entry.path()).to_string_lossy();
                wild(pattern, &path) || wild(pattern, &format!("/{path}"))
            };
            if !sweep.fits.as_ref().is_none_or(fits) {
                continue;
            }
            if sweep.sees == Sees::Tracked && !is_tracked(entry.path()) {
                continue;
            }
            into.add(secret);
            if into.more {
                return;
            }
        }
    }

    /// The paths that a shell puts in place of a pattern.
    fn meant(&self, pattern: &str, dir: &Path, into: &mut Finding) -> Vec<PathBuf> {
        let mut met = vec![if pattern.starts_with('/') { PathBuf::from("/") } else { dir.to_owned() }];
        for part in pattern.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if !part.contains(['*', '?', '[']) {
                met = met.into_iter().map(|path| path.join(part)).filter(|path| path.exists()).collect();
                continue;
            }
            // One that cannot be read stands for anything.
            let glob = GlobBuilder::new(part).build().ok().map(|glob| glob.compile_matcher());
            let mut next = Vec::new();
            for entry in met
                .iter()
                .filter(|path| self.may_hold(path))
                .filter_map(|path| fs::read_dir(path).ok())
                .flatten()
            {
                if !self.spend() {
                    into.unseen = true;
                    return next;
                }
                let Ok(entry) = entry else { continue };
                let name = entry.file_name();
                let hidden = name.to_string_lossy().starts_with('.') && !part.starts_with('.');
                if !hidden && glob.as_ref().is_none_or(|glob| glob.is_match(&name)) {
                    next.push(entry.path());
                }
            }
            met = next;
        }
        met.sort();
        met
    }

    /// Whether a folder lies on the way to the project or in it; nothing else is listed.
    fn may_hold(&self, folder: &Path) -> bool {
        folder.starts_with(self.place.root) || self.place.root.starts_with(folder)
    }
}

impl Finding {
    /// As the end of a sentence that begins with "it"; `None` where nothing was found.
    pub(super) fn why(&self) -> Option<String> {
        let more = if self.more { " and more" } else { "" };
        match (self.files.as_slice(), self.unseen) {
            ([], false) => None,
            ([], true) => Some(format!(
                "reads folders with more than {ENTRIES} entries, too many to see whether some may hold secrets"
            )),
            (files, _) => {
                Some(format!("reads what may hold secrets, without naming it: {}{more}", files.join(", ")))
            }
        }
    }

    fn add(&mut self, file: String) {
        let file = file.replace(char::is_control, "?");
        match self.files.len() {
            _ if self.files.contains(&file) => {}
            0..NAMED => self.files.push(file),
            _ => self.more = true,
        }
    }
}

/// The file of secrets that `entry` is or, where links are followed, leads to.
fn secret_at(entry: &DirEntry, root: &Path, follows: bool) -> Option<String> {
    let kind = entry.file_type()?;
    if kind.is_dir() || (kind.is_symlink() && !follows) {
        return None;
    }
    let target =
        || secret_name(root, &entry.path_is_symlink().then(|| fs::canonicalize(entry.path()).ok())??);
    secret_name(root, entry.path()).or_else(target)
}

/// The walk that the program itself would make: ripgrep's by its own library, with the filters of others in its form.
/// Git's store is left out, and what packages bring along.
fn walk(start: &Path, dir: &Path, root: &Path, sweep: &Sweep) -> ignore::Walk {
    let mut builder = WalkBuilder::new(start);
    builder.standard_filters(false).follow_links(sweep.follows).max_depth(sweep.depth).current_dir(root);
    if let Sees::Chosen { hidden, ignored } = sweep.sees {
        builder.hidden(!hidden);
        if !ignored {
            builder.parents(true).ignore(true).git_ignore(true).git_exclude(true);
            builder.add_custom_ignore_filename(".rgignore");
        }
    }
    if let Some(globs) = overrides(dir, sweep) {
        builder.overrides(globs);
    }
    if !sweep.types.is_empty() {
        let mut types = TypesBuilder::new();
        types.add_defaults();
        for name in &sweep.types {
            match name.strip_prefix('!') {
                Some(name) => types.negate(name),
                None => types.select(name),
            };
        }
        // With a type that is not known the program only complains.
        if let Ok(types) = types.build() {
            builder.types(types);
        }
    }
    builder.sort_by_file_name(|a, b| a.cmp(b));
    builder.filter_entry(|entry| {
        let name = entry.file_name();
        entry.depth() == 0 || !(name == ".git" || of_packages(name))
    });
    builder.build()
}

/// The globs of `sweep`; none where one of them cannot be read.
fn overrides(dir: &Path, sweep: &Sweep) -> Option<Override> {
    if sweep.globs.is_empty() {
        return None;
    }
    let mut builder = OverrideBuilder::new(dir);
    builder.case_insensitive(sweep.any_case).ok()?;
    for glob in &sweep.globs {
        builder.add(glob).ok()?;
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::parse::parse;

    #[test]
    fn what_is_too_much_to_look_at_is_not_taken_for_harmless() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["a", "b", "c", "d.pem"] {
            fs::write(root.join(name), "x").unwrap();
        }
        let why = |command: &str, entries: usize| {
            let sight = Sight { left: Cell::new(entries), ..Sight::new(Place { root }) };
            sight.of(&parse(command), 0).why().unwrap_or_default()
        };
        assert_eq!(why("grep -r x .", 5), "reads what may hold secrets, without naming it: d.pem");
        assert!(why("grep -r x .", 4).starts_with("reads folders with more than 300000 entries"));
        assert!(why("cat *", 2).starts_with("reads folders with more than 300000 entries"));
        assert_eq!(why("grep x a", 1), "");
        assert_eq!(why("ls", 0), "");
    }
}
