//! Runs one shell command in a process group of its own, within limits, and never hangs on what it leaves behind.

mod capture;
mod stream;
mod tree;

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::interrupt::Interrupt;
use tandem_shared::settings::CommandSettings;
use tandem_shared::tool::blocking;
use tandem_shared::workspace::Workspace;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

pub use capture::Capture;
pub use stream::Tell;
pub use tree::{Left, end as end_marked, end_all};

use crate::cage::{Answer, Cage, Errand, Hindrance, LAUNCH, Repositories, Watch, hear, say};
use crate::environment::Environment;
use crate::reach::Reach;
use stream::Stream;

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
    /// Processes that it started and that still run.
    pub left: Vec<Left>,
    /// What the cage put back after it, a sentence each.
    pub put_back: Vec<String>,
    /// What the cage most likely kept it from, where its failure looks like that.
    pub hindrance: Option<Hindrance>,
}

impl Ended {
    /// What the cage has to say to the model; nothing most of the time.
    pub fn of_cage(&self) -> String {
        let mut text = String::new();
        if !self.put_back.is_empty() {
            text.push_str(&format!(
                "\n[the cage guards what git runs: {}. If the user wants that changed, say so: they can do it \
                 themselves, or let the command run outside the cage]",
                self.put_back.join("; ")
            ));
        }
        if let Some(hindrance) = self.hindrance {
            text.push_str(&format!("\n[{}]", hindrance.advice()));
        }
        text
    }
}

/// What holds a command: its whole environment, and the cage that it runs in.
#[derive(Clone, Copy)]
pub struct Hold<'a> {
    /// Its variables, and the secrets that are masked in its output.
    pub env: &'a Environment,
    /// The session's cage.
    pub cage: &'a Cage,
    /// What it is let do in there.
    pub reach: Reach,
    /// Who hears what it prints while it runs.
    pub tell: Option<Tell<'a>>,
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
    /// In words without the limits, for one that ended by itself.
    pub fn plainly(self) -> String {
        match self {
            End::Exit(0) => "ended".to_owned(),
            End::Exit(code) => match exit_meaning(code) {
                Some(meaning) => format!("ended with exit code {code} ({meaning})"),
                None => format!("ended with exit code {code}"),
            },
            End::Signal(signal) => format!("was ended by signal {}", signal_name(signal)),
            End::Idle | End::TooLong | End::Interrupted => "was stopped".to_owned(),
        }
    }

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

/// How long a cage may take to be set up, which is a few milliseconds.
const SETTING_UP: Duration = Duration::from_secs(20);

/// Runs `command` by `sh -c` in the root, with no input, no terminal of its own, and the environment and cage of `hold`.
///
/// # Errors
/// Only when no process could be started, or none in its cage; everything else is an [`Ended`].
pub async fn run(
    command: &str,
    workspace: &Workspace,
    limits: Limits,
    hold: Hold<'_>,
    interrupt: &Interrupt,
) -> Result<Ended, ToolError> {
    let failed = |error: io::Error| {
        ToolError::new(ErrorKind::Io, format!("The command could not be started: {error}."))
    };
    let watch = watch(hold, workspace).await?;
    let known = watch.as_ref().map(Watching::repositories).unwrap_or_default();
    let errand = hold.cage.errand(command, hold.reach, workspace.root(), &known)?;
    let caged = errand.is_some();
    let started = Instant::now();
    let Started { mut child, mut pipe, launcher, mut group, mark } =
        start(command, workspace, hold.env, errand).map_err(failed)?;
    if let Some(launcher) = launcher {
        begun(launcher, interrupt).await?;
    }
    let mut listener =
        Listener { capture: Capture::new(limits.output_chars), stream: Stream::new(hold.tell, hold.env) };
    let by = follow(&mut child, &mut pipe, &mut listener, limits, interrupt).await.map_err(failed)?;
    if matches!(by, End::Idle | End::TooLong | End::Interrupted) {
        group.signal(Signal::TERM);
        // Its last words are read while it has time to end by itself; those of what it leaves behind are not waited for.
        let _ = timeout(GRACE, async {
            tokio::select! {
                _ = child.wait() => {}
                () = async {
                    let _ = drain(&mut pipe, &mut listener).await;
                    std::future::pending::<()>().await;
                } => {}
            }
        })
        .await;
        group.signal(Signal::KILL);
        let _ = child.wait().await;
        // Also those that left the group.
        tree::end(&mark).await;
    }
    // Whoever goes on in the background may hold the pipe for as long as it likes.
    let _ = timeout(DRAIN, drain(&mut pipe, &mut listener)).await;
    let mut left = tree::left(&mark);
    if !left.is_empty() && limits.leftovers == Leftovers::Kill {
        group.signal(Signal::KILL);
        tree::end(&mark).await;
        left.clear();
    }
    group.let_go();
    listener.stream.finish();
    let output = hold.env.mask(listener.capture.text());
    let is_failure = matches!(by, End::Exit(1..) | End::Signal(_)) && caged;
    let hindrance = is_failure.then(|| Hindrance::in_output(&output, hold.cage.network())).flatten();
    let put_back = match watch.and_then(Watching::into_watch) {
        Some(watch) => blocking(move || Ok(watch.settle())).await?,
        None => Vec::new(),
    };
    hold.cage.tell(&put_back);
    Ok(Ended { by, output, duration: started.elapsed(), left, put_back, hindrance })
}

/// Runs `command` where it can change nothing and reach nobody: it may write only temporary files.
///
/// # Errors
/// When nothing on this system would hold it to that, or no process could be started.
pub async fn look(
    command: &str,
    workspace: &Workspace,
    limits: Limits,
    env: &Environment,
    cage: &Cage,
    interrupt: &Interrupt,
) -> Result<Ended, ToolError> {
    if !cage.is_on() || !cage.found().confines() {
        return Err(ToolError::new(
            ErrorKind::Permission,
            "The command was not run: there is no cage on this system that would hold it to looking only.",
        ));
    }
    run(command, workspace, limits, Hold { env, cage, reach: Reach::Looks, tell: None }, interrupt).await
}

/// A look at what git runs, where the command might change it.
async fn watch<'a>(hold: Hold<'a>, workspace: &Workspace) -> Result<Option<Watching<'a>>, ToolError> {
    if !hold.cage.is_on() || hold.reach == Reach::Looks {
        return Ok(None);
    }
    let root = workspace.root().to_owned();
    let watch = blocking(move || Ok(Watch::begin(&root))).await?;
    Ok(Some(Watching { cage: hold.cage, watch: Some(watch) }))
}

/// A look that is settled even when nobody waits for the command any more.
struct Watching<'a> {
    cage: &'a Cage,
    watch: Option<Watch>,
}

impl Watching<'_> {
    fn repositories(&self) -> Repositories {
        self.watch.as_ref().map(|watch| watch.repositories().clone()).unwrap_or_default()
    }

    fn into_watch(mut self) -> Option<Watch> {
        self.watch.take()
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        if let Some(watch) = self.watch.take() {
            self.cage.tell(&watch.settle());
        }
    }
}

/// A process that was started.
pub struct Started {
    /// The process.
    pub child: Child,
    /// Its output and errors: one pipe for both, so that errors stand where they came.
    pub pipe: pipe::Receiver,
    /// Its process group.
    pub group: Group,
    /// Tells what it starts from everything else.
    pub mark: String,
    /// The line to the launcher, which closes when the command begins.
    launcher: Option<UnixStream>,
}

/// Starts `command` in its cage to go on by itself; nothing of it is waited for but the setting up of the cage.
///
/// # Errors
/// When no process could be started, or none in its cage.
pub async fn start_job(
    command: &str,
    workspace: &Workspace,
    hold: Hold<'_>,
    interrupt: &Interrupt,
) -> Result<Started, ToolError> {
    let errand = hold.cage.errand(command, hold.reach, workspace.root(), &Repositories::default())?;
    let mut started = start(command, workspace, hold.env, errand).map_err(|error| {
        ToolError::new(ErrorKind::Io, format!("The command could not be started: {error}."))
    })?;
    if let Some(launcher) = started.launcher.take() {
        begun(launcher, interrupt).await?;
    }
    Ok(started)
}

fn start(
    command: &str,
    workspace: &Workspace,
    env: &Environment,
    errand: Option<(PathBuf, Errand)>,
) -> io::Result<Started> {
    let (reader, writer) = io::pipe()?;
    let mark = tree::mark();
    let (mut process, launcher) = match errand {
        None => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(command).stdin(Stdio::null());
            (shell, None)
        }
        Some((program, errand)) => {
            let (ours, theirs) = StdUnixStream::pair()?;
            // Much less than a socket holds, so that nobody waits.
            say(&ours, &errand.to_message())?;
            let mut launcher = Command::new(program);
            launcher.arg(LAUNCH).stdin(OwnedFd::from(theirs));
            ours.set_nonblocking(true)?;
            (launcher, Some(UnixStream::from_std(ours)?))
        }
    };
    process
        .current_dir(workspace.root())
        .env_clear()
        .envs(env.variables.iter().map(|(name, value)| (name, value)))
        .envs(QUIET.iter().copied())
        .env(tree::VARIABLE, &mark)
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0);
    let child = process.spawn()?;
    let pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
    let group = Group::of(&child);
    Ok(Started { child, pipe, group, mark, launcher })
}

/// Waits until the launcher has become the command, which closes the line without a word.
async fn begun(mut launcher: UnixStream, interrupt: &Interrupt) -> Result<(), ToolError> {
    let mut said = Vec::new();
    let heard = async {
        tokio::select! {
            // What follows looks at the interrupt first.
            () = interrupt.raised() => Ok(0),
            heard = launcher.read_to_end(&mut said) => heard,
        }
    };
    let why = match timeout(SETTING_UP, heard).await {
        Err(_) => "it took too long".to_owned(),
        Ok(Err(error)) => error.to_string(),
        Ok(Ok(_)) if said.is_empty() => return Ok(()),
        Ok(Ok(_)) => match hear(&mut said.as_slice()).ok().as_ref().and_then(Answer::of_message) {
            Some(Answer::Failed(why)) => why,
            _ => "its launcher did not say why".to_owned(),
        },
    };
    Err(ToolError::new(
        ErrorKind::Io,
        format!(
            "The command was not run, because its cage could not be set up ({why}). Tell the user, who can look at \
             `tandem doctor`, or set commands.sandbox to \"off\"."
        ),
    ))
}

/// Hears the output: keeps some of it, and passes it on.
struct Listener<'a> {
    capture: Capture,
    stream: Stream<'a>,
}

impl Listener<'_> {
    fn push(&mut self, bytes: &[u8]) {
        self.capture.push(bytes);
        self.stream.push(bytes);
    }
}

/// Reads until the command itself has ended or has to be stopped.
async fn follow(
    child: &mut Child,
    pipe: &mut pipe::Receiver,
    listener: &mut Listener<'_>,
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
                    listener.push(buffer.get(..count).unwrap_or_default());
                    idle.as_mut().reset(tokio::time::Instant::now() + limits.idle);
                }
            },
            status = child.wait() => return Ok(end_of(status?)),
            () = &mut idle => return Ok(End::Idle),
        }
    }
}

/// How a process ended by itself.
pub fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}

/// Reads until nobody holds the other end.
async fn drain(pipe: &mut pipe::Receiver, listener: &mut Listener<'_>) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match pipe.read(&mut buffer).await? {
            0 => return Ok(()),
            count => listener.push(buffer.get(..count).unwrap_or_default()),
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

    /// Sends a signal to all of it.
    pub fn signal(&self, signal: Signal) {
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
