//! Keeps the head and the tail of an output in flat memory, and turns them into text.

use std::collections::VecDeque;

/// The first and the last bytes of an output.
pub struct Capture {
    /// Characters of the text.
    chars: usize,
    /// Bytes of head, and of tail: enough for half the characters at four bytes each, and for as many control bytes.
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Capture {
    /// Keeps `chars` characters at most.
    pub fn new(chars: usize) -> Capture {
        Capture { chars, half: chars.saturating_mul(4), head: Vec::new(), tail: VecDeque::new(), dropped: 0 }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..over);
        self.dropped += over as u64;
    }

    /// Whether nothing came yet.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// The text without control sequences; where it is too long, half its characters from the head, half from the tail.
    pub fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.dropped == 0 {
            let text = plain(&String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()));
            let count = text.chars().count();
            if count <= self.chars {
                return text;
            }
            let (head, tail) = (self.chars / 2, self.chars - self.chars / 2);
            return joined(
                first(&text, head),
                &format!("{} characters", count - self.chars),
                last(&text, tail),
            );
        }
        let head = plain(&String::from_utf8_lossy(&self.head));
        let tail = plain(&String::from_utf8_lossy(&tail));
        let (head, tail) = (first(&head, self.chars / 2), last(&tail, self.chars - self.chars / 2));
        let kept = (head.len() + tail.len()) as u64;
        let all = self.dropped + (self.head.len() + self.tail.len()) as u64;
        joined(head, &format!("about {} bytes", all.saturating_sub(kept)), tail)
    }
}

fn joined(head: &str, left_out: &str, tail: &str) -> String {
    format!(
        "{head}\n[… {left_out} of output left out here; to see them, write the output to a file and read a part of it …]\n{tail}"
    )
}

fn first(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

fn last(text: &str, chars: usize) -> &str {
    let Some(from_end) = chars.checked_sub(1) else { return "" };
    let start = text.char_indices().rev().nth(from_end).map_or(0, |(at, _)| at);
    text.get(start..).unwrap_or_default()
}

/// Without escape sequences and control characters; of a line that was overwritten in place, what was left standing.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut line = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut chars),
            '\n' => {
                out.push(c);
                line = out.len();
            }
            '\r' => {
                while chars.peek() == Some(&'\r') {
                    chars.next();
                }
                // A return at the end of everything overwrites nothing.
                if chars.peek().is_some_and(|next| *next != '\n') {
                    out.truncate(line);
                }
            }
            '\t' => out.push(c),
            '\u{8}' if out.len() > line => {
                out.pop();
            }
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

fn skip_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        // CSI: up to a byte from @ to ~.
        Some('[') => {
            for c in chars.by_ref() {
                if ('@'..='~').contains(&c) {
                    break;
                }
            }
        }
        // OSC, DCS and their kin: up to BEL or ESC \.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next() {
                if c == '\u{7}' {
                    break;
                }
                if c == '\u{1b}' {
                    chars.next_if_eq(&'\\');
                    break;
                }
            }
        }
        // Intermediate bytes, then one more.
        Some(' '..='/') => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            chars.next();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_go() {
        let text =
            "\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7}a\u{1b}(Bb\u{7}\r\n10%\r\u{1b}[K100%\nabc\u{8}d\r";
        assert_eq!(plain(text), "red ab\n100%\nabd");
    }

    #[test]
    fn a_long_output_keeps_head_and_tail() {
        let mut capture = Capture::new(10);
        capture.push("äbcdefghijklmnö".as_bytes());
        let marker = "\n[… 5 characters of output left out here; to see them, write the output to a file and read a part of it …]\n";
        assert_eq!(capture.text(), format!("äbcde{marker}klmnö"));
    }

    #[test]
    fn a_flood_is_held_in_flat_memory() {
        let mut capture = Capture::new(10);
        for _ in 0..1000 {
            capture.push(&[b'x'; 1000]);
        }
        capture.push(b"the end");
        assert!(capture.head.len() + capture.tail.len() <= 80);
        let marker = "\n[… about 999997 bytes of output left out here; to see them, write the output to a file and read a part of it …]\n";
        assert_eq!(capture.text(), format!("xxxxx{marker}e end"));
    }
}
