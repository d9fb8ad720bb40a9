//! `config/default.toml` and `config/presets.toml`: the defaults themselves, and why each is what it is.

use super::check;
use super::error::{ConfigError, Origin};
use super::layer::{KeyPath, Layer};
use super::shape::{NAME, Shape};

/// The two files as one, as they are built in.
pub const TEXT: &str =
    concat!(include_str!("../../config/default.toml"), "\n", include_str!("../../config/presets.toml"));

/// Stands for any role, in a heading of the file.
const ROLE: &str = "ROLE";

/// The defaults, checked like any other source.
///
/// # Errors
/// When the built-in file is at odds with the types; a test holds that it is not.
pub fn layer(shape: &Shape) -> Result<Layer, ConfigError> {
    check::file("default", TEXT, shape, &|_| Origin::Default)
}

/// A setting of the file, set or merely shown, with the comment above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Documented {
    /// With `NAME` and `ROLE` for what the user chooses.
    pub key: KeyPath,
    /// The comment, as one line.
    pub why: String,
}

/// Every setting that the file names, in its order.
///
/// A line `#key = …` or `#[section]` with nothing between is one that is shown and not set; `# …` is a comment.
pub fn documented() -> Vec<Documented> {
    let mut found = Vec::new();
    let mut section = KeyPath(Vec::new());
    let mut why: Vec<&str> = Vec::new();
    for line in TEXT.lines().map(str::trim) {
        if line.is_empty() {
            why.clear();
        } else if let Some(words) = line.strip_prefix("# ") {
            why.push(words);
        } else {
            let line = line.strip_prefix('#').unwrap_or(line);
            if let Some(heading) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = KeyPath::parse(heading).unwrap_or(KeyPath(Vec::new()));
            } else if let Some(key) = line.split_once('=').and_then(|(key, _)| KeyPath::parse(key.trim())) {
                let mut parts = section.0.clone();
                parts.extend(key.0);
                found.push(Documented { key: KeyPath(parts), why: why.join(" ") });
            }
            why.clear();
        }
    }
    found
}

/// Whether `key` is what `pattern` stands for, with `NAME` for any name and `ROLE` for any role.
pub fn stands_for(pattern: &KeyPath, key: &KeyPath) -> bool {
    let is_role = |part: &str| tandem_shared::role::Role::ALL.iter().any(|role| role.as_str() == part);
    pattern.0.len() == key.0.len()
        && pattern.0.iter().zip(&key.0).all(|(pattern, part)| match pattern.as_str() {
            NAME => true,
            ROLE => is_role(part),
            exact => exact == part,
        })
}

/// The reason for a setting: the comment that names it exactly, else the one that stands for all of its kind, else that of
/// the setting it is a part of.
pub fn why(key: &KeyPath) -> Option<String> {
    let all = documented();
    let exact = all.iter().find(|one| one.key == *key);
    if let Some(found) = exact.or_else(|| all.iter().find(|one| stands_for(&one.key, key))) {
        return Some(found.why.clone());
    }
    let (_, whole) = key.0.split_last()?;
    why(&KeyPath(whole.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_built_in_file_is_valid() {
        layer(&Shape::of_config()).unwrap();
    }

    #[test]
    fn every_known_key_is_in_the_default_file_and_the_other_way_round() {
        let shape = Shape::of_config();
        let known: BTreeSet<KeyPath> = shape
            .keys()
            .into_iter()
            // The name of a header or a field is the user's own, so the setting is the table itself.
            .filter(|(key, shape)| !shape.is_table() && key.0.last().is_some_and(|last| last != NAME))
            .map(|(key, _)| key)
            .chain(["headers", "extra_body"].map(|table| KeyPath::of(["providers", NAME, table])))
            .chain([KeyPath::of(["commands", "env"])])
            .collect();
        let documented = documented();
        let missing: Vec<String> = known
            .iter()
            .filter(|key| !documented.iter().any(|one| stands_for(&one.key, key)))
            .map(KeyPath::to_string)
            .collect();
        let unknown: Vec<String> = documented
            .iter()
            .filter(|one| {
                !known
                    .iter()
                    .any(|key| one.key == *key || stands_for(&one.key, key) || stands_for(key, &one.key))
            })
            .map(|one| one.key.to_string())
            .collect();
        assert_eq!((missing, unknown), (vec![], vec![]));
    }

    #[test]
    fn every_setting_has_a_reason() {
        let bare: Vec<String> = documented()
            .iter()
            .filter(|one| !one.why.ends_with('.'))
            .map(|one| one.key.to_string())
            .collect();
        assert_eq!(bare, Vec::<String>::new());
    }

    #[test]
    fn what_is_shown_and_not_set_would_be_accepted() {
        let shown: String = TEXT
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(rest) if !rest.starts_with(' ') => rest.replace("ROLE", "planner"),
                _ => line.to_owned(),
            })
            .collect::<Vec<_>>()
            .join("\n");
        let shown = check::file("shown", &shown, &Shape::of_config(), &|_| Origin::Default).unwrap();
        assert_eq!(shown.text(["profiles", NAME, "roles", "planner", "model"]), Some("ollama/qwen3"));
    }

    #[test]
    fn the_reason_is_found_for_any_role_and_provider() {
        let key = |text| KeyPath::parse(text).unwrap();
        assert_eq!(
            why(&key("thinking.depth")).unwrap(),
            "A page of reasoning decides most next steps; high is for hard problems."
        );
        assert_eq!(why(&key("roles.critique.temperature")), why(&key("roles.planner.temperature")));
        assert_eq!(why(&key("providers.mine.headers.X-Title")), why(&key("providers.NAME.headers")));
        assert!(
            why(&key("commands.env.CI"))
                .is_some_and(|why| why.starts_with("Variables that every command gets"))
        );
        assert!(why(&key("providers.mine.retries")).is_some());
        assert_eq!(why(&key("thinking.nothing")), None);
    }
}
