//! Starts a command: with no input, in a group and a cage of its own.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::interrupt::Interrupt;
use tandem_shared::workspace::Workspace;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::group::Group;
use super::hold::Hold;
use super::tree;
use crate::cage::{Answer, Errand, LAUNCH, Repositories, hear, say};
use crate::environment::Environment;

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
    pub(super) launcher: Option<UnixStream>,
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

/// Starts `command`, in a cage if there is an errand for its launcher.
///
/// # Errors
/// When the system says no.
pub(super) fn start(
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
///
/// # Errors
/// When the cage could not be set up.
pub(super) async fn begun(mut launcher: UnixStream, interrupt: &Interrupt) -> Result<(), ToolError> {
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
