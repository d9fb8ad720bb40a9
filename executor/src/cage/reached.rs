//! Files of the project that git would run or read settings from, because the settings of a repository name them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::gitconfig::{Setting, of_repository};
use super::repos::Repositories;
use crate::environment::Environment;
use crate::shell;

/// Repositories whose settings are asked for; each takes git a few milliseconds.
const MOST_ASKED: usize = 50;

/// What settings name inside the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Programs, scripts, included settings, and links that lead to one of these.
    pub files: BTreeSet<PathBuf>,
    /// Folders of hooks.
    pub folders: BTreeSet<PathBuf>,
}

/// Settings whose value git runs, by section and name (git-config(1)); `*` is any name.
const RUN: &[(&str, &str)] = &[
    ("core", "fsmonitor"),
    ("core", "sshcommand"),
    ("core", "editor"),
    ("core", "pager"),
    ("core", "askpass"),
    ("core", "gitproxy"),
    ("core", "alternaterefscommand"),
    ("sequence", "editor"),
    ("alias", "*"),
    ("pager", "*"),
    ("credential", "helper"),
    ("diff", "external"),
    ("diff", "command"),
    ("diff", "textconv"),
    ("difftool", "cmd"),
    ("difftool", "path"),
    ("merge", "driver"),
    ("mergetool", "cmd"),
    ("mergetool", "path"),
    ("filter", "clean"),
    ("filter", "smudge"),
    ("filter", "process"),
    ("gpg", "program"),
    ("gpg", "defaultkeycommand"),
    ("interactive", "difffilter"),
    ("trailer", "command"),
    ("trailer", "cmd"),
    ("hook", "command"),
    ("submodule", "update"),
    ("remote", "uploadpack"),
    ("remote", "receivepack"),
    ("uploadpack", "packobjectshook"),
    ("browser", "cmd"),
    ("man", "cmd"),
];

/// Programs that run a file which they are given.
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "python", "python3", "node", "deno", "bun", "ruby", "perl", "php",
    "exec", "source", ".",
];

impl Reached {
    /// What the settings of these repositories name in `root`. Blocks.
    pub fn by(repositories: &Repositories, root: &Path, env: &Environment) -> Reached {
        let mut reached = Reached::default();
        let home = env.variables.iter().find(|(name, _)| name == "HOME").map(|(_, home)| Path::new(home));
        let bare = repositories.bare.iter().map(|folder| (folder, folder));
        for (top, folder) in repositories.tops.iter().chain(bare).take(MOST_ASKED) {
            let mut look = Look { reached: &mut reached, root, top, home };
            for setting in of_repository(folder, top, env) {
                look.at(&setting, folder);
            }
        }
        reached
    }

    /// Whether something at this path would decide what git runs, or stand in the way to it.
    pub fn holds(&self, path: &Path) -> bool {
        let leads = |place: &PathBuf| place.starts_with(path);
        self.files.iter().any(leads)
            || self.folders.iter().any(|folder| leads(folder) || path.parent() == Some(folder))
    }

    /// All of it.
    pub fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().chain(&self.folders)
    }
}

/// A look at the settings of one repository.
struct Look<'a> {
    reached: &'a mut Reached,
    root: &'a Path,
    /// Where git runs what they name.
    top: &'a Path,
    home: Option<&'a Path>,
}

impl Look<'_> {
    fn at(&mut self, setting: &Setting, folder: &Path) {
        // Those of the repository itself are guarded anyway.
        if !setting.origin.starts_with(folder) || setting.origin.parent() != Some(folder) {
            self.file(setting.origin.as_os_str(), self.top);
        }
        match setting.name() {
            ("core", "hookspath") => self.hooks(&setting.value),
            // A file that is not there yet, or not included under the conditions of now, counts as well.
            ("include" | "includeif", "path") => {
                let beside = setting.origin.parent().unwrap_or(self.top);
                self.file(&setting.value, beside);
            }
            ("init", "templatedir") => {
                let hooks = Path::new(&setting.value).join("hooks");
                self.hooks(hooks.as_os_str());
            }
            (section, name) => {
                if RUN.iter().any(|(of, one)| *of == section && (*one == "*" || *one == name)) {
                    self.command(&setting.value);
                }
            }
        }
    }

    fn hooks(&mut self, value: &OsStr) {
        let Some(folder) = self.place(value, self.top) else { return };
        // What husky keeps in `_` starts the hook of the same name beside it.
        if let Some(above) = folder.parent().filter(|above| folder.ends_with("_") && *above != self.root) {
            self.reached.folders.insert(above.to_owned());
        }
        self.reached.folders.insert(folder);
    }

    fn file(&mut self, value: &OsStr, base: &Path) {
        if let Some(file) = self.place(value, base) {
            self.reached.files.insert(file);
        }
    }

    /// The programs of a command line that lie in the project, and the scripts that interpreters are given.
    fn command(&mut self, value: &OsStr) {
        let Some(text) = value.to_str() else { return };
        for simple in shell::parse(text.trim_start_matches('!')).commands {
            let Some((program, args)) = simple.words.split_first() else { continue };
            // One without a slash is looked for elsewhere.
            if program.text.contains('/') {
                self.script(&program.text);
            }
            let name = program.text.rsplit('/').next().unwrap_or_default();
            if INTERPRETERS.contains(&name) {
                // A word such as `run` is no script because somebody makes a file of that name.
                let is_script = |word: &&str| word.contains('/') || self.top.join(word).is_file();
                let words = args.iter().map(|word| word.text.as_str());
                if let Some(script) = words.filter(|word| !word.starts_with('-')).find(is_script) {
                    self.script(script);
                }
            }
        }
    }

    fn script(&mut self, word: &str) {
        if self.place(OsStr::new(word), self.top).is_some_and(|path| !path.is_dir()) {
            self.file(OsStr::new(word), self.top);
        }
    }

    /// The place that a value names, if that lies in the project; links on the way there are noted.
    fn place(&mut self, value: &OsStr, base: &Path) -> Option<PathBuf> {
        let named = match (value.as_bytes().strip_prefix(b"~/"), self.home) {
            (Some(rest), Some(home)) => home.join(OsStr::from_bytes(rest)),
            _ => base.join(value),
        };
        let named = plain(&named);
        let inside = |path: &Path| path.starts_with(self.root) && path != self.root;
        for part in named.ancestors().filter(|part| inside(part)) {
            if part.symlink_metadata().is_ok_and(|about| about.is_symlink()) {
                self.reached.files.insert(part.to_owned());
            }
        }
        let real = fs::canonicalize(&named).unwrap_or(named);
        inside(&real).then_some(real)
    }
}

/// Without `.` and `..`, by the text alone: the file need not be there.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(settings: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for name in [".husky/_", "tools/inner"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("tools/run.sh"), "").unwrap();
        std::os::unix::fs::symlink("tools", root.join("link")).unwrap();
        let mut reached = Reached::default();
        let mut look =
            Look { reached: &mut reached, root: &root, top: &root, home: Some(Path::new("/home/me")) };
        for (key, value) in settings {
            let origin = root.join(".git/config");
            let setting = Setting { origin, key: (*key).to_owned(), value: value.into() };
            look.at(&setting, &root.join(".git"));
        }
        let names = |paths: &BTreeSet<PathBuf>| {
            paths.iter().map(|path| path.strip_prefix(&root).unwrap().display().to_string()).collect()
        };
        (names(&reached.files), names(&reached.folders))
    }

    fn check(key: &str, value: &str, files: &[&str], folders: &[&str]) {
        let (found_files, found_folders) = reached(&[(key, value)]);
        assert_eq!((found_files, found_folders), (owned(files), owned(folders)), "{key} = {value}");
    }

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_settings_name_in_the_project_is_reached() {
        check("core.hookspath", "tools", &[], &["tools"]);
        check("core.hookspath", ".husky/_", &[], &[".husky", ".husky/_"]);
        check("core.hookspath", "not/there", &[], &["not/there"]);
        check("core.hookspath", "link", &["link"], &["tools"]);
        check("core.hookspath", "../elsewhere", &[], &[]);
        check("core.hookspath", "~/hooks", &[], &[]);
        check("core.hookspath", ".", &[], &[]);
        check("include.path", "../team.ini", &["team.ini"], &[]);
        check("includeif.onbranch:x.path", "../x.ini", &["x.ini"], &[]);
        check("init.templatedir", "tools", &[], &["tools/hooks"]);
        check("core.fsmonitor", "tools/run.sh", &["tools/run.sh"], &[]);
        check("core.fsmonitor", "true", &[], &[]);
        check("core.sshcommand", "sh tools/run.sh -x", &["tools/run.sh"], &[]);
        check("filter.x.clean", "./tools/run.sh %f | cat", &["tools/run.sh"], &[]);
        check("alias.up", "!cd . && ./tools/later.sh", &["tools/later.sh"], &[]);
        check("alias.l", "log --format=tools/run.sh", &[], &[]);
        check("core.pager", "less -F", &[], &[]);
        check("user.name", "tools/run.sh", &[], &[]);
    }
}
