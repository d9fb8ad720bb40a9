//! Long results: the whole goes to a blob, head and tail and an id stay.

use super::alarms::Alarms;
use crate::digest::Digest;

/// A long text cut down, with the whole of it to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Head, a line with the id, tail.
    pub text: String,
    /// The digest under which the whole is kept.
    pub blob: Digest,
}

/// Room for the line with the id and for the fence around the result, in characters.
const MARK: usize = 300;

/// Cuts `text` to at most `limit` characters, two thirds head and a third tail, at line ends where there are any. Of what
/// is left out, the first lines that look like errors stay. `None` when it is short enough.
pub fn preview(text: &str, limit: usize) -> Option<Preview> {
    let chars = text.chars().count();
    if chars <= limit {
        return None;
    }
    let blob = Digest::of(text);
    let whole = limit.saturating_sub(MARK);
    let middle = text.get(byte_at(text, whole * 2 / 3)..byte_at(text, chars - whole / 3)).unwrap_or_default();
    let mut alarms = Alarms::default();
    alarms.look(middle.as_bytes());
    let alarming = alarms.told("", whole / 4);
    let kept = whole - alarming.chars().count().min(whole);
    let head = byte_at(text, kept * 2 / 3);
    let tail = byte_at(text, chars - kept / 3);
    let head = text.get(..head)?;
    let head = head.rfind('\n').map_or(head, |end| head.get(..=end).unwrap_or(head));
    let tail = text.get(tail..)?;
    let tail = tail.find('\n').map_or(tail, |start| tail.get(start + 1..).unwrap_or(tail));
    let left_out = chars - head.chars().count() - tail.chars().count();
    let text = format!(
        "{head}\n[… {left_out} of {chars} characters left out; recall(\"{}\") reads the whole …]\n{alarming}{tail}",
        blob.short()
    );
    Some(Preview { text, blob })
}

fn byte_at(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_stay() {
        assert_eq!(preview("äöü", 3), None);
    }

    #[test]
    fn errors_in_the_middle_stay() {
        let line = |n: usize| {
            if n == 500 { "error[E0308]: mismatched types\n".to_owned() } else { format!("line {n}\n") }
        };
        let text: String = (0..1_000).map(line).collect();
        let cut = preview(&text, 2_000).unwrap();
        assert!(
            cut.text
                .contains("…]\n[lines of it that look like errors:]\nerror[E0308]: mismatched types\n[…]\n"),
            "{}",
            cut.text
        );
        assert!(cut.text.chars().count() <= 2_000);
        assert!(!preview(&"ordinary\n".repeat(1_000), 2_000).unwrap().text.contains("look like errors"));
    }

    #[test]
    fn head_and_tail_stay_at_line_ends() {
        let text: String = (0..100).map(|n| format!("line {n} ä\n")).collect();
        let cut = preview(&text, 500).unwrap();
        assert!(cut.text.chars().count() <= 500, "{}", cut.text);
        assert!(cut.text.starts_with("line 0 ä\nline 1 ä\n"), "{}", cut.text);
        assert!(cut.text.ends_with("line 98 ä\nline 99 ä\n"), "{}", cut.text);
        assert!(cut.text.contains(&format!("recall(\"{}\")", Digest::of(&text).short())), "{}", cut.text);
    }
}
