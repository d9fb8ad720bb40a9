//! Asks the launcher what this kernel allows, and takes over the namespaces that it made meanwhile.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{getegid, geteuid};

use super::channel::{Message, hear, say};
use super::errand::{Answer, Errand, LAUNCH};
use super::policy::{Found, Namespaces};

/// How long the launcher may take to answer: it does nothing but ask the kernel.
const PATIENCE: Duration = Duration::from_secs(10);

/// Namespaces last as long as somebody has them open.
pub struct Held {
    user: File,
    network: File,
}

impl Held {
    /// Where processes of the same user can open them.
    pub fn paths(&self) -> Namespaces {
        let own = std::process::id();
        let path = |file: &File| PathBuf::from(format!("/proc/{own}/fd/{}", file.as_raw_fd()));
        Namespaces { user: path(&self.user), network: path(&self.network) }
    }
}

/// What this kernel allows, with the namespaces of a session where it allows them. Blocks for some milliseconds.
pub fn survey(launcher: &Path) -> io::Result<(Found, Option<Held>)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_read_timeout(Some(PATIENCE))?;
    let mut child = Command::new(launcher)
        .arg(LAUNCH)
        .env_clear()
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let id = child.id();
    let found = converse(&ours, id).and_then(|found| {
        let held = if found.namespaces.is_there() { Some(held(id)?) } else { None };
        Ok((found, held))
    });
    // It ends when nobody listens any more.
    drop(ours);
    if found.is_err() {
        let _ = child.kill();
    }
    let _ = child.wait();
    found
}

fn held(id: u32) -> io::Result<Held> {
    let open = |name: &str| File::open(format!("/proc/{id}/ns/{name}"));
    Ok(Held { user: open("user")?, network: open("net")? })
}

fn converse(channel: &UnixStream, id: u32) -> io::Result<Found> {
    say(channel, &Errand::Survey.to_message())?;
    let mut heard = BufReader::new(channel);
    loop {
        match Answer::of_message(&hear(&mut heard)?) {
            Some(Answer::Unmapped) => {
                let said = match map_ids(id) {
                    Ok(()) => Message::default().with("mapped", "yes"),
                    Err(error) => Answer::Failed(error.to_string()).to_message(),
                };
                say(channel, &said)?;
            }
            Some(Answer::Found(found)) => return Ok(found),
            Some(Answer::Failed(why)) => return Err(io::Error::other(why)),
            Some(Answer::NotStarted(_) | Answer::Began | Answer::Ended(_)) | None => {
                return Err(io::Error::other("the launcher did not answer"));
            }
        }
    }
}

/// Everybody keeps their number, as far as this process may say so: root may for all, others for themselves alone.
fn map_ids(id: u32) -> io::Result<()> {
    if !geteuid().is_root() || map_all(id).is_err() {
        let own = |number: u32| format!("{number} {number} 1\n");
        // Without this, leaving a group could open a file that is closed to its members.
        fs::write(format!("/proc/{id}/setgroups"), "deny")?;
        fs::write(format!("/proc/{id}/gid_map"), own(getegid().as_raw()))?;
        fs::write(format!("/proc/{id}/uid_map"), own(geteuid().as_raw()))?;
    }
    Ok(())
}

fn map_all(id: u32) -> io::Result<()> {
    for map in ["gid_map", "uid_map"] {
        let outer = fs::read_to_string(format!("/proc/self/{map}"))?;
        let extents = outer.lines().filter_map(|line| {
            let mut numbers = line.split_whitespace();
            let (first, _, count) = (numbers.next()?, numbers.next()?, numbers.next()?);
            Some(format!("{first} {first} {count}\n"))
        });
        fs::write(format!("/proc/{id}/{map}"), extents.collect::<String>())?;
    }
    Ok(())
}
