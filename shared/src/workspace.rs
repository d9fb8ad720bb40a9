//! The project root, and paths that are proven to lie inside it.

use std::io;
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

/// The folder a session works in. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    root: std::sync::Arc<Path>,
}

/// A path inside the root, with symbolic links followed. Only [`Workspace::resolve`] makes one:
///
/// ```compile_fail
/// use tandem_shared::workspace::WorkspacePath;
/// let outside = WorkspacePath { relative: "../x".into(), absolute: "/x".into() };
/// ```
///
/// ```
/// use tandem_shared::workspace::Workspace;
/// let workspace = Workspace::open(std::path::Path::new("."))?;
/// let inside = workspace.resolve("Cargo.toml")?;
/// assert_eq!(inside.relative(), "Cargo.toml");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkspacePath {
    relative: String,
    absolute: PathBuf,
}

impl WorkspacePath {
    /// Relative to the root, with forward slashes; `.` for the root itself.
    pub fn relative(&self) -> &str {
        &self.relative
    }

    /// The absolute path, with symbolic links followed.
    pub fn absolute(&self) -> &Path {
        &self.absolute
    }
}

/// Why a path was refused.
#[derive(Debug, Error)]
pub enum PathError {
    /// The path leads out of the root, directly or through a symbolic link.
    #[error("{path} lies outside the project root {root}; only paths inside it can be used")]
    Outside {
        /// As it was asked for.
        path: String,
        /// The root.
        root: String,
    },
    /// A NUL byte or an empty path.
    #[error("{0:?} is not a path")]
    Malformed(String),
    /// The file system failed.
    #[error("{path}: {source}")]
    Io {
        /// As it was asked for.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

impl Workspace {
    /// Opens `root`, following symbolic links.
    ///
    /// # Errors
    /// When the folder does not exist or is not a folder.
    pub fn open(root: &Path) -> io::Result<Workspace> {
        let root = root.canonicalize()?;
        if !root.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder"));
        }
        Ok(Workspace { root: root.into() })
    }

    /// The canonical root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Proves that `path` (relative to the root, or absolute) lies inside the root once symbolic links are followed.
    /// The path need not exist; then its deepest existing ancestor decides.
    ///
    /// # Errors
    /// [`PathError::Outside`] when it leads out, [`PathError::Malformed`] when it is no path.
    pub fn resolve(&self, path: &str) -> Result<WorkspacePath, PathError> {
        if path.contains('\0') || path.is_empty() {
            return Err(PathError::Malformed(path.to_owned()));
        }
        self.prove(path, real_path(&self.root.join(path)))
    }

    /// The same for the name itself: a symbolic link at the end of the path is not followed.
    ///
    /// # Errors
    /// As of [`Workspace::resolve`].
    pub fn resolve_name(&self, path: &str) -> Result<WorkspacePath, PathError> {
        let joined = self.root.join(path);
        let (Some(folder), Some(Component::Normal(name))) =
            (joined.parent(), joined.components().next_back())
        else {
            return self.resolve(path);
        };
        if path.contains('\0') || path.is_empty() {
            return Err(PathError::Malformed(path.to_owned()));
        }
        self.prove(path, real_path(folder).map(|folder| folder.map(|folder| folder.join(name))))
    }

    /// The name itself, without following any link: for what is reached folder by folder from the root, where a link in the
    /// place of a folder is met as such.
    ///
    /// # Errors
    /// [`PathError::Malformed`] when it is more than names with slashes between them.
    pub fn name_at(&self, path: &str) -> Result<WorkspacePath, PathError> {
        let absolute = self.root.join(path);
        let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if path.contains('\0') || path.is_empty() || !plain {
            return Err(PathError::Malformed(path.to_owned()));
        }
        Ok(WorkspacePath { relative: slashed(Path::new(path)), absolute })
    }

    fn prove(&self, path: &str, real: io::Result<Option<PathBuf>>) -> Result<WorkspacePath, PathError> {
        let outside = || PathError::Outside { path: path.to_owned(), root: self.root.display().to_string() };
        let absolute =
            real.map_err(|source| PathError::Io { path: path.to_owned(), source })?.ok_or_else(outside)?;
        let inside = absolute.strip_prefix(&self.root).map_err(|_| outside())?;
        let relative = match slashed(inside) {
            empty if empty.is_empty() => ".".to_owned(),
            some => some,
        };
        Ok(WorkspacePath { relative, absolute })
    }
}

/// `path` with forward slashes on every system.
pub fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// Follows links component by component, so that `a/../b` means what the system means by it even where `a` is a link.
/// Parts that do not exist are kept as written; `..` after such a part is refused (`None`), because nobody can say
/// where it would lead.
fn real_path(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut real = PathBuf::new();
    let mut missing = false;
    for part in path.components() {
        match part {
            Component::Prefix(_) | Component::RootDir => real.push(part),
            Component::CurDir => {}
            Component::ParentDir if missing => return Ok(None),
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) if missing => real.push(name),
            Component::Normal(name) => {
                let next = real.join(name);
                match next.symlink_metadata() {
                    Ok(meta) if meta.is_symlink() => match next.canonicalize() {
                        Ok(target) => real = target,
                        // A dangling link: writing to it would create its target, so the target decides.
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {
                            let target = real.join(std::fs::read_link(&next)?);
                            match real_path(&target)? {
                                Some(target) => real = target,
                                None => return Ok(None),
                            }
                            missing = true;
                        }
                        Err(error) => return Err(error),
                    },
                    Ok(_) => real = next,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        missing = true;
                        real = next;
                    }
                    // `file/x`: the system will say that it is not a folder when it is opened.
                    Err(error) if error.kind() == io::ErrorKind::NotADirectory => real = next,
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(Some(real))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn check(path: &str, expect: Option<&str>) {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::create_dir_all(outer.path().join("root-evil")).unwrap();
        std::fs::write(root.join("sub/a.txt"), "a").unwrap();
        symlink(outer.path().join("root-evil"), root.join("out")).unwrap();
        symlink("sub/a.txt", root.join("in")).unwrap();
        symlink("../nowhere/x", root.join("dangling")).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let got = workspace.resolve(path).ok().map(|found| found.relative().to_owned());
        assert_eq!(got.as_deref(), expect, "{path}");
    }

    #[test]
    fn inside_paths_resolve() {
        check("sub/a.txt", Some("sub/a.txt"));
        check("./sub/../sub/a.txt", Some("sub/a.txt"));
        check("in", Some("sub/a.txt"));
        check(".", Some("."));
        check("new/deep/file", Some("new/deep/file"));
    }

    #[test]
    fn a_name_is_not_followed() {
        let root = tempfile::tempdir().unwrap();
        symlink("/etc", root.path().join("out")).unwrap();
        std::fs::create_dir(root.path().join("sub")).unwrap();
        symlink("../out", root.path().join("sub/link")).unwrap();
        let workspace = Workspace::open(root.path()).unwrap();
        let check = |path: &str, expect: Option<&str>| {
            let got = workspace.resolve_name(path).ok().map(|found| found.relative().to_owned());
            assert_eq!(got.as_deref(), expect, "{path}");
        };
        check("out", Some("out"));
        check("sub/./link", Some("sub/link"));
        check("sub/new", Some("sub/new"));
        check("out/passwd", None);
        check("sub/link/passwd", None);
        check("sub/..", Some("."));
        check("..", None);
        check("", None);
    }

    #[test]
    fn escapes_are_refused() {
        check("..", None);
        check("../root-evil/x", None);
        check("out/x", None);
        check("dangling", None);
        check("new/../../x", None);
        check("/etc/passwd", None);
        check("", None);
        check("a\0b", None);
    }
}
