//! Fields that are a provider's own: gathered from the pieces of a reply.

use serde_json::{Map, Value};

/// The fields of a message that everybody knows.
pub(crate) const OF_MESSAGE: [&str; 8] = [
    "role",
    "content",
    "refusal",
    "reasoning",
    "reasoning_content",
    "tool_calls",
    "tool_call_id",
    "function_call",
];

/// The fields of a call that everybody knows.
pub(crate) const OF_CALL: [&str; 4] = ["index", "id", "type", "function"];

/// Adds to `own` what `piece` holds beside the fields in `known`.
pub(crate) fn gather(own: &mut Map<String, Value>, piece: &Value, known: &[&str]) {
    let fields = piece.as_object().into_iter().flatten();
    for (name, value) in fields.filter(|(name, _)| !known.contains(&name.as_str())) {
        if !says_nothing(value) {
            join(own.entry(name.as_str()).or_insert(Value::Null), value);
        }
    }
}

/// Many servers fill every field they know of.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Texts and lists come in pieces; whatever else comes again replaces what came before.
fn join(whole: &mut Value, piece: &Value) {
    match (whole, piece) {
        (Value::String(text), Value::String(more)) if text != more => text.push_str(more),
        (Value::Array(items), Value::Array(more)) => items.extend(more.iter().cloned()),
        (Value::Object(fields), Value::Object(more)) => {
            for (name, value) in more {
                join(fields.entry(name.as_str()).or_insert(Value::Null), value);
            }
        }
        (whole, piece) => *whole = piece.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pieces_of_unknown_fields_are_joined_and_empty_ones_left_out() {
        let mut own = Map::new();
        for piece in [
            json!({ "role": "assistant", "content": "a", "details": [{ "text": "x" }], "note": null, "list": [] }),
            json!({ "details": [{ "text": "y" }], "deep": { "signature": "ab", "kind": "k" }, "n": 1 }),
            json!({ "deep": { "signature": "cd", "kind": "k" }, "n": 2, "empty": "" }),
        ] {
            gather(&mut own, &piece, &OF_MESSAGE);
        }
        let expect = json!({
            "details": [{ "text": "x" }, { "text": "y" }],
            "deep": { "signature": "abcd", "kind": "k" },
            "n": 2,
        });
        assert_eq!(Value::Object(own), expect);
    }
}
