//! Namespaces of a session: made once by a process that only holds them, entered by every command.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::sched::{CloneFlags, unshare};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, send, socket};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tandem_shared::settings::Network;

use super::policy::Namespaces;

/// Enters the session's namespaces, and one of mounts that is the command's own.
pub fn enter(spaces: &Namespaces, network: Network) -> io::Result<()> {
    // Both are opened first: from inside, the process that holds them open is out of reach.
    let user = File::open(&spaces.user)?;
    let net = File::open(&spaces.network)?;
    move_into_link_name_space(user.as_fd(), Some(LinkNameSpaceType::User))?;
    if network == Network::Off {
        move_into_link_name_space(net.as_fd(), Some(LinkNameSpaceType::Network))?;
    }
    own_mounts()
}

/// A namespace of users, in which this process may do everything and outside of which it may do nothing more.
pub fn new_user() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWUSER).map_err(io::Error::from)
}

/// A network of nothing but the machine itself, on which programs can still speak to each other.
pub fn new_network() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNET)?;
    raise_loopback()
}

/// A namespace of mounts, from which nothing gets out.
pub fn own_mounts() -> io::Result<()> {
    use rustix::mount::{MountPropagationFlags, mount_change};
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    Ok(())
}

const NEW_LINK: u16 = 16;
const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
const ERROR: u16 = 2;
const UP: u32 = 1;
/// In a new network namespace there is one interface, and it has this number.
const LOOPBACK: i32 = 1;

fn raise_loopback() -> io::Result<()> {
    // No protocol is the first one, that of links and routes.
    let kernel: OwnedFd = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    send(&kernel, &link_up(LOOPBACK), SendFlags::empty())?;
    let mut reply = [0_u8; 256];
    let (count, _) = recv(&kernel, &mut reply, RecvFlags::empty())?;
    // A header of 16 bytes with the kind at byte 4, then the error as a negative number, 0 for none.
    let kind = reply.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    let code = reply.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, code) {
        (Some(ERROR), Some(0)) if count >= 20 => Ok(()),
        (Some(ERROR), Some(code)) => Err(io::Error::from_raw_os_error(-code)),
        _ => Err(io::Error::other("the kernel's answer about the loopback interface is not understood")),
    }
}

/// The message that sets an interface up, as rtnetlink(7) lays it out.
fn link_up(interface: i32) -> Vec<u8> {
    let mut body = vec![0_u8; 4]; // family, padding and kind of device: none in particular
    body.extend(interface.to_ne_bytes());
    body.extend(UP.to_ne_bytes()); // the flags
    body.extend(UP.to_ne_bytes()); // those of them that are to change
    let length = u32::try_from(16 + body.len()).unwrap_or_default();
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 8]); // number and sender: one question, one answer
    message.extend(body);
    message
}
