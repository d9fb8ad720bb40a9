//! The router: from a role to the model that it is bound to.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tandem_shared::model::{
    ActionRequest, DeltaSink, ModelError, ModelInfo, PlainModel, PlainReply, PlainRequest, Reply,
    ToolUseModel,
};
use tandem_shared::role::{ActingRole, Role, WordsRole};

use crate::ask::{read_body, refusal};
use crate::bound::BoundModel;
use crate::candidate::{Candidate, Learned};
use crate::endpoint::Endpoint;
use crate::error::RouterError;
use crate::fault::Fault;
use crate::local::{LIST_BYTES, model_ids};
use crate::provider::{Binding, Provider, Transport};

/// How long a probe may take in all: somebody is watching.
const PROBE_TIME: Duration = Duration::from_secs(5);

/// Which model each role speaks to. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Router {
    bound: Arc<HashMap<Role, Arc<BoundModel>>>,
}

impl Router {
    /// Joins roles and providers. Sends nothing and reads no key: both happen when a role is first asked.
    ///
    /// # Errors
    /// When a binding names a provider that is not there, or one that no request could be sent to.
    pub fn new(providers: Vec<Provider>, bindings: HashMap<Role, Binding>) -> Result<Router, RouterError> {
        let names: Vec<String> = providers.iter().map(|provider| provider.name.clone()).collect();
        let used: HashSet<&str> = bindings.values().flat_map(providers_of).collect();
        let mut endpoints: HashMap<String, Arc<Endpoint>> = HashMap::new();
        for provider in providers {
            // A provider that nobody uses may be half configured.
            if used.contains(provider.name.as_str()) {
                endpoints.insert(provider.name.clone(), Arc::new(Endpoint::new(provider)?));
            }
        }
        let mut learned: HashMap<(String, String), Arc<Learned>> = HashMap::new();
        let mut candidate = |role: Role, binding: Binding| {
            let endpoint = endpoints.get(&binding.provider).ok_or_else(|| RouterError::UnknownProvider {
                role,
                provider: binding.provider.clone(),
                known: if names.is_empty() { "none".to_owned() } else { names.join(", ") },
            })?;
            let model = (binding.provider.clone(), binding.model.clone());
            let learned = learned.entry(model).or_default().clone();
            Ok(Candidate { binding, endpoint: endpoint.clone(), learned })
        };
        let mut bound = HashMap::new();
        for role in Role::ALL {
            let Some(binding) = bindings.get(&role) else { continue };
            let first = candidate(role, binding.clone())?;
            let others = binding.fallback.iter().map(|other| {
                candidate(
                    role,
                    Binding {
                        provider: other.provider.clone(),
                        model: other.model.clone(),
                        context_window: None,
                        price: None,
                        fallback: Vec::new(),
                        ..binding.clone()
                    },
                )
            });
            let fallback = others.collect::<Result<Vec<_>, RouterError>>()?;
            bound.insert(role, Arc::new(BoundModel { role, first, fallback }));
        }
        Ok(Router { bound: Arc::new(bound) })
    }

    /// The model of a role that runs the loop. An unbound role's model answers [`ModelError::NotConfigured`].
    pub fn acting(&self, role: ActingRole) -> Arc<dyn ToolUseModel> {
        match self.bound.get(&role.into()) {
            Some(model) => model.clone(),
            None => Arc::new(Unbound(role.into())),
        }
    }

    /// The model of a role that exchanges words. An unbound role's model answers [`ModelError::NotConfigured`].
    pub fn words(&self, role: WordsRole) -> Arc<dyn PlainModel> {
        match self.bound.get(&role.into()) {
            Some(model) => model.clone(),
            None => Arc::new(Unbound(role.into())),
        }
    }

    /// What a role is bound to.
    pub fn info(&self, role: Role) -> ModelInfo {
        self.bound.get(&role).map_or_else(|| Unbound(role).model_info(), |model| model.model_info())
    }

    /// The model of a role, to be examined.
    pub(crate) fn candidate(&self, role: Role) -> Option<&Candidate> {
        self.bound.get(&role).map(|bound| &bound.first)
    }

    /// Asks the provider of a role for its models, once and for a few seconds. A cassette answers with the role's model.
    ///
    /// # Errors
    /// As for a request, after one try.
    pub async fn probe(&self, role: Role) -> Result<Vec<String>, ModelError> {
        let model = &self.bound.get(&role).ok_or_else(|| Unbound(role).error())?.first;
        if let Transport::Replayed(_) = model.endpoint.provider.transport {
            return Ok(vec![model.binding.model.clone()]);
        }
        let too_slow = Fault::Timeout { phase: "waiting for the list of models", limit: PROBE_TIME };
        let listed = tokio::time::timeout(PROBE_TIME, list(&model.endpoint)).await.unwrap_or(Err(too_slow));
        listed.map_err(|fault| fault.into_error(&model.target(), 1))
    }
}

/// The providers that a role may ask.
fn providers_of(binding: &Binding) -> impl Iterator<Item = &str> {
    let others = binding.fallback.iter().map(|other| other.provider.as_str());
    std::iter::once(binding.provider.as_str()).chain(others)
}

async fn list(endpoint: &Endpoint) -> Result<Vec<String>, Fault> {
    let key = endpoint.key().await?;
    let mut response = endpoint.list(key.as_ref()).await?;
    if !response.status().is_success() {
        return Err(refusal(response, key.as_ref()).await);
    }
    let body = read_body(&mut response, LIST_BYTES).await.map_err(|error| endpoint.fault_of(error))?;
    model_ids(&body).ok_or_else(|| Fault::Protocol("the answer to /models is no list of models".to_owned()))
}

/// A role without a model.
#[derive(Debug)]
struct Unbound(Role);

impl Unbound {
    fn error(&self) -> ModelError {
        let role = self.0;
        ModelError::NotConfigured(format!("no model is bound to the role {role}; set roles.{role}.model"))
    }

    fn model_info(&self) -> ModelInfo {
        ModelInfo { name: "none".to_owned(), context_window: None, max_tokens: None, price: None }
    }
}

impl ToolUseModel for Unbound {
    fn act<'a>(&'a self, _: ActionRequest, _: DeltaSink<'a>) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(std::future::ready(Err(self.error())))
    }

    fn info(&self) -> ModelInfo {
        self.model_info()
    }
}

impl PlainModel for Unbound {
    fn say<'a>(&'a self, _: PlainRequest, _: DeltaSink<'a>) -> BoxFuture<'a, Result<PlainReply, ModelError>> {
        Box::pin(std::future::ready(Err(self.error())))
    }

    fn info(&self) -> ModelInfo {
        self.model_info()
    }
}
