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
        // What would only pass through is left out at once.
        let skipped = rest.len().saturating_sub(self.half);
        self.tail.extend(rest.get(skipped..).unwrap_or_default());
        let over = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..over);
        self.dropped += (over + skipped) as u64;
    }

    /// Whether nothing came yet.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// The last bytes that are kept.
    pub fn tail(&self) -> Vec<u8> {
        self.tail.iter().copied().collect()
    }

    /// The bytes as text, as `clean` makes it of them before anything is cut; where it is too long, half its characters from the head, half from the tail, and
    /// between them what `gap` says of how much was left out.
    pub fn text(&self, clean: impl Fn(&[u8]) -> String, gap: impl FnOnce(String) -> String) -> String {
        let tail = self.tail();
        if self.dropped == 0 {
            let text = clean(&[self.head.as_slice(), &tail].concat());
            let count = text.chars().count();
            if count <= self.chars {
                return text;
            }
            let (head, tail) = (self.chars / 2, self.chars - self.chars / 2);
            return joined(
                first(&text, head),
                &gap(format!("{} characters", count - self.chars)),
                last(&text, tail),
            );
        }
        let head = clean(&self.head);
        let tail = clean(&tail);
        let (head, tail) = (first(&head, self.chars / 2), last(&tail, self.chars - self.chars / 2));
        let kept = (head.len() + tail.len()) as u64;
        let all = self.dropped + (self.head.len() + self.tail.len()) as u64;
        joined(head, &gap(format!("about {} bytes", all.saturating_sub(kept))), tail)
    }
}

fn joined(head: &str, gap: &str, tail: &str) -> String {
    format!("{head}\n[… {gap} …]\n{tail}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_output_keeps_head_and_tail() {
        let mut capture = Capture::new(10);
        capture.push("äbcdefghijklmnö".as_bytes());
        let marker = "\n[… 5 characters less …]\n";
        assert_eq!(
            capture.text(
                |bytes| String::from_utf8_lossy(bytes).into_owned(),
                |left_out| format!("{left_out} less")
            ),
            format!("äbcde{marker}klmnö")
        );
    }

    #[test]
    fn a_flood_is_held_in_flat_memory() {
        let mut capture = Capture::new(10);
        for _ in 0..1000 {
            capture.push(&[b'x'; 1000]);
        }
        capture.push(b"the end");
        assert!(capture.head.len() + capture.tail.len() <= 80);
        let marker = "\n[… about 999997 bytes less …]\n";
        assert_eq!(
            capture.text(
                |bytes| String::from_utf8_lossy(bytes).into_owned(),
                |left_out| format!("{left_out} less")
            ),
            format!("xxxxx{marker}e end")
        );
    }
}
