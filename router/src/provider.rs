//! What the router is told: who provides models, where keys come from, and what a role asks of its model.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tandem_shared::model::Price;
use tandem_shared::secret::Secret;

use crate::cassette::{Cassette, Recorder};
use crate::quirks::Quirks;

/// One endpoint, with its key and its patience.
#[derive(Clone)]
pub struct Provider {
    /// The name that bindings use.
    pub name: String,
    /// Where the API is, up to and including `/v1`. A trailing slash or `/chat/completions` does no harm. Not looked at
    /// for a script.
    pub base_url: String,
    /// Where the key comes from; asked when the first request is sent, and again after the server refused the key.
    pub key: Arc<dyn KeySource>,
    /// Further headers of each request.
    pub headers: Vec<(String, String)>,
    /// Until a connection stands; zero is no limit.
    pub connect_timeout: Duration,
    /// Until the first event of a reply; zero is no limit. A comment of the stream starts it afresh.
    pub first_token_timeout: Duration,
    /// Between two arrivals of bytes later on; zero is no limit.
    pub idle_timeout: Duration,
    /// When a failed request is sent again.
    pub retry: Retry,
    /// How requests get there.
    pub transport: Transport,
    /// Where this endpoint differs from the common form.
    pub quirks: Quirks,
    /// Further fields of each request, put in last. `messages`, `model`, `stream` and `tools` cannot be among them.
    pub extra_body: Map<String, Value>,
    /// A PEM file with certificates that are trusted beside the system's own.
    pub ca_file: Option<PathBuf>,
    /// Whether a request may travel unencrypted.
    pub plaintext: Plaintext,
    /// How the model is offered tools.
    pub tool_protocol: ToolProtocol,
}

/// When a failed request is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Tries after the first one.
    pub times: u32,
    /// The first wait; each further one is twice as long.
    pub first: Duration,
    /// The longest wait of our own choice. A server may ask for up to ten times that; one that wants more is down.
    pub longest: Duration,
    /// Faults of the protocol after which a server is taken to be broken, however many tries are left.
    pub protocol_faults: u32,
}

/// How many times the longest wait a server may ask for.
pub(crate) const PATIENCE: u32 = 10;

/// Where `http://` may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plaintext {
    /// To this machine only: elsewhere anybody on the way could read the key and the code.
    LoopbackOnly,
    /// Anywhere.
    Allowed,
}

/// How a model is offered tools, and how it calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolProtocol {
    /// With the `tools` of the API.
    Native,
    /// In words, with a JSON schema that the reply must keep to: for servers and models without tool calls.
    Schema,
}

/// How a provider's requests travel.
#[derive(Clone, Debug)]
pub enum Transport {
    /// To a server.
    Http,
    /// To a server, and written down.
    Recorded(Arc<Recorder>),
    /// Nowhere: replies come from a cassette, through the same decoder.
    Replayed(Arc<Cassette>),
}

/// Where a key comes from.
pub trait KeySource: Send + Sync {
    /// Reads the key, which may run a command; called off the async threads. `None`: the endpoint needs no key.
    ///
    /// # Errors
    /// What is missing and how to provide it, for a person.
    fn key(&self) -> Result<Option<Secret>, String>;
    /// The source in words that go on from "The key comes from": `the environment variable X`.
    fn describe(&self) -> String;
}

/// The model of a role.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Name of a [`Provider`].
    pub provider: String,
    /// The model's name at that provider; may hold slashes.
    pub model: String,
    /// Left out of requests when `None`: some models refuse it.
    pub temperature: Option<f64>,
    /// The limit on an answer in tokens; left out of requests when `None`.
    pub max_tokens: Option<u32>,
    /// In tokens, when known.
    pub context_window: Option<u64>,
    /// Prices, when known.
    pub price: Option<Price>,
    /// Asked in this order when the retries are spent.
    pub fallback: Vec<FallbackModel>,
}

/// A model that is asked when the one before it could not be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FallbackModel {
    /// Name of a [`Provider`].
    pub provider: String,
    /// The model's name at that provider; may hold slashes.
    pub model: String,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers and extra fields may carry keys too: only their names are shown.
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Provider")
            .field("name", &self.name)
            .field("base_url", &self.base_url)
            .field("key", &self.key.describe())
            .field("headers", &headers)
            .field("connect_timeout", &self.connect_timeout)
            .field("first_token_timeout", &self.first_token_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("retry", &self.retry)
            .field("transport", &self.transport)
            .field("quirks", &self.quirks)
            .field("extra_body", &self.extra_body.keys().collect::<Vec<_>>())
            .field("ca_file", &self.ca_file)
            .field("plaintext", &self.plaintext)
            .field("tool_protocol", &self.tool_protocol)
            .finish()
    }
}
