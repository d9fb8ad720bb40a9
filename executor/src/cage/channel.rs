//! The line between tandem and its launcher.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;

use serde::Serialize;

/// Says one thing, as one line of JSON.
pub fn say<T: Serialize>(mut channel: &UnixStream, what: &T) -> io::Result<()> {
    let mut line = serde_json::to_string(what)?;
    line.push('\n');
    channel.write_all(line.as_bytes())
}
