//! What the models of an examination are told, and the two harmless tools that they are offered.

use serde_json::{Value, json};

pub(super) const READY: &str = include_str!("../../../prompts/doctor/ready.md");
pub(super) const SYSTEM: &str = include_str!("../../../prompts/doctor/system.md");
pub(super) const CALL_ONCE: &str = include_str!("../../../prompts/doctor/call_once.md");
pub(super) const CALL_TWICE: &str = include_str!("../../../prompts/doctor/call_twice.md");
pub(super) const CALL_EMPTY: &str = include_str!("../../../prompts/doctor/call_empty.md");
pub(super) const RESULT: &str = include_str!("../../../prompts/doctor/result.md");
pub(super) const NOTE: &str = include_str!("../../../prompts/doctor/note.md");
pub(super) const COLOUR: &str = include_str!("../../../prompts/doctor/colour.md");
pub(super) const FILLING: &str = include_str!("../../../prompts/doctor/filling.md");
const NOTE_WORD: &str = include_str!("../../../prompts/doctor/note_word.md");
const PING: &str = include_str!("../../../prompts/doctor/ping.md");

/// One word of filling; nearly every tokenizer has a token of its own for it.
pub(super) const FILLING_WORD: &str = " word";

/// The colours that the schema of the examination allows.
pub(super) const COLOURS: [&str; 2] = ["red", "blue"];

/// Both tools, as they are offered.
pub(super) fn tools() -> Value {
    let tool = |name: &str, description: &str, properties: Value, required: Value| {
        json!({
            "type": "function",
            "function": {
                "name": name,
                "description": description.trim(),
                "parameters": {
                    "type": "object", "properties": properties, "required": required,
                    "additionalProperties": false,
                },
            },
        })
    };
    json!([
        tool("note_word", NOTE_WORD, json!({ "word": { "type": "string" } }), json!(["word"])),
        tool("ping", PING, json!({}), json!([])),
    ])
}

/// A schema that no plain answer keeps to by chance.
pub(super) fn response_format() -> Value {
    json!({
        "type": "json_schema",
        "json_schema": {
            "name": "colour",
            "strict": true,
            "schema": {
                "type": "object",
                "properties": { "colour": { "type": "string", "enum": COLOURS } },
                "required": ["colour"],
                "additionalProperties": false,
            },
        },
    })
}

/// A message of the user.
pub(super) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text.trim() })
}
