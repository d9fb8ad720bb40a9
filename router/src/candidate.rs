//! One model at one endpoint: how it is asked there, and what has been learned about it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tandem_shared::model::{ActionRequest, Delta, DeltaSink, Finish, ModelError, PlainRequest, Usage};
use tandem_shared::role::Role;

use crate::ask::{Judge, ask};
use crate::assemble::Draft;
use crate::endpoint::Endpoint;
use crate::fault::Target;
use crate::provider::{Binding, ToolProtocol};
use crate::schema;
use crate::wire::{Form, action_body, plain_body};

/// Bytes of text for a token, roughly.
const BYTES_PER_TOKEN: usize = 4;

/// Tokens of a request under which the estimate is too rough to say anything about the server.
const ALARM_FROM: usize = 2_000;

/// How long a model that could not be reached is asked after its stand-ins.
const REST: Duration = Duration::from_secs(60);

/// What is wanted of a model.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted<'a> {
    /// Words and calls.
    Action(&'a ActionRequest),
    /// Words.
    Words(&'a PlainRequest),
}

/// A model at an endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) binding: Binding,
    pub(crate) endpoint: Arc<Endpoint>,
    /// The same for all roles that use the model.
    pub(crate) learned: Arc<Learned>,
}

/// What replies have shown about a model.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    /// Messages that only call are taken with the other content alone.
    other_content: AtomicBool,
    /// A person knows that the server cuts long requests.
    alarmed: AtomicBool,
    /// Until when others are asked first.
    rests_until: Mutex<Option<Instant>>,
}

impl Candidate {
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.binding.provider, self.binding.model)
    }

    pub(crate) fn target(&self) -> Target {
        Target {
            model: self.name(),
            url: self.endpoint.base.clone(),
            key_source: self.endpoint.provider.key.describe(),
        }
    }

    /// Its retries were spent: others are asked first for a while.
    pub(crate) fn rest(&self) {
        let until = Instant::now().checked_add(REST);
        *self.learned.rests_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    /// Whether others are to be asked first.
    pub(crate) fn rests(&self) -> bool {
        let until = *self.learned.rests_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    /// Whether calls are asked for, and come, as text.
    pub(crate) fn calls_in_words(&self, wanted: Wanted<'_>) -> bool {
        let in_words = self.endpoint.provider.tool_protocol == ToolProtocol::Schema;
        in_words && matches!(wanted, Wanted::Action(request) if !request.tools.is_empty())
    }

    /// Asks until there is a whole reply, or until asking again is pointless.
    pub(crate) async fn ask(
        &self,
        role: Role,
        wanted: Wanted<'_>,
        sink: DeltaSink<'_>,
    ) -> Result<Draft, ModelError> {
        if !self.calls_in_words(wanted) {
            return self.ask_in_either_form(role, wanted, sink, &|_| Ok(())).await;
        }
        let listener = schema::Listener::default();
        let shown = |delta: Delta| listener.hear(delta).into_iter().for_each(sink);
        let tools = match wanted {
            Wanted::Action(request) => request.tools.as_slice(),
            Wanted::Words(_) => &[],
        };
        self.ask_in_either_form(role, wanted, &shown, &|draft| schema::check(draft, tools)).await
    }

    /// Where a request is refused for the content of messages that only call, the other content is tried once, and kept
    /// when it is taken.
    async fn ask_in_either_form(
        &self,
        role: Role,
        wanted: Wanted<'_>,
        sink: DeltaSink<'_>,
        judge: Judge<'_>,
    ) -> Result<Draft, ModelError> {
        let learned = self.learned.other_content.load(Ordering::Relaxed);
        let body = self.body(wanted, learned);
        let error = match self.ask_once(role, &body, sink, judge).await {
            Err(ModelError::BadRequest { model, status, body }) if speaks_of_content(status, &body) => {
                ModelError::BadRequest { model, status, body }
            }
            other => return other,
        };
        let other = self.body(wanted, !learned);
        if other == body {
            return Err(error);
        }
        sink(Delta::Retry { attempt: 1, wait: Duration::ZERO, reason: error.to_string() });
        let draft = self.ask_once(role, &other, sink, judge).await?;
        self.learned.other_content.store(!learned, Ordering::Relaxed);
        Ok(draft)
    }

    async fn ask_once(
        &self,
        role: Role,
        body: &Value,
        sink: DeltaSink<'_>,
        judge: Judge<'_>,
    ) -> Result<Draft, ModelError> {
        let mut draft = ask(&self.endpoint, &self.target(), role, body, sink, judge).await?;
        self.doubt_usage(body, &mut draft, sink);
        Ok(draft)
    }

    fn body(&self, wanted: Wanted<'_>, other_content: bool) -> Value {
        let provider = &self.endpoint.provider;
        let other = other_content.then(|| provider.quirks.with_other_content());
        let form = Form {
            quirks: other.as_ref().unwrap_or(&provider.quirks),
            extra: &provider.extra_body,
            tools: provider.tool_protocol,
        };
        match wanted {
            Wanted::Action(request) => action_body(&self.binding, form, request),
            Wanted::Words(request) => plain_body(&self.binding, form, request),
        }
    }

    /// A server that silently cuts long requests counts far fewer tokens than were sent. A person is told once, and its
    /// count is marked: it is what the server charges for, but no later estimate is corrected by it.
    fn doubt_usage(&self, body: &Value, draft: &mut Draft, sink: DeltaSink<'_>) {
        let Some(usage) = draft.usage else { return };
        let said = text_bytes(&body["messages"]) / BYTES_PER_TOKEN;
        let estimate = said + text_bytes(&body["tools"]) / BYTES_PER_TOKEN;
        // Zero is no count, and where more is cached than counted, the cached part is not in the count.
        let counted = if usage.cached > usage.prompt { usage.prompt + usage.cached } else { usage.prompt };
        let is_cut = usize::try_from(counted).is_ok_and(|counted| counted > 0 && counted < estimate / 2);
        if estimate <= ALARM_FROM || !is_cut {
            return;
        }
        draft.usage = Some(Usage { doubtful: true, ..usage });
        if !self.learned.alarmed.swap(true, Ordering::Relaxed) {
            let name = self.name();
            // A count that fits the words alone means that the model never sees the tools.
            let why = if usize::try_from(counted).is_ok_and(|counted| counted >= said / 2) {
                "the server seems to leave out the tools, as templates without tools do. Set tool_protocol = \"schema\" \
                 for this provider."
            } else {
                "the server seems to cut long requests without a word. Raise its context length (num_ctx, -c, \
                 --max-model-len), or set context_window to what it really has."
            };
            let text =
                format!("{name} counted {counted} prompt tokens where about {estimate} were sent: {why}");
            sink(Delta::Alarm { text });
        }
    }

    /// Why the reply ended. Some servers say that the model was done, or calls, when it ran into a limit in the middle of
    /// a call.
    pub(crate) fn finish(&self, draft: &Draft) -> Finish {
        let finish = draft.finish();
        let Some(usage) = draft.usage else { return finish };
        let at_limit = self.binding.max_tokens.is_some_and(|limit| usage.completion >= u64::from(limit));
        let window = self.binding.context_window.unwrap_or(u64::MAX);
        let window_full = usage.prompt.saturating_add(usage.completion) >= window;
        let cut = finish == Finish::Stop && (at_limit || window_full) && draft.ends_open();
        if cut { Finish::Length } else { finish }
    }
}

fn speaks_of_content(status: u16, body: &str) -> bool {
    matches!(status, 400 | 422) && body.to_lowercase().contains("content")
}

/// Bytes of all texts in a part of a request.
fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + text_bytes(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
