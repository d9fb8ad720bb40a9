//! Profiles: named sets of roles that lie over `[roles]` when they are chosen.

use toml::Value;

use super::error::{ConfigError, Origin};
use super::layer::{Entry, KeyPath, Layer};

/// The chosen profile's roles as a layer, with the origin of the choice.
///
/// # Errors
/// When a profile is chosen that does not exist.
pub fn chosen(all: &Layer) -> Result<Option<(Origin, Layer)>, ConfigError> {
    let Some(Entry { value: Value::String(name), origin }) = all.get(["profile"]) else { return Ok(None) };
    let known = all.names("profiles");
    if !known.contains(&name.as_str()) {
        let text = match known.is_empty() {
            true => format!(
                "there is no profile `{name}`; [profiles.{name}.roles.planner] with a model would make one"
            ),
            false => format!("there is no profile `{name}`; the profiles are {}", known.join(", ")),
        };
        return Err(ConfigError::one(origin.clone(), text));
    }
    Ok(Some((origin.clone(), roles(all, name))))
}

/// What the profile of that name sets, as keys under `roles`.
pub fn roles(all: &Layer, name: &str) -> Layer {
    let mut layer = Layer::new(format!("profile {name}"));
    for (key, entry) in all.entries.iter().filter(|(key, _)| key.within(&["profiles", name, "roles"])) {
        layer.entries.insert(KeyPath(key.0.iter().skip(2).cloned().collect()), entry.clone());
    }
    layer
}
