//! What a command prints, told while it runs: whole lines, and no more than somebody could read.

use std::time::{Duration, Instant};

use tandem_shared::plain_text::plain;

use super::border::tellable;
use crate::environment::Environment;

/// Takes whole lines of output.
pub type Tell<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// Bytes that are told within one beat; the rest of a flood is left out here and only here.
const A_BEAT_TAKES: usize = 8 * 1024;
/// How long a beat is.
const BEAT: Duration = Duration::from_millis(100);
/// Bytes of a line after which it is told unfinished.
const LONG_LINE: usize = 4 * 1024;

/// Passes output on.
pub struct Stream<'a> {
    tell: Option<Tell<'a>>,
    env: &'a Environment,
    line: Vec<u8>,
    beat: Instant,
    told: usize,
    left_out: bool,
    /// Up to the next line.
    is_skipping: bool,
}

impl<'a> Stream<'a> {
    /// To `tell`, with the secrets of `env` masked.
    pub fn new(tell: Option<Tell<'a>>, env: &'a Environment) -> Stream<'a> {
        Stream {
            tell,
            env,
            line: Vec::new(),
            beat: Instant::now(),
            told: 0,
            left_out: false,
            is_skipping: false,
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let Some(tell) = self.tell else { return };
        if self.beat.elapsed() >= BEAT {
            (self.beat, self.told) = (Instant::now(), 0);
        }
        if self.told >= A_BEAT_TAKES {
            (self.left_out, self.is_skipping) = (true, true);
            self.line.clear();
            return;
        }
        let mut bytes = bytes;
        if self.is_skipping {
            // What is left of a line could be half of a secret.
            let Some(newline) = memchr::memchr(b'\n', bytes) else { return };
            bytes = bytes.get(newline + 1..).unwrap_or_default();
            self.is_skipping = false;
        }
        self.line.extend_from_slice(bytes.get(..bytes.len().min(A_BEAT_TAKES)).unwrap_or_default());
        if bytes.len() > A_BEAT_TAKES {
            (self.left_out, self.is_skipping) = (true, true);
            let whole = memchr::memrchr(b'\n', &self.line).map_or(0, |newline| newline + 1);
            self.line.truncate(whole);
        }
        let end = tellable(&self.line, LONG_LINE);
        if end == 0 {
            return;
        }
        let whole: Vec<u8> = self.line.drain(..end).collect();
        self.told += whole.len();
        self.say(tell, &whole);
    }

    /// Tells what is left.
    pub fn finish(mut self) {
        let rest = std::mem::take(&mut self.line);
        if let Some(tell) = self.tell.filter(|_| !rest.is_empty()) {
            self.say(tell, &rest);
        }
    }

    fn say(&mut self, tell: Tell<'_>, bytes: &[u8]) {
        let text = self.env.mask(plain(&String::from_utf8_lossy(bytes)));
        if std::mem::take(&mut self.left_out) {
            tell("[… more than can be shown while it runs …]\n");
        }
        if !text.trim().is_empty() {
            tell(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn told(pieces: &[&[u8]]) -> String {
        let heard = Mutex::new(String::new());
        let env = Environment::default();
        let tell = |text: &str| heard.lock().unwrap().push_str(text);
        let mut stream = Stream::new(Some(&tell), &env);
        pieces.iter().for_each(|piece| stream.push(piece));
        stream.finish();
        heard.into_inner().unwrap()
    }

    #[test]
    fn lines_are_told_whole_and_plain() {
        assert_eq!(told(&[b"on", b"e\ntwo\x1b[0m", b"\n", b"rest"]), "one\ntwo\nrest");
    }

    #[test]
    fn a_key_that_comes_line_by_line_is_masked() {
        let line = b"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ+/\n".as_slice();
        let mut pieces = vec![b"before\n-----BEGIN PRIVATE KEY-----\n".as_slice()];
        pieces.extend([line; 20]);
        pieces.push(b"-----END PRIVATE KEY-----\nafter\n");
        let text = told(&pieces);
        assert!(text.starts_with("before\n-----BEGIN") && text.ends_with("after\n"), "{text}");
        assert!(!text.contains("0123456789ABC"), "{text}");
    }

    #[test]
    fn a_flood_is_told_in_part() {
        let line = [b"x".repeat(99), b"\n".to_vec()].concat();
        let pieces: Vec<&[u8]> = (0..10_000).map(|_| line.as_slice()).collect();
        let text = told(&pieces);
        assert!(text.len() < 200_000, "{} of 1,000,000 bytes", text.len());
    }
}
