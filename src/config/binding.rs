//! Which model a role is bound to, and how its provider is reached.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};
use tandem_router::{FallbackModel, Plaintext, Quirks, ToolProtocol};
use tandem_shared::model::Price;
use tandem_shared::role::Role;

use super::key::KeySource;
use super::settings::{Config, RoleSettings};

/// The provider that `API_BASE`, `API_KEY` and `MODEL` make.
pub const ENV_PROVIDER: &str = "env";

/// What a role asks, and with which settings.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleBinding {
    /// The role that names the model: the role itself, or one that it follows.
    pub named_by: Role,
    /// A name in [`Config::providers`].
    pub provider: String,
    /// The model's name as its provider knows it; may hold a `/`.
    pub model: String,
    /// Left out of the request when `None`.
    pub temperature: Option<f64>,
    /// Limit on an answer in tokens; left out of the request when `None`.
    pub max_tokens: Option<u32>,
    /// In tokens; `None` when nobody said.
    pub context_window: Option<u64>,
    /// For a million tokens, when known.
    pub price: Option<Price>,
    /// Asked in this order when the model cannot be reached; every provider is one of [`Config::providers`].
    pub fallback: Vec<FallbackModel>,
}

/// How a provider is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// Its name in the configuration.
    pub name: String,
    /// Up to and including the version.
    pub base_url: String,
    /// Where the key comes from; nothing was read or run yet.
    pub key: KeySource,
    /// Extra headers of each request.
    pub headers: BTreeMap<String, String>,
    /// To reach the server; `None` is no limit.
    pub connect_timeout: Option<Duration>,
    /// Until the first token; `None` is no limit.
    pub first_token_timeout: Option<Duration>,
    /// Between tokens; `None` is no limit.
    pub idle_timeout: Option<Duration>,
    /// Times a failed request is sent again.
    pub retries: u32,
    /// Before the first retry; doubled for each further one.
    pub retry_first: Duration,
    /// What a wait between retries may grow to.
    pub retry_max: Duration,
    /// Protocol faults after which the task ends.
    pub protocol_faults: u32,
    /// How tools are offered.
    pub tool_protocol: ToolProtocol,
    /// Where the endpoint differs from the common form of a request.
    pub quirks: Quirks,
    /// Further fields of each request.
    pub extra_body: Map<String, Value>,
    /// A PEM file with certificates that are trusted beside the system's own.
    pub ca_file: Option<PathBuf>,
    /// Where `http://` may lead.
    pub plaintext: Plaintext,
}

impl Config {
    /// The model of a role, or of the nearest role that it follows; `None` when none of them has one.
    pub fn binding(&self, role: Role) -> Option<RoleBinding> {
        let chain = chain(role);
        let own = |at: &Role| self.roles.get(*at);
        let bound = chain.iter().position(|at| own(at).is_some_and(|settings| settings.model.is_some()))?;
        let (provider, model) = split(own(&chain[bound])?.model.as_deref()?)?;
        // What a follower sets itself goes before what the role with the model sets.
        let followed: Vec<&RoleSettings> = chain.iter().take(bound + 1).filter_map(own).collect();
        Some(RoleBinding {
            named_by: chain[bound],
            provider: provider.to_owned(),
            model: model.to_owned(),
            temperature: followed.iter().find_map(|settings| settings.temperature),
            max_tokens: followed.iter().find_map(|settings| settings.max_tokens),
            context_window: followed.iter().find_map(|settings| settings.context_window),
            price: followed.iter().find_map(|settings| settings.price),
            fallback: followed
                .iter()
                .find_map(|settings| settings.fallback.as_deref())
                .map_or_else(Vec::new, models),
        })
    }

    /// How the provider of that name is reached; `None` when there is none.
    pub fn endpoint(&self, name: &str) -> Option<Endpoint> {
        let provider = self.providers.get(name)?;
        let network = &self.network;
        let limit = |own: Option<u64>, general: u64| match own.unwrap_or(general) {
            0 => None,
            seconds => Some(Duration::from_secs(seconds)),
        };
        let key = match (&provider.api_key_env, &provider.api_key_command) {
            (Some(variable), _) => KeySource::Variable(variable.clone()),
            (None, Some(command)) => KeySource::Command(command.clone()),
            (None, None) if name == ENV_PROVIDER => {
                KeySource::Placeholder(self.environment.placeholder_key.clone())
            }
            (None, None) => KeySource::Nothing,
        };
        Some(Endpoint {
            name: name.to_owned(),
            base_url: provider.base_url.clone(),
            key,
            headers: provider.headers.clone().unwrap_or_else(BTreeMap::new),
            connect_timeout: limit(provider.connect_timeout_s, network.connect_timeout_s),
            first_token_timeout: limit(provider.first_token_timeout_s, network.first_token_timeout_s),
            idle_timeout: limit(provider.idle_timeout_s, network.idle_timeout_s),
            retries: provider.retries.unwrap_or(network.retries),
            retry_first: Duration::from_millis(network.retry_first_ms),
            retry_max: Duration::from_secs(network.retry_max_s),
            protocol_faults: network.protocol_faults,
            tool_protocol: provider.tool_protocol.unwrap_or(ToolProtocol::Native),
            // Nothing said is the common form.
            quirks: provider.quirks.clone().unwrap_or_default(),
            extra_body: provider.extra_body.clone().unwrap_or_default(),
            ca_file: provider.ca_file.clone(),
            plaintext: match provider.allow_http {
                Some(true) => Plaintext::Allowed,
                Some(false) | None => Plaintext::LoopbackOnly,
            },
        })
    }
}

/// The role and those that it follows, nearest first.
pub fn chain(role: Role) -> &'static [Role] {
    use Role::{Compaction, Critique, Executor, Planner, Thinking};
    match role {
        Planner => &[Planner, Executor],
        Executor => &[Executor, Planner],
        Thinking => &[Thinking, Planner, Executor],
        Critique => &[Critique, Thinking, Planner, Executor],
        Compaction => &[Compaction, Executor, Planner],
    }
}

/// Splits `provider/name` at the first `/`, since names of models may hold more; `None` when a half is missing.
pub fn split(text: &str) -> Option<(&str, &str)> {
    text.split_once('/').filter(|(provider, model)| !provider.is_empty() && !model.is_empty())
}

fn models(texts: &[String]) -> Vec<FallbackModel> {
    let both = texts.iter().filter_map(|text| split(text));
    both.map(|(provider, model)| FallbackModel { provider: provider.to_owned(), model: model.to_owned() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_split_at_the_first_slash() {
        assert_eq!(split("openrouter/qwen/qwen3"), Some(("openrouter", "qwen/qwen3")));
        assert_eq!(split("local/a"), Some(("local", "a")));
        for text in ["local", "/a", "local/", "/", ""] {
            assert_eq!(split(text), None, "{text:?}");
        }
    }

    #[test]
    fn every_chain_begins_with_its_role_and_ends_where_tools_are_called() {
        for role in Role::ALL {
            let chain = chain(role);
            assert_eq!(chain.first(), Some(&role));
            assert!(chain.contains(&Role::Planner) && chain.contains(&Role::Executor), "{role}");
        }
    }
}
