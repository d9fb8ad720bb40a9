//! The binary as a starter of commands: as the keeper of one, and as the launcher, which becomes the command in its cage.
//! This runs before anything else in the binary, in one thread.
//!
//! It is spoken to over a socket in the place of its standard input. The launcher's closes by itself when the command
//! begins, so that nobody can take an exit code of the command for word from the launcher.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fs::{FileType, fstat};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::channel::{hear, say};
use super::errand::{Answer, Errand, Start};
use super::policy::{Policy, ResourceLimits};
use super::{capabilities, fence, keeper, mounts, namespaces, sockets, survey, syscalls};

/// Does the errand that comes over `channel`. A command never comes back from here.
///
/// # Errors
/// Why nothing was run, in words.
pub fn launch(channel: OwnedFd) -> Result<(), String> {
    let is_socket = fstat(&channel).is_ok_and(|about| FileType::from_raw_mode(about.st_mode).is_socket());
    if !is_socket {
        return Err("this is how tandem itself starts commands; it is of no use by hand".to_owned());
    }
    let mut channel = BufReader::new(UnixStream::from(channel));
    let asked = hear(&mut channel).map_err(|error| error.to_string())?;
    match Errand::of_message(&asked).ok_or("what is asked is not understood")? {
        Errand::Survey => survey::survey(&mut channel).map_err(|error| error.to_string()),
        Errand::Keep(start) => keeper::keep(channel.get_ref(), start).map_err(|error| error.to_string()),
        Errand::Become(start) => {
            let (answer, why) = match become_command(&start) {
                Failure::Cage(why) => (Answer::Failed(why.clone()), why),
                Failure::Program(why) => (Answer::NotStarted(why.clone()), why),
            };
            say(channel.get_ref(), &answer.to_message()).map_err(|error| error.to_string())?;
            Err(why)
        }
    }
}

/// What failed, with the reason.
enum Failure {
    /// Going into the cage.
    Cage(String),
    /// Starting the program in it.
    Program(String),
}

/// Comes back only with why it failed.
fn become_command(Start { policy, program, args }: &Start) -> Failure {
    let mut command = Command::new(program);
    let entered = match policy {
        Some(policy) => {
            command.env("TMPDIR", policy.temp_over.first().unwrap_or(&policy.temp));
            close_input().and_then(|()| enter(policy))
        }
        None => close_input(),
    };
    match entered {
        Err((step, error)) => Failure::Cage(format!("{step}: {error}")),
        Ok(()) => Failure::Program(format!("{program}: {}", command.args(args).exec())),
    }
}

type Step = Result<(), (&'static str, io::Error)>;

/// Nothing can be read from standard input, where the line was until now.
fn close_input() -> Step {
    let closed = File::open("/dev/null").and_then(|null| Ok(rustix::stdio::dup2_stdin(null.as_fd())?));
    closed.map_err(|error| ("standard input", error))
}

/// Goes into the cage, part by part. Each part takes away what the next ones do not need any more.
fn enter(policy: &Policy) -> Step {
    let at = |step: &'static str| move |error| (step, error);
    if let Some(spaces) = &policy.namespaces {
        // From inside, the kernel would not name them any more.
        let sockets = sockets::outside(policy);
        namespaces::enter(spaces, policy.network).map_err(at("namespaces"))?;
        mounts::arrange(policy, &sockets).map_err(at("mounts"))?;
        // The folder that it was started in is that from before the mounts.
        rustix::process::chdir(&policy.root).map_err(|error| ("the root", error.into()))?;
    }
    capabilities::drop_most().map_err(at("capabilities"))?;
    limit(policy.limits).map_err(at("resource limits"))?;
    if policy.landlock.is_some() {
        fence::raise(policy).map_err(|error| ("Landlock", io::Error::other(error)))?;
    }
    if policy.syscalls.is_there() {
        syscalls::filter(policy).map_err(|error| ("the filter of system calls", io::Error::other(error)))?;
    }
    Ok(())
}

fn limit(limits: ResourceLimits) -> io::Result<()> {
    let bounds = [
        (Resource::As, limits.memory),
        (Resource::Nproc, limits.processes),
        (Resource::Fsize, limits.file),
        (Resource::Cpu, limits.cpu),
    ];
    for (resource, most) in bounds.into_iter().filter(|(_, most)| *most > 0) {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}
