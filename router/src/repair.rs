//! Mends the arguments of calls. Models forget closing brackets far more often than anything else.

use serde_json::{Deserializer, Value};

/// The arguments of a call as they are meant, where that is plain. Those whose model forgot their end are completed
/// where `may_close` says so; those that were cut off stay as they came.
pub(crate) fn whole(text: String, may_close: bool) -> String {
    let text = one_object(text);
    if may_close { close(&text).unwrap_or(text) } else { text }
}

/// Some providers open with an empty object before the fragments come, or repeat the whole arguments at the end. Where
/// the text is several objects that say only one thing, that one is meant; anything else stays as it came.
fn one_object(text: String) -> String {
    if serde_json::from_str::<Value>(&text).is_ok() {
        return text;
    }
    let Ok(mut values) = Deserializer::from_str(&text).into_iter::<Value>().collect::<Result<Vec<_>, _>>()
    else {
        return text;
    };
    values.retain(|value| value.as_object().is_none_or(|object| !object.is_empty()));
    values.dedup();
    match values.as_slice() {
        [one @ Value::Object(_)] => one.to_string(),
        _ => text,
    }
}

/// The object that `text` is once its open quotes and brackets are closed in order; `None` where that does not make it
/// an object, and where it is one already. Nothing is guessed: no comma, no value and no name is made up.
pub(crate) fn close(text: &str) -> Option<String> {
    let mut open = Vec::new();
    let mut in_string = false;
    let mut escaped = false;
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' if open.pop() != Some(c) => return None,
            _ => {}
        }
    }
    // Half an escape says nothing about the character that was meant.
    if escaped || (open.is_empty() && !in_string) {
        return None;
    }
    let mut closed = text.to_owned();
    if in_string {
        closed.push('"');
    }
    closed.extend(open.iter().rev());
    serde_json::from_str::<Value>(&closed).is_ok_and(|value| value.is_object()).then_some(closed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_quotes_and_brackets_are_closed_and_nothing_else_is_made_up() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(close(text).as_deref(), expect, "{text}");
        check(r#"{"a":1"#, Some(r#"{"a":1}"#));
        check(r#"{"a":"b"#, Some(r#"{"a":"b"}"#));
        check(r#"{"a":["b",{"c":"}]"#, Some(r#"{"a":["b",{"c":"}]"}]}"#));
        check(r#"{"a":"b\""#, Some(r#"{"a":"b\""}"#));
        check(r#"{"#, Some("{}"));
        check(r#"{"a":1}"#, None);
        check(r#"{"a":"#, None);
        check(r#"{"a":1,"#, None);
        check(r#"{"a"#, None);
        check(r#"{"a": nope"#, None);
        check(r#"{"a":"b\"#, None);
        check(r#"{"a":[1}"#, None);
        check(r#"["a""#, None);
        check("", None);
    }
}
