//! What runs on this machine, as `/proc` tells.

use std::path::Path;

/// Whether a process of that number lives and is no zombie.
pub fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| {
        let rest = rest.trim_start();
        !rest.is_empty() && !rest.starts_with(['Z', 'X'])
    })
}

/// Processes, zombies included, whose current folder is this one.
pub fn living_in(folder: &Path) -> Vec<String> {
    let folder = std::fs::canonicalize(folder).unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let there =
        entries.filter(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder));
    there.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}
