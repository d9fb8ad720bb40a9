//! All layers, read, checked and merged: default, user, project, environment, flags; later wins.

use std::collections::BTreeMap;

use toml::Value;

use super::binding::ENV_PROVIDER;
use super::choose::{self, Names};
use super::environment::{self, FromEnvironment};
use super::error::{ConfigError, Origin};
use super::input::Input;
use super::layer::{Layer, merge, nested};
use super::settings::Config;
use super::shape::Shape;
use super::{files, flags, profile, rules};

/// A configuration, and how it came about.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// Where each setting came from, by dotted key.
    pub origins: BTreeMap<String, Origin>,
    /// What a person should know before anything is sent.
    pub notices: Vec<String>,
    /// The layers, lowest first.
    pub(super) layers: Vec<Layer>,
    /// The layers as one.
    pub(super) merged: Layer,
}

/// Reads and checks everything, before any request.
///
/// # Errors
/// [`ConfigError`], with every fault of the first source that has any.
pub fn load(input: &Input) -> Result<Loaded, ConfigError> {
    let shape = Shape::of_config();
    let own = files::own(input, &shape)?;
    let mut below = own.clone();
    if let Some((review, layer)) = files::project(input, &shape, &own)? {
        if !review.trusted && !review.protected.is_empty() {
            return Err(ConfigError::Untrusted { path: review.path, keys: review.protected });
        }
        below.push(layer);
    }
    let mut flags = flags::layer(&input.flags, &shape)?;
    let FromEnvironment { fallback, settings: mut env, provider, mut notices } =
        environment::read(&input.env, &merge(&below));
    // What the environment only fills in lies right above the defaults.
    below.insert(1, fallback);

    let all = merge(below.iter().chain([&env, &flags]));
    // A profile from a file is part of the files; one from a flag goes before the environment.
    let mut flag_profile = None;
    match profile::chosen(&all)? {
        Some((Origin::Flag(_), layer)) => flag_profile = Some(layer),
        Some((_, layer)) => below.push(layer),
        None => {}
    }

    let bound = merge(below.iter().chain(&flag_profile));
    let names = Names::new(&all, provider, &bound, &input.env);
    let one_model = names.choose(&input.env, &mut env, &input.flags, &mut flags, &mut notices)?;

    let mut layers = below;
    layers.push(env);
    layers.extend(flag_profile);
    layers.push(flags);
    let mut merged = merge(&layers);
    // What a file says of `env` waits until the environment makes that provider.
    if merged.get(["providers", ENV_PROVIDER, "base_url"]).is_none() {
        merged.entries.retain(|key, _| !key.within(&["providers", ENV_PROVIDER]));
    }
    if one_model {
        notices.extend(choose::elsewhere(&merged));
    }
    let faults = rules::faults(&merged);
    if !faults.is_empty() {
        return Err(ConfigError::Invalid(faults));
    }
    let config = typed(&merged)?;
    let origins = merged.entries.iter().map(|(key, entry)| (key.to_string(), entry.origin.clone())).collect();
    Ok(Loaded { config, origins, notices, layers, merged })
}

fn typed(merged: &Layer) -> Result<Config, ConfigError> {
    let mut table = nested(merged);
    for section in ["roles", "profiles"] {
        table.entry(section).or_insert_with(|| Value::Table(toml::Table::new()));
    }
    Value::Table(table).try_into().map_err(|error: toml::de::Error| {
        ConfigError::one(Origin::Default, format!("the settings do not fit together: {}", error.message()))
    })
}
