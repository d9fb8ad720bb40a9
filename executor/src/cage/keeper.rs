//! The keeper of a command: a process that stays outside the cage for as long as anything lives that the command started.
//!
//! It is the subreaper of all that (prctl(2), `PR_SET_CHILD_SUBREAPER`): whoever loses their parent becomes its child,
//! whatever group, session or environment they gave themselves. So none of them can get away from it, and when nobody
//! listens at the other end of the line any more, because that was closed or because tandem is gone, it ends them all.

use std::io::{self, BufReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Signal, WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};

use super::channel::{hear, say};
use super::errand::{Answer, Errand, LAUNCH, Start};
use crate::descent;

/// The binary that runs, whatever stands at its path by now.
const THIS_BINARY: &str = "/proc/self/exe";

/// Looks for processes to end that follow each other at once; one that cannot end yet, in the middle of a system call, is
/// then looked for now and then.
const QUICK_LOOKS: u32 = 50;

/// Keeps the command of `start`, until nothing of it is left.
///
/// # Errors
/// When it could not be started.
pub fn keep(channel: &UnixStream, start: Start) -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    let line = channel.try_clone()?;
    thread::spawn(move || end_all_when_closed(line));
    let (ours, theirs) = UnixStream::pair()?;
    let child =
        Command::new(THIS_BINARY).arg(LAUNCH).stdin(OwnedFd::from(theirs)).process_group(0).spawn()?;
    // Whoever waits for the end of the output must not wait for this process.
    let null = std::fs::File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(null.as_fd())?;
    rustix::stdio::dup2_stderr(null.as_fd())?;
    say(&ours, &Errand::Become(start).to_message())?;
    // Its end closes when the command begins.
    let began = match Answer::of_message(&hear(&mut BufReader::new(&ours))?) {
        Some(failed) => failed,
        None => Answer::Began,
    };
    tell(channel, &began);
    let own = i32::try_from(child.id()).unwrap_or_default();
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == own => {
                tell(channel, &Answer::Ended(raw(status)));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return Ok(()),
        }
    }
}

/// Nobody may be there any more to hear it.
fn tell(channel: &UnixStream, answer: &Answer) {
    let _ = say(channel, &answer.to_message());
}

/// As wait(2) lays it out, which is what the standard library reads.
fn raw(status: WaitStatus) -> i32 {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => (code & 0xff) << 8,
        (None, Some(signal)) => signal,
        (None, None) => 0,
    }
}

/// Waits until the line closes, then ends whatever descends from this process. The process itself ends when nothing does.
fn end_all_when_closed(mut line: UnixStream) {
    // Nothing is ever said on this way any more.
    let _ = line.read(&mut [0]);
    let own = getpid().as_raw_nonzero().get();
    for look in 0_u32.. {
        descent::signal(&descent::below(own), Signal::KILL);
        thread::sleep(if look < QUICK_LOOKS { Duration::from_millis(1) } else { Duration::from_millis(100) });
    }
}
