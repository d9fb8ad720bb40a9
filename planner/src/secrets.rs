//! Files of secrets that hide behind another name: a link to one, symbolic or hard.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::Path;

use ignore::WalkBuilder;
use tandem_shared::sensitive::is_sensitive;
use tandem_shared::workspace::slashed;

/// Entries of folders that one look takes in: names alone, so that a project with all its build results is looked through
/// in less than the time that a search of it takes.
pub const ENTRIES: usize = 300_000;

/// Folders of what packages bring along, published for everybody: keys and settings in them are no secrets.
const PACKAGES: &[&str] = &["node_modules", "site-packages", "dist-packages"];

/// Whether a folder of that name holds packages.
pub fn of_packages(name: &OsStr) -> bool {
    PACKAGES.iter().any(|folder| name == *folder)
}

/// The file of secrets that the file at `path` is: by its own name, by that of what it leads to, or as
/// [`twin_secret`] finds it.
pub fn linked_secret(root: &Path, path: &Path, met: &Metadata) -> Option<String> {
    let real = || secret_name(root, &path.canonicalize().ok()?);
    secret_name(root, path).or_else(real).or_else(|| twin_secret(root, met))
}

/// The name of the file at `path`, relative to `root`, if it says that the file holds secrets.
pub fn secret_name(root: &Path, path: &Path) -> Option<String> {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let packaged = inside.components().any(|part| of_packages(part.as_os_str()));
    let name = slashed(inside);
    (!packaged && is_sensitive(&name)).then_some(name)
}

/// The file of secrets below `root` that is the same file as the one that was met, under another name. It is only looked
/// for where the file has more than one name, which few have, and among the first [`ENTRIES`] entries.
#[cfg(unix)]
pub fn twin_secret(root: &Path, met: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    if met.nlink() < 2 || !met.is_file() {
        return None;
    }
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(false)
        .current_dir(root)
        .filter_entry(|entry| !(entry.file_name() == ".git" || of_packages(entry.file_name())));
    let entries = walk.build().take(ENTRIES).filter_map(Result::ok);
    let secrets = entries.map(|entry| slashed(entry.path().strip_prefix(root).unwrap_or(entry.path())));
    secrets.filter(|path| is_sensitive(path)).find(|path| {
        let other = root.join(path).symlink_metadata();
        other.is_ok_and(|other| (other.dev(), other.ino()) == (met.dev(), met.ino()))
    })
}

/// Where the system does not tell, there is none.
#[cfg(not(unix))]
pub fn twin_secret(_root: &Path, _met: &Metadata) -> Option<String> {
    None
}
