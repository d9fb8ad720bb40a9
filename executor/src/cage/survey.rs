//! Finds out what this kernel allows, by doing it, and holds the namespaces of a session meanwhile.

use std::io::{self, BufReader, Read};
use std::os::unix::net::UnixStream;

use super::channel::{hear, say};
use super::errand::Answer;
use super::policy::{Found, Part};
use super::{capabilities, fence, namespaces, syscalls};

/// Answers with what was found, and then waits until nobody listens any more. What this process holds is left to those
/// who opened it meanwhile.
pub fn survey(channel: &mut BufReader<UnixStream>) -> io::Result<()> {
    let namespaces = part(make(channel));
    // From here on it is the same as for a command.
    let landlock = capabilities::drop_most().ok().and_then(|()| fence::version());
    let syscalls = part(syscalls::try_out());
    say(channel.get_ref(), &Answer::Found(Found { namespaces, landlock, syscalls }).to_message())?;
    channel.read_to_end(&mut Vec::new())?;
    Ok(())
}

fn make(channel: &mut BufReader<UnixStream>) -> io::Result<()> {
    namespaces::new_user()?;
    say(channel.get_ref(), &Answer::Unmapped.to_message())?;
    if let Some(Answer::Failed(why)) = Answer::of_message(&hear(channel)?) {
        return Err(io::Error::other(why));
    }
    namespaces::new_network()?;
    namespaces::own_mounts()
}

fn part<E: std::fmt::Display>(done: Result<(), E>) -> Part {
    match done {
        Ok(()) => Part::Has,
        Err(error) => Part::Lacks(error.to_string()),
    }
}
