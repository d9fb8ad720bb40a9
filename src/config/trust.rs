//! The list of project files that the user has read and accepted, by digest of their content.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tandem_shared::digest::Digest;

use super::error::ConfigError;

/// The file `trusted.toml` in the state folder. Nothing is read before it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustStore {
    /// The file; neither it nor its folder need exist.
    pub path: PathBuf,
}

/// The file's content: for each canonical root the digest of the configuration that was accepted last.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Accepted {
    trusted: BTreeMap<String, Digest>,
}

impl TrustStore {
    /// The list in a state folder.
    pub fn in_state_dir(state_dir: &Path) -> TrustStore {
        TrustStore { path: state_dir.join("trusted.toml") }
    }

    /// Whether the configuration of the project at `root` was accepted with exactly this content.
    ///
    /// # Errors
    /// When the list is there and cannot be read.
    pub fn is_trusted(&self, root: &Path, digest: &Digest) -> Result<bool, ConfigError> {
        Ok(self.read()?.trusted.get(&self.name(root)?) == Some(digest))
    }

    /// Accepts the configuration of the project at `root` with this content, and no other content.
    ///
    /// # Errors
    /// When the list cannot be read or written.
    pub fn trust(&self, root: &Path, digest: &Digest) -> Result<(), ConfigError> {
        let mut accepted = self.read()?;
        accepted.trusted.insert(self.name(root)?, digest.clone());
        let text = toml::to_string(&accepted).map_err(|error| self.fault("cannot be written", &error))?;
        self.write(&text).map_err(|error| self.fault("cannot be written", &error))
    }

    fn read(&self) -> Result<Accepted, ConfigError> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Accepted::default()),
            Err(error) => return Err(self.fault("cannot be read", &error)),
        };
        toml::from_str(&text).map_err(|error: toml::de::Error| self.fault("is damaged", &error.message()))
    }

    /// Through a temporary file (which only its owner can read) and a rename, so that a crash leaves the old list or the
    /// new one.
    fn write(&self, text: &str) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }

    /// Links are followed, so that a project is one project by every path to it.
    fn name(&self, root: &Path) -> Result<String, ConfigError> {
        let real = root
            .canonicalize()
            .map_err(|error| self.fault(&format!("cannot name {}", root.display()), &error))?;
        real.to_str()
            .map(str::to_owned)
            .ok_or_else(|| self.fault("cannot name a folder", &"its path is not UTF-8"))
    }

    fn fault(&self, what: &str, reason: &dyn std::fmt::Display) -> ConfigError {
        ConfigError::TrustStore { path: self.path.clone(), what: format!("{what} ({reason})") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn trust_is_for_one_root_and_one_content_and_lasts() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        std::fs::create_dir(&one).unwrap();
        std::fs::create_dir(&two).unwrap();
        std::os::unix::fs::symlink(&one, folder.path().join("link")).unwrap();
        let store = TrustStore::in_state_dir(&folder.path().join("state/tandem"));
        let (old, new) = (Digest::of("old"), Digest::of("new"));
        let ask =
            |root: &Path, digest| TrustStore { path: store.path.clone() }.is_trusted(root, digest).unwrap();
        assert!(!ask(&one, &old));
        store.trust(&one, &old).unwrap();
        assert_eq!([ask(&one, &old), ask(&one, &new), ask(&two, &old)], [true, false, false]);
        assert!(ask(&folder.path().join("link"), &old));
        store.trust(&one, &new).unwrap();
        store.trust(&two, &old).unwrap();
        assert_eq!([ask(&one, &old), ask(&one, &new), ask(&two, &old)], [false, true, true]);
        assert_eq!(store.path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_list_trusts_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = TrustStore::in_state_dir(folder.path());
        std::fs::write(&store.path, "trusted = 1").unwrap();
        let error = store.is_trusted(folder.path(), &Digest::of("x")).unwrap_err().to_string();
        assert!(error.contains("is damaged") && error.contains("tandem trust"), "{error}");
    }
}
