//! What is asked, as lines: the quoted ones and those that replace them, as they were written or as they were meant.

use std::borrow::Cow;

use super::lines::is_empty;

/// Whole lines of a file as quoted, and the lines to put in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote<'a> {
    /// The lines that are looked for.
    pub old: Vec<Cow<'a, [u8]>>,
    /// The lines that replace them. None at all: the lines go, with their ends.
    pub new: Vec<Cow<'a, [u8]>>,
}

impl<'a> Quote<'a> {
    /// As it was written. A last line end of `old` is that of its last line, and so is one of `new` then.
    pub fn written(old: &'a [u8], new: &'a [u8]) -> Option<Quote<'a>> {
        let mut quote = Quote { old: split(old), new: split(new) };
        if quote.old.len() > 1 && quote.old.last().is_some_and(|line| line.is_empty()) {
            quote.old.pop();
            if quote.new.last().is_some_and(|line| line.is_empty()) {
                quote.new.pop();
            }
        }
        // Blank lines alone stand everywhere.
        quote.old.iter().any(|line| !is_empty(line)).then_some(quote)
    }

    /// The same, borrowing nothing.
    pub fn owned(self) -> Quote<'static> {
        let owned =
            |lines: Vec<Cow<'_, [u8]>>| lines.into_iter().map(|line| line.into_owned().into()).collect();
        Quote { old: owned(self.old), new: owned(self.new) }
    }

    /// Whether `old` has blank lines at both ends and `new` at neither: then they were put around the quote, and taking
    /// them for lines of the file would glue its neighbours to the replacement.
    pub fn is_only_enclosed(&self) -> bool {
        let blank_ends = |lines: &[Cow<'_, [u8]>]| {
            let blank = |line: Option<&Cow<'_, [u8]>>| line.is_some_and(|line| is_empty(line));
            (blank(lines.first()), blank(lines.last()))
        };
        blank_ends(&self.old) == (true, true)
            && !self.new.is_empty()
            && blank_ends(&self.new) == (false, false)
    }

    /// Without the blank lines at both ends, of which `new` loses no more than `old`. `None` when there are none.
    pub fn without_blank_ends(&self) -> Option<Quote<'a>> {
        let head = blank(self.old.iter());
        let tail = blank(self.old.iter().rev());
        if head + tail == 0 {
            return None;
        }
        let mut quote = self.clone();
        quote.old.truncate(self.old.len() - tail);
        quote.old.drain(..head);
        quote.new.truncate(self.new.len() - tail.min(blank(self.new.iter().rev())));
        quote.new.drain(..head.min(blank(quote.new.iter())));
        Some(quote)
    }
}

/// The lines of a text, LF between them.
pub fn split(text: &[u8]) -> Vec<Cow<'_, [u8]>> {
    text.split(|&byte| byte == b'\n').map(Cow::Borrowed).collect()
}

fn blank<'l, 'a: 'l>(lines: impl Iterator<Item = &'l Cow<'a, [u8]>>) -> usize {
    lines.take_while(|line| is_empty(line)).count()
}
