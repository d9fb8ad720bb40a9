//! What holds for every request of every test: the rules of the wire, and what each role may send.

use std::collections::BTreeSet;

use serde_json::Value;

use super::request::{Request, content};
use super::world::KEY;

/// Everything that only looks, and all that a planner may be offered.
pub const READ_TOOLS: [&str; 10] = [
    "read_file",
    "list_dir",
    "glob",
    "grep",
    "ast_search",
    "outline",
    "inspect",
    "recall",
    "ask_user",
    "submit_plan",
];

/// What changes something: never a planner's.
pub const WRITE_TOOLS: [&str; 11] = [
    "apply_patch",
    "delete_file",
    "edit_file",
    "job_output",
    "job_stop",
    "jobs",
    "move_file",
    "multi_edit",
    "run_command",
    "update_step",
    "write_file",
];

/// The roles that exchange words only.
const WORDS_ROLES: [&str; 3] = ["thinking", "critique", "compaction"];

/// The rules that `request` breaks, one line each.
pub fn broken(request: &Request) -> Vec<String> {
    let mut broken = Vec::new();
    if request.body.is_null() {
        broken.push("the body is not JSON".to_owned());
    }
    if request.method != "POST" || request.path != "/v1/chat/completions" {
        broken.push(format!("asked with {} {}", request.method, request.path));
    }
    if request.raw.contains(KEY) {
        broken.push("the body holds the key".to_owned());
    }
    broken.extend(tools(request));
    broken.extend(conversation(request.messages()));
    if WORDS_ROLES.contains(&request.role()) {
        broken.extend(words_only(request));
    }
    broken.into_iter().map(|rule| format!("request {} ({}): {rule}", request.number, request.model)).collect()
}

fn tools(request: &Request) -> Vec<String> {
    let mut broken = Vec::new();
    let offered = request.tools();
    if request.body["tools"].as_array().is_some_and(|tools| tools.len() != offered.len()) {
        broken.push("a tool has no name".to_owned());
    }
    if request.body.get("tools").is_some() && offered.is_empty() {
        broken.push("`tools` is there but empty".to_owned());
    }
    if offered.iter().collect::<BTreeSet<_>>().len() != offered.len() {
        broken.push(format!("a tool is offered twice: {}", offered.join(", ")));
    }
    for name in offered {
        let known =
            READ_TOOLS.contains(&name) || (request.role() == "executor" && WRITE_TOOLS.contains(&name));
        if !known {
            broken.push(format!("a {} is offered `{name}`", request.role()));
        }
    }
    broken
}

fn conversation(messages: &[Value]) -> Vec<String> {
    let mut broken = Vec::new();
    if messages.first().is_none_or(|first| first["role"] != "system") {
        broken.push("the first message is not the system message".to_owned());
    }
    let mut seen = BTreeSet::new();
    // Ids of calls whose results must come next, in this order.
    let mut open: Vec<String> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            if open.first().is_some_and(|expected| expected == id) {
                open.remove(0);
            } else {
                broken.push(format!(
                    "message {index} answers `{id}`, but the next open call is {:?}",
                    open.first()
                ));
            }
            if !message["content"].is_string() && !message["content"].is_array() {
                broken.push(format!("message {index}, a result, has no content"));
            }
            continue;
        }
        if !open.is_empty() {
            broken.push(format!("message {index} ({role}) comes before the results of {}", open.join(", ")));
            open.clear();
        }
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        match role {
            "assistant" => {
                if calls.is_empty() && content(message).is_empty() {
                    broken.push(format!("message {index} (assistant) says and calls nothing"));
                }
                if message.get("tool_calls").is_some() && calls.is_empty() {
                    broken.push(format!("message {index} has an empty `tool_calls`"));
                }
            }
            "system" | "user" => {
                if content(message).trim().is_empty() {
                    broken.push(format!("message {index} ({role}) is blank"));
                }
                if !calls.is_empty() {
                    broken.push(format!("message {index} ({role}) calls tools"));
                }
            }
            _ => broken.push(format!("message {index} has the role `{role}`")),
        }
        for call in calls {
            let id = call["id"].as_str().unwrap_or_default();
            if id.is_empty() || !seen.insert(id.to_owned()) {
                broken.push(format!("message {index} has a call whose id is empty or used before: `{id}`"));
            }
            if call["function"]["name"].as_str().unwrap_or_default().is_empty() {
                broken.push(format!("message {index} has a call without a name"));
            }
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            if !serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object()) {
                broken.push(format!("message {index} has arguments that are no JSON object: {arguments}"));
            }
            open.push(id.to_owned());
        }
    }
    if !open.is_empty() {
        broken.push(format!("calls without a result: {}", open.join(", ")));
    }
    broken
}

fn words_only(request: &Request) -> Vec<String> {
    let mut broken = Vec::new();
    for key in ["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"] {
        if request.body.get(key).is_some() {
            broken.push(format!("a words-only request has `{key}`"));
        }
    }
    for (index, message) in request.messages().iter().enumerate() {
        if message["role"] == "tool" || message.get("tool_calls").is_some() {
            broken.push(format!("message {index} of a words-only request holds a call or a result"));
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(messages: Value, expect: &[&str]) {
        let mut all = vec![json!({ "role": "system", "content": "s" })];
        all.extend(messages.as_array().unwrap().iter().cloned());
        assert_eq!(conversation(&all), expect);
    }

    fn asks(ids: &[&str]) -> Value {
        let call =
            |id| json!({ "id": id, "type": "function", "function": { "name": "grep", "arguments": "{}" } });
        json!({ "role": "assistant", "tool_calls": ids.iter().map(call).collect::<Vec<_>>() })
    }

    fn answers(id: &str) -> Value {
        json!({ "role": "tool", "tool_call_id": id, "content": "x" })
    }

    fn user() -> Value {
        json!({ "role": "user", "content": "x" })
    }

    #[test]
    fn results_in_order_right_after_their_calls_are_fine() {
        check(json!([user(), asks(&["a", "b"]), answers("a"), answers("b"), user()]), &[]);
    }

    #[test]
    fn a_note_between_a_call_and_its_result_is_seen() {
        check(
            json!([user(), asks(&["a"]), user(), answers("a")]),
            &[
                "message 3 (user) comes before the results of a",
                "message 4 answers `a`, but the next open call is None",
            ],
        );
    }

    #[test]
    fn a_missing_result_is_seen() {
        check(json!([user(), asks(&["a", "b"]), answers("a")]), &["calls without a result: b"]);
    }

    #[test]
    fn results_out_of_order_are_seen() {
        check(
            json!([asks(&["a", "b"]), answers("b"), answers("a")]),
            &["message 2 answers `b`, but the next open call is Some(\"a\")", "calls without a result: b"],
        );
    }

    #[test]
    fn an_id_used_twice_and_an_empty_id_are_seen() {
        check(
            json!([asks(&["a"]), answers("a"), asks(&["a"]), answers("a"), asks(&[""]), answers("")]),
            &[
                "message 3 has a call whose id is empty or used before: `a`",
                "message 5 has a call whose id is empty or used before: ``",
            ],
        );
    }

    #[test]
    fn malformed_arguments_are_seen() {
        let mut call = asks(&["a"]);
        call["tool_calls"][0]["function"]["arguments"] = json!("{\"path\": ");
        check(json!([call, answers("a")]), &["message 1 has arguments that are no JSON object: {\"path\": "]);
    }

    #[test]
    fn blank_messages_are_seen() {
        check(
            json!([{ "role": "user", "content": " " }, { "role": "assistant", "content": "" }]),
            &["message 1 (user) is blank", "message 2 (assistant) says and calls nothing"],
        );
    }

    #[test]
    fn the_system_message_comes_first() {
        assert_eq!(conversation(&[user()]), ["the first message is not the system message"]);
    }
}
