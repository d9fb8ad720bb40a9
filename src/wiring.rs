//! From configuration to parts: providers and bindings for the router, keys fetched at the moment they are needed.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tandem_router::{
    Binding, Cassette, KeySource, Provider, Recorder, Retry, Router, RouterError, Transport,
};
use tandem_shared::role::Role;
use tandem_shared::secret::Secret;

use crate::config::{Config, Endpoint};

/// How requests travel.
#[derive(Clone, Debug)]
pub enum Route {
    /// To the configured endpoints.
    Endpoints,
    /// To the configured endpoints, and written down.
    Recording(Arc<Recorder>),
    /// To a cassette that stands in for every endpoint.
    Cassette(Arc<Cassette>),
}

/// Builds the router for all roles that are bound.
///
/// # Errors
/// When a role names a provider that is not configured.
pub fn router(config: &Config, env: &BTreeMap<String, String>, route: &Route) -> Result<Router, RouterError> {
    let mut bindings = HashMap::new();
    let mut providers: BTreeMap<String, Provider> = BTreeMap::new();
    for role in Role::ALL {
        let Some(bound) = config.binding(role) else { continue };
        let asked = bound.fallback.iter().map(|next| &next.provider).chain([&bound.provider]);
        for endpoint in asked.filter_map(|name| config.endpoint(name)) {
            let name = endpoint.name.clone();
            providers.entry(name).or_insert_with(|| provider(endpoint, env, route));
        }
        bindings.insert(
            role,
            Binding {
                provider: bound.provider,
                model: bound.model,
                temperature: bound.temperature,
                max_tokens: bound.max_tokens,
                context_window: bound.context_window,
                price: bound.price,
                fallback: bound.fallback,
            },
        );
    }
    Router::new(providers.into_values().collect(), bindings)
}

fn provider(endpoint: Endpoint, env: &BTreeMap<String, String>, route: &Route) -> Provider {
    // The router takes zero for "no limit".
    let limit = |time: Option<Duration>| time.unwrap_or(Duration::ZERO);
    Provider {
        name: endpoint.name,
        base_url: endpoint.base_url,
        key: Arc::new(LazyKey { source: endpoint.key, env: env.clone() }),
        headers: endpoint.headers.into_iter().collect(),
        connect_timeout: limit(endpoint.connect_timeout),
        first_token_timeout: limit(endpoint.first_token_timeout),
        idle_timeout: limit(endpoint.idle_timeout),
        retry: Retry {
            times: endpoint.retries,
            first: endpoint.retry_first,
            longest: endpoint.retry_max,
            protocol_faults: endpoint.protocol_faults,
        },
        transport: match route {
            Route::Endpoints => Transport::Http,
            Route::Recording(recorder) => Transport::Recorded(recorder.clone()),
            Route::Cassette(cassette) => Transport::Replayed(cassette.clone()),
        },
        quirks: endpoint.quirks,
        extra_body: endpoint.extra_body,
        ca_file: endpoint.ca_file,
        plaintext: endpoint.plaintext,
        tool_protocol: endpoint.tool_protocol,
    }
}

/// Fetches a key when the router first needs it.
struct LazyKey {
    source: crate::config::KeySource,
    env: BTreeMap<String, String>,
}

impl KeySource for LazyKey {
    fn key(&self) -> Result<Option<Secret>, String> {
        let key = self.source.fetch(&self.env).map_err(|error| error.to_string())?;
        key.iter().for_each(|key| crate::logs::masker().learn(key));
        Ok(key)
    }

    fn describe(&self) -> String {
        self.source.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Flags, Input, TrustStore, load};
    use serde_json::json;
    use tandem_router::{NoteAfterTool, Plaintext, Quirks, ToolProtocol};

    fn config(text: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("user.toml");
        std::fs::write(&file, text).unwrap();
        let input = Input {
            root: folder.path().join("project"),
            user_file: Some(file),
            env: BTreeMap::new(),
            flags: Flags::default(),
            trust: TrustStore::in_state_dir(&folder.path().join("state")),
        };
        load(&input).unwrap().config
    }

    #[test]
    fn the_providers_of_fallback_models_are_there() {
        let config = config("[roles.planner]\nmodel = 'mistral/a'\nfallback = ['deepseek/b', 'vllm/c']");
        let router = router(&config, &BTreeMap::new(), &Route::Endpoints);
        assert_eq!(router.map(drop).map_err(|error| error.to_string()), Ok(()));
    }

    #[test]
    fn a_provider_is_handed_over_as_it_is_configured() {
        let config = config(
            "[providers.work]\nbase_url = 'http://work.lan/v1'\nallow_http = true\nca_file = '/etc/work.pem'\ntool_protocol = 'schema'\n\
             extra_body = { top_k = 5 }\nquirks = { note_after_tool = 'fold' }",
        );
        let made = provider(config.endpoint("work").unwrap(), &BTreeMap::new(), &Route::Endpoints);
        assert_eq!(made.quirks, Quirks { note_after_tool: Some(NoteAfterTool::Fold), ..Quirks::default() });
        assert_eq!(serde_json::Value::Object(made.extra_body), json!({ "top_k": 5 }));
        assert_eq!(made.ca_file, Some("/etc/work.pem".into()));
        assert_eq!((made.plaintext, made.tool_protocol), (Plaintext::Allowed, ToolProtocol::Schema));
    }
}
