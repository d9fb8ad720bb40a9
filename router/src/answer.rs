//! Reads the text of `{"answer": "…"}` while it arrives, so that a person sees words instead of JSON.

use serde_json::Value;

/// What stands before the text, blanks aside.
const START: &str = "{\"answer\":\"";

/// Takes JSON in pieces and gives the answer's text.
#[derive(Debug, Default)]
pub(crate) struct AnswerText {
    place: Place,
    /// The start as far as it came, without blanks; later, an escape that is not whole yet.
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Start,
    Inside,
    /// Past the text, or in something that is no answer.
    Beyond,
}

impl AnswerText {
    /// The text that the next piece adds.
    pub(crate) fn feed(&mut self, piece: &str) -> String {
        let mut shown = String::new();
        for c in piece.chars() {
            match self.place {
                Place::Start if c.is_whitespace() => {}
                Place::Start => {
                    self.held.push(c);
                    if self.held == START {
                        self.held.clear();
                        self.place = Place::Inside;
                    } else if !START.starts_with(&self.held) {
                        self.place = Place::Beyond;
                    }
                }
                Place::Inside => self.inside(c, &mut shown),
                Place::Beyond => {}
            }
        }
        shown
    }

    fn inside(&mut self, c: char, shown: &mut String) {
        match c {
            '"' if self.held.is_empty() => self.place = Place::Beyond,
            '\\' if self.held.is_empty() => self.held.push(c),
            _ if self.held.is_empty() => shown.push(c),
            _ => {
                self.held.push(c);
                if let Ok(Value::String(text)) = serde_json::from_str(&format!("\"{}\"", self.held)) {
                    shown.push_str(&text);
                    self.held.clear();
                } else if self.held.len() >= LONGEST_ESCAPE {
                    // No escape after all; the whole reply is judged when it has come.
                    self.place = Place::Beyond;
                }
            }
        }
    }
}

/// Bytes of two escapes that make one character.
const LONGEST_ESCAPE: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_s_text_is_given_however_it_is_cut() {
        let cases = [
            (r#"{ "answer" : "a\n\"é\u00e9 \ud83d\ude00\\" } x"#, "a\n\"éé 😀\\"),
            (r#"{"answer":"half"#, "half"),
            (r#"{"answer":"odd \x and more"}"#, "odd "),
            (r#"{"tool":"f","arguments":{"answer":"no"}}"#, ""),
            ("plain words", ""),
            ("", ""),
        ];
        for (json, expect) in cases {
            assert_eq!(AnswerText::default().feed(json), expect, "{json}");
            let mut answer = AnswerText::default();
            let text: String = json.chars().map(|c| answer.feed(&c.to_string())).collect();
            assert_eq!(text, expect, "{json}, one character at a time");
        }
    }
}
