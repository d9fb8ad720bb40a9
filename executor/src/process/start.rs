//! Starts a command: with no input, in a group and a cage of its own.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::interrupt::Interrupt;
use tandem_shared::tool::blocking;
use tandem_shared::workspace::Workspace;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::time::timeout;

use super::hold::Hold;
use super::kept::{Kept, NotBegun};
use crate::cage::{Cage, Errand, LAUNCH, Repositories, Span, Start, Watch};
use crate::environment::Environment;
use crate::reach::Reach;
use crate::stage::Stage;

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

/// How long a cage may take to be set up, which is a few milliseconds.
const SETTING_UP: Duration = Duration::from_secs(20);

/// A command that was started.
pub struct Started<'a> {
    /// It, with all that it starts.
    pub kept: Kept,
    /// Its output and errors: one pipe for both, so that errors stand where they came.
    pub pipe: pipe::Receiver,
    /// Whether a cage holds it.
    pub caged: Caged,
    /// When it was started.
    pub since: Instant,
    /// What git ran before it, to be compared when it has ended.
    pub watching: Option<Watching<'a>>,
}

/// Whether a cage holds a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caged {
    /// One does.
    Yes,
    /// None does.
    No,
}

/// Starts `command` in its cage, in which what git runs is guarded; nothing but the setting up of the cage is waited for.
/// `None` when an interrupt came before it began.
///
/// # Errors
/// When no process could be started, or none in its cage.
pub async fn begin<'a>(
    command: &str,
    workspace: &Workspace,
    hold: Hold<'a>,
    span: Span,
    interrupt: &Interrupt,
) -> Result<Option<Started<'a>>, ToolError> {
    fits(command)?;
    let mut watching = tokio::select! {
        biased;
        () = interrupt.raised() => return Ok(None),
        watching = watch(hold, workspace) => watching?,
    };
    let known = watching.as_mut().map(|watching| watching.known(span)).unwrap_or_default();
    let errand = hold.cage.errand(command, hold.reach, workspace.root(), &known)?;
    let is_caged = errand.as_ref().is_some_and(|(_, start)| start.policy.is_some());
    let caged = if is_caged { Caged::Yes } else { Caged::No };
    Stage::Execution.begins(&format!("caged: {caged:?}"));
    let since = Instant::now();
    let (mut kept, pipe) = spawn(command, workspace, hold.env, errand).map_err(|error| {
        ToolError::new(ErrorKind::Io, format!("The command could not be started: {error}."))
    })?;
    begun(&mut kept, interrupt).await?;
    Ok(Some(Started { kept, pipe, caged, since, watching }))
}

/// A look at what git runs, where the command might change it.
///
/// # Errors
/// When the look was cut off.
pub async fn watch<'a>(hold: Hold<'a>, workspace: &Workspace) -> Result<Option<Watching<'a>>, ToolError> {
    if !hold.cage.is_on() || hold.reach != Reach::Acts {
        return Ok(None);
    }
    let (root, env) = (workspace.root().to_owned(), hold.env.clone());
    let watch = blocking(move || Ok(Watch::begin(&root, &env))).await?;
    Ok(Some(Watching { cage: hold.cage, watch: Some(watch) }))
}

/// A look that is settled even when nobody waits for the command any more.
pub struct Watching<'a> {
    cage: &'a Cage,
    watch: Option<Watch>,
}

impl Watching<'_> {
    /// What is known before the command starts. Tools that set up hooks write them anew, and git itself changes files of
    /// the project, so a command that is waited for can write to those, and is compared. One that goes on in the
    /// background cannot, where the kernel holds that, so that others may.
    fn known(&mut self, span: Span) -> Repositories {
        let Some(watch) = &mut self.watch else { return Repositories::default() };
        let mut known = watch.repositories().clone();
        if span == Span::Long && self.cage.found().namespaces.is_there() {
            known.shut = watch.hold();
        }
        known
    }

    /// The look itself, to be settled by the caller.
    pub fn into_watch(mut self) -> Option<Watch> {
        self.watch.take()
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        if let Some(watch) = self.watch.take() {
            self.cage.tell(&watch.settle(Span::Short));
        }
    }
}

/// Bytes of one argument of a program, its end included: execve(2), `MAX_ARG_STRLEN`.
const LONGEST_ARGUMENT: usize = 128 * 1024;

/// Whether the system can be given a command of that length.
///
/// # Errors
/// When not; the text says what to do instead.
pub fn fits(command: &str) -> Result<(), ToolError> {
    if command.len() < LONGEST_ARGUMENT {
        return Ok(());
    }
    Err(ToolError::new(
        ErrorKind::InvalidArguments,
        format!(
            "The command has {} bytes, and the system takes less than {LONGEST_ARGUMENT}. Nothing was run. Write long \
             texts to a file with write_file, and name that in the command.",
            command.len()
        ),
    ))
}

/// Starts `command`, by a keeper if there is an errand for one.
///
/// # Errors
/// When the system says no.
fn spawn(
    command: &str,
    workspace: &Workspace,
    env: &Environment,
    errand: Option<(PathBuf, Start)>,
) -> io::Result<(Kept, pipe::Receiver)> {
    let (reader, writer) = io::pipe()?;
    let (mut process, line) = match errand {
        None => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(command).stdin(Stdio::null());
            (shell, None)
        }
        Some((program, start)) => {
            let (ours, theirs) = StdUnixStream::pair()?;
            let errand = Errand::Keep(start).to_message().to_bytes()?;
            let mut keeper = Command::new(program);
            keeper.arg(LAUNCH).stdin(OwnedFd::from(theirs));
            ours.set_nonblocking(true)?;
            (keeper, Some((UnixStream::from_std(ours)?, errand)))
        }
    };
    process
        .current_dir(workspace.root())
        .env_clear()
        .envs(env.variables.iter().map(|(name, value)| (name, value)))
        .envs(QUIET.iter().copied())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0);
    let child = process.spawn()?;
    let kept = match line {
        Some((line, errand)) => Kept::by_keeper(child, line, errand),
        None => Kept::by_group(child),
    };
    Ok((kept, pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?))
}

/// Waits until the command has begun.
///
/// # Errors
/// When the cage could not be set up.
async fn begun(kept: &mut Kept, interrupt: &Interrupt) -> Result<(), ToolError> {
    let heard = async {
        tokio::select! {
            // What follows looks at the interrupt first.
            () = interrupt.raised() => Ok(()),
            begun = kept.begun() => begun,
        }
    };
    let why = match timeout(SETTING_UP, heard).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(NotBegun::NoProgram(why))) => {
            let text = format!("The command could not be started ({why}). Nothing was run.");
            return Err(ToolError::new(ErrorKind::Io, text));
        }
        Ok(Err(NotBegun::NoCage(why))) => why,
        Err(_) => "it took too long".to_owned(),
    };
    Err(ToolError::new(
        ErrorKind::Io,
        format!(
            "The command was not run, because its cage could not be set up ({why}). Tell the user, who can look at \
             `tandem doctor`, or set commands.sandbox to \"off\"."
        ),
    ))
}
