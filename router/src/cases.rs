//! Compares answers with cases, for tests that are driven by data.

use serde_json::Value;

pub(crate) use crate::case_files::load;

/// The cases whose answer is neither the expected one nor another right one, with what was answered.
pub(crate) fn failing(cases: Vec<Value>, answer: impl Fn(&Value) -> Value) -> Vec<String> {
    let mut failures = Vec::new();
    for case in cases {
        let got = answer(&case);
        let others = case["also_accept"].as_array().cloned().unwrap_or_default();
        // Another right answer names only what differs.
        let overlaid = others.iter().map(|other| {
            let mut expect = case["expect"].clone();
            for (key, value) in other.as_object().unwrap() {
                expect[key] = value.clone();
            }
            expect
        });
        if !std::iter::once(case["expect"].clone()).chain(overlaid).any(|expect| agrees(&expect, &got)) {
            failures.push(format!("{}: got {got}, expected {}", case["id"], case["expect"]));
        }
    }
    failures
}

/// Equality, where `*` is any text that is not empty and `message_contains` is a part of `message`. An expected
/// `usage` may leave out counts.
fn agrees(expect: &Value, got: &Value) -> bool {
    match (expect, got) {
        (Value::String(any), Value::String(text)) if any == "*" => !text.is_empty(),
        (Value::Array(expect), Value::Array(got)) => {
            expect.len() == got.len() && expect.iter().zip(got).all(|(expect, got)| agrees(expect, got))
        }
        (Value::Object(expect), Value::Object(got)) => {
            expect.iter().all(|(key, value)| match key.as_str() {
                "message_contains" => {
                    got["message"].as_str().is_some_and(|message| message.contains(value.as_str().unwrap()))
                }
                _ => agrees(value, got.get(key).unwrap_or(&Value::Null)),
            }) && got.keys().all(|key| expect.contains_key(key) || key == "message" || key.contains("token"))
        }
        _ => expect == got,
    }
}
