//! The loop guard: sees a run of calls that repeats with equal results, by fingerprints alone.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::ToolCall;
use crate::digest::Digest;

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

/// The arguments as JSON without blanks and with sorted keys; text that is no JSON stays as it is, trimmed.
pub fn canonical(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(value) => sorted(value).to_string(),
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

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.into_iter().map(|(name, value)| (name, sorted(value))).collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(pairs.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}
