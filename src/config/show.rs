//! The configuration for a person: every value with where it came from, and one key in full.

use std::path::PathBuf;

use tandem_shared::role::Role;
use toml::Value;

use super::binding::chain;
use super::defaults;
use super::error::ConfigError;
use super::input::{Input, project_file};
use super::layer::{Entry, KeyPath};
use super::load::Loaded;
use super::nearest;
use super::shape::Shape;

/// The files that are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The user's file; `None` without a home.
    pub user: Option<PathBuf>,
    /// The project's file.
    pub project: PathBuf,
    /// The list of trusted projects.
    pub trusted: PathBuf,
}

impl std::fmt::Display for Paths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = |path: &PathBuf| if path.exists() { "" } else { " (not there)" };
        match &self.user {
            Some(user) => writeln!(f, "user     {}{}", user.display(), state(user))?,
            None => writeln!(f, "user     none: neither XDG_CONFIG_HOME nor HOME is set")?,
        }
        writeln!(f, "project  {}{}", self.project.display(), state(&self.project))?;
        writeln!(f, "trusted  {}{}", self.trusted.display(), state(&self.trusted))
    }
}

/// Where the files are or would be.
pub fn paths(input: &Input) -> Paths {
    Paths {
        user: input.user_file.clone(),
        project: project_file(&input.root),
        trusted: input.trust.path.clone(),
    }
}

/// Every value as a line of TOML with its origin as a comment, then the model of each role.
pub fn show(loaded: &Loaded) -> String {
    let shape = Shape::of_config();
    let Shape::Section(sections) = &shape else { return String::new() };
    let mut text = String::new();
    for (section, _) in sections {
        let entries =
            loaded.merged.entries.iter().filter(|(key, _)| key.within(&[section]) && is_setting(&shape, key));
        let before = text.len();
        for (key, entry) in entries {
            text.push_str(&format!("{:<58} # {}\n", format!("{key} = {}", printed(entry)), entry.origin));
        }
        if text.len() > before {
            text.push('\n');
        }
    }
    for role in Role::ALL {
        text.push_str(&format!("# {role}: {}\n", bound(loaded, role)));
    }
    text
}

/// One key: its value and origin, what set it in which layer, the reason for it, and the roles that it follows.
///
/// # Errors
/// When there is no such key; with the nearest one.
pub fn explain(loaded: &Loaded, key: &str) -> Result<String, ConfigError> {
    let shape = Shape::of_config();
    let path = KeyPath::parse(key.trim()).ok_or_else(|| {
        ConfigError::UnknownKey(format!("`{key}` is not a dotted key, as in loop.planner_rounds"))
    })?;
    let at = shape.at(&path).map_err(|known| {
        ConfigError::UnknownKey(format!("unknown key `{key}`; {}", nearest::advice(&shape, &path, known)))
    })?;
    let section: Vec<&str> = path.parts();
    let below =
        loaded.merged.entries.iter().filter(|(key, _)| key.within(&section) && is_setting(&shape, key));
    let mut text = String::new();
    for (key, entry) in below.clone() {
        text.push_str(&format!("{key} = {}\n  from {}\n", printed(entry), entry.origin));
    }
    if text.is_empty() {
        text.push_str(&format!("{path} is not set\n"));
    }
    if !at.is_table() {
        text.push_str(&format!("  takes {}\n", at.describe()));
        if let Some(why) = defaults::why(&path) {
            text.push_str(&format!("  why: {why}\n"));
        }
        text.push_str(&layers(loaded, &path));
    }
    if let Some(role) = role_of(&path) {
        let names: Vec<&str> = chain(role).iter().map(|role| role.as_str()).collect();
        text.push_str(&format!("  chain: {}\n  bound: {}\n", names.join(" → "), bound(loaded, role)));
    }
    Ok(text)
}

/// Whether a key holds a value, which an empty section does not.
fn is_setting(shape: &Shape, key: &KeyPath) -> bool {
    shape.at(key).is_ok_and(|at| !at.is_table())
}

/// Every layer that sets the key, lowest first, with the one that holds marked.
fn layers(loaded: &Loaded, key: &KeyPath) -> String {
    let holds = loaded.merged.entries.get(key);
    let setting: Vec<_> =
        loaded.layers.iter().filter_map(|layer| Some((layer, layer.entries.get(key)?))).collect();
    let mut text = String::new();
    for (at, (layer, entry)) in setting.iter().enumerate() {
        let last = at + 1 == setting.len();
        let note = match (last, holds) {
            (true, Some(_)) => "  ← holds",
            (true, None) => "  (set aside: a higher layer changed what it belongs to)",
            (false, _) => "",
        };
        text.push_str(&format!("  {}: {} ({}){note}\n", layer.name, printed(entry), entry.origin));
    }
    text
}

fn role_of(key: &KeyPath) -> Option<Role> {
    match key.parts().as_slice() {
        ["roles", name] | ["roles", name, ..] => Role::ALL.into_iter().find(|role| role.as_str() == *name),
        _ => None,
    }
}

fn bound(loaded: &Loaded, role: Role) -> String {
    let Some(binding) = loaded.config.binding(role) else {
        return "no model; set roles.planner.model, or give --model PROVIDER/NAME".to_owned();
    };
    let key = loaded.config.endpoint(&binding.provider).map(|endpoint| endpoint.key.to_string());
    let follows = match binding.named_by == role {
        true => String::new(),
        false => format!(", as {}", binding.named_by),
    };
    let key = key.unwrap_or_else(|| "nowhere".to_owned());
    let next: String =
        binding.fallback.iter().map(|next| format!(", then {}/{}", next.provider, next.model)).collect();
    format!("{}/{}{follows}{next}; key from {key}", binding.provider, binding.model)
}

/// The value as TOML, with the user part of a URL masked: an environment variable may hold one.
fn printed(entry: &Entry) -> String {
    match &entry.value {
        Value::String(text) => {
            match text.split_once("://").map(|(scheme, rest)| (scheme, rest.split_once('@'))) {
                Some((scheme, Some((user, host)))) if !user.contains('/') => {
                    Value::String(format!("{scheme}://***@{host}")).to_string()
                }
                _ => entry.value.to_string(),
            }
        }
        value => value.to_string(),
    }
}
