//! Where a request differs from the recorded one.

use serde_json::Value;

use tandem_shared::secret::mask_tokens;

use super::entry::REDACTED;

/// Characters of each value that are shown.
const SHOWN_CHARS: usize = 160;

/// Characters before the first difference that are shown.
const LEAD_CHARS: usize = 40;

/// Digits of an id that the router made up for a call that had none.
const MADE_UP: (&str, usize) = ("call_", 16);

/// The first difference of two requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// JSON pointer.
    pub(super) pointer: String,
    /// The recorded value, cut; `nothing` where there is none.
    pub(super) recorded: String,
    /// The value that is sent now, cut.
    pub(super) sent: String,
}

/// Folders that stand for each other: the project's when it was recorded, and now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved<'a> {
    pub(super) from: &'a str,
    pub(super) to: &'a str,
}

/// Compares member by member, in the order of the request that is sent. Objects are equal whatever the order of their
/// members. A key that was taken out matches any text in its place, and a made-up id of a call any other.
pub(super) fn first(recorded: &Value, sent: &Value, moved: Option<Moved<'_>>) -> Option<Difference> {
    at(String::new(), recorded, sent, moved)
}

fn at(pointer: String, recorded: &Value, sent: &Value, moved: Option<Moved<'_>>) -> Option<Difference> {
    match (recorded, sent) {
        (Value::Object(before), Value::Object(now)) => {
            let below = |name: &str| format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
            let gone = before.iter().filter(|(name, _)| !now.contains_key(*name));
            let gone = gone.map(|(name, value)| difference(below(name), Some(value), None));
            now.iter()
                .find_map(|(name, value)| match before.get(name) {
                    Some(earlier) => at(below(name), earlier, value, moved),
                    None => Some(difference(below(name), None, Some(value))),
                })
                .or_else(|| gone.into_iter().next())
        }
        (Value::Array(before), Value::Array(now)) => (0..before.len().max(now.len())).find_map(|index| {
            let below = format!("{pointer}/{index}");
            match (before.get(index), now.get(index)) {
                (Some(earlier), Some(value)) => at(below, earlier, value, moved),
                (earlier, value) => Some(difference(below, earlier, value)),
            }
        }),
        (Value::String(before), Value::String(now)) => {
            let before = moved.map_or_else(|| before.clone(), |moved| moved.apply(before));
            let equal = before == *now || matches_redacted(&before, now)
                // A token that came in pieces was masked only where it was sent back whole.
                || matches_redacted(&before, &mask_tokens(now))
                || both_made_up(&before, now);
            (!equal).then(|| texts(pointer, &before, now))
        }
        (before, now) if before == now => None,
        (before, now) => Some(difference(pointer, Some(before), Some(now))),
    }
}

impl Moved<'_> {
    /// The text with the folder's path in its new place, where it stands as a whole path.
    fn apply(&self, text: &str) -> String {
        let mut parts = text.split(self.from);
        let mut moved = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let goes_on = part.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '-' | '_'));
            moved.push_str(if goes_on { self.from } else { self.to });
            moved.push_str(part);
        }
        moved
    }
}

/// Whether `sent` is `recorded` with something in each place where a key was taken out.
fn matches_redacted(recorded: &str, sent: &str) -> bool {
    let mut parts = recorded.split(REDACTED);
    let Some(mut rest) = parts.next().and_then(|first| sent.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        match rest.find(part) {
            Some(found) => rest = rest.get(found + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn both_made_up(recorded: &str, sent: &str) -> bool {
    let made_up = |id: &str| {
        let digits = id.strip_prefix(MADE_UP.0).unwrap_or_default();
        digits.len() == MADE_UP.1 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    made_up(recorded) && made_up(sent)
}

fn difference(pointer: String, recorded: Option<&Value>, sent: Option<&Value>) -> Difference {
    let shown =
        |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), |value| cut(&value.to_string()));
    Difference { pointer, recorded: shown(recorded), sent: shown(sent) }
}

/// Two texts from a little before the place where they part.
fn texts(pointer: String, recorded: &str, sent: &str) -> Difference {
    let common = recorded.chars().zip(sent.chars()).take_while(|(a, b)| a == b).count();
    let skipped = common.saturating_sub(LEAD_CHARS);
    let shown = |text: &str| {
        let lead = if skipped > 0 { "…" } else { "" };
        let part: String = text.chars().skip(skipped).collect();
        cut(&Value::String(format!("{lead}{part}")).to_string())
    };
    Difference { pointer, recorded: shown(recorded), sent: shown(sent) }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(recorded: Value, sent: Value, expect: Option<(&str, &str, &str)>) {
        let moved = Some(Moved { from: "/old/p", to: "/new/q" });
        let expect = expect.map(|(pointer, recorded, sent)| Difference {
            pointer: pointer.to_owned(),
            recorded: recorded.to_owned(),
            sent: sent.to_owned(),
        });
        assert_eq!(first(&recorded, &sent, moved), expect);
    }

    #[test]
    fn the_first_difference_is_named_by_its_pointer() {
        let message = |text: &str| json!({ "model": "m", "messages": [{ "role": "user", "content": text }] });
        check(message("a"), message("a"), None);
        check(message("one"), message("two"), Some(("/messages/0/content", "\"one\"", "\"two\"")));
        check(json!({ "a/b": 1 }), json!({ "a/b": 2 }), Some(("/a~1b", "1", "2")));
        check(json!([1]), json!([1, { "x": 2 }]), Some(("/1", "nothing", "{\"x\":2}")));
        check(json!({ "a": 1, "b": 2 }), json!({ "a": 1 }), Some(("/b", "2", "nothing")));
        check(json!({ "a": 1, "b": 2 }), json!({ "b": 2, "a": 1 }), None);
        check(json!({ "a": null }), json!({}), Some(("/a", "null", "nothing")));
    }

    #[test]
    fn long_texts_are_shown_from_where_they_part() {
        let (head, tail) = ("x".repeat(500), "y".repeat(500));
        let shown = |c: char| format!("\"…{}{c}{}…", "x".repeat(40), "y".repeat(117));
        check(
            json!(format!("{head}1{tail}")),
            json!(format!("{head}2{tail}")),
            Some(("", shown('1').as_str(), shown('2').as_str())),
        );
    }

    #[test]
    fn the_folder_may_have_moved_but_only_as_a_whole_path() {
        check(json!("in /old/p/src and /old/p."), json!("in /new/q/src and /new/q."), None);
        check(json!("/old/pier"), json!("/old/pier"), None);
        check(json!("/old/p"), json!("/old/p"), Some(("", "\"/new/q\"", "\"/old/p\"")));
    }

    #[test]
    fn what_was_taken_out_or_made_up_matches_its_like() {
        check(json!("a «key» b «key»"), json!("a k1 b k2"), None);
        check(json!("a «key» b"), json!("a k1 c"), Some(("", "\"a «key» b\"", "\"a k1 c\"")));
        check(json!("call_0123456789abcdef"), json!("call_fedcba9876543210"), None);
        check(json!("call_1"), json!("call_2"), Some(("", "\"call_1\"", "\"call_2\"")));
    }
}
