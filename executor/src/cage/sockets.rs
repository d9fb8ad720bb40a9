//! Sockets in the file system that a command must not speak to: whoever listens there acts with more leave.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::policy::Policy;

/// Where services leave their sockets, those of other network namespaces included, which the kernel does not name.
const PLACES: [&str; 2] = ["/run", "/var/run"];

/// How deep and how far these are looked through.
const DEPTH: usize = 4;
const MOST: usize = 5_000;

/// Those outside what the command may write.
pub fn outside(policy: &Policy) -> Vec<PathBuf> {
    let mut found = named_by_kernel();
    let mut left = MOST;
    for place in PLACES.iter().filter_map(|place| fs::canonicalize(place).ok()) {
        look(&place, DEPTH, &mut left, &mut found);
    }
    let own = |path: &PathBuf| {
        let hidden = policy.temp_over.iter().chain(&policy.masked).any(|place| path.starts_with(place));
        hidden || path.starts_with(&policy.temp) || policy.write.iter().any(|place| path.starts_with(place))
    };
    found.retain(|path| !own(path));
    found.sort();
    found.dedup();
    found
}

fn named_by_kernel() -> Vec<PathBuf> {
    let table = fs::read("/proc/net/unix").unwrap_or_default();
    let paths = String::from_utf8_lossy(&table)
        .lines()
        .filter_map(|line| line.find(" /").and_then(|at| line.get(at + 1..)).map(PathBuf::from))
        .filter_map(|path| fs::canonicalize(path).ok())
        .collect::<Vec<_>>();
    paths.into_iter().filter(|path| is_socket(path)).collect()
}

fn is_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket())
}

fn look(folder: &Path, depth: usize, left: &mut usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        match entry.file_type() {
            Ok(kind) if kind.is_socket() => found.push(entry.path()),
            Ok(kind) if kind.is_dir() && depth > 1 => look(&entry.path(), depth - 1, left, found),
            _ => {}
        }
    }
}
