//! What must hold between settings once all layers are merged; each fault is told where the value was set.

use std::path::Path;

use super::address;
use super::binding::{ENV_PROVIDER, split};
use super::error::{Fault, Origin};
use super::layer::{Entry, KeyPath, Layer};
use super::nearest;

/// Settings that make no sense below 1.
const AT_LEAST_ONE: [[&str; 2]; 23] = [
    ["loop", "planner_rounds"],
    ["loop", "executor_rounds"],
    ["loop", "failing_rounds"],
    ["loop", "parallel_reads"],
    ["loop", "guard_window"],
    ["loop", "guard_period"],
    ["loop", "guard_strikes"],
    ["loop", "check_failures"],
    ["context", "window"],
    ["context", "offload_chars"],
    ["thinking", "low_tokens"],
    ["thinking", "medium_tokens"],
    ["thinking", "high_tokens"],
    ["tools", "read_lines"],
    ["tools", "read_bytes"],
    ["tools", "line_chars"],
    ["tools", "matches"],
    ["tools", "match_chars"],
    ["edits", "ask_over_files"],
    ["edits", "file_bytes"],
    ["commands", "output_chars"],
    ["network", "retry_first_ms"],
    ["network", "protocol_faults"],
];

/// The stages of the context, mildest first; a later one may not come before an earlier one.
const STAGES: [&str; 5] = ["warn", "mask", "prune", "aggressive", "compact"];

/// Fields of a request that no setting may take the place of: the router puts further fields in last.
const OWN_FIELDS: [&str; 4] = ["messages", "model", "stream", "tools"];

/// All that does not hold.
pub fn faults(merged: &Layer) -> Vec<Fault> {
    let mut found = Faults(Vec::new());
    numbers(merged, &mut found);
    shares(merged, &mut found);
    providers(merged, &mut found);
    models(merged, &mut found);
    found.0
}

struct Faults(Vec<Fault>);

impl Faults {
    fn add(&mut self, entry: &Entry, text: String) {
        self.0.push(Fault { origin: entry.origin.clone(), text });
    }
}

fn numbers(merged: &Layer, found: &mut Faults) {
    for [section, key] in AT_LEAST_ONE {
        match merged.get([section, key]) {
            Some(entry) if entry.value.as_integer() == Some(0) => {
                found.add(entry, format!("`{section}.{key}` is 0, but must be 1 or more"));
            }
            _ => {}
        }
    }
    if let Some(entry) = merged.get(["loop", "guard_repeats"])
        && entry.value.as_integer().is_some_and(|repeats| repeats < 2)
    {
        found.add(entry, "`loop.guard_repeats` must be 2 or more: one call is no repeat".to_owned());
    }
    for (key, entry) in &merged.entries {
        let allowed = match key.parts().as_slice() {
            [.., "temperature"] => 0.0..=2.0,
            [.., "price", _] | ["loop", "max_usd"] => 0.0..=f64::MAX,
            _ => continue,
        };
        if entry.value.as_float().is_some_and(|number| !allowed.contains(&number)) {
            found.add(entry, format!("`{key}` is {}, which is out of range", entry.value));
        }
    }
    for (key, entry) in &merged.entries {
        let price = match (key.parts().as_slice(), key.0.split_last()) {
            ([.., "price"], _) => key.clone(),
            ([.., "price", _], Some((_, section))) => KeyPath(section.to_vec()),
            _ => continue,
        };
        let set = |part: &&str| merged.entries.contains_key(&price.join(part));
        let missing = ["input", "output"].into_iter().find(|part| !set(part));
        let first = merged.entries.keys().find(|other| other.0.starts_with(&price.0)) == Some(key);
        if let (Some(missing), true) = (missing, first) {
            found.add(entry, format!("`{price}` has no `{missing}`: a price needs input and output"));
        }
    }
}

fn shares(merged: &Layer, found: &mut Faults) {
    let share =
        |key: &str| merged.get(["context", key]).and_then(|entry| Some((entry, entry.value.as_float()?)));
    for key in STAGES {
        match share(key) {
            Some((entry, value)) if !(value > 0.0 && value <= 1.0) => {
                found.add(entry, format!("`context.{key}` is {value}, but a share lies above 0 and up to 1"));
            }
            _ => {}
        }
    }
    if let Some((entry, value)) = share("reserve")
        && !(0.0..0.9).contains(&value)
    {
        found.add(entry, format!("`context.reserve` is {value}, but must be from 0 to below 0.9 to leave room for the conversation"));
    }
    for (before, after) in STAGES.iter().zip(STAGES.iter().skip(1)) {
        if let (Some((first, low)), Some((second, high))) = (share(before), share(after))
            && low > high
        {
            // Tell it of the one that somebody set.
            let entry = if second.origin == Origin::Default { first } else { second };
            found.add(
                entry,
                format!("`context.{before}` is {low} and `context.{after}` is {high}: a later stage cannot come first (order: {})", STAGES.join(", ")),
            );
        }
    }
}

fn providers(merged: &Layer, found: &mut Faults) {
    for name in merged.names("providers") {
        let at = |key: &str| merged.get(["providers", name, key]);
        let any = merged.entries.iter().find(|(key, _)| key.within(&["providers", name]));
        match (at("base_url"), any) {
            (None, Some((_, entry))) => {
                found.add(
                    entry,
                    format!("[providers.{name}] has no base_url, as in \"http://localhost:11434/v1\""),
                );
            }
            (Some(entry), _) => base_url(name, entry, at("allow_http"), found),
            (None, None) => {}
        }
        if let Some(entry) = at("ca_file")
            && !entry.value.as_str().is_some_and(|path| Path::new(path).is_absolute())
        {
            found.add(
                entry,
                format!("`providers.{name}.ca_file` is {}, but takes an absolute path: what it would be relative to is not the same for every file", entry.value),
            );
        }
        for field in OWN_FIELDS {
            if let Some(entry) = merged.get(["providers", name, "extra_body", field]) {
                let text = format!(
                    "`providers.{name}.extra_body.{field}` cannot be set: {field} is what tandem itself sends"
                );
                found.add(entry, text);
            }
        }
        for (key, entry) in
            merged.entries.iter().filter(|(key, _)| key.within(&["providers", name, "headers"]))
        {
            let value = entry.value.as_str().unwrap_or_default();
            let token = |part: &String| {
                part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
            };
            if !key.0.last().is_some_and(token) || !value.bytes().all(|b| (b' '..=b'~').contains(&b)) {
                found.add(
                    entry,
                    format!(
                        "`{key}` cannot be sent as a header: printable ASCII only, and no spaces in its name"
                    ),
                );
            }
        }
        if let (Some(_), Some(command)) = (at("api_key_env"), at("api_key_command")) {
            found.add(
                command,
                format!("[providers.{name}] has both api_key_env and api_key_command: keep one"),
            );
        }
        if let Some(command) = at("api_key_command")
            && command.value.as_array().is_some_and(Vec::is_empty)
        {
            found.add(
                command,
                format!(
                    "`providers.{name}.api_key_command` is empty, as in [\"pass\", \"show\", \"{name}\"]"
                ),
            );
        }
    }
}

fn base_url(name: &str, entry: &Entry, allow_http: Option<&Entry>, found: &mut Faults) {
    let url = entry.value.as_str().unwrap_or_default();
    if !address::is_url(url) {
        let text = format!("`providers.{name}.base_url` must begin with http:// or https:// and name a host");
        found.add(entry, text);
    } else if address::is_plain_and_far(url)
        && allow_http.and_then(|entry| entry.value.as_bool()) != Some(true)
    {
        let text = format!(
            "`providers.{name}.base_url` leads to another machine by http://, where anybody on the way can read your code and your key: use https://, or allow it with providers.{name}.allow_http = true"
        );
        found.add(entry, text);
    }
}

fn models(merged: &Layer, found: &mut Faults) {
    for (key, entry) in &merged.entries {
        match key.parts().as_slice() {
            ["roles", _, "model"] | ["profiles", _, "roles", _, "model"] => {
                model(merged, key, entry, entry.value.as_str().unwrap_or_default(), found);
            }
            ["roles", _, "fallback"] | ["profiles", _, "roles", _, "fallback"] => {
                for text in entry.value.as_array().into_iter().flatten() {
                    model(merged, key, entry, text.as_str().unwrap_or_default(), found);
                }
            }
            _ => {}
        }
    }
}

/// One `provider/name`, which `key` is or lists.
fn model(merged: &Layer, key: &KeyPath, entry: &Entry, text: &str, found: &mut Faults) {
    let providers = merged.names("providers");
    let is = if entry.value.is_array() { "names" } else { "is" };
    match split(text) {
        None => found.add(
            entry,
            format!(
                "`{key}` {is} \"{text}\", but takes \"provider/name\", with one of the providers {}",
                providers.join(", ")
            ),
        ),
        Some((provider, _)) if providers.contains(&provider) => {}
        Some((ENV_PROVIDER, _)) => found.add(
            entry,
            format!("`{key}` {is} \"{text}\", but the provider `env` is there only while API_BASE, API_KEY or MODEL is set"),
        ),
        Some((provider, _)) => {
            let near = nearest::nearest(provider, providers.iter().copied());
            let advice = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "the providers are {}; [providers.{provider}] with a base_url makes it one",
                    providers.join(", ")
                ),
            };
            found.add(entry, format!("`{key}` {is} \"{text}\", but there is no provider `{provider}`; {advice}"));
        }
    }
}
