//! Where a provider's key comes from, and how it is had at the moment it is needed.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use tandem_shared::secret::Secret;
use thiserror::Error;

/// Where a key comes from. Prints as the source, never as the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The provider needs none.
    Nothing,
    /// An environment variable.
    Variable(String),
    /// A command and its arguments; its output is the key.
    Command(Vec<String>),
    /// A text that stands in for a key where any will do.
    Placeholder(String),
}

/// Why there is no key. Never holds what a command printed on its standard output.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KeyError {
    /// The variable is not set, or empty.
    #[error("the environment variable {0} is not set; it holds the key")]
    NotSet(String),
    /// The command could not be started, failed, or printed nothing.
    #[error("the command {command} for the key {what}")]
    Command {
        /// With its arguments.
        command: String,
        /// What went wrong.
        what: String,
    },
}

impl std::fmt::Display for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KeySource::Nothing => f.write_str("nowhere (no key is configured)"),
            KeySource::Variable(name) => write!(f, "the environment variable {name}"),
            KeySource::Command(argv) => write!(f, "the command {}", argv.join(" ")),
            KeySource::Placeholder(_) => f.write_str("environment.placeholder_key"),
        }
    }
}

impl KeySource {
    /// Fetches the key; `None` when the provider needs none. Blocks while a command runs, which may ask for a password.
    ///
    /// # Errors
    /// [`KeyError`] when there should be a key and is none.
    pub fn fetch(&self, env: &BTreeMap<String, String>) -> Result<Option<Secret>, KeyError> {
        match self {
            KeySource::Nothing => Ok(None),
            KeySource::Placeholder(text) => Ok(Some(Secret::new(text.clone()))),
            KeySource::Variable(name) => match env.get(name).map(|key| key.trim()) {
                None | Some("") => Err(KeyError::NotSet(name.clone())),
                Some(key) => Ok(Some(Secret::new(key.to_owned()))),
            },
            KeySource::Command(argv) => output(argv).map(Some),
        }
    }
}

fn output(argv: &[String]) -> Result<Secret, KeyError> {
    let failed = |what: String| KeyError::Command { command: argv.join(" "), what };
    let (program, args) = argv.split_first().ok_or_else(|| failed("is empty".to_owned()))?;
    let run = Command::new(program).args(args).stdin(Stdio::null()).stderr(Stdio::piped()).output();
    let run = run.map_err(|error| failed(format!("cannot be run: {error}")))?;
    if !run.status.success() {
        let words = String::from_utf8_lossy(&run.stderr);
        return Err(failed(format!("failed ({}): {}", run.status, words.trim())));
    }
    match String::from_utf8(run.stdout) {
        Ok(key) if !key.trim().is_empty() => Ok(Secret::new(key.trim().to_owned())),
        Ok(_) => Err(failed("printed nothing".to_owned())),
        Err(_) => Err(failed("printed bytes that are not text".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetch(source: KeySource) -> Result<Option<String>, String> {
        let env =
            BTreeMap::from([("SET".to_owned(), " sk-1\n".to_owned()), ("EMPTY".to_owned(), String::new())]);
        source
            .fetch(&env)
            .map(|key| key.map(|key| key.expose().to_owned()))
            .map_err(|error| error.to_string())
    }

    fn command(argv: &[&str]) -> KeySource {
        KeySource::Command(argv.iter().map(|part| (*part).to_owned()).collect())
    }

    #[test]
    fn a_key_comes_from_where_it_is_said_to() {
        assert_eq!(fetch(KeySource::Nothing), Ok(None));
        assert_eq!(fetch(KeySource::Variable("SET".into())), Ok(Some("sk-1".into())));
        assert_eq!(fetch(KeySource::Placeholder("ollama".into())), Ok(Some("ollama".into())));
        assert_eq!(fetch(command(&["echo", "sk-2"])), Ok(Some("sk-2".into())));
    }

    #[test]
    fn a_missing_key_says_what_to_set() {
        let unset = |name: &str| Err(format!("the environment variable {name} is not set; it holds the key"));
        assert_eq!(fetch(KeySource::Variable("UNSET".into())), unset("UNSET"));
        assert_eq!(fetch(KeySource::Variable("EMPTY".into())), unset("EMPTY"));
        assert_eq!(fetch(command(&["true"])), Err("the command true for the key printed nothing".into()));
        assert_eq!(
            fetch(command(&["sh", "-c", "echo locked >&2; exit 3"])),
            Err("the command sh -c echo locked >&2; exit 3 for the key failed (exit status: 3): locked"
                .into())
        );
    }
}
