//! What a project file may not set before its user trusts it: whatever sends data elsewhere, runs something, or asks less.

use super::binding::split;
use super::error::{Origin, ProtectedKey};
use super::layer::{Entry, KeyPath, Layer};
use super::profile;

/// When a setting of a project is dangerous.
enum When {
    /// Always.
    Set,
    /// When it comes later in this row than the user's own.
    Wider(&'static [&'static str]),
    /// When it allows more than the user's own limit; 0 is no limit.
    Above,
}

/// The sections and settings, what they could do, and when.
const PROTECTED: [(&[&str], When, &str); 20] = [
    (&["providers"], When::Set, "decides where your code and your keys are sent, or runs a command"),
    (&["environment"], When::Set, "decides where your code and your keys are sent"),
    (&["commands", "env"], When::Set, "decides what programs commands find and load"),
    (&["commands", "allow"], When::Set, "lets commands run without a question"),
    (
        &["commands", "sandbox"],
        When::Wider(&["require", "auto", "off"]),
        "opens the cage that commands run in",
    ),
    (&["commands", "network"], When::Wider(&["off", "on"]), "lets commands reach other machines"),
    (&["commands", "cache_dirs"], When::Set, "lets commands write outside the project"),
    (&["commands", "hidden"], When::Set, "decides which of your keys commands can read"),
    (&["commands", "max_memory_mb"], When::Above, "lifts your own limit"),
    (&["commands", "max_processes"], When::Above, "lifts your own limit"),
    (&["commands", "max_output_mb"], When::Above, "lifts your own limit"),
    (&["commands", "max_file_mb"], When::Above, "lifts your own limit"),
    (&["commands", "max_cpu_s"], When::Above, "lifts your own limit"),
    (
        &["session", "approval"],
        When::Wider(&["plan", "strict", "ask", "auto-edit", "auto"]),
        "lets more happen without a question than your own setting",
    ),
    (
        &["session", "plan"],
        When::Wider(&["always", "auto", "never"]),
        "shows fewer plans than your own setting",
    ),
    (&["edits", "ask_over_files"], When::Above, "lets more files be changed at once without a question"),
    (&["loop", "time_budget_s"], When::Above, "lifts your own limit"),
    (&["loop", "input_tokens"], When::Above, "lifts your own limit"),
    (&["loop", "max_usd"], When::Above, "lifts your own limit"),
    (&["loop", "max_tokens_total"], When::Above, "lifts your own limit"),
];

/// The protected settings of a project file, by line. `own` is what the user's files say without it, `used` the providers
/// that files, environment and flags of the user bind roles to.
pub fn protected(project: &Layer, own: &Layer, used: &[String]) -> Vec<ProtectedKey> {
    let mut found: Vec<ProtectedKey> = project
        .entries
        .iter()
        .filter_map(|(key, entry)| {
            let why = danger(key, entry, own, used)?;
            let line = match entry.origin {
                Origin::File { line, .. } => line,
                Origin::Default | Origin::Env(_) | Origin::Flag(_) => 0,
            };
            Some(ProtectedKey { key: key.to_string(), line, why })
        })
        .collect();
    found.sort_by_key(|key| key.line);
    found
}

fn danger(key: &KeyPath, entry: &Entry, own: &Layer, used: &[String]) -> Option<String> {
    if let Some((_, when, why)) = PROTECTED.iter().find(|(section, ..)| key.within(section)) {
        let mine = own.entries.get(key).map(|entry| &entry.value);
        let dangerous = match when {
            When::Set => true,
            When::Wider(row) => {
                let rank = |value: Option<&toml::Value>| {
                    let text = value.and_then(toml::Value::as_str);
                    row.iter().position(|one| Some(*one) == text)
                };
                rank(Some(&entry.value)) > rank(mine)
            }
            When::Above => limit(Some(&entry.value)) > limit(mine),
        };
        return dangerous.then(|| (*why).to_owned());
    }
    other_provider(key, entry, own, used)
}

/// A limit as a number that can be compared; 0 is none.
fn limit(value: Option<&toml::Value>) -> f64 {
    let number = value.and_then(|value| value.as_float().or(value.as_integer().map(|whole| whole as f64)));
    number.filter(|number| *number != 0.0).unwrap_or(f64::INFINITY)
}

/// A project may choose among the providers that its user has chosen. To bring in another one would send the user's code
/// to somebody who did not have it before. A user who has bound nothing has chosen nobody yet.
fn other_provider(key: &KeyPath, entry: &Entry, own: &Layer, used: &[String]) -> Option<String> {
    let roles;
    let named = match key.parts().as_slice() {
        ["roles", _, "model" | "fallback"] | ["profiles", _, "roles", _, "model" | "fallback"] => {
            providers_in(&entry.value)
        }
        ["profile"] => {
            roles = profile::roles(own, entry.value.as_str()?);
            providers_of(&roles)
        }
        _ => return None,
    };
    let other = named.into_iter().find(|provider| !used.iter().any(|one| one == provider))?;
    (!used.is_empty())
        .then(|| format!("sends your code to the provider `{other}`, which you have not chosen for it"))
}

/// The providers that the roles of `layer` name, those of fallback models included; profiles are left out.
pub fn providers_of(layer: &Layer) -> Vec<&str> {
    let named = layer
        .entries
        .iter()
        .filter(|(key, _)| matches!(key.parts().as_slice(), ["roles", _, "model" | "fallback"]));
    named.flat_map(|(_, entry)| providers_in(&entry.value)).collect()
}

/// The providers of one model or of a list of models.
fn providers_in(value: &toml::Value) -> Vec<&str> {
    let texts = match value {
        toml::Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    texts.iter().filter_map(toml::Value::as_str).filter_map(split).map(|(provider, _)| provider).collect()
}
