//! Where a setting came from, what can be wrong with it, and the words for both.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `config/default.toml`, built into the program.
    Default,
    /// A line of a file.
    File {
        /// As it was opened.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// An environment variable.
    Env(&'static str),
    /// A flag, with its argument where that tells more.
    Flag(String),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
            Origin::Env(name) => f.write_str(name),
            Origin::Flag(flag) => f.write_str(flag),
        }
    }
}

/// One thing that is wrong with one setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it stands.
    pub origin: Origin,
    /// What is wrong, what is true, what to do next.
    pub text: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.origin, self.text)
    }
}

/// A setting that a project file may not make before its user has read and trusted it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedKey {
    /// The dotted key.
    pub key: String,
    /// Its line in the project file, counted from 1.
    pub line: usize,
    /// What it could do.
    pub why: String,
}

/// Why there is no configuration. The text is for the user; the exit code is 52.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// Settings that are unknown, misplaced or of the wrong kind. Never empty.
    #[error("{}", joined(.0))]
    Invalid(Vec<Fault>),
    /// A file that is there and cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The project file holds protected settings and is not trusted as it stands.
    #[error("{}", untrusted(path, keys))]
    Untrusted {
        /// The project file.
        path: PathBuf,
        /// What it may not set yet. Never empty.
        keys: Vec<ProtectedKey>,
    },
    /// A key that was asked for and does not exist.
    #[error("{0}")]
    UnknownKey(String),
    /// The list of trusted projects cannot be read or written.
    #[error("{}: the list of trusted projects {what}; if it is damaged, delete it and run `tandem trust` again", path.display())]
    TrustStore {
        /// The list.
        path: PathBuf,
        /// What failed.
        what: String,
    },
}

impl ConfigError {
    /// One fault.
    pub fn one(origin: Origin, text: impl Into<String>) -> ConfigError {
        ConfigError::Invalid(vec![Fault { origin, text: text.into() }])
    }
}

fn joined(faults: &[Fault]) -> String {
    faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n")
}

fn untrusted(path: &std::path::Path, keys: &[ProtectedKey]) -> String {
    let path = path.display();
    let mut text = String::from("the project's configuration sets what only you may decide:\n");
    for ProtectedKey { key, line, why } in keys {
        text.push_str(&format!("{path}:{line}: `{key}` {why}\n"));
    }
    text.push_str("Nothing was sent or run. Read the file; then run `tandem trust` to accept it as it stands, or remove these lines.");
    text
}
