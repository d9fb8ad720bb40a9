//! Joins the fragments of tool calls, which every provider cuts and labels in its own way.

use std::collections::HashSet;

use serde_json::{Map, Value};
use tandem_shared::call::ToolCall;
use tandem_shared::model::Finish;

use crate::own::{OF_CALL, gather};
use crate::repair::whole;

/// The calls of one reply while they arrive.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    parts: Vec<Part>,
}

#[derive(Debug, Default)]
struct Part {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// The provider's own fields.
    own: Map<String, Value>,
}

/// One fragment as it stands in a chunk.
struct Fragment<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: &'a Value,
    /// All of it.
    whole: &'a Value,
}

impl Fragment<'_> {
    fn is_blank(&self) -> bool {
        self.arguments.is_null() || self.arguments.as_str().is_some_and(str::is_empty)
    }
}

impl Calls {
    /// Whether nothing is called.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.iter().all(Part::is_blank)
    }

    /// What came of the last call's arguments.
    pub(crate) fn last_arguments(&self) -> Option<&str> {
        self.parts.iter().rfind(|part| !part.is_blank()).map(|part| part.arguments.as_str())
    }

    /// Takes the `tool_calls` array of one delta.
    pub(crate) fn feed(&mut self, fragments: &[Value]) {
        let alone = fragments.len() == 1;
        for (position, value) in fragments.iter().enumerate() {
            let function = &value["function"];
            let fragment = Fragment {
                index: value["index"].as_u64(),
                id: value["id"].as_str().unwrap_or_default(),
                name: function["name"].as_str().unwrap_or_default(),
                arguments: &function["arguments"],
                whole: value,
            };
            let place = if alone { self.parts.len().saturating_sub(1) } else { position };
            self.join(&fragment, place);
        }
    }

    /// Takes the `function_call` object that came before there were tool calls: one call, without index or id.
    pub(crate) fn feed_legacy(&mut self, function: &Value) {
        let fragment = Fragment {
            index: None,
            id: "",
            name: function["name"].as_str().unwrap_or_default(),
            arguments: &function["arguments"],
            whole: &Value::Null,
        };
        self.join(&fragment, self.parts.len().saturating_sub(1));
    }

    /// `place` says which call a fragment belongs to that has neither index nor id.
    fn join(&mut self, fragment: &Fragment<'_>, place: usize) {
        let known = match (fragment.index, fragment.id) {
            // The newest call of an index: an index may be used again.
            (Some(index), _) => self.parts.iter().rposition(|part| part.index == Some(index)),
            (None, "") => (place < self.parts.len()).then_some(place),
            (None, id) => self.parts.iter().rposition(|part| part.id == id),
        };
        let at = match known.filter(|at| self.parts.get(*at).is_some_and(|part| part.goes_on_with(fragment)))
        {
            Some(at) => at,
            None => {
                self.parts.push(Part { index: fragment.index, ..Part::default() });
                self.parts.len() - 1
            }
        };
        if let Some(part) = self.parts.get_mut(at) {
            part.take(fragment);
        }
    }

    /// The calls as they are to be run, and the provider's own fields of each. Ids are made unique among each other and against `taken`; ids that are missing
    /// are made up by `make_id`. `may_change` says which tools change something by their names.
    pub(crate) fn settle(
        self,
        finish: Finish,
        taken: &HashSet<&str>,
        mut make_id: impl FnMut() -> String,
        may_change: impl Fn(&str) -> bool,
    ) -> (Vec<ToolCall>, Vec<Map<String, Value>>) {
        // Some providers send an empty fragment along with plain text; it calls nothing.
        let mut parts: Vec<Part> = self.parts.into_iter().filter(|part| !part.is_blank()).collect();
        let last = parts.len().saturating_sub(1);
        let mut seen: HashSet<String> = HashSet::new();
        for part in &mut parts {
            while part.id.is_empty() || taken.contains(part.id.as_str()) || !seen.insert(part.id.clone()) {
                part.id = make_id();
            }
        }
        let settled = parts.into_iter().enumerate().map(|(at, part)| {
            let cut = finish == Finish::Length && at == last;
            let arguments = match part.arguments.trim() {
                // Tools take blank for "no arguments". Where the limit cut them off, an open brace keeps the call from
                // being run with arguments that the model never gave.
                "" if cut => "{".to_owned(),
                "" => "{}".to_owned(),
                // Half a text is a text too: what writes or runs it must not get it for the whole.
                _ => whole(part.arguments, finish == Finish::Stop && !may_change(&part.name)),
            };
            (ToolCall { id: part.id, name: part.name, arguments }, part.own)
        });
        settled.unzip()
    }
}

impl Part {
    fn goes_on_with(&self, fragment: &Fragment<'_>) -> bool {
        if !fragment.id.is_empty() && !self.id.is_empty() {
            return fragment.id == self.id;
        }
        // Some providers give every call the same index, or none, and no id: then a name after whole arguments, or a
        // different name, opens the next call.
        // The brace is asked for first because parsing long arguments again with each fragment takes its time.
        let whole = !fragment.is_blank()
            && self.arguments.trim_end().ends_with('}')
            && serde_json::from_str::<Value>(&self.arguments).is_ok();
        let named = !fragment.name.is_empty() && !self.name.is_empty();
        !(named && (whole || !fragment.name.starts_with(&self.name)))
    }

    fn take(&mut self, fragment: &Fragment<'_>) {
        if self.id.is_empty() {
            fragment.id.clone_into(&mut self.id);
        }
        // A name comes whole, perhaps again with each fragment; it never comes in pieces.
        if fragment.name.starts_with(&self.name) {
            fragment.name.clone_into(&mut self.name);
        }
        gather(&mut self.own, fragment.whole, &OF_CALL);
        match fragment.arguments {
            Value::String(text) => self.arguments.push_str(text),
            Value::Null => {}
            // Not as the protocol says, but plain enough: the arguments themselves instead of their text.
            value => self.arguments = value.to_string(),
        }
    }

    fn is_blank(&self) -> bool {
        self.name.is_empty() && self.arguments.trim().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(deltas: &[Value], finish: Finish, expect: &[(&str, &str, &str)]) {
        let mut calls = Calls::default();
        for delta in deltas {
            calls.feed(delta.as_array().unwrap());
        }
        let mut made = 0;
        let (got, _) = calls.settle(
            finish,
            &HashSet::from(["used"]),
            || {
                made += 1;
                format!("made{made}")
            },
            |name| name == "write",
        );
        let expect: Vec<ToolCall> = expect
            .iter()
            .map(|(id, name, arguments)| ToolCall {
                id: (*id).to_owned(),
                name: (*name).to_owned(),
                arguments: (*arguments).to_owned(),
            })
            .collect();
        assert_eq!(got, expect);
    }

    fn piece(index: Option<u64>, id: &str, name: &str, arguments: &str) -> Value {
        json!({ "index": index, "id": id, "function": { "name": name, "arguments": arguments } })
    }

    #[test]
    fn a_new_id_on_a_used_index_is_a_new_call() {
        let deltas = [json!([piece(Some(0), "a", "f", "{}")]), json!([piece(Some(0), "b", "g", "{}")])];
        check(&deltas, Finish::Stop, &[("a", "f", "{}"), ("b", "g", "{}")]);
    }

    #[test]
    fn whole_calls_without_id_on_one_index_stay_apart() {
        let deltas =
            [json!([piece(Some(0), "", "f", "{\"a\":1}")]), json!([piece(Some(0), "", "f", "{\"a\":2}")])];
        check(&deltas, Finish::Stop, &[("made1", "f", "{\"a\":1}"), ("made2", "f", "{\"a\":2}")]);
    }

    #[test]
    fn a_name_repeated_after_whole_arguments_opens_no_call() {
        let deltas = [json!([piece(Some(0), "", "f", "{\"a\":1}")]), json!([piece(Some(0), "", "f", "")])];
        check(&deltas, Finish::Stop, &[("made1", "f", "{\"a\":1}")]);
    }

    #[test]
    fn fragments_without_index_and_id_join_by_position() {
        let deltas = [
            json!([piece(None, "", "f", ""), piece(None, "", "g", "")]),
            json!([piece(None, "", "", "{\"a\":1}"), piece(None, "", "", "{\"b\":2}")]),
        ];
        check(&deltas, Finish::Stop, &[("made1", "f", "{\"a\":1}"), ("made2", "g", "{\"b\":2}")]);
    }

    #[test]
    fn a_lone_fragment_without_index_and_id_joins_the_last_call() {
        let deltas = [
            json!([piece(None, "", "f", "{\"a\":")]),
            json!([piece(None, "", "", "1}")]),
            json!([piece(None, "", "g", "{}")]),
        ];
        check(&deltas, Finish::Stop, &[("made1", "f", "{\"a\":1}"), ("made2", "g", "{}")]);
    }

    #[test]
    fn ids_are_unique_in_the_reply_and_in_the_conversation() {
        let deltas = [json!([piece(Some(0), "x", "f", "{}"), piece(Some(1), "x", "f", "{}")])];
        check(&deltas, Finish::Stop, &[("x", "f", "{}"), ("made1", "f", "{}")]);
        check(&[json!([piece(Some(0), "used", "f", "{}")])], Finish::Stop, &[("made1", "f", "{}")]);
    }

    #[test]
    fn a_call_cut_by_the_limit_keeps_text_that_no_tool_accepts() {
        let cut = [json!([piece(Some(0), "a", "f", "{\"a\":\"b")])];
        check(&cut, Finish::Length, &[("a", "f", "{\"a\":\"b")]);
        check(&[json!([piece(Some(0), "a", "f", "")])], Finish::Length, &[("a", "f", "{")]);
        check(&[json!([piece(Some(0), "a", "f", "")])], Finish::Stop, &[("a", "f", "{}")]);
    }

    #[test]
    fn repeated_arguments_count_once() {
        let twice =
            [json!([piece(Some(0), "a", "f", "{\"a\":1}")]), json!([piece(Some(0), "a", "", "{\"a\":1}")])];
        check(&twice, Finish::Stop, &[("a", "f", "{\"a\":1}")]);
        check(&[json!([piece(Some(0), "a", "f", "{}{\"a\":1}")])], Finish::Stop, &[("a", "f", "{\"a\":1}")]);
        let different = "{\"a\":1}{\"a\":2}";
        check(&[json!([piece(Some(0), "a", "f", different)])], Finish::Stop, &[("a", "f", different)]);
    }

    #[test]
    fn a_missing_end_is_completed_unless_the_limit_cut_it_off() {
        let open = [json!([piece(Some(0), "a", "f", "{\"a\":[\"b")])];
        check(&open, Finish::Stop, &[("a", "f", "{\"a\":[\"b\"]}")]);
        let write = [json!([piece(Some(0), "a", "write", "{\"a\":[\"b")])];
        check(&write, Finish::Stop, &[("a", "write", "{\"a\":[\"b")]);
        check(&open, Finish::Length, &[("a", "f", "{\"a\":[\"b")]);
        let beyond_repair = [json!([piece(Some(0), "a", "f", "{\"a\": nope")])];
        check(&beyond_repair, Finish::Stop, &[("a", "f", "{\"a\": nope")]);
    }

    #[test]
    fn an_empty_fragment_calls_nothing() {
        check(&[json!([piece(Some(0), "", "", "")])], Finish::Stop, &[]);
    }
}
