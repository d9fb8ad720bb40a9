//! The loop guard: sees a run of calls that repeats with equal results, by fingerprints alone.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::ToolCall;
use crate::digest::{self, Digest};

/// One call with its result, as a pair of digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Of the tool's name and its canonical arguments.
    pub key: Digest,
    /// Of the result's text.
    pub result: Digest,
}

impl Fingerprint {
    /// Of a call and the text of its result.
    pub fn of(call: &ToolCall, result: &str) -> Fingerprint {
        Fingerprint { key: key(call), result: Digest::of(result) }
    }
}

/// How far the guard looks.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Equal repeats that make a loop.
    pub repeats: usize,
    /// The longest cycle, in calls.
    pub period: usize,
}

/// Names a call by its tool and canonical arguments, so that blanks, escapes and the order of keys do not count.
pub fn key(call: &ToolCall) -> Digest {
    Digest::of(format!("{}\n{}", call.name, canonical(&call.arguments)))
}

/// Names a loop by the calls it consists of, in whatever order.
pub fn name(keys: &[Digest]) -> Digest {
    let mut sorted: Vec<&str> = keys.iter().map(Digest::as_str).collect();
    sorted.sort_unstable();
    sorted.dedup();
    Digest::of(sorted.join(" "))
}

/// The arguments as JSON without blanks and with sorted keys; text that is no JSON stays as it is, trimmed.
pub fn canonical(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(value) => digest::canonical(value),
        Err(_) => arguments.trim().to_owned(),
    }
}

/// The length of the shortest cycle that the newest calls have gone through `repeats` times with equal results;
/// `None` when they are no loop. A result that changes is progress.
pub fn cycle(seen: &[Fingerprint], bounds: Bounds) -> Option<usize> {
    (1..=bounds.period).find(|period| {
        let tail = seen.len().checked_sub(period * bounds.repeats).and_then(|start| seen.get(start..));
        tail.is_some_and(|tail| tail.iter().zip(tail.iter().skip(*period)).all(|(a, b)| a == b))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::cases;

    const BOUNDS: Bounds = Bounds { repeats: 3, period: 5 };

    /// The index of the call after whose result a loop is first seen.
    fn flagged_at(calls: &[Value]) -> Option<usize> {
        let mut seen = Vec::new();
        for (index, entry) in calls.iter().enumerate() {
            let Some(name) = entry["name"].as_str() else {
                seen.clear();
                continue;
            };
            let call = ToolCall {
                id: index.to_string(),
                name: name.to_owned(),
                arguments: entry["arguments"].as_str().unwrap().to_owned(),
            };
            seen.push(Fingerprint::of(&call, entry["result"].as_str().unwrap()));
            if cycle(&seen, BOUNDS).is_some() {
                return Some(index);
            }
        }
        None
    }

    #[test]
    fn cases_doomloop() {
        let mut failing = Vec::new();
        for case in cases::load("doomloop") {
            let got = serde_json::json!({ "flag_at": flagged_at(case["calls"].as_array().unwrap()) });
            let also = case["also_accept"].as_array().cloned().unwrap_or_default();
            if case["expect"] != got && !also.contains(&got) {
                failing.push(format!("{}: got {got}, expected {}", case["id"], case["expect"]));
            }
        }
        assert!(failing.is_empty(), "{} fail:\n{}", failing.len(), failing.join("\n"));
    }

    #[test]
    fn keys_ignore_how_the_json_is_written() {
        let call =
            |arguments: &str| ToolCall { id: "1".into(), name: "t".into(), arguments: arguments.into() };
        assert_eq!(
            key(&call(r#"{"b":[{"y":1,"x":2}],"a":1}"#)),
            key(&call(r#"{ "a": 1, "b": [{"x":2,"y":1}] }"#))
        );
        assert_ne!(key(&call(r#"{"a":[1,2]}"#)), key(&call(r#"{"a":[2,1]}"#)));
    }
}
