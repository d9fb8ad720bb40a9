//! Completes JSON whose end is missing. Models forget closing brackets far more often than anything else.

use serde_json::Value;

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
