//! The places of a cage: where a session's commands may write, and what they cannot read.

use std::fs;
use std::path::{Path, PathBuf};

/// Shared folders for temporary files. Other programs leave things there, sockets among them.
const SHARED_TEMP: [&str; 2] = ["/tmp", "/var/tmp"];

/// The paths that settings name, those that exist, links resolved. `~` is the home folder.
pub fn named(paths: &[String], home: Option<&Path>) -> Vec<PathBuf> {
    let absolute = |path: &String| match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Some(home.join(rest)),
        (Some(_), None) => None,
        (None, _) => Some(PathBuf::from(path)).filter(|path| path.is_absolute()),
    };
    paths.iter().filter_map(absolute).filter_map(|path| fs::canonicalize(path).ok()).collect()
}

/// What lies in no other one of the paths.
pub fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup();
    let within = |path: &PathBuf| paths.iter().any(|other| other != path && path.starts_with(other));
    paths.iter().filter(|path| !within(path)).cloned().collect()
}

/// The shared folders for temporary files that none of `needed` lies in, so that the session's own can take their place.
pub fn shared_temp<'a>(needed: impl Iterator<Item = &'a PathBuf> + Clone) -> Vec<PathBuf> {
    let free = |place: &PathBuf| !needed.clone().any(|path| path.starts_with(place));
    SHARED_TEMP.iter().filter_map(|place| fs::canonicalize(place).ok()).filter(free).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_places_are_those_that_exist() {
        let folder = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir(home.join(".cache")).unwrap();
        let paths = ["~/.cache", "~/.npm", "relative", "/"].map(str::to_owned);
        assert_eq!(named(&paths, Some(&home)), [home.join(".cache"), PathBuf::from("/")]);
        assert_eq!(named(&paths, None), [PathBuf::from("/")]);
    }

    #[test]
    fn a_place_in_another_one_is_left_out() {
        let paths = ["/a/b", "/a", "/ab", "/a"].map(PathBuf::from).to_vec();
        assert_eq!(outermost(paths), ["/a", "/ab"].map(PathBuf::from));
    }
}
