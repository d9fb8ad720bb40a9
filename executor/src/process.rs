//! Runs one shell command in a process group of its own, within limits, and never hangs on what it leaves behind.

mod capture;

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::interrupt::Interrupt;
use tandem_shared::settings::CommandSettings;
use tandem_shared::workspace::Workspace;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use capture::Capture;

use crate::environment::Environment;

/// How long a command may run, how much of its output is kept, and what becomes of its background processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Without output.
    pub idle: Duration,
    /// In all.
    pub absolute: Duration,
    /// Characters of output, head and tail.
    pub output_chars: usize,
    /// What becomes of processes that outlive the command.
    pub leftovers: Leftovers,
}

/// What becomes of processes that outlive the command and still hold its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftovers {
    /// They go on.
    Keep,
    /// They are ended.
    Kill,
}

impl Limits {
    /// The limits of the settings. A `wanted` time in seconds takes the place of both times, up to the absolute one:
    /// who names a time knows that the command may be silent for that long.
    pub fn new(settings: &CommandSettings, wanted: Option<u64>, leftovers: Leftovers) -> Limits {
        let (idle, absolute) = match wanted {
            Some(seconds) => (seconds.min(settings.absolute_s), seconds.min(settings.absolute_s)),
            None => (settings.idle_s, settings.absolute_s),
        };
        Limits {
            idle: Duration::from_secs(idle),
            absolute: Duration::from_secs(absolute),
            output_chars: settings.output_chars,
            leftovers,
        }
    }
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Why.
    pub by: End,
    /// Output and errors in the order they came, head and tail, without terminal control sequences.
    pub output: String,
    /// How long it ran.
    pub duration: Duration,
    /// Whether a process that it started still runs and holds its output.
    pub background: bool,
}

/// Why a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this exit code.
    Exit(i32),
    /// By this signal, which was not ours.
    Signal(i32),
    /// It was silent for too long, and its group was killed.
    Idle,
    /// It ran for too long, and its group was killed.
    TooLong,
    /// The run was interrupted, and its group was killed.
    Interrupted,
}

impl End {
    /// In words, as the end of a sentence that begins with the command.
    pub fn in_words(self, limits: &Limits) -> String {
        match self {
            End::Exit(code) => match exit_meaning(code) {
                Some(meaning) => format!("ended with exit code {code} ({meaning})"),
                None => format!("ended with exit code {code}"),
            },
            End::Signal(signal) => format!("was ended by signal {}", signal_name(signal)),
            End::Idle => format!("was stopped after {} s without output", limits.idle.as_secs()),
            End::TooLong => format!("was stopped after {} s", limits.absolute.as_secs()),
            End::Interrupted => "was stopped by an interrupt".to_owned(),
        }
    }
}

fn exit_meaning(code: i32) -> Option<String> {
    match code {
        126 => Some("the program cannot be executed".to_owned()),
        127 => Some("the program was not found".to_owned()),
        129..=192 => Some(format!("a process of it was ended by signal {}", signal_name(code - 128))),
        _ => None,
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return signal.to_string(),
    };
    format!("{signal}, {name}")
}

/// Set for every command: nothing that waits for a person, no pages, no colours.
const QUIET: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "true"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
];

/// How long output is still read after the command itself has ended, while something holds its pipe.
const DRAIN: Duration = Duration::from_millis(500);

/// How long a stopped group has to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// Runs `command` by `sh -c` in the root, with no input, no terminal of its own, and `env` as its whole environment.
///
/// # Errors
/// Only when no process could be started; everything else is an [`Ended`].
pub async fn run(
    command: &str,
    workspace: &Workspace,
    limits: Limits,
    env: &Environment,
    interrupt: &Interrupt,
) -> Result<Ended, ToolError> {
    let failed = |error: io::Error| {
        ToolError::new(ErrorKind::Io, format!("The command could not be started: {error}."))
    };
    let started = Instant::now();
    let (mut child, mut pipe) = start(command, workspace, &env.variables).map_err(failed)?;
    let mut group = Group::of(&child);
    let mut capture = Capture::new(limits.output_chars);
    let by = follow(&mut child, &mut pipe, &mut capture, limits, interrupt).await.map_err(failed)?;
    if matches!(by, End::Idle | End::TooLong | End::Interrupted) {
        group.signal(Signal::TERM);
        // Its last words are read while it has time to end by itself.
        let _ = timeout(GRACE, async {
            let _ = drain(&mut pipe, &mut capture).await;
            child.wait().await
        })
        .await;
        group.signal(Signal::KILL);
        let _ = child.wait().await;
    }
    let silent = timeout(DRAIN, drain(&mut pipe, &mut capture)).await.is_ok();
    let background = !silent;
    if background && limits.leftovers == Leftovers::Kill {
        group.signal(Signal::KILL);
    }
    group.let_go();
    Ok(Ended { by, output: env.mask(capture.into_text()), duration: started.elapsed(), background })
}

fn start(
    command: &str,
    workspace: &Workspace,
    env: &[(String, String)],
) -> io::Result<(Child, pipe::Receiver)> {
    // One pipe for both, so that errors stand where they came.
    let (reader, writer) = io::pipe()?;
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(command)
        .current_dir(workspace.root())
        .env_clear()
        .envs(env.iter().map(|(name, value)| (name, value)))
        .envs(QUIET.iter().copied())
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0);
    let child = shell.spawn()?;
    let pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
    Ok((child, pipe))
}

/// Reads until the command itself has ended or has to be stopped.
async fn follow(
    child: &mut Child,
    pipe: &mut pipe::Receiver,
    capture: &mut Capture,
    limits: Limits,
    interrupt: &Interrupt,
) -> io::Result<End> {
    let end = sleep(limits.absolute);
    tokio::pin!(end);
    let idle = sleep(limits.idle);
    tokio::pin!(idle);
    let mut buffer = vec![0; 64 * 1024];
    let mut open = true;
    loop {
        tokio::select! {
            biased;
            () = interrupt.raised() => return Ok(End::Interrupted),
            () = &mut end => return Ok(End::TooLong),
            read = pipe.read(&mut buffer), if open => match read? {
                0 => open = false,
                count => {
                    capture.push(buffer.get(..count).unwrap_or_default());
                    idle.as_mut().reset(tokio::time::Instant::now() + limits.idle);
                }
            },
            status = child.wait() => return Ok(end_of(status?)),
            () = &mut idle => return Ok(End::Idle),
        }
    }
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}

/// Reads until nobody holds the other end.
async fn drain(pipe: &mut pipe::Receiver, capture: &mut Capture) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match pipe.read(&mut buffer).await? {
            0 => return Ok(()),
            count => capture.push(buffer.get(..count).unwrap_or_default()),
        }
    }
}

/// The command's process group; killed when it is dropped before the command has ended.
pub struct Group(Option<Pid>);

impl Group {
    pub fn of(child: &Child) -> Group {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group(id.and_then(Pid::from_raw))
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // It may be gone already, which is as well.
            let _ = kill_process_group(group, signal);
        }
    }

    pub fn let_go(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

#[cfg(test)]
mod tests;
