//! The endpoint under examination: what has been found so far, and the way to ask it something.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tandem_shared::model::ModelError;
use tandem_shared::role::Role;

use super::exchange::Answer;
use super::finding::{Examination, Finding, Scope, Verdict};
use super::texts;
use crate::ask::{read_body, refusal};
use crate::candidate::Candidate;
use crate::clean::clean;
use crate::fault::Fault;
use crate::local::{LIST_BYTES, model_ids};
use crate::provider::{ToolProtocol, Transport};
use crate::quirks::{MaxTokensField, Quirks, SystemRole};

/// How long one answer may take: a small machine may have to load the model first.
const ANSWER_TIME: Duration = Duration::from_secs(180);

/// Tries of a request that meets a busy server.
const TRIES: u32 = 3;

/// The longest wait for a busy server.
const BUSY_WAIT: Duration = Duration::from_secs(30);

/// Tokens of an answer: enough for a model that reasons first, and a bound on one that never ends.
const ANSWER_TOKENS: u64 = 1_024;

/// Characters of a server's words in a finding.
const SAID_CHARS: usize = 120;

/// How an endpoint took a request.
#[derive(Debug)]
pub(super) enum Taken {
    /// With an answer.
    Answered(Box<Answer>),
    /// Not in this form: its words.
    Refused(String),
}

/// An endpoint with a model, and what is known of it.
pub(super) struct Patient<'a> {
    pub(super) candidate: &'a Candidate,
    pub(super) quirks: Quirks,
    pub(super) window: Option<u64>,
    /// Whether calls came, and came back, in the form of the API.
    pub(super) calls_natively: bool,
    /// Whether a schema for the reply was kept to.
    pub(super) keeps_schema: bool,
    role: Role,
    told: &'a (dyn Fn(&Finding) + Send + Sync),
    findings: Vec<Finding>,
    requests: u32,
    /// Neither name of the limit is understood.
    pub(super) unlimited: bool,
    locals: Vec<SocketAddr>,
    /// Requests whose connection broke although the server had answered before.
    dropped: u32,
}

impl<'a> Patient<'a> {
    pub(super) fn new(
        role: Role,
        candidate: &'a Candidate,
        told: &'a (dyn Fn(&Finding) + Send + Sync),
    ) -> Patient<'a> {
        Patient {
            candidate,
            quirks: Quirks::default(),
            window: None,
            calls_natively: false,
            keeps_schema: false,
            role,
            told,
            findings: Vec::new(),
            requests: 0,
            unlimited: true,
            locals: Vec::new(),
            dropped: 0,
        }
    }

    pub(super) fn note(
        &mut self,
        probe: &'static str,
        verdict: Verdict,
        found: impl Into<String>,
        means: &str,
    ) {
        let finding = Finding { probe, verdict, found: found.into(), means: means.to_owned() };
        (self.told)(&finding);
        self.findings.push(finding);
    }

    /// A request with these messages, and with all that was found out to be taken.
    pub(super) fn body(&self, messages: Vec<Value>) -> Map<String, Value> {
        let mut body = bare(&self.candidate.binding.model, messages);
        if !self.unlimited {
            body.insert("max_tokens".to_owned(), json!(ANSWER_TOKENS));
        }
        body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
        self.quirks.apply(&mut body);
        body
    }

    /// The same, after the system text and with both tools on offer.
    pub(super) fn tool_body(&self, messages: Vec<Value>) -> Map<String, Value> {
        let system = json!({ "role": "system", "content": texts::SYSTEM.trim() });
        let mut body = self.body(std::iter::once(system).chain(messages).collect());
        body.insert("tools".to_owned(), texts::tools());
        body
    }

    /// Sends a request. A busy server is waited for; a refused key and a dead connection are faults.
    pub(super) async fn ask(&mut self, body: Map<String, Value>) -> Result<Taken, Fault> {
        let mut body = body;
        for (name, value) in &self.candidate.endpoint.provider.extra_body {
            body.insert(name.clone(), value.clone());
        }
        let body = Value::Object(body);
        let mut attempt = 0;
        loop {
            attempt += 1;
            let fault = match self.try_once(&body).await {
                Ok(taken) => return Ok(taken),
                Err(fault) => fault,
            };
            match fault {
                Fault::Status { status: 408 | 409 | 429 | 500.., retry_after, .. } if attempt < TRIES => {
                    let usual = Duration::from_millis(500 * u64::from(attempt));
                    tokio::time::sleep(retry_after.unwrap_or(usual).min(BUSY_WAIT)).await;
                }
                // A server may close a connection just as the next request goes out on it.
                Fault::Network(_) if !self.locals.is_empty() && attempt < TRIES => self.dropped += 1,
                // Some servers break down on what they do not know instead of refusing it.
                Fault::Status { status, body, .. } if !matches!(status, 401 | 403 | 408 | 409 | 429) => {
                    return Ok(Taken::Refused(format!("{status}: {}", short(&body))));
                }
                fault => return Err(fault),
            }
        }
    }

    async fn try_once(&mut self, body: &Value) -> Result<Taken, Fault> {
        let endpoint = &self.candidate.endpoint;
        let key = endpoint.key().await?;
        self.requests += 1;
        let exchange = async {
            let response = endpoint.send(self.role, body, key.as_ref()).await?;
            if !response.status().is_success() {
                return Err(refusal(response, key.as_ref()).await);
            }
            Answer::read(response).await.map_err(|error| endpoint.fault_of(error))
        };
        let too_slow = Fault::Timeout { phase: "waiting for an answer", limit: ANSWER_TIME };
        let answer = tokio::time::timeout(ANSWER_TIME, exchange).await.unwrap_or(Err(too_slow))?;
        self.locals.extend(answer.local);
        Ok(match &answer.error {
            Some(error) => Taken::Refused(short(&clean(error, key.as_ref()))),
            None => Taken::Answered(Box::new(answer)),
        })
    }

    /// The models that the endpoint lists; `None` from a cassette, which has no list.
    pub(super) async fn list(&mut self) -> Option<Result<Vec<String>, Fault>> {
        let endpoint = &self.candidate.endpoint;
        if let Transport::Replayed(_) = endpoint.provider.transport {
            return None;
        }
        self.requests += 1;
        let listed = async {
            let key = endpoint.key().await?;
            let mut response = endpoint.list(key.as_ref()).await?;
            if !response.status().is_success() {
                return Err(refusal(response, key.as_ref()).await);
            }
            let body =
                read_body(&mut response, LIST_BYTES).await.map_err(|error| endpoint.fault_of(error))?;
            model_ids(&body).ok_or_else(|| Fault::Protocol("the answer is no list of models".to_owned()))
        };
        let too_slow = Fault::Timeout { phase: "waiting for the list of models", limit: ANSWER_TIME };
        Some(tokio::time::timeout(ANSWER_TIME, listed).await.unwrap_or(Err(too_slow)))
    }

    /// Whether requests found the connection of an earlier one open.
    pub(super) fn connections(&mut self) {
        if self.locals.len() < 2 {
            return;
        }
        let mut uses: HashMap<SocketAddr, u32> = HashMap::new();
        for local in &self.locals {
            *uses.entry(*local).or_default() += 1;
        }
        let found = format!("{} connections for {} requests", uses.len(), self.locals.len());
        match (self.dropped, uses.len() == self.locals.len()) {
            (0, true) => {
                self.note("keep-alive", Verdict::Odd, found, "each request opens a connection of its own")
            }
            (0, false) => self.note("keep-alive", Verdict::Good, found, "connections are used again"),
            (dropped, _) => self.note(
                "keep-alive",
                Verdict::Odd,
                format!("{found}, {dropped} of them closed under a request"),
                "such a request is sent again, as any that meets a network fault",
            ),
        }
    }

    pub(super) fn fail(mut self, fault: Fault) -> Examination {
        self.note("request", Verdict::Bad, short(&fault.reason()), "this role cannot work");
        let error = fault.into_error(&self.candidate.target(), self.requests);
        Examination { fault: Some(error), ..self.into_examination(None) }
    }

    pub(super) fn done(self, scope: Scope) -> Examination {
        let protocol = match (self.calls_natively, self.keeps_schema) {
            (true, _) => Some(ToolProtocol::Native),
            (false, true) => Some(ToolProtocol::Schema),
            (false, false) => None,
        };
        if scope == Scope::Words {
            return self.into_examination(None);
        }
        let model = self.candidate.name();
        let requests = self.requests;
        let fault = protocol.is_none().then(|| ModelError::Protocol {
            model,
            reason: "the model called no tool, neither in the form of the API nor in that of a schema"
                .to_owned(),
            attempts: requests,
        });
        Examination { fault, ..self.into_examination(protocol) }
    }

    fn into_examination(self, tool_protocol: Option<ToolProtocol>) -> Examination {
        Examination {
            findings: self.findings,
            quirks: self.quirks,
            tool_protocol,
            window: self.window,
            requests: self.requests,
            fault: None,
        }
    }
}

/// A request with nothing that could be left out.
pub(super) fn bare(model: &str, messages: Vec<Value>) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("messages".to_owned(), Value::Array(messages));
    body.insert("stream".to_owned(), json!(true));
    body
}

/// The names of the limit, the common one first.
pub(super) const LIMITS: [(MaxTokensField, &str); 2] = [
    (MaxTokensField::MaxTokens, "max_tokens"),
    (MaxTokensField::MaxCompletionTokens, "max_completion_tokens"),
];

/// The roles of the system text, the common one first.
pub(super) const SYSTEM_ROLES: [(SystemRole, &str); 3] =
    [(SystemRole::System, "system"), (SystemRole::Developer, "developer"), (SystemRole::User, "user")];

pub(super) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SAID_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
