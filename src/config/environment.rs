//! The environment variables that say which endpoint and model to use. They are handed in, never read here.

use std::collections::BTreeMap;

use super::binding::ENV_PROVIDER;
use super::error::Origin;
use super::layer::{Entry, KeyPath, Layer};

/// The variables of this process that were set and are not empty.
pub type Env = BTreeMap<String, String>;

/// What the environment sets.
pub struct FromEnvironment {
    /// Holds where no file says otherwise: a model that is only a default, or named without its endpoint.
    pub fallback: Layer,
    /// Goes before files.
    pub settings: Layer,
    /// The provider of a model that is named without one, when the environment names an endpoint.
    pub provider: Option<&'static str>,
    /// What a person should know.
    pub notices: Vec<String>,
}

/// The value of a variable; an empty one counts as not set.
pub fn value<'a>(env: &'a Env, name: &str) -> Option<&'a str> {
    env.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
}

/// Reads `OPENAI_BASE_URL`, and `API_BASE` with `API_KEY` and `MODEL`. `below` holds the defaults and the files.
///
/// `API_BASE` and `MODEL` together name an endpoint and a model, and go before files. Alone, `MODEL` and `API_KEY` are
/// common names that may be meant for another program: then they only fill what no file sets, and nothing at all beside
/// the variables of OpenAI.
pub fn read(env: &Env, below: &Layer) -> FromEnvironment {
    let mut found = FromEnvironment {
        fallback: Layer::new("environment, where nothing else is set"),
        settings: Layer::new("environment"),
        provider: None,
        notices: Vec::new(),
    };
    let openai = ["OPENAI_BASE_URL", "OPENAI_API_KEY"].into_iter().find(|name| value(env, name).is_some());
    if let Some(url) = value(env, "OPENAI_BASE_URL") {
        found.settings.set(
            KeyPath::of(["providers", "openai", "base_url"]),
            url,
            Origin::Env("OPENAI_BASE_URL"),
        );
        found.provider = Some("openai");
    }
    let base = value(env, "API_BASE");
    let loose = ["MODEL", "API_KEY"].into_iter().find(|name| value(env, name).is_some());
    match (base, openai, loose) {
        (None, _, None) => return found,
        (None, Some(openai), Some(loose)) => {
            if loose == "MODEL" {
                found.notices.push(format!(
                    "MODEL is set and not used, because {openai} is set and API_BASE is not: set API_BASE, or give the model with --model"
                ));
            }
            return found;
        }
        (Some(_), _, _) | (None, None, Some(_)) => {}
    }
    found.provider = Some(ENV_PROVIDER);
    let or_default = |name: &'static str, setting: &str| -> Option<Entry> {
        match value(env, name) {
            Some(text) => Some(Entry { value: text.into(), origin: Origin::Env(name) }),
            None => below.get(["environment", setting]).cloned(),
        }
    };
    if let Some(entry) = or_default("API_BASE", "base_url") {
        found.settings.entries.insert(KeyPath::of(["providers", ENV_PROVIDER, "base_url"]), entry);
    }
    if value(env, "API_KEY").is_some() {
        let key = KeyPath::of(["providers", ENV_PROVIDER, "api_key_env"]);
        found.settings.set(key, "API_KEY", Origin::Env("API_KEY"));
    }
    if let Some(Entry { value: toml::Value::String(model), origin }) = or_default("MODEL", "model") {
        let said = base.is_some() && value(env, "MODEL").is_some();
        let layer = if said { &mut found.settings } else { &mut found.fallback };
        for role in ["planner", "executor"] {
            layer.set(
                KeyPath::of(["roles", role, "model"]),
                format!("{ENV_PROVIDER}/{model}"),
                origin.clone(),
            );
        }
        if !said
            && let Some(entry) =
                below.get(["roles", "planner", "model"]).or(below.get(["roles", "executor", "model"]))
        {
            let set = if base.is_some() { "API_BASE" } else { loose.unwrap_or("MODEL") };
            found.notices.push(format!(
                "{set} is set, but the roles are bound at {}: set API_BASE and MODEL both to go before it, or use --model {ENV_PROVIDER}/NAME",
                entry.origin
            ));
        }
    }
    found
}
