//! The line between tandem and its launcher: messages of words, which hold any path as it is.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;

/// A message: a row of names and values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message(Vec<(String, OsString)>);

impl Message {
    /// The same message with one more value.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Message {
        self.0.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// The same message with each of these values.
    #[must_use]
    pub fn with_all<T: AsRef<OsStr>>(self, name: &str, values: &[T]) -> Message {
        values.iter().fold(self, |message, value| message.with(name, value))
    }

    /// All values of that name.
    pub fn all<T: From<OsString>>(&self, name: &str) -> Vec<T> {
        self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value.clone().into()).collect()
    }

    /// The first value of that name.
    pub fn first(&self, name: &str) -> Option<OsString> {
        self.all(name).into_iter().next()
    }

    /// The same as text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.first(name).map(|value| value.to_string_lossy().into_owned())
    }

    /// The same as a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }
}

impl Message {
    /// As it is said. Each word ends with a NUL, which no path and no argument holds, and the message with another one.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for (name, value) in &self.0 {
            if value.as_bytes().contains(&0) {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is a NUL in it"));
            }
            bytes.extend(name.as_bytes());
            bytes.push(b'=');
            bytes.extend(value.as_bytes());
            bytes.push(0);
        }
        bytes.push(0);
        Ok(bytes)
    }
}

/// Says one thing to somebody who listens already: more than a socket holds waits for them.
pub fn say(mut channel: &UnixStream, message: &Message) -> io::Result<()> {
    channel.write_all(&message.to_bytes()?)
}

/// Hears one thing; nothing when the line closed.
pub fn hear(channel: &mut impl BufRead) -> io::Result<Message> {
    let mut message = Message::default();
    loop {
        let mut word = Vec::new();
        channel.read_until(0, &mut word)?;
        if word.pop() != Some(0) {
            // It closed half way: half of what was meant must not be done.
            return Ok(Message::default());
        }
        let Some(end) = word.iter().position(|byte| *byte == b'=') else { return Ok(message) };
        let value = word.split_off(end + 1);
        word.pop();
        message.0.push((String::from_utf8_lossy(&word).into_owned(), OsString::from_vec(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard() {
        let odd = OsString::from_vec(b"a=b\n\xff".to_vec());
        let message = Message::default().with("path", &odd).with_all("path", &["", "c"]).with("n", "7");
        let (ours, theirs) = UnixStream::pair().unwrap();
        say(&ours, &message).unwrap();
        drop(ours);
        let mut channel = io::BufReader::new(theirs);
        let heard = hear(&mut channel).unwrap();
        assert_eq!(heard, message);
        assert_eq!((heard.first("path"), heard.number("n")), (Some(odd), Some(7)));
        assert_eq!(hear(&mut channel).unwrap(), Message::default());
        assert_eq!(hear(&mut b"cut=of".as_slice()).unwrap(), Message::default());
    }

    #[test]
    fn a_nul_cannot_be_said() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        assert!(say(&ours, &Message::default().with("arg", "a\0b")).is_err());
    }
}
