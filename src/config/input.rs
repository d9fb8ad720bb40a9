//! What a configuration is made of, and where its files lie.

use std::path::{Path, PathBuf};

use super::environment::Env;
use super::flags::Flags;
use super::trust::TrustStore;

/// Everything that a configuration is made of. Nothing else is looked at.
#[derive(Clone, Debug)]
pub struct Input {
    /// The project root.
    pub root: PathBuf,
    /// The user's file, which need not exist; `None` without a home.
    pub user_file: Option<PathBuf>,
    /// The variables of the process.
    pub env: Env,
    /// What the command line sets.
    pub flags: Flags,
    /// Which project files are trusted.
    pub trust: TrustStore,
}

/// Where the project's file would be.
pub fn project_file(root: &Path) -> PathBuf {
    root.join(".tandem").join("config.toml")
}

/// Where the user's file would be: in `$XDG_CONFIG_HOME`, else in `~/.config`; `None` without either.
pub fn user_file(env: &Env) -> Option<PathBuf> {
    let folder = |name: &str| env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")))?;
    Some(config.join("tandem").join("config.toml"))
}
