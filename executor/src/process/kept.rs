//! A command that runs, with all that it started.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::time::timeout;

use super::end::{End, end_of};
use super::group::Group;
use crate::cage::{Answer, hear};
use crate::descent::{self, Left};

/// How long processes that were killed may take until they are gone: one can be in the middle of a system call.
const GONE: Duration = Duration::from_secs(5);

/// A command that runs, with all that it started. Dropping it ends them all.
pub struct Kept {
    /// The keeper of the command, or the command itself where there is none.
    process: Child,
    by: By,
}

/// Why a command was not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotBegun {
    /// Its cage could not be set up.
    NoCage(String),
    /// The shell could not be started.
    NoProgram(String),
}

/// What ends them.
enum By {
    /// A keeper, when this line closes.
    Keeper(Line),
    /// A signal to their group. One who left that is lost.
    Group(Group),
    /// They are ended, or left to themselves.
    Nothing,
}

impl Kept {
    /// By a keeper at the other end of `line`, who is still to be told the `errand`.
    pub fn by_keeper(process: Child, line: UnixStream, errand: Vec<u8>) -> Kept {
        Kept { process, by: By::Keeper(Line { stream: line, errand, heard: Vec::new() }) }
    }

    /// By the group that `process` leads.
    pub fn by_group(process: Child) -> Kept {
        let group = Group::of(&process);
        Kept { process, by: By::Group(group) }
    }

    /// Tells the keeper what to do and waits until the command has begun. A command that this is dropped for never begins.
    ///
    /// # Errors
    /// Why it was not run.
    pub async fn begun(&mut self) -> Result<(), NotBegun> {
        let By::Keeper(line) = &mut self.by else { return Ok(()) };
        let no_cage = |error: io::Error| NotBegun::NoCage(error.to_string());
        line.stream.write_all(&std::mem::take(&mut line.errand)).await.map_err(no_cage)?;
        match line.answer().await.map_err(no_cage)? {
            Some(Answer::Began) => Ok(()),
            Some(Answer::NotStarted(why)) => Err(NotBegun::NoProgram(why)),
            Some(Answer::Failed(why)) => Err(NotBegun::NoCage(why)),
            _ => Err(NotBegun::NoCage("its launcher did not say why".to_owned())),
        }
    }

    /// Waits for the end of the command itself. Safe to drop; to be asked once.
    ///
    /// # Errors
    /// When the system says no.
    pub async fn ended(&mut self) -> io::Result<End> {
        if let By::Keeper(line) = &mut self.by {
            while let Some(answer) = line.answer().await? {
                if let Answer::Ended(status) = answer {
                    return Ok(end_of(ExitStatus::from_raw(status)));
                }
            }
        }
        // The command itself, or a keeper that was killed before it could say anything.
        Ok(end_of(self.process.wait().await?))
    }

    /// What of it still runs.
    pub fn left(&self) -> Vec<Left> {
        match &self.by {
            By::Keeper(_) => {
                let keeper = self.process.id().and_then(|id| i32::try_from(id).ok());
                keeper.map(descent::below).unwrap_or_default()
            }
            By::Group(group) => group.left(),
            By::Nothing => Vec::new(),
        }
    }

    /// Asks all of it to end.
    pub fn ask_to_end(&self) {
        match &self.by {
            By::Keeper(_) => descent::signal(&self.left(), Signal::TERM),
            By::Group(group) => group.signal(Signal::TERM),
            By::Nothing => {}
        }
    }

    /// Ends all of it, and waits until it is gone.
    pub async fn end(&mut self) {
        match std::mem::replace(&mut self.by, By::Nothing) {
            By::Keeper(line) => drop(line),
            By::Group(group) => group.signal(Signal::KILL),
            By::Nothing => {}
        }
        let _ = timeout(GONE, self.process.wait()).await;
    }

    /// Waits until nothing of it runs any more, by itself. Safe to drop.
    pub async fn gone(&mut self) {
        // A keeper stays for as long as anything does. Where there is none, what is left is not waited for.
        let _ = self.process.wait().await;
    }

    /// Leaves to itself what is left of it, which is nothing.
    pub fn let_go(mut self) {
        if let By::Group(group) = &mut self.by {
            group.let_go();
        }
    }
}

/// The line to a keeper.
struct Line {
    stream: UnixStream,
    /// What is still to be said.
    errand: Vec<u8>,
    heard: Vec<u8>,
}

impl Line {
    /// The next thing that is said; `None` when nobody is there any more.
    async fn answer(&mut self) -> io::Result<Option<Answer>> {
        loop {
            // A message ends with an empty word.
            if let Some(end) = self.heard.windows(2).position(|pair| pair == [0, 0]) {
                let message: Vec<u8> = self.heard.drain(..end + 2).collect();
                return Ok(Answer::of_message(&hear(&mut message.as_slice())?));
            }
            if self.stream.read_buf(&mut self.heard).await? == 0 {
                return Ok(None);
            }
        }
    }
}
