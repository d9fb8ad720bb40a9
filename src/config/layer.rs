//! Settings by dotted key, one map a source, and how the maps are laid over each other.

use std::collections::BTreeMap;

use toml::Value;
use toml::de::DeTable;

use super::address;
use super::error::Origin;

/// A key as its parts: `roles.planner.model` is three.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPath(pub Vec<String>);

impl KeyPath {
    /// Made of its parts.
    pub fn of<const N: usize>(parts: [&str; N]) -> KeyPath {
        KeyPath(parts.iter().map(|part| (*part).to_owned()).collect())
    }

    /// Reads a dotted key as TOML has it; `None` when it is not exactly one key.
    pub fn parse(text: &str) -> Option<KeyPath> {
        if text.contains(['\n', '\r', '=', '#']) {
            return None;
        }
        let line = format!("{text} = 0");
        let table = DeTable::parse(&line).ok()?;
        let mut parts = Vec::new();
        let mut table = table.get_ref();
        loop {
            let (key, value) = table.iter().next()?;
            parts.push(key.get_ref().to_string());
            match value.get_ref().as_table() {
                Some(inner) => table = inner,
                None => return Some(KeyPath(parts)),
            }
        }
    }

    /// This key and one part more.
    pub fn join(&self, part: &str) -> KeyPath {
        let mut parts = self.0.clone();
        parts.push(part.to_owned());
        KeyPath(parts)
    }

    /// The parts as `&str`, to match on.
    pub fn parts(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }

    /// Whether this key is `section` or lies under it.
    pub fn within(&self, section: &[&str]) -> bool {
        self.0.len() >= section.len() && self.0.iter().zip(section).all(|(mine, theirs)| mine == theirs)
    }
}

impl std::fmt::Display for KeyPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, part) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(".")?;
            }
            let bare =
                !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
            if bare {
                f.write_str(part)?;
            } else {
                write!(f, "{}", Value::String(part.clone()))?;
            }
        }
        Ok(())
    }
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The value; a table only where the file has an empty one.
    pub value: Value,
    /// Where it came from.
    pub origin: Origin,
}

/// What one source sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// What the source is called in `tandem config explain`.
    pub name: String,
    /// By key.
    pub entries: BTreeMap<KeyPath, Entry>,
}

impl Layer {
    /// A source that sets nothing yet.
    pub fn new(name: impl Into<String>) -> Layer {
        Layer { name: name.into(), entries: BTreeMap::new() }
    }

    /// Sets a key.
    pub fn set(&mut self, key: KeyPath, value: impl Into<Value>, origin: Origin) {
        self.entries.insert(key, Entry { value: value.into(), origin });
    }

    /// The entry of a key.
    pub fn get<const N: usize>(&self, parts: [&str; N]) -> Option<&Entry> {
        self.entries.get(&KeyPath::of(parts))
    }

    /// The text of a key, where it is a text.
    pub fn text<const N: usize>(&self, parts: [&str; N]) -> Option<&str> {
        self.get(parts).and_then(|entry| entry.value.as_str())
    }

    /// The names of the tables right under a section, each once.
    pub fn names(&self, section: &str) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for key in self.entries.keys().filter(|key| key.within(&[section])) {
            match key.0.get(1) {
                Some(name) if names.last() != Some(&name.as_str()) => names.push(name),
                _ => {}
            }
        }
        names
    }
}

/// Lays sources over each other; later wins. A list takes the place of a list.
///
/// What describes a model goes when another model is set above it, and so do the other way to get a key and what a preset
/// says of another address.
pub fn merge<'a>(layers: impl IntoIterator<Item = &'a Layer>) -> Layer {
    let mut merged = Layer::new("merged");
    for layer in layers {
        for (key, entry) in &layer.entries {
            let changed = merged.entries.get(key).is_none_or(|below| below.value != entry.value);
            if changed {
                displace(&mut merged, key);
                leave_preset(&mut merged, key, entry);
            }
        }
        merged.entries.extend(layer.entries.iter().map(|(key, entry)| (key.clone(), entry.clone())));
    }
    merged
}

/// Setting the last part of a key in a higher layer takes these neighbours of lower layers away.
const DISPLACED: [(&str, &[&str]); 3] = [
    // Another model has another window and another price, and another one takes its place: whoever asks a local model
    // for one run does not want a hosted one when it is down.
    ("model", &["context_window", "price", "fallback"]),
    ("api_key_env", &["api_key_command"]),
    ("api_key_command", &["api_key_env"]),
];

fn displace(merged: &mut Layer, key: &KeyPath) {
    let Some((last, section)) = key.0.split_last() else { return };
    if !matches!(section.first().map(String::as_str), Some("roles" | "providers" | "profiles")) {
        return;
    }
    for (_, neighbours) in DISPLACED.iter().filter(|(setting, _)| setting == last) {
        merged.entries.retain(|other, _| {
            let beside = other.0.len() > section.len() && other.0.starts_with(section);
            let named = other.0.get(section.len()).is_some_and(|part| neighbours.contains(&part.as_str()));
            !(beside && named)
        });
    }
}

/// What a preset knows holds at its own address: its quirks are another server's nowhere else, and its key is nobody
/// else's. `openai` keeps its key, since that name and OPENAI_API_KEY stand for any endpoint wherever there is one.
fn leave_preset(merged: &mut Layer, key: &KeyPath, set: &Entry) {
    let ["providers", name, "base_url"] = key.parts()[..] else { return };
    let place = |entry: &Entry| entry.value.as_str().map(|url| address::place(url).to_ascii_lowercase());
    if merged.entries.get(key).and_then(place) == place(set) {
        return;
    }
    merged.entries.retain(|other, entry| {
        let quirk = other.within(&["providers", name, "quirks"]);
        let key = other.within(&["providers", name, "api_key_env"]) && name != "openai";
        !(entry.origin == Origin::Default && (quirk || key))
    });
}

/// The entries as one nested table.
pub fn nested(layer: &Layer) -> toml::Table {
    let mut root = toml::Table::new();
    for (KeyPath(parts), entry) in &layer.entries {
        let Some((last, section)) = parts.split_last() else { continue };
        let mut table = &mut root;
        for part in section {
            let below = table.entry(part.clone()).or_insert_with(|| Value::Table(toml::Table::new()));
            match below {
                Value::Table(inner) => table = inner,
                // Cannot be: every source was checked against one shape, so a section is a table in all of them.
                _ => return root,
            }
        }
        // An empty table of one file must not hide what another one puts into it.
        match (&entry.value, table.get(last)) {
            (Value::Table(_), Some(_)) => {}
            _ => {
                table.insert(last.clone(), entry.value.clone());
            }
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(lines: &[(&str, i64)]) -> Layer {
        let mut layer = Layer::new("test");
        for (key, value) in lines {
            layer.set(KeyPath::parse(key).unwrap(), *value, Origin::Default);
        }
        layer
    }

    fn merged(layers: &[&[(&str, i64)]]) -> Vec<(String, i64)> {
        let layers: Vec<Layer> = layers.iter().map(|lines| layer(lines)).collect();
        let entries = merge(&layers).entries;
        entries.into_iter().map(|(key, entry)| (key.to_string(), entry.value.as_integer().unwrap())).collect()
    }

    #[test]
    fn the_later_layer_wins() {
        assert_eq!(
            merged(&[&[("a.b", 1), ("a.c", 2)], &[("a.b", 3)]]),
            [("a.b".into(), 3), ("a.c".into(), 2)]
        );
    }

    #[test]
    fn another_model_takes_window_and_price_of_the_lower_one_away() {
        let below: &[(&str, i64)] = &[
            ("roles.planner.context_window", 1),
            ("roles.planner.model", 1),
            ("roles.planner.price.input", 1),
        ];
        let other = merged(&[below, &[("roles.planner.model", 2)]]);
        assert_eq!(other, [("roles.planner.model".into(), 2)]);
        let same = merged(&[below, &[("roles.planner.model", 1)]]);
        assert_eq!(same.len(), 3);
        let elsewhere = merged(&[below, &[("roles.executor.model", 2)]]);
        assert_eq!(elsewhere.len(), 4);
    }

    #[test]
    fn one_way_to_get_a_key_takes_the_other_away() {
        let got = merged(&[&[("providers.x.api_key_env", 1)], &[("providers.x.api_key_command", 2)]]);
        assert_eq!(got, [("providers.x.api_key_command".into(), 2)]);
    }

    #[test]
    fn a_key_reads_and_prints_as_toml() {
        for text in ["a", "a.b-c", "a.\"b.c\".d"] {
            assert_eq!(KeyPath::parse(text).map(|key| key.to_string()).as_deref(), Some(text));
        }
        for text in ["", "a.", "a b", "a = 1\nb", "{}", "[a]"] {
            assert_eq!(KeyPath::parse(text), None, "{text:?}");
        }
    }
}
