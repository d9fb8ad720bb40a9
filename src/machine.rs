//! What this process was started with: variables, folders, clock. Read once, here, and handed in everywhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tandem_shared::secret::Secret;
use tandem_shared::store::Clock;

/// Parts of a variable's name that mark its value as a secret. Commands never see such variables.
const SECRET_NAMES: &[&str] =
    &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "_PAT", "DATABASE_URL", "_DSN"];
/// Set for commands, so that none waits for a pager, a prompt or a colour terminal.
const COMMAND_SETTINGS: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
];

/// The process's surroundings. Not printable: the variables hold secrets.
#[derive(Clone)]
pub struct Machine {
    /// All variables that are text.
    pub env: BTreeMap<String, String>,
    /// The folder the process was started in.
    pub current_dir: PathBuf,
    /// This very program.
    pub launcher: PathBuf,
    /// Where temporary files go.
    pub temp_dir: PathBuf,
}

impl Machine {
    /// Reads the process.
    ///
    /// # Errors
    /// When the current folder is gone.
    pub fn read() -> std::io::Result<Machine> {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Ok(Machine {
            env: std::env::vars_os().filter_map(text).collect(),
            current_dir: std::env::current_dir()?,
            // What runs, whatever stands at its path by now: that may have been replaced, even by a command.
            launcher: match cfg!(target_os = "linux") {
                true => PathBuf::from("/proc/self/exe"),
                false => std::env::current_exe()?,
            },
            temp_dir: std::env::temp_dir(),
        })
    }

    /// The home folder.
    pub fn home(&self) -> Option<PathBuf> {
        self.env.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
    }

    /// Where sessions are kept: `$XDG_STATE_HOME/tandem`, else `~/.local/state/tandem`.
    pub fn state_dir(&self) -> Option<PathBuf> {
        let named = |name: &str| self.env.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let base = named("XDG_STATE_HOME").filter(|path| path.is_absolute());
        let base = base.or_else(|| named("HOME").map(|home| home.join(".local/state")));
        base.map(|base| base.join("tandem"))
    }

    /// The variables that commands see: all but those that look like secrets, and settings that keep commands from
    /// asking questions. `keys` are further variables that hold secrets.
    pub fn command_env(&self, keys: &BTreeSet<String>) -> Vec<(String, String)> {
        let kept = self.env.iter().filter(|(name, _)| !is_secret(name) && !keys.contains(*name));
        let mut env: BTreeMap<String, String> =
            kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        env.extend(COMMAND_SETTINGS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        env.into_iter().collect()
    }

    /// The values of all variables that are kept from commands.
    pub fn secrets(&self, keys: &BTreeSet<String>) -> Vec<Secret> {
        let kept_back = self.env.iter().filter(|(name, _)| is_secret(name) || keys.contains(*name));
        kept_back.map(|(_, value)| Secret::new(value.clone())).collect()
    }

    /// The file of that name in a folder of `PATH`, if any.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        let folders = self.env.get("PATH")?;
        std::env::split_paths(folders).map(|folder| folder.join(name)).find(|path| is_program(path))
    }
}

/// Whether a variable of that name holds a secret.
pub fn is_secret(name: &str) -> bool {
    // `GIT_AUTHOR_NAME` is no authentication.
    let upper = name.to_uppercase().replace("AUTHOR", "");
    SECRET_NAMES.iter().any(|part| upper.contains(part))
}

/// Milliseconds since 1970.
pub fn clock() -> Clock {
    Arc::new(now_ms)
}

/// Milliseconds since 1970, of a time that begins with `start` now.
pub fn clock_from(start: u64) -> Clock {
    let begun = Instant::now();
    Arc::new(move || {
        let passed = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        start.saturating_add(passed)
    })
}

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A moment as `2026-01-31 12:00` in UTC.
pub fn minute(ms: u64) -> String {
    let text =
        humantime::format_rfc3339_seconds(UNIX_EPOCH + std::time::Duration::from_millis(ms)).to_string();
    text.get(..16).unwrap_or(&text).replace('T', " ")
}

fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    {
        path.is_file()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_see_no_secrets() {
        let env = [
            ("PATH", "/bin"),
            ("OPENAI_API_KEY", "sk"),
            ("Github_Token", "t"),
            ("ACME", "k"),
            ("PAGER", "less"),
        ];
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let machine = Machine {
            env,
            current_dir: PathBuf::from("/"),
            launcher: PathBuf::new(),
            temp_dir: PathBuf::new(),
        };
        let seen: BTreeMap<String, String> =
            machine.command_env(&BTreeSet::from(["ACME".to_owned()])).into_iter().collect();
        assert_eq!(seen.get("PAGER").map(String::as_str), Some("cat"));
        assert_eq!(seen.get("PATH").map(String::as_str), Some("/bin"));
        assert!(
            !seen.contains_key("OPENAI_API_KEY")
                && !seen.contains_key("ACME")
                && !seen.contains_key("Github_Token")
        );
    }

    #[test]
    fn names_that_only_look_like_secrets_are_none() {
        for (name, secret) in
            [("GIT_AUTHOR_NAME", false), ("SSH_AUTH_SOCK", true), ("PATH", false), ("GH_PAT", true)]
        {
            assert_eq!(is_secret(name), secret, "{name}");
        }
    }

    #[test]
    fn moments_are_read_in_utc() {
        assert_eq!(minute(0), "1970-01-01 00:00");
    }
}
