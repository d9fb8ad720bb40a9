//! Reads the settings of a repository by asking git, which alone knows its format, what is included, and from where.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::environment::Environment;

/// Git needs a few milliseconds. A setting that leads to a pipe must not hold up a command for longer than this.
const TIME: Duration = Duration::from_secs(2);

/// Bytes of settings that are read; people have some thousand.
const MOST: u64 = 4 * 1024 * 1024;

/// One setting, as git understands it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The file that says so.
    pub origin: PathBuf,
    /// Section, subsection and name. Git writes the first and the last in small letters.
    pub key: String,
    /// The value; nothing for one that is only named.
    pub value: OsString,
}

impl Setting {
    /// Section and name, whatever the subsection is.
    pub fn name(&self) -> (&str, &str) {
        let section = self.key.split_once('.').map_or(self.key.as_str(), |(section, _)| section);
        (section, self.key.rsplit_once('.').map_or("", |(_, name)| name))
    }
}

/// All settings that hold in the repository of this git folder, the user's own and included ones among them, for work in
/// `top`. Nothing when git is not there or does not understand them: then it runs nothing there either.
pub fn of_repository(folder: &Path, top: &Path, env: &Environment) -> Vec<Setting> {
    read(folder, top, env).map(|answer| parse(&answer, top)).unwrap_or_default()
}

fn read(folder: &Path, top: &Path, env: &Environment) -> Option<Vec<u8>> {
    let variables = env.variables.iter().filter(|(name, _)| !name.starts_with("GIT_"));
    let mut git = Command::new("git")
        .args(["-c", "core.fsmonitor=false", "config", "--includes", "--list", "--null", "--show-origin"])
        .current_dir(top)
        .env_clear()
        .envs(variables.map(|(name, value)| (name, value)))
        .env("GIT_DIR", folder)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let pipe = git.stdout.take();
    let (send, heard) = mpsc::channel();
    thread::spawn(move || {
        let mut answer = Vec::new();
        let whole = pipe.is_some_and(|pipe| pipe.take(MOST).read_to_end(&mut answer).is_ok());
        // Who has waited long enough hears nothing.
        let _ = send.send(whole.then_some(answer));
    });
    let answer = heard.recv_timeout(TIME).ok().flatten();
    end(&mut git, answer.is_some()).then_some(answer).flatten()
}

/// Whether it succeeded; one that did not close its output is killed.
fn end(git: &mut Child, closed: bool) -> bool {
    if !closed {
        // It may just have ended.
        let _ = git.kill();
    }
    git.wait().is_ok_and(|status| status.success())
}

/// Origin and setting in turn, each ended by a zero byte; a key is ended by a line feed, which no key holds.
fn parse(answer: &[u8], top: &Path) -> Vec<Setting> {
    let mut parts = answer.split(|byte| *byte == 0);
    let mut settings = Vec::new();
    while let (Some(origin), Some(setting)) = (parts.next(), parts.next()) {
        // Others come from the command line, which is our own.
        let Some(file) = origin.strip_prefix(b"file:") else { continue };
        let mut halves = setting.splitn(2, |byte| *byte == b'\n');
        let key = String::from_utf8_lossy(halves.next().unwrap_or_default()).into_owned();
        let value = OsString::from_vec(halves.next().unwrap_or_default().to_owned());
        settings.push(Setting { origin: top.join(OsStr::from_bytes(file)), key, value });
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_lists_is_read_back_exactly() {
        let answer = b"file:.git/config\0core.hookspath\n.husky/_\0command line:\0core.fsmonitor\nfalse\0file:/x\0url.A.b=c.insteadof\na\nb\0file:/x\0core.bare\0";
        let setting = |origin: &str, key: &str, value: &str| Setting {
            origin: origin.into(),
            key: key.to_owned(),
            value: value.into(),
        };
        let expect = [
            setting("/t/.git/config", "core.hookspath", ".husky/_"),
            setting("/x", "url.A.b=c.insteadof", "a\nb"),
            setting("/x", "core.bare", ""),
        ];
        let read = parse(answer, Path::new("/t"));
        assert_eq!(read, expect);
        assert_eq!(
            read.iter().map(Setting::name).collect::<Vec<_>>(),
            [("core", "hookspath"), ("url", "insteadof"), ("core", "bare")]
        );
    }
}
