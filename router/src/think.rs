//! Tells a model's thoughts from its words where they come in one text: `<think>…</think>` at the start.

use tandem_shared::model::Delta;
pub(crate) use tandem_shared::model::without_thoughts as words;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Splits a text while it arrives. A tag may be cut anywhere.
#[derive(Debug, Default)]
pub(crate) struct Thoughts {
    place: Place,
    /// What may still become a tag.
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Only blanks and a part of the tag came.
    #[default]
    Start,
    Inside,
    /// After the closing tag: the blanks before the first word are nobody's.
    Gap,
    Words,
}

impl Thoughts {
    /// What the next piece of the text adds.
    pub(crate) fn feed(&mut self, piece: &str) -> Vec<Delta> {
        let mut deltas = Vec::new();
        self.held.push_str(piece);
        loop {
            let before = self.place;
            deltas.extend(self.step());
            if self.place == before {
                return deltas;
            }
        }
    }

    /// What was held when the text ended.
    pub(crate) fn end(&mut self) -> Option<Delta> {
        let rest = std::mem::take(&mut self.held);
        match self.place {
            _ if rest.is_empty() => None,
            Place::Inside => Some(Delta::Reasoning(rest)),
            Place::Start | Place::Gap | Place::Words => Some(Delta::Text(rest)),
        }
    }

    fn step(&mut self) -> Option<Delta> {
        match self.place {
            Place::Start => {
                let tag = self.held.trim_start();
                if let Some(inside) = tag.strip_prefix(OPEN) {
                    self.held = inside.to_owned();
                    self.place = Place::Inside;
                } else if !OPEN.starts_with(tag) {
                    self.place = Place::Words;
                }
                None
            }
            Place::Inside => {
                let (thoughts, rest, closed) = match self.held.split_once(CLOSE) {
                    Some((thoughts, rest)) => (thoughts, rest, true),
                    None => {
                        let (thoughts, rest) = self.held.split_at(self.held.len() - begun(&self.held, CLOSE));
                        (thoughts, rest, false)
                    }
                };
                let thoughts = thoughts.to_owned();
                self.held = rest.to_owned();
                if closed {
                    self.place = Place::Gap;
                }
                (!thoughts.is_empty()).then_some(Delta::Reasoning(thoughts))
            }
            Place::Gap => {
                self.held = self.held.trim_start().to_owned();
                if !self.held.is_empty() {
                    self.place = Place::Words;
                }
                None
            }
            Place::Words => {
                let words = std::mem::take(&mut self.held);
                (!words.is_empty()).then_some(Delta::Text(words))
            }
        }
    }
}

/// Bytes at the end of `text` that begin `tag`.
fn begun(text: &str, tag: &str) -> usize {
    let lengths = (1..tag.len()).rev();
    lengths
        .into_iter()
        .find(|length| tag.get(..*length).is_some_and(|part| text.ends_with(part)))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&str]) -> (String, String) {
        let mut thoughts = Thoughts::default();
        let mut deltas: Vec<Delta> = pieces.iter().flat_map(|piece| thoughts.feed(piece)).collect();
        deltas.extend(thoughts.end());
        let mut heard = (String::new(), String::new());
        for delta in deltas {
            match delta {
                Delta::Reasoning(text) => heard.0.push_str(&text),
                Delta::Text(text) => heard.1.push_str(&text),
                other => panic!("{other:?}"),
            }
        }
        heard
    }

    #[test]
    fn thoughts_at_the_start_are_told_apart_however_the_text_is_cut() {
        let cases = [
            ("<think>a < b</thin</think>\n\nyes", "a < b</thin", "yes"),
            ("\n <think>é</think>", "é", ""),
            ("<think>never closed", "never closed", ""),
            ("<think></think>x", "", "x"),
            ("no <think>tag</think> here", "", "no <think>tag</think> here"),
            (" <thi", "", " <thi"),
            ("<b>bold</b>", "", "<b>bold</b>"),
            ("  plain", "", "  plain"),
        ];
        for (text, reasoning, words) in cases {
            let expect = (reasoning.to_owned(), words.to_owned());
            assert_eq!(split(&[text]), expect, "{text}");
            let chars: Vec<String> = text.chars().map(String::from).collect();
            let pieces: Vec<&str> = chars.iter().map(String::as_str).collect();
            assert_eq!(split(&pieces), expect, "{text}, one character at a time");
        }
    }

    #[test]
    fn only_closed_thoughts_are_taken_off() {
        assert_eq!(words("<think>a</think>\nb"), "b");
        assert_eq!(words("<think>a"), "<think>a");
        assert_eq!(words("a <think>b</think>"), "a <think>b</think>");
    }
}
