//! Tools for models that cannot call them: the offer in words, a JSON schema for the reply, and the reply read back.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value, json};
use tandem_shared::call::ToolCall;
use tandem_shared::model::{Delta, Finish};
use tandem_shared::template::fill;
use tandem_shared::tool::{Access, ToolSpec};

use crate::answer::AnswerText;
use crate::assemble::Draft;
use crate::repair::close;
use crate::think::words;

const TOOLS_IN_WORDS: &str = include_str!("../../prompts/notes/tools_in_words.md");

/// How deep references of a schema are followed; a schema that refers to itself ends there and allows anything.
const REFERENCE_DEPTH: usize = 8;

/// A reply as it is meant.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// A call with its arguments as JSON.
    Call { name: String, arguments: String },
    /// The answer.
    Answer(String),
}

/// The system text with the tools in it.
pub(crate) fn system(text: &str, tools: &[ToolSpec]) -> String {
    let mut offer = String::new();
    for tool in tools {
        let parameters = resolved(&tool.parameters);
        // Writing to a string cannot fail.
        let _ =
            writeln!(offer, "## {}\n\n{}\n\nArguments: {parameters}\n", tool.name, tool.description.trim());
    }
    let offer = fill(TOOLS_IN_WORDS, &[("tools", offer.trim_end())]);
    if text.is_empty() { offer } else { format!("{text}\n\n{offer}") }
}

/// The `response_format` that allows a call of each tool and an answer.
pub(crate) fn response_format(tools: &[ToolSpec]) -> Value {
    let calls = tools.iter().map(|tool| {
        let properties = json!({ "tool": { "const": tool.name }, "arguments": resolved(&tool.parameters) });
        object(properties, json!(["tool", "arguments"]))
    });
    let answer = object(json!({ "answer": { "type": "string" } }), json!(["answer"]));
    let any: Vec<Value> = calls.chain([answer]).collect();
    json!({
        "type": "json_schema",
        "json_schema": { "name": "step", "strict": true, "schema": { "anyOf": any } },
    })
}

fn object(properties: Value, required: Value) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// A schema that stands on its own: what it refers to is put in its place, since references into a part of a larger
/// schema lead nowhere.
fn resolved(schema: &Value) -> Value {
    let none = Map::new();
    let definitions = schema["$defs"].as_object().unwrap_or(&none);
    inlined(schema, definitions, 0)
}

fn inlined(schema: &Value, definitions: &Map<String, Value>, depth: usize) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(|item| inlined(item, definitions, depth)).collect(),
        Value::Object(fields) => {
            let named = fields.get("$ref").and_then(Value::as_str);
            let meant = named.and_then(|name| definitions.get(name.strip_prefix("#/$defs/")?));
            let mut whole = match meant {
                Some(meant) if depth < REFERENCE_DEPTH => match inlined(meant, definitions, depth + 1) {
                    Value::Object(fields) => fields,
                    _ => Map::new(),
                },
                _ => Map::new(),
            };
            let own =
                fields.iter().filter(|(name, _)| !matches!(name.as_str(), "$ref" | "$defs" | "$schema"));
            whole.extend(own.map(|(name, value)| (name.clone(), inlined(value, definitions, depth))));
            Value::Object(whole)
        }
        other => other.clone(),
    }
}

/// Whether calls of the tool of that name may change something.
pub(crate) fn may_change(tools: &[ToolSpec], name: &str) -> bool {
    tools.iter().any(|tool| tool.name == name && tool.access == Access::Write)
}

/// What a whole reply means; an error says what is wrong with it.
pub(crate) fn read(text: &str, tools: &[ToolSpec]) -> Result<Step, String> {
    let text = bare(words(text));
    let closed = close(text);
    let value: Value = serde_json::from_str(closed.as_deref().unwrap_or(text))
        .map_err(|error| format!("the reply is no JSON object, which the request asked for: {error}"))?;
    match (&value["tool"], &value["arguments"], &value["answer"]) {
        (Value::String(name), Value::Object(_), Value::Null)
            if closed.is_some() && may_change(tools, name) =>
        {
            Err(format!("the reply ended in the middle of a call of {name}"))
        }
        (Value::String(name), arguments @ Value::Object(_), Value::Null) => {
            Ok(Step::Call { name: name.clone(), arguments: arguments.to_string() })
        }
        (Value::Null, Value::Null, Value::String(answer)) => Ok(Step::Answer(answer.clone())),
        _ => {
            Err("the reply is neither a call nor an answer in the form that the request asked for".to_owned())
        }
    }
}

/// Models like to put JSON into a fence.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let Some(inside) = text.strip_prefix("```") else { return text };
    let inside = inside.strip_prefix("json").unwrap_or(inside);
    inside.strip_suffix("```").unwrap_or(inside).trim()
}

/// Whether a reply has the form that was asked for. One that was cut off cannot have it, and a call in the API's own way
/// is as good.
pub(crate) fn check(draft: &Draft, tools: &[ToolSpec]) -> Result<(), String> {
    if draft.finish() != Finish::Stop || !draft.calls.is_empty() {
        return Ok(());
    }
    read(&draft.text, tools).map(|_| ())
}

/// Text and call of a reply. A call that was cut off is not one: what came of it stays text.
pub(crate) fn settle(
    text: String,
    finish: Finish,
    tools: &[ToolSpec],
    make_id: impl FnOnce() -> String,
) -> (String, Option<ToolCall>) {
    match read(&text, tools) {
        Ok(Step::Call { name, arguments }) if finish == Finish::Stop => {
            (String::new(), Some(ToolCall { id: make_id(), name, arguments }))
        }
        Ok(Step::Answer(answer)) => (answer, None),
        Ok(Step::Call { .. }) | Err(_) => (text, None),
    }
}

/// Hears the deltas of such a reply and passes on what a person should see of it: of its text only the answer.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    answer: Mutex<AnswerText>,
}

impl Listener {
    /// The delta as it is to be shown, if at all.
    pub(crate) fn hear(&self, delta: Delta) -> Option<Delta> {
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        match delta {
            Delta::Text(piece) => Some(answer.feed(&piece)).filter(|text| !text.is_empty()).map(Delta::Text),
            Delta::Retry { .. } => {
                *answer = AnswerText::default();
                Some(delta)
            }
            Delta::Reasoning(_) | Delta::Fallback { .. } | Delta::Alarm { .. } => Some(delta),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_put_in_their_place_and_recursion_ends() {
        let schema = json!({
            "$schema": "s", "type": "object",
            "properties": { "a": { "$ref": "#/$defs/A", "description": "d" } },
            "$defs": { "A": { "type": "array", "items": { "$ref": "#/$defs/B" } }, "B": { "enum": [1] } },
        });
        let expect = json!({
            "type": "object",
            "properties": { "a": { "type": "array", "items": { "enum": [1] }, "description": "d" } },
        });
        assert_eq!(resolved(&schema), expect);
        let endless = json!({ "$ref": "#/$defs/A", "$defs": { "A": { "items": { "$ref": "#/$defs/A" } } } });
        assert_eq!(resolved(&endless).to_string().matches("items").count(), REFERENCE_DEPTH);
    }

    fn tool(name: &str, access: Access) -> ToolSpec {
        let (description, parameters) = (String::new(), json!({}));
        ToolSpec { name: name.to_owned(), description, parameters, access }
    }

    #[test]
    fn a_reply_is_a_call_or_an_answer_or_a_fault() {
        let call = |arguments: &str| Step::Call { name: "f".to_owned(), arguments: arguments.to_owned() };
        let read = |text| super::read(text, &[tool("f", Access::Read), tool("write", Access::Write)]);
        assert_eq!(read(r#"{"tool":"f","arguments":{"a":1}}"#), Ok(call("{\"a\":1}")));
        assert_eq!(
            read("<think>x</think>```json\n{\"answer\": \"hi\"}\n```"),
            Ok(Step::Answer("hi".to_owned()))
        );
        assert_eq!(read(r#"{"tool":"f","arguments":{"a":1"#), Ok(call("{\"a\":1}")));
        let half = Err("the reply ended in the middle of a call of write".to_owned());
        assert_eq!(read(r#"{"tool":"write","arguments":{"a":"b"#), half);
        for wrong in
            ["", "hi", "{}", "[]", r#"{"tool":"f"}"#, r#"{"tool":"f","arguments":1}"#, r#"{"answer":1}"#]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_call_that_the_limit_cut_off_stays_text() {
        let cut = r#"{"tool":"f","arguments":{"a":"b"#;
        assert_eq!(settle(cut.to_owned(), Finish::Length, &[], || "id".to_owned()), (cut.to_owned(), None));
        let answer = settle("{\"answer\":\"so f".to_owned(), Finish::Length, &[], || "id".to_owned());
        assert_eq!(answer, ("so f".to_owned(), None));
    }
}
