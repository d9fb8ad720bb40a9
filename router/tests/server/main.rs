//! The router against a server on loopback that says, stalls and cuts exactly what a test wants.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod cassette;
mod fallback;
mod faults;
mod forms;
mod matrix;
mod raw;
mod requests;
mod schema;
mod thoughts;
mod way;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use raw::{Answer, Server, error, sse};
use serde_json::{Value, json};
use tandem_router::{
    Binding, Cassette, FallbackModel, KeySource, Plaintext, Provider, Quirks, Retry, Router, ToolProtocol,
    Transport, find_local,
};
use tandem_shared::call::ToolCall;
use tandem_shared::model::{
    ActionRequest, Delta, Finish, Message, ModelError, OwnFields, PlainMessage, PlainReply, PlainRequest,
    Reply, Speaker, Usage,
};
use tandem_shared::role::{ActingRole, Role, WordsRole};
use tandem_shared::secret::Secret;
use tandem_shared::tool::{Access, ToolSpec};

const KEY: &str = "key-of-the-test-1234";

const RETRY: Retry = Retry {
    times: 3,
    first: Duration::from_millis(500),
    longest: Duration::from_secs(60),
    protocol_faults: 3,
};

/// Gives `KEY` followed by the number of the reading, after the first one.
struct Counted(AtomicU32);

impl KeySource for Counted {
    fn key(&self) -> Result<Option<Secret>, String> {
        let key = match self.0.fetch_add(1, Ordering::SeqCst) {
            0 => KEY.to_owned(),
            again => format!("{KEY}-{again}"),
        };
        Ok(Some(Secret::new(key)))
    }

    fn describe(&self) -> String {
        "the environment variable TEST_KEY".to_owned()
    }
}

struct NoKey;

impl KeySource for NoKey {
    fn key(&self) -> Result<Option<Secret>, String> {
        Ok(None)
    }

    fn describe(&self) -> String {
        "nowhere: none is configured".to_owned()
    }
}

struct Missing;

impl KeySource for Missing {
    fn key(&self) -> Result<Option<Secret>, String> {
        Err("set the environment variable TEST_KEY".to_owned())
    }

    fn describe(&self) -> String {
        "the environment variable TEST_KEY".to_owned()
    }
}

fn provider(base_url: &str) -> Provider {
    Provider {
        name: "p".to_owned(),
        base_url: base_url.to_owned(),
        key: Arc::new(Counted(AtomicU32::new(0))),
        headers: vec![("x-team".to_owned(), "blue".to_owned())],
        connect_timeout: Duration::from_secs(10),
        first_token_timeout: Duration::ZERO,
        idle_timeout: Duration::ZERO,
        retry: RETRY,
        transport: Transport::Http,
        quirks: Quirks::default(),
        extra_body: serde_json::Map::new(),
        ca_file: None,
        plaintext: Plaintext::LoopbackOnly,
        tool_protocol: ToolProtocol::Native,
    }
}

fn binding() -> Binding {
    Binding {
        provider: "p".to_owned(),
        model: "m".to_owned(),
        temperature: None,
        max_tokens: None,
        context_window: Some(8_192),
        price: None,
        fallback: Vec::new(),
    }
}

fn router(provider: Provider) -> Router {
    router_of(provider, Vec::new())
}

/// A router whose role asks `p/m`, then the model `n` of each other provider.
fn router_of(first: Provider, others: Vec<Provider>) -> Router {
    let fallback =
        others.iter().map(|other| FallbackModel { provider: other.name.clone(), model: "n".to_owned() });
    let binding = Binding { fallback: fallback.collect(), ..binding() };
    let providers = [vec![first], others].concat();
    Router::new(providers, Role::ALL.map(|role| (role, binding.clone())).into()).unwrap()
}

async fn say(router: &Router) -> (Result<PlainReply, ModelError>, Vec<Delta>) {
    let heard = Mutex::new(Vec::new());
    let message = PlainMessage { speaker: Speaker::User, text: "hello".to_owned() };
    let request = PlainRequest { system: "be brief".to_owned(), messages: vec![message], max_tokens: None };
    let reply =
        router.words(WordsRole::Thinking).say(request, &|delta| heard.lock().unwrap().push(delta)).await;
    (reply, heard.into_inner().unwrap())
}

async fn act(router: &Router, messages: Vec<Message>) -> Result<Reply, ModelError> {
    act_aloud(router, messages).await.0
}

async fn act_aloud(router: &Router, messages: Vec<Message>) -> (Result<Reply, ModelError>, Vec<Delta>) {
    let heard = Mutex::new(Vec::new());
    let tool = ToolSpec {
        name: "grep".to_owned(),
        description: "finds".to_owned(),
        parameters: json!({ "type": "object" }),
        access: Access::Read,
    };
    let request = ActionRequest { system: "look".to_owned(), messages, tools: vec![tool] };
    let planner = router.acting(ActingRole::Planner);
    let reply = planner.act(request, &|delta| heard.lock().unwrap().push(delta)).await;
    (reply, heard.into_inner().unwrap())
}

/// A whole reply with one word.
fn word(word: &str) -> String {
    sse(&[
        json!({ "choices": [{ "index": 0, "delta": { "content": word } }] }),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] }),
        json!({ "choices": [], "usage": { "prompt_tokens": 5, "completion_tokens": 1 } }),
    ]) + "data: [DONE]\n\n"
}

fn a_reply(text: &str) -> PlainReply {
    PlainReply {
        text: text.to_owned(),
        finish: Finish::Stop,
        usage: Some(Usage { prompt: 5, cached: 0, completion: 1, doubtful: false }),
    }
}
