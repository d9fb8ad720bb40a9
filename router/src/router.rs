//! The router: from a role to the model that it is bound to.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tandem_shared::model::{
    ActionRequest, DeltaSink, Message, ModelError, ModelInfo, PlainModel, PlainReply, PlainRequest, Reply,
    ToolUseModel,
};
use tandem_shared::role::{ActingRole, Role, WordsRole};

use crate::ask::{ask, read_body, refusal};
use crate::endpoint::Endpoint;
use crate::error::RouterError;
use crate::fault::{Fault, Target};
use crate::local::{LIST_BYTES, model_ids};
use crate::provider::{Binding, Provider, Transport};
use crate::wire::{action_body, plain_body};

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
        let used: HashSet<&str> = bindings.values().map(|binding| binding.provider.as_str()).collect();
        let mut endpoints: HashMap<String, Arc<Endpoint>> = HashMap::new();
        for provider in providers {
            // A provider that nobody uses may be half configured.
            if used.contains(provider.name.as_str()) {
                endpoints.insert(provider.name.clone(), Arc::new(Endpoint::new(provider)?));
            }
        }
        let mut bound = HashMap::new();
        for role in Role::ALL {
            let Some(binding) = bindings.get(&role) else { continue };
            let endpoint = endpoints.get(&binding.provider).ok_or_else(|| RouterError::UnknownProvider {
                role,
                provider: binding.provider.clone(),
                known: if names.is_empty() { "none".to_owned() } else { names.join(", ") },
            })?;
            let model = BoundModel { role, binding: binding.clone(), endpoint: endpoint.clone() };
            bound.insert(role, Arc::new(model));
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

    /// Asks the provider of a role for its models, once and for a few seconds. A cassette answers with the role's model.
    ///
    /// # Errors
    /// As for a request, after one try.
    pub async fn probe(&self, role: Role) -> Result<Vec<String>, ModelError> {
        let model = self.bound.get(&role).ok_or_else(|| Unbound(role).error())?;
        if let Transport::Replayed(_) = model.endpoint.provider.transport {
            return Ok(vec![model.binding.model.clone()]);
        }
        let too_slow = Fault::Timeout { phase: "waiting for the list of models", limit: PROBE_TIME };
        let listed = tokio::time::timeout(PROBE_TIME, model.list()).await.unwrap_or(Err(too_slow));
        listed.map_err(|fault| fault.into_error(&model.target(), 1))
    }
}

/// A role's model, ready to be asked.
#[derive(Debug)]
struct BoundModel {
    role: Role,
    binding: Binding,
    endpoint: Arc<Endpoint>,
}

impl BoundModel {
    fn name(&self) -> String {
        format!("{}/{}", self.binding.provider, self.binding.model)
    }

    fn target(&self) -> Target {
        Target {
            model: self.name(),
            url: self.endpoint.base.clone(),
            key_source: self.endpoint.provider.key.describe(),
        }
    }

    fn model_info(&self) -> ModelInfo {
        ModelInfo {
            name: self.name(),
            context_window: self.binding.context_window,
            max_tokens: self.binding.max_tokens,
            price: self.binding.price,
        }
    }

    async fn list(&self) -> Result<Vec<String>, Fault> {
        let key = self.endpoint.key().await?;
        let mut response = self.endpoint.list(key.as_ref()).await?;
        if !response.status().is_success() {
            return Err(refusal(response, key.as_ref()).await);
        }
        let body =
            read_body(&mut response, LIST_BYTES).await.map_err(|error| self.endpoint.fault_of(error))?;
        model_ids(&body)
            .ok_or_else(|| Fault::Protocol("the answer to /models is no list of models".to_owned()))
    }
}

impl ToolUseModel for BoundModel {
    fn act<'a>(
        &'a self,
        request: ActionRequest,
        sink: DeltaSink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let body = action_body(&self.binding, self.endpoint.form(), &request);
            let draft = ask(&self.endpoint, &self.target(), self.role, &body, sink).await?;
            let finish = draft.finish();
            let make_id = || format!("call_{:016x}", fastrand::u64(..));
            let calls = draft.calls.settle(finish, &call_ids(&request.messages), make_id);
            let reasoning = Some(draft.reasoning).filter(|text| !text.is_empty());
            Ok(Reply { text: draft.text, reasoning, calls, finish, usage: draft.usage })
        })
    }

    fn info(&self) -> ModelInfo {
        self.model_info()
    }
}

impl PlainModel for BoundModel {
    fn say<'a>(
        &'a self,
        request: PlainRequest,
        sink: DeltaSink<'a>,
    ) -> BoxFuture<'a, Result<PlainReply, ModelError>> {
        Box::pin(async move {
            let body = plain_body(&self.binding, self.endpoint.form(), &request);
            let draft = ask(&self.endpoint, &self.target(), self.role, &body, sink).await?;
            let finish = draft.finish();
            // Some models put all they have to say into their reasoning, above all when the limit cuts them short.
            let text = if draft.text.trim().is_empty() { draft.reasoning } else { draft.text };
            Ok(PlainReply { text, finish, usage: draft.usage })
        })
    }

    fn info(&self) -> ModelInfo {
        self.model_info()
    }
}

/// The ids of earlier calls. Some servers count from one in each reply.
fn call_ids(messages: &[Message]) -> HashSet<&str> {
    let calls = messages.iter().flat_map(|message| match message {
        Message::Assistant { calls, .. } => calls.as_slice(),
        Message::User { .. } | Message::Tool { .. } => &[],
    });
    calls.map(|call| call.id.as_str()).collect()
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
