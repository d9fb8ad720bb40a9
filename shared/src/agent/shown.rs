//! Text that was shown and comes again: a request that broke off is sent anew, and its beginning is not told twice.

/// What a person has been shown of one reply, over all its tries.
#[derive(Debug, Default)]
pub(super) struct Shown {
    text: String,
    /// How much of it the present try has repeated; `None` when it has gone beyond.
    repeated: Option<usize>,
}

impl Shown {
    /// The reply begins anew.
    pub(super) fn begin_again(&mut self) {
        self.repeated = (!self.text.is_empty()).then_some(0);
    }

    /// What is to be shown of the next piece. Where the new try differs from what was shown, all of it follows on a new
    /// line.
    pub(super) fn hear(&mut self, piece: &str) -> Option<String> {
        let Some(at) = self.repeated else {
            self.text.push_str(piece);
            return Some(piece.to_owned());
        };
        let rest = self.text.get(at..).unwrap_or_default();
        if rest.starts_with(piece) {
            let now = at + piece.len();
            self.repeated = (now < self.text.len()).then_some(now);
            return None;
        }
        self.repeated = None;
        if let Some(new) = piece.strip_prefix(rest) {
            self.text.push_str(new);
            return Some(new.to_owned());
        }
        self.text.truncate(at);
        self.text.push_str(piece);
        Some(format!("\n{}", self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tries: &[&[&str]], expect: &str) {
        let mut shown = Shown::default();
        let mut seen = String::new();
        for pieces in tries {
            shown.begin_again();
            seen.extend(pieces.iter().filter_map(|piece| shown.hear(piece)));
        }
        assert_eq!(seen, expect, "{tries:?}");
    }

    #[test]
    fn what_was_shown_is_not_shown_again() {
        check(&[&["one ", "two"]], "one two");
        check(&[&["one ", "tw"], &["one two", " three"]], "one two three");
        check(&[&["one two"], &["o", "ne ", "tw", "o"]], "one two");
        check(&[&["one two"], &["one"], &["one two three"]], "one two three");
    }

    #[test]
    fn another_reply_is_shown_whole() {
        check(&[&["one two"], &["one ", "four", "!"]], "one two\none four!");
        check(&[&["one"], &["uno"], &["uno dos"]], "one\nuno dos");
    }
}
