//! What a command prints, told while it runs: whole lines, and no more than somebody could read.

use std::time::{Duration, Instant};

use tandem_shared::plain_text::plain;

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
}

impl<'a> Stream<'a> {
    /// To `tell`, with the secrets of `env` masked.
    pub fn new(tell: Option<Tell<'a>>, env: &'a Environment) -> Stream<'a> {
        Stream { tell, env, line: Vec::new(), beat: Instant::now(), told: 0, left_out: false }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let Some(tell) = self.tell else { return };
        if self.beat.elapsed() >= BEAT {
            (self.beat, self.told) = (Instant::now(), 0);
        }
        if self.told >= A_BEAT_TAKES {
            self.left_out = true;
            self.line.clear();
            return;
        }
        self.line.extend_from_slice(bytes.get(..bytes.len().min(A_BEAT_TAKES)).unwrap_or_default());
        self.left_out |= bytes.len() > A_BEAT_TAKES;
        let end = match self.line.iter().rposition(|&byte| byte == b'\n') {
            Some(newline) => newline + 1,
            None if self.line.len() >= LONG_LINE => self.line.len(),
            None => return,
        };
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
    fn a_flood_is_told_in_part() {
        let line = [b"x".repeat(99), b"\n".to_vec()].concat();
        let pieces: Vec<&[u8]> = (0..10_000).map(|_| line.as_slice()).collect();
        let text = told(&pieces);
        assert!(text.len() < 200_000, "{} of 1,000,000 bytes", text.len());
    }
}
