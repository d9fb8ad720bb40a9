//! An output as lines that can be paged, whatever it is made of: long lines are wrapped, and so is what NULs divide.

use std::io::{self, Read};

/// Bytes after which a line is wrapped, at the next beginning of a character.
const WRAP: usize = 4_000;

/// Reads `source` in such lines.
pub(crate) struct Wrapped<R> {
    source: R,
    /// Bytes of the current line that were handed on.
    line: usize,
    /// Read, and not handed on yet.
    read: Vec<u8>,
    at: usize,
}

impl<R: Read> Wrapped<R> {
    /// Of all that `source` holds.
    pub(crate) fn new(source: R) -> Wrapped<R> {
        Wrapped { source, line: 0, read: Vec::new(), at: 0 }
    }
}

impl<R: Read> Read for Wrapped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.read.len() {
            self.read.resize(64 * 1024, 0);
            let count = self.source.read(&mut self.read)?;
            self.read.truncate(count);
            self.at = 0;
        }
        let mut filled = 0;
        while let (Some(byte), Some(place)) = (self.read.get(self.at), buffer.get_mut(filled)) {
            let begins_character = byte & 0b1100_0000 != 0b1000_0000;
            let wraps = self.line >= WRAP && begins_character && *byte != b'\n';
            *place = if wraps || *byte == 0 { b'\n' } else { *byte };
            self.line = if *place == b'\n' { 0 } else { self.line + 1 };
            self.at += usize::from(!wraps);
            filled += 1;
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &[u8], expect: &[usize]) {
        let mut all = Vec::new();
        Wrapped::new(text).read_to_end(&mut all).unwrap();
        let lines: Vec<usize> = all.split(|byte| *byte == b'\n').map(<[u8]>::len).collect();
        assert_eq!(lines, expect);
        let without =
            |bytes: &[u8]| bytes.iter().filter(|byte| !b"\n\0".contains(byte)).copied().collect::<Vec<u8>>();
        assert_eq!(without(&all), without(text), "nothing is lost");
    }

    #[test]
    fn long_lines_are_wrapped_between_characters() {
        check(b"a\nbc\n", &[1, 2, 0]);
        check(&[b'x'; 9_000], &[4_000, 4_000, 1_000]);
        check(&[&[b'x'; 4_000][..], b"\ny"].concat(), &[4_000, 1]);
        check(format!("x{}", "ä".repeat(3_000)).as_bytes(), &[4_001, 2_000]);
        check(&[b'x'; 200_000], &[4_000; 50]);
    }

    #[test]
    fn nuls_divide_lines() {
        check(b"a\0bc\0", &[1, 2, 0]);
    }
}
