//! A conversation with calls as words only, for requests that offer no tools in the API's own way.

use std::collections::HashMap;

use serde_json::{Value, json};
use tandem_shared::call::ToolCall;
use tandem_shared::model::Message;

/// The messages with each call as the object that the model would have written, and each result in the user's name. Two
/// messages of one speaker in a row are joined.
pub(crate) fn quoted(messages: &[Message]) -> Vec<Value> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut list: Vec<(&str, String)> = Vec::new();
    for message in messages {
        let (role, text) = match message {
            Message::User { text } => ("user", text.clone()),
            Message::Assistant { text, calls, .. } => {
                names.extend(calls.iter().map(|call| (call.id.as_str(), call.name.as_str())));
                let said = Some(text.clone()).filter(|text| !text.is_empty());
                let parts: Vec<String> = said.into_iter().chain(calls.iter().map(call)).collect();
                ("assistant", parts.join("\n"))
            }
            Message::Tool { call_id, text } => {
                let name = names.get(call_id.as_str()).copied().unwrap_or("a call");
                ("user", format!("[result of {name}]\n{text}"))
            }
        };
        match list.last_mut() {
            _ if text.is_empty() => {}
            Some((last, before)) if *last == role => {
                before.push_str("\n\n");
                before.push_str(&text);
            }
            _ => list.push((role, text)),
        }
    }
    list.into_iter().map(|(role, text)| json!({ "role": role, "content": text })).collect()
}

/// Arguments that are no JSON are quoted as text, so that the object stays one.
fn call(call: &ToolCall) -> String {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments));
    json!({ "tool": call.name, "arguments": arguments }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tandem_shared::model::OwnFields;

    #[test]
    fn calls_and_results_become_words_of_alternating_speakers() {
        let made = |id: &str, arguments: &str| ToolCall {
            id: id.to_owned(),
            name: "grep".to_owned(),
            arguments: arguments.to_owned(),
        };
        let said = |text: &str, calls: Vec<ToolCall>| Message::Assistant {
            text: text.to_owned(),
            reasoning: Some("r".to_owned()),
            own: OwnFields::default(),
            origin: None,
            calls,
        };
        let result = |id: &str, text: &str| Message::Tool { call_id: id.to_owned(), text: text.to_owned() };
        let messages = [
            Message::User { text: "go".to_owned() },
            said("I look", vec![made("a", "{\"q\":1}"), made("b", "{\"q\"")]),
            result("a", "one"),
            result("b", "bad"),
            Message::User { text: "note".to_owned() },
            said("", Vec::new()),
            said("done", Vec::new()),
        ];
        let calls = "I look\n{\"tool\":\"grep\",\"arguments\":{\"q\":1}}\n{\"tool\":\"grep\",\"arguments\":\"{\\\"q\\\"\"}";
        let results = "[result of grep]\none\n\n[result of grep]\nbad\n\nnote";
        let expect = [("user", "go"), ("assistant", calls), ("user", results), ("assistant", "done")];
        let expect = expect.map(|(role, content)| json!({ "role": role, "content": content }));
        assert_eq!(quoted(&messages), expect);
    }
}
