//! One provider at work: its connection and its key, both made when the first request needs them.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::Response;
use serde_json::Value;
use tandem_shared::role::Role;
use tandem_shared::secret::{SHORTEST_SECRET, Secret};
use tokio::sync::OnceCell;

use crate::error::RouterError;
use crate::fault::Fault;
use crate::provider::{Plaintext, Provider, Transport};
use crate::transport::{Handover, http_client, is_loopback, parse_base, reason_of, trim_base};
use crate::wire::RESERVED;

/// A provider with what it needs to send.
pub(crate) struct Endpoint {
    pub(crate) provider: Provider,
    /// Without a trailing slash. Empty for a cassette.
    pub(crate) base: String,
    headers: HeaderMap,
    http: OnceLock<Result<reqwest::Client, String>>,
    /// A cell a key: a refused key is forgotten by putting a fresh cell here.
    key: Mutex<Arc<OnceCell<Option<Secret>>>>,
}

impl Endpoint {
    /// Checks what can be checked without sending.
    pub(crate) fn new(provider: Provider) -> Result<Endpoint, RouterError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &provider.headers {
            let bad = || RouterError::Header { provider: provider.name.clone(), header: name.clone() };
            let name = HeaderName::try_from(name.as_str()).map_err(|_| bad())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.append(name, value);
        }
        if let Some(key) = RESERVED.into_iter().find(|key| provider.extra_body.contains_key(*key)) {
            return Err(RouterError::ExtraBody { provider: provider.name, key });
        }
        let base = match &provider.transport {
            Transport::Replayed(_) => String::new(),
            Transport::Http | Transport::Recorded(_) => {
                let base = trim_base(&provider.base_url);
                let url = parse_base(base).map_err(|reason| RouterError::BaseUrl {
                    provider: provider.name.clone(),
                    base_url: provider.base_url.clone(),
                    reason,
                })?;
                let open = url.scheme() == "http" && !is_loopback(&url);
                if open && provider.plaintext == Plaintext::LoopbackOnly {
                    return Err(RouterError::Plaintext {
                        provider: provider.name.clone(),
                        base_url: provider.base_url.clone(),
                    });
                }
                base.to_owned()
            }
        };
        Ok(Endpoint { provider, base, headers, http: OnceLock::new(), key: Mutex::default() })
    }

    /// The key, read at the first use.
    pub(crate) async fn key(&self) -> Result<Option<Secret>, Fault> {
        if let Transport::Replayed(_) = self.provider.transport {
            return Ok(None);
        }
        let cell = self.key.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let source = self.provider.key.clone();
        let key = cell.get_or_try_init(|| async move {
            let read = tokio::task::spawn_blocking(move || source.key()).await;
            read.map_err(|error| Fault::NotConfigured(format!("reading the key broke down: {error}")))?
                .map_err(Fault::NotConfigured)
        });
        Ok(key.await?.clone())
    }

    /// Reads the key afresh next time: the server refused this one, and keys that a command gives can expire.
    pub(crate) fn forget_key(&self) {
        *self.key.lock().unwrap_or_else(PoisonError::into_inner) = Arc::default();
    }

    /// Sends a request for a reply, and answers as soon as the headers of the response are there.
    pub(crate) async fn send(
        &self,
        role: Role,
        body: &Value,
        key: Option<&Secret>,
    ) -> Result<Response, Fault> {
        if let Transport::Replayed(cassette) = &self.provider.transport {
            return cassette.answer(role, body);
        }
        let handover = Handover {
            http: self.http()?,
            authorization: self.authorization(key)?,
            headers: self.headers.clone(),
            response: Arc::default(),
        };
        let take = match &self.provider.transport {
            Transport::Recorded(recorder) => Some(recorder.begin(role, body, self.secrets(key))?),
            Transport::Http | Transport::Replayed(_) => None,
        };
        // The client is given no key: its configuration panics on a key that is no header value, and reads variables
        // that are not meant for this provider. The service below puts the right headers in.
        let config = OpenAIConfig::new()
            .with_api_base(self.base.as_str())
            .with_api_key("")
            .with_org_id("")
            .with_project_id("");
        let client =
            async_openai::Client::build(handover.http.clone(), config).with_http_service(handover.clone());
        let sent: Result<Value, OpenAIError> = client.chat().create_byot(body).await;
        let response = handover.response.lock().unwrap_or_else(PoisonError::into_inner).take();
        let answer = match (response, sent) {
            (Some(response), _) => Ok(response),
            (None, Err(OpenAIError::Reqwest(error))) => Err(self.fault_of(error)),
            (None, Err(error)) => {
                Err(Fault::NotConfigured(format!("the request could not be made: {error}")))
            }
            (None, Ok(_)) => Err(Fault::Protocol("the request was answered without a response".to_owned())),
        };
        match take {
            Some(take) => take.note(answer),
            None => answer,
        }
    }

    /// What no record of a request may show: the key, and the values of headers. Words that are too short to be a secret
    /// (`none`, for a server that takes any key) stay, or they would be taken out of every text that holds them.
    fn secrets(&self, key: Option<&Secret>) -> Vec<String> {
        let key = key.map(|key| key.expose().trim().to_owned());
        let values = self.provider.headers.iter().map(|(_, value)| value.trim().to_owned());
        key.into_iter().chain(values).filter(|value| value.len() >= SHORTEST_SECRET).collect()
    }

    /// Asks for the list of models.
    pub(crate) async fn list(&self, key: Option<&Secret>) -> Result<Response, Fault> {
        let mut request = self.http()?.get(format!("{}/models", self.base)).headers(self.headers.clone());
        if let Some(authorization) = self.authorization(key)? {
            request = request.header(AUTHORIZATION, authorization);
        }
        request.send().await.map_err(|error| self.fault_of(error))
    }

    /// What an error of the connection means.
    pub(crate) fn fault_of(&self, error: reqwest::Error) -> Fault {
        if error.is_timeout() && error.is_connect() {
            return Fault::Timeout { phase: "connecting", limit: self.provider.connect_timeout };
        }
        let is_builder = error.is_builder();
        let reason = reason_of(&error.without_url());
        if is_builder { Fault::NotConfigured(reason) } else { Fault::Network(reason) }
    }

    fn http(&self) -> Result<reqwest::Client, Fault> {
        let made = self.http.get_or_init(|| {
            http_client(&self.base, self.provider.connect_timeout, self.provider.ca_file.as_deref())
        });
        made.clone().map_err(Fault::NotConfigured)
    }

    fn authorization(&self, key: Option<&Secret>) -> Result<Option<HeaderValue>, Fault> {
        let Some(key) = key.map(|key| key.expose().trim()) else {
            return Ok(None);
        };
        let source = self.provider.key.describe();
        if key.is_empty() {
            return Err(Fault::NotConfigured(format!("the key is empty; it comes from {source}")));
        }
        let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| {
            Fault::NotConfigured(format!("the key holds characters that no key has; it comes from {source}"))
        })?;
        value.set_sensitive(true);
        Ok(Some(value))
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.provider.fmt(f)
    }
}
