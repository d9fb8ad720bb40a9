//! Where a path in a command leads, worked out from its text alone.

use std::path::{Component, Path, PathBuf};

/// What paths are judged against.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The project root.
    pub root: &'a Path,
}

/// Stands for the home of whoever runs the command: its real path is not known here.
const HOME: &str = "/home/~";

/// Folders whose whole content is the system's.
const SYSTEM: &[&str] = &[
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys", "/usr", "/System",
    "/Library",
];

/// Folders that are not to be lost as a whole.
const WHOLE: &[&str] =
    &["/", "/home", "/opt", "/root", "/run", "/srv", "/var", "/mnt", "/media", "/Users", "/tmp", HOME];

impl Place<'_> {
    /// `text` as an absolute path when the command runs in `dir`; `None` when it is relative to nobody knows where.
    /// `.` and `..` are resolved by their text, and a pattern for everything in a folder stands for the folder.
    pub fn absolute(&self, text: &str, dir: Option<&str>) -> Option<PathBuf> {
        let text = at_home(text);
        let mut path = self.root.to_owned();
        if !text.starts_with('/') {
            path.push(at_home(dir?));
        }
        path.push(&text);
        let mut plain = PathBuf::from("/");
        for part in path.components() {
            match part {
                Component::ParentDir => {
                    plain.pop();
                }
                Component::Normal(name) if is_everything(&name.to_string_lossy()) => {}
                Component::Normal(name) => plain.push(name),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
        Some(plain)
    }

    /// Whether losing `path` as a whole is a catastrophe.
    pub fn is_vital(&self, path: &Path) -> bool {
        if path.starts_with(self.root) && path != self.root {
            return false;
        }
        let a_home =
            path.parent().is_some_and(|parent| parent == Path::new("/home") || parent == Path::new("/Users"));
        self.root.starts_with(path)
            || a_home
            || WHOLE.iter().any(|folder| path == Path::new(folder))
            || SYSTEM.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether `path` belongs to git or to tandem: what stands there can make later commands do other things.
    pub fn is_protected(&self, path: &Path) -> bool {
        let own = |part: Component<'_>| part.as_os_str() == ".git" || part.as_os_str() == ".tandem";
        path.strip_prefix(self.root).is_ok_and(|inside| inside.components().any(own))
    }

    /// Whether `path` lies outside the project.
    pub fn is_outside(&self, path: &Path) -> bool {
        !path.starts_with(self.root)
    }
}

fn is_everything(name: &str) -> bool {
    matches!(name, "*" | ".*" | "**" | "?*" | ".[!.]*" | "{*,.*}" | "{.*,*}")
}

fn at_home(text: &str) -> String {
    for mark in ["${HOME}", "$HOME", "~"] {
        match text.strip_prefix(mark) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => return format!("{HOME}{rest}"),
            _ => {}
        }
    }
    for mark in ["${PWD}", "$PWD", "$(pwd)", "`pwd`"] {
        if let Some(rest) = text.strip_prefix(mark) {
            return format!(".{rest}");
        }
    }
    text.to_owned()
}
