//! Finds out what this kernel allows, by doing it, and holds the namespaces of a session meanwhile.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;

use super::channel::say;
use super::policy::{Answer, Found, Part};
use super::{capabilities, fence, namespaces, syscalls};

/// Answers with what was found, and then waits until nobody listens any more. What this process holds is left to those
/// who opened it meanwhile.
pub fn survey(channel: &mut BufReader<UnixStream>) -> io::Result<()> {
    let namespaces = part(make(channel));
    // From here on it is the same as for a command.
    let landlock = capabilities::drop_most().ok().and_then(|()| fence::version());
    let syscalls = part(syscalls::try_out());
    say(channel.get_ref(), &Answer::Found(Found { namespaces, landlock, syscalls }))?;
    channel.read_to_end(&mut Vec::new())?;
    Ok(())
}

fn make(channel: &mut BufReader<UnixStream>) -> io::Result<()> {
    namespaces::new_user()?;
    say(channel.get_ref(), &Answer::Unmapped)?;
    let mut mapped = String::new();
    channel.read_line(&mut mapped)?;
    if !mapped.trim().is_empty() {
        return Err(io::Error::other(mapped.trim().to_owned()));
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
