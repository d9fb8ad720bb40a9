//! A role's model, ready to be asked, with those that stand in for it when it cannot be reached.

use std::collections::HashSet;

use futures::future::BoxFuture;
use tandem_shared::model::{
    ActionRequest, Delta, DeltaSink, Finish, Message, ModelError, ModelInfo, PlainModel, PlainReply,
    PlainRequest, Reply, ToolUseModel,
};
use tandem_shared::role::Role;

use crate::assemble::Draft;
use crate::candidate::{Candidate, Wanted};
use crate::schema::{self, may_change};
use crate::think::words;

/// A role's models in the order in which they are asked.
#[derive(Debug)]
pub(crate) struct BoundModel {
    pub(crate) role: Role,
    pub(crate) first: Candidate,
    pub(crate) fallback: Vec<Candidate>,
}

impl BoundModel {
    pub(crate) fn model_info(&self) -> ModelInfo {
        let binding = &self.first.binding;
        ModelInfo {
            name: self.first.name(),
            context_window: binding.context_window,
            max_tokens: binding.max_tokens,
            price: binding.price,
        }
    }

    /// Asks one model after another until one answers, or fails in a way that another model would not mend.
    async fn ask(&self, wanted: Wanted<'_>, sink: DeltaSink<'_>) -> Result<(Draft, &Candidate), ModelError> {
        let all = std::iter::once(&self.first).chain(&self.fallback);
        // Those that could not be reached a moment ago come last: each of their tries may take a whole time limit.
        let (ready, resting): (Vec<_>, Vec<_>) = all.partition(|candidate| !candidate.rests());
        let mut others = ready.into_iter().chain(resting);
        let mut candidate = others.next().unwrap_or(&self.first);
        if candidate.name() != self.first.name() {
            let reason = format!("{} could not be reached a moment ago", self.first.name());
            sink(Delta::Fallback { to: candidate.name(), reason });
        }
        loop {
            let error = match candidate.ask(self.role, wanted, sink).await {
                Ok(draft) => return Ok((draft, candidate)),
                Err(error) => error,
            };
            let next = others.next().filter(|_| is_out_of_reach(&error));
            let Some(next) = next else { return Err(error) };
            candidate.rest();
            tracing::warn!(from = candidate.name(), to = next.name(), %error, "fallback");
            sink(Delta::Fallback { to: next.name(), reason: error.to_string() });
            candidate = next;
        }
    }
}

/// Whether the model could not be reached, however often it was tried. A request that was refused would be refused
/// elsewhere, and a wrong key is for its owner to know.
fn is_out_of_reach(error: &ModelError) -> bool {
    match error {
        ModelError::RateLimit { .. }
        | ModelError::Server { .. }
        | ModelError::Network { .. }
        | ModelError::Timeout { .. }
        | ModelError::Protocol { .. } => true,
        ModelError::NotConfigured(_)
        | ModelError::Authentication { .. }
        | ModelError::ContextOverflow { .. }
        | ModelError::BadRequest { .. } => false,
    }
}

impl ToolUseModel for BoundModel {
    fn act<'a>(
        &'a self,
        request: ActionRequest,
        sink: DeltaSink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let wanted = Wanted::Action(&request);
            let (draft, by) = self.ask(wanted, sink).await?;
            let finish = by.finish(&draft);
            let make_id = || format!("call_{:016x}", fastrand::u64(..));
            let in_words = by.calls_in_words(wanted) && draft.calls.is_empty();
            let mut reply = draft.into_reply(finish, &call_ids(&request.messages), make_id, |name| {
                may_change(&request.tools, name)
            });
            if in_words {
                let (said, called) = schema::settle(reply.text, finish, &request.tools, make_id);
                reply.text = said;
                reply.calls.extend(called);
            }
            Ok(reply)
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
            let (draft, by) = self.ask(Wanted::Words(&request), sink).await?;
            let finish: Finish = by.finish(&draft);
            // Words for another model to read: thoughts beside them would only be in its way. Some models put all they
            // have to say into their reasoning, above all when the limit cuts them short.
            let said = [words(&draft.text), &draft.text, &draft.reasoning];
            let text = said.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default();
            Ok(PlainReply { text: text.to_owned(), finish, usage: draft.usage })
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
