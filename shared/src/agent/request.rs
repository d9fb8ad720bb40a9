//! What a run is handed, how it ends, and how one request is sent and booked.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;

use super::shown::Shown;
use crate::call::ToolCall;
use crate::context::{self, Preamble};
use crate::event::Event;
use crate::history::History;
use crate::interrupt::{Cause, Interrupt};
use crate::model::{
    ActionRequest, Delta, Finish, ModelError, ModelInfo, OwnFields, PlainModel, PlainRequest, Reply,
    ToolUseModel, Usage,
};
use crate::plan::Plan;
use crate::record::{Record, ReplyEnd, Spent};
use crate::role::{ActingRole, Role, WordsRole};
use crate::secret::Masker;
use crate::settings::{ContextSettings, LoopSettings, ThinkingSettings};
use crate::store::{SessionStore, StoreError};
use crate::tool::Toolbox;

/// Hears what happens.
pub type Hear<'a> = &'a (dyn Fn(Event) + Send + Sync);

/// Everything that one run of the loop works with.
pub struct Agent<'a> {
    /// Who acts.
    pub role: ActingRole,
    /// The acting role's model.
    pub model: Arc<dyn ToolUseModel>,
    /// The thinking role's model.
    pub thinker: Arc<dyn PlainModel>,
    /// The compaction role's model.
    pub compactor: Arc<dyn PlainModel>,
    /// What may be called.
    pub toolbox: &'a dyn Toolbox,
    /// The open session.
    pub store: &'a SessionStore,
    /// The system messages.
    pub system: &'a SystemTexts,
    /// The project's own notes, already fenced; empty when there are none.
    pub project: &'a str,
    /// The numbers.
    pub settings: &'a Settings,
    /// Judges the work between rounds.
    pub overseer: &'a dyn Overseer,
    /// Takes secrets out of whatever comes in.
    pub masker: &'a Masker,
    /// Hears what happens.
    pub hear: Hear<'a>,
    /// Stops everything.
    pub interrupt: &'a Interrupt,
}

/// System messages, frozen for the session.
#[derive(Clone, Debug)]
pub struct SystemTexts {
    /// For the acting role.
    pub acting: String,
    /// For the thinking role.
    pub thinking: String,
}

/// The numbers of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `[loop]`.
    pub limits: LoopSettings,
    /// `[context]`.
    pub context: ContextSettings,
    /// `[thinking]`.
    pub thinking: ThinkingSettings,
}

/// Judges the work between rounds, for example by running a plan's checks. What it finds goes into the store.
pub trait Overseer: Send + Sync {
    /// All calls of a round have their outcomes; reminders come next.
    fn after_round<'a>(
        &'a self,
        store: &'a SessionStore,
        hear: Hear<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
    /// The model ended in words; whether they are the answer is decided next.
    fn at_words<'a>(
        &'a self,
        store: &'a SessionStore,
        hear: Hear<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// Judges nothing: a planner leaves nothing to judge.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Overseer for Unwatched {
    fn after_round<'a>(&'a self, _: &'a SessionStore, _: Hear<'a>) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(std::future::ready(Ok(())))
    }
    fn at_words<'a>(&'a self, _: &'a SessionStore, _: Hear<'a>) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// How a run ended.
#[derive(Debug)]
pub enum End {
    /// With words: the answer, unless they are blank or cut.
    Words {
        /// As the model wrote them.
        text: String,
        /// Why they ended.
        finish: Finish,
    },
    /// With a drafted plan.
    Plan(Plan),
    /// A limit was reached; the words are the wrap-up, possibly empty.
    Limit {
        /// Which.
        what: String,
        /// What the model said last.
        words: String,
    },
    /// Every call of several rounds in a row failed.
    Failing,
    /// A plan step's check failed again after all its repairs.
    CheckFailing,
    /// The loop guard stopped it.
    Loop,
    /// A person stopped it.
    Interrupted,
    /// The model could not be reached, or refused.
    Model(ModelError),
    /// The log could not be written.
    Store(StoreError),
}

impl From<StoreError> for End {
    fn from(error: StoreError) -> End {
        End::Store(error)
    }
}

impl Agent<'_> {
    /// Asks the acting model, and books the reply. An interrupt keeps the text that was heard.
    pub(super) async fn ask(&self) -> Result<Reply, End> {
        let request = self.action_request();
        let estimate = context::request_tokens(&request.system, &request.messages, &request.tools);
        let heard = Mutex::new((String::new(), Shown::default()));
        let answering = Mutex::new(self.model.info());
        let sink = |delta: Delta| {
            let (heard, shown) = &mut *locked(&heard);
            match &delta {
                Delta::Text(text) => {
                    heard.push_str(text);
                    if let Some(text) = shown.hear(text) {
                        self.tell(Delta::Text(text));
                    }
                    return;
                }
                Delta::Retry { .. } => {
                    heard.clear();
                    shown.begin_again();
                }
                Delta::Fallback { to, .. } => {
                    heard.clear();
                    shown.begin_again();
                    stand_in(&mut locked(&answering), to);
                }
                Delta::Reasoning(_) | Delta::Alarm { .. } => {}
            }
            self.tell(delta);
        };
        let reply = tokio::select! {
            biased;
            () = self.interrupt.raised() => None,
            reply = self.model.act(request, &sink) => Some(reply),
        };
        let info = locked(&answering).clone();
        let Some(reply) = reply else {
            let text = locked(&heard).0.clone();
            if !text.is_empty() {
                let spent = self.spent(&info, None, estimate, &text);
                let cut = Reply {
                    text,
                    reasoning: None,
                    own: OwnFields::default(),
                    calls: Vec::new(),
                    finish: Finish::Stop,
                    usage: None,
                };
                self.book_reply(&info, &cut, ReplyEnd::Interrupted, spent)?;
            }
            return Err(self.stopped());
        };
        let mut reply = reply.map_err(End::Model)?;
        self.make_ids_unique(&mut reply.calls);
        let answer = reply.calls.iter().fold(reply.text.clone(), |text, call| text + &call.arguments);
        let spent = self.spent(&info, reply.usage, estimate, &answer);
        self.book_reply(&info, &reply, reply.finish.into(), spent)?;
        Ok(reply)
    }

    /// The request that would be sent now.
    pub(super) fn action_request(&self) -> ActionRequest {
        ActionRequest {
            system: self.system.acting.clone(),
            messages: self.with_preamble(context::wire),
            tools: self.toolbox.specs(),
        }
    }

    /// Sends a request of a role that only speaks, and books it.
    ///
    /// # Errors
    /// When it was interrupted, or the log could not be written.
    pub async fn say(
        &self,
        role: WordsRole,
        model: &dyn PlainModel,
        request: PlainRequest,
    ) -> Result<Result<String, ModelError>, End> {
        let sent: String = request.messages.iter().map(|message| message.text.as_str()).collect();
        let estimate = context::estimate(&request.system) + context::estimate(&sent);
        let answering = Mutex::new(model.info());
        let silent = |delta: Delta| match &delta {
            Delta::Text(_) | Delta::Reasoning(_) => {}
            Delta::Retry { .. } | Delta::Alarm { .. } => self.tell(delta),
            Delta::Fallback { to, .. } => {
                stand_in(&mut locked(&answering), to);
                self.tell(delta);
            }
        };
        let reply = tokio::select! {
            biased;
            () = self.interrupt.raised() => return Err(self.stopped()),
            reply = model.say(request, &silent) => reply,
        };
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => {
                self.store.record([Record::Unsaid { role, error: error.to_string() }])?;
                return Ok(Err(error));
            }
        };
        let info = locked(&answering).clone();
        let spent = self.spent(&info, reply.usage, estimate, &reply.text);
        self.store.record([Record::Said { role, model: info.name, text: reply.text.clone(), spent }])?;
        self.tell_usage(role.into());
        Ok(Ok(reply.text))
    }

    /// Derives a form of the history, with what stands before it.
    pub(super) fn with_preamble<T>(&self, derive: impl Fn(&History, &Preamble<'_>) -> T) -> T {
        let plan = self.plan();
        self.store.history(|history| derive(history, &self.preamble(plan.as_ref())))
    }

    /// What stands before the conversation.
    pub(super) fn preamble<'p>(&'p self, plan: Option<&'p Plan>) -> Preamble<'p> {
        let mode = match self.role {
            ActingRole::Planner => "plan mode, looking only",
            ActingRole::Executor => "execution",
        };
        Preamble { project: self.project, plan, mode }
    }

    /// The newest plan.
    pub(super) fn plan(&self) -> Option<Plan> {
        self.store.facts(|facts| facts.plan.as_ref().map(|plan| plan.plan.clone()))
    }

    /// How the run ends when the interrupt was raised.
    pub(super) fn stopped(&self) -> End {
        match self.interrupt.cause() {
            Some(Cause::Deadline) => End::Limit {
                what: format!("the time budget of {} s", self.settings.limits.time_budget_s),
                words: String::new(),
            },
            Some(Cause::Person) | None => End::Interrupted,
        }
    }

    fn book_reply(
        &self,
        info: &ModelInfo,
        reply: &Reply,
        finish: ReplyEnd,
        spent: Spent,
    ) -> Result<(), StoreError> {
        self.store.record([Record::Replied {
            role: self.role,
            model: info.name.clone(),
            text: reply.text.clone(),
            reasoning: reply.reasoning.clone(),
            own: reply.own.clone(),
            calls: reply.calls.clone(),
            finish,
            spent,
        }])?;
        self.tell_usage(self.role.into());
        Ok(())
    }

    fn tell_usage(&self, role: Role) {
        let spent = self.store.facts(|facts| facts.spent.get(&role).cloned());
        if let Some(spent) = spent {
            (self.hear)(Event::Usage { role, spent });
        }
    }

    fn tell(&self, delta: Delta) {
        (self.hear)(match delta {
            Delta::Text(text) => Event::Delta { text },
            Delta::Reasoning(text) => Event::Reasoning { text },
            Delta::Retry { attempt, wait, reason } => {
                Event::Retry { attempt, wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX), reason }
            }
            Delta::Fallback { to, reason } => {
                Event::Notice { text: format!("{reason}; asking {to} instead") }
            }
            Delta::Alarm { text } => Event::Notice { text },
        });
    }

    fn spent(&self, info: &ModelInfo, usage: Option<Usage>, prompt_estimate: u64, answer: &str) -> Spent {
        let calibration = self.calibration(info);
        let estimated = usage.is_none();
        let usage = usage.unwrap_or_else(|| Usage {
            prompt: (prompt_estimate as f64 * calibration) as u64,
            cached: 0,
            completion: context::estimate(answer),
            doubtful: false,
        });
        let cost = info.price.map(|price| {
            let fresh = usage.prompt.saturating_sub(usage.cached) as f64 * price.input;
            let cached = usage.cached as f64 * price.cached.unwrap_or(price.input);
            (fresh + cached + usage.completion as f64 * price.output) / 1e6
        });
        Spent { usage, prompt_estimate, estimated, cost }
    }

    /// Tokens that the model's provider counts for each that is estimated here.
    pub(super) fn calibration(&self, info: &ModelInfo) -> f64 {
        self.store.facts(|facts| facts.context.calibration.get(&info.name).copied().unwrap_or(1.0))
    }

    /// Ids must name one call in the whole session, for `recall` and for the log; some providers count anew each reply.
    fn make_ids_unique(&self, calls: &mut [ToolCall]) {
        let mut taken: Vec<String> = Vec::new();
        for call in calls {
            let base = if call.id.is_empty() { "call".to_owned() } else { call.id.clone() };
            let known =
                |id: &String| taken.contains(id) || self.store.history(|history| history.call(id).is_some());
            let mut id = base.clone();
            let mut number = 2;
            while known(&id) {
                id = format!("{base}-{number}");
                number += 1;
            }
            taken.push(id.clone());
            call.id = id;
        }
    }
}

/// Another model answers. Its price is not known here, so its cost is not made up.
fn stand_in(info: &mut ModelInfo, name: &str) {
    name.clone_into(&mut info.name);
    info.price = None;
}

fn locked<T>(value: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
