//! Whether git knows a file, by a look into its index.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of an index that are looked through: more than half a million files have.
const INDEX_BYTES: u64 = 64 << 20;

/// Whether the file at `path` may be one that git knows. Where that cannot be told, it is.
pub(super) fn is_tracked(path: &Path) -> bool {
    let Some(top) = path.ancestors().skip(1).find(|folder| folder.join(".git").exists()) else { return true };
    let Ok(relative) = path.strip_prefix(top) else { return true };
    let Some(index) = index(&top.join(".git")) else { return true };
    let mut name = relative.as_os_str().as_encoded_bytes().to_vec();
    // Names end with a zero byte. One that only ends like this one asks a question too many, and hides none.
    name.push(0);
    memchr::memmem::find(&index, &name).is_some()
}

/// The index, if it holds whole names; an empty one where there is none yet.
fn index(git: &Path) -> Option<Vec<u8>> {
    let folder = match git.is_dir() {
        true => git.to_owned(),
        // A second working tree, or a submodule.
        false => {
            let text = fs::read_to_string(git).ok()?;
            let to = PathBuf::from(text.strip_prefix("gitdir:")?.trim());
            if to.is_absolute() { to } else { git.parent()?.join(to) }
        }
    };
    let at = folder.join("index");
    if !at.exists() {
        return Some(Vec::new());
    }
    if fs::metadata(&at).ok()?.len() > INDEX_BYTES {
        return None;
    }
    let bytes = fs::read(&at).ok()?;
    // Version 4 shortens names by those before them, and a split index keeps most of them elsewhere.
    let version = bytes.get(4..8)?;
    let split = memchr::memmem::find(&bytes, b"link\0\0\0").is_some();
    (version != [0, 0, 0, 4] && !split).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn git_is_asked_by_its_index() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let git = |args: &[&str]| {
            let ran = Command::new("git").args(args).current_dir(root).output().unwrap();
            assert!(ran.status.success(), "{args:?}");
        };
        fs::create_dir(root.join("conf")).unwrap();
        for name in ["a.pem", "conf/b.pem", "c.pem"] {
            fs::write(root.join(name), "x").unwrap();
        }
        assert!(is_tracked(&root.join("a.pem")), "no repository: it cannot be told");
        git(&["init", "-q"]);
        assert!(!is_tracked(&root.join("a.pem")));
        git(&["add", "a.pem", "conf"]);
        let known = || ["a.pem", "conf/b.pem", "c.pem"].map(|name| is_tracked(&root.join(name)));
        assert_eq!(known(), [true, true, false]);
        git(&["update-index", "--index-version", "4"]);
        assert_eq!(known(), [true, true, true]);
    }
}
