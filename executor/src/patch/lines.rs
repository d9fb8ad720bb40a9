//! The lines of a patch, one after the other, with their numbers.

use super::fault::PatchFault;

/// A place between the lines of a patch.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    /// With their ends.
    all: Vec<&'a str>,
    at: usize,
}

impl<'a> Lines<'a> {
    /// Before the first line.
    pub fn of(text: &'a str) -> Lines<'a> {
        Lines { all: text.split_inclusive('\n').collect(), at: 0 }
    }

    /// The next line, without its end.
    pub fn peek(&self) -> Option<&'a str> {
        self.ahead(0)
    }

    /// The line after `count` others, without its end.
    pub fn ahead(&self, count: usize) -> Option<&'a str> {
        self.all.get(self.at + count).map(|line| {
            let line = line.strip_suffix('\n').unwrap_or(line);
            line.strip_suffix('\r').unwrap_or(line)
        })
    }

    /// The next line as part of a content: a CR before the LF is a part of it.
    pub fn peek_content(&self) -> Option<&'a str> {
        self.all.get(self.at).map(|line| line.strip_suffix('\n').unwrap_or(line))
    }

    /// Whether the next lines are the two that name the old and the new side of a unified diff. Only together are they
    /// that, because a removed line may look like the first.
    pub fn name_two_sides(&self) -> bool {
        let begins = |ahead, mark| self.ahead(ahead).is_some_and(|line: &str| line.starts_with(mark));
        begins(0, "--- ") && begins(1, "+++ ")
    }

    /// Whether the next line ends with CRLF.
    pub fn ends_with_crlf(&self) -> bool {
        self.all.get(self.at).is_some_and(|line| line.ends_with("\r\n"))
    }

    /// Goes on by one line.
    pub fn advance(&mut self) {
        self.at += 1;
    }

    /// The number of the next line, from 1.
    pub fn number(&self) -> usize {
        self.at + 1
    }

    /// Passes over lines without text.
    pub fn skip_blank(&mut self) {
        while self.peek().is_some_and(|line| line.trim().is_empty()) {
            self.advance();
        }
    }

    /// Forgets the next line that closes `fence`, after which nothing may follow.
    ///
    /// # Errors
    /// When text follows, or when nothing closes the fence.
    pub fn cut_at(&mut self, fence: &str) -> Result<(), PatchFault> {
        let closes = |line: &&str| line.trim_end().strip_prefix(fence).is_some_and(str::is_empty);
        let rest = self.all.get(self.at..).unwrap_or_default();
        let Some(ahead) = rest.iter().position(closes) else {
            return Err(PatchFault::CutOff { line: self.all.len(), mark: format!("the closing {fence}") });
        };
        let mut after = self.clone();
        after.at += ahead + 1;
        after.skip_blank();
        self.all.truncate(self.at + ahead);
        match after.peek() {
            None => Ok(()),
            Some(text) => Err(PatchFault::Stray {
                line: after.number(),
                text: text.to_owned(),
                right: "Nothing may follow the fence around the patch: send one patch, without comment.",
            }),
        }
    }

    /// That the next line has no meaning.
    pub fn stray(&self, right: &'static str) -> PatchFault {
        PatchFault::Stray { line: self.number(), text: self.peek().unwrap_or_default().to_owned(), right }
    }
}
