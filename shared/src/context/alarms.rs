//! Lines that look like errors: they are kept out of what is left out of a long output.

use memchr::{memchr, memmem, memrchr};

/// Words, in small letters, by which a line is taken for one that tells of an error.
const ALARMING: &[&str] = &[
    "error",
    "failed",
    "failure",
    "fatal",
    "panicked",
    "exception",
    "traceback",
    "undefined",
    "cannot ",
    "not found",
    "denied",
    "assert",
];
/// Such lines that are kept.
const MOST: usize = 10;
/// Characters of such a line.
const LINE_CHARS: usize = 200;
/// Stands above them.
const HEAD: &str = "[lines of it that look like errors:]\n";

/// The first lines of an output that look like errors.
#[derive(Clone, Debug, Default)]
pub struct Alarms(Vec<String>);

impl Alarms {
    /// Looks through the next whole lines. Costs little where there is no such line, whatever the length.
    pub fn look(&mut self, lines: &[u8]) {
        if self.0.len() >= MOST {
            return;
        }
        let small = lines.to_ascii_lowercase();
        let mut from = 0;
        while let Some(rest) = small.get(from..).filter(|_| self.0.len() < MOST) {
            let found = ALARMING.iter().filter_map(|word| memmem::find(rest, word.as_bytes())).min();
            let Some(at) = found.map(|at| from + at) else { return };
            let start = memrchr(b'\n', small.get(..at).unwrap_or_default()).map_or(0, |end| end + 1);
            let end = at + memchr(b'\n', small.get(at..).unwrap_or_default()).unwrap_or(small.len() - at);
            let line = String::from_utf8_lossy(lines.get(start..end).unwrap_or_default());
            self.0.push(line.trim_end().chars().take(LINE_CHARS).collect());
            from = end + 1;
        }
    }

    /// Those that are not in `shown` already, with a line about them, in at most `room` characters; nothing if there are
    /// none.
    pub fn told(&self, shown: &str, room: usize) -> String {
        let mut told = String::new();
        for line in self.0.iter().filter(|line| !shown.contains(line.as_str())) {
            if HEAD.len() + told.chars().count() + line.chars().count() + 8 > room {
                break;
            }
            told.push_str(line);
            told.push('\n');
        }
        if told.is_empty() { told } else { format!("{HEAD}{told}[…]\n") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_any_case_and_cut() {
        let mut alarms = Alarms::default();
        alarms.look(b"fine\nFATAL: one\nfine\n");
        alarms.look(format!("an Error {}\nlast: cannot go", "ä".repeat(300)).as_bytes());
        let long = format!("an Error {}", "ä".repeat(LINE_CHARS - 9));
        assert_eq!(alarms.told("", 1_000), format!("{HEAD}FATAL: one\n{long}\nlast: cannot go\n[…]\n"));
        assert_eq!(alarms.told("it says FATAL: one", 100), "");
    }

    #[test]
    fn only_the_first_are_kept() {
        let mut alarms = Alarms::default();
        alarms.look(&b"error\n".repeat(1_000));
        assert_eq!(alarms.0.len(), MOST);
    }
}
