//! Arranges what a command sees of the file system: read-only but for a few places, with masks over what is secret.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{MountFlags, mount, mount_bind, mount_bind_recursive, mount_remount};

use super::policy::Policy;

/// Memory that processes share by name; each command has its own.
const SHARED_MEMORY: &str = "/dev/shm";

/// Mounts all of it, with masks over `sockets` too. What fails here must stop the command, save that a mount may be out of reach.
pub fn arrange(policy: &Policy, sockets: &[PathBuf]) -> io::Result<()> {
    let mut writable = policy.write.clone();
    for path in &policy.write {
        mount_bind_recursive(path, path)?;
    }
    mount_bind_recursive(&policy.temp, &policy.temp)?;
    writable.push(policy.temp.clone());
    let in_memory =
        policy.write.iter().chain([&policy.root, &policy.temp]).any(|path| path.starts_with(SHARED_MEMORY));
    if Path::new(SHARED_MEMORY).is_dir() && !in_memory {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("tmpfs", SHARED_MEMORY, "tmpfs", flags, Some(c"mode=1777"))?;
        writable.push(SHARED_MEMORY.into());
    }
    close_all_but(&writable, policy)?;
    for path in policy.pinned.iter().filter(|path| path.exists()) {
        mount_bind_recursive(path, path)?;
    }
    for path in policy.read_only.iter().filter(|path| path.exists()) {
        mount_bind(path, path)?;
        close(path, MountFlags::empty())?;
    }
    for path in policy.masked.iter().chain(sockets) {
        mask(path, policy)?;
    }
    // Last, because what stands in the place of masks lies in one of these folders; and each over the next one, because
    // so does the session's own.
    let mut own = &policy.temp;
    for place in &policy.temp_over {
        mount_bind(own, place)?;
        own = place;
    }
    Ok(())
}

fn mask(path: &Path, policy: &Policy) -> io::Result<()> {
    // What is not there, or is there for others only, needs no mask.
    let Ok(about) = fs::metadata(path) else { return Ok(()) };
    let empty = if about.is_dir() { &policy.empty_folder } else { &policy.empty_file };
    mount_bind(empty, path)?;
    close(path, MountFlags::empty())
}

fn close(path: &Path, kept: MountFlags) -> io::Result<()> {
    let flags = MountFlags::BIND | MountFlags::RDONLY | kept;
    match mount_remount(path, flags, c"") {
        // Flags that the mount had before must stay.
        Err(Errno::PERM) => {
            let more = MountFlags::NOSUID | MountFlags::NODEV;
            mount_remount(path, flags | more, c"")
                .or_else(|_| mount_remount(path, flags | more | MountFlags::NOEXEC, c""))
        }
        done => done,
    }
    .map_err(Into::into)
}

/// Makes every mount read-only that lies in none of these places.
fn close_all_but(writable: &[PathBuf], policy: &Policy) -> io::Result<()> {
    for line in fs::read("/proc/self/mountinfo")?.split(|byte| *byte == b'\n') {
        // Number, parent, device, root, mount point, options.
        let mut fields = line.split(|byte| *byte == b' ').skip(4);
        let (Some(place), Some(options)) = (fields.next(), fields.next()) else { continue };
        let place = unescaped(place);
        let options = &*String::from_utf8_lossy(options);
        if writable.iter().any(|path| place.starts_with(path)) || options.split(',').any(|one| one == "ro") {
            continue;
        }
        let closed = close(&place, kept(options));
        // A mount under another one cannot be reached, by nobody. Where there is a fence as well, it holds anyway.
        if let Err(error) = closed
            && policy.landlock.is_none()
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
    }
    Ok(())
}

fn kept(options: &str) -> MountFlags {
    let flag = |option| match option {
        "nosuid" => MountFlags::NOSUID,
        "nodev" => MountFlags::NODEV,
        "noexec" => MountFlags::NOEXEC,
        "noatime" => MountFlags::NOATIME,
        "nodiratime" => MountFlags::NODIRATIME,
        "relatime" => MountFlags::RELATIME,
        _ => MountFlags::empty(),
    };
    options.split(',').map(flag).collect()
}

/// Blanks and their like are written as three octal digits.
fn unescaped(place: &[u8]) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = place;
    while let Some((first, after)) = rest.split_first() {
        let code =
            after.get(..3).and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 8).ok());
        match code.filter(|_| *first == b'\\') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_with_blanks_are_read() {
        assert_eq!(
            unescaped(b"/a\\040b\\134c\xff\\01"),
            PathBuf::from(OsString::from_vec(b"/a b\\c\xff\\01".to_vec()))
        );
        assert_eq!(kept("rw,nosuid,relatime,seclabel"), MountFlags::NOSUID | MountFlags::RELATIME);
    }
}
