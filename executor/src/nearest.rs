//! What was probably meant: near file names, and the region of a file that is nearest to a text.

mod region;

pub use region::region;

use std::path::Path;

use tandem_shared::workspace::slashed;

/// Entries of the tree that are looked at for a near name; a hint is not worth more.
const MAX_ENTRIES: usize = 20_000;

/// Folders that hold no files a person would name.
const SKIPPED: &[&str] = &[".git", "target", "node_modules", ".venv", "__pycache__", ".tandem"];

/// Up to three existing files whose names are near `wanted`, nearest first, relative to `root`.
pub fn paths(root: &Path, wanted: &str) -> Vec<String> {
    let name = wanted.rsplit('/').next().unwrap_or(wanted);
    let mut near: Vec<(f64, String)> = Vec::new();
    let mut folders = vec![root.to_owned()];
    let mut left = MAX_ENTRIES;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            left = left.saturating_sub(1);
            if left == 0 {
                folders.clear();
                break;
            }
            let entry_name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                if !SKIPPED.contains(&entry_name.as_str()) {
                    folders.push(entry.path());
                }
                continue;
            }
            let by_name = strsim::jaro_winkler(name, &entry_name);
            if by_name < 0.85 {
                continue;
            }
            let Ok(relative) = entry.path().strip_prefix(root).map(slashed) else { continue };
            near.push((by_name + strsim::normalized_levenshtein(wanted, &relative), relative));
        }
    }
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    near.into_iter().take(3).map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_in_other_folders() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("src/deep")).unwrap();
        std::fs::write(root.path().join("src/deep/parser.rs"), "").unwrap();
        std::fs::write(root.path().join("src/other.md"), "").unwrap();
        assert_eq!(paths(root.path(), "src/parsers.rs"), ["src/deep/parser.rs"]);
    }
}
