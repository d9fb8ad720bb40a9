//! The loop itself, one round after the other.

use super::request::{Agent, End};
use crate::call::{Artifact, ToolCall};
use crate::context;
use crate::digest::Digest;
use crate::doom_loop::{self, Bounds};
use crate::event::Event;
use crate::model::{self, ModelError};
use crate::plan::Plan;
use crate::record::{Record, ReplyEnd};
use crate::reminders;
use crate::role::ActingRole;
use crate::store::StoreError;

/// Runs the open turn to its end. The turn's prompt is in the history already.
pub async fn run(agent: &Agent<'_>) -> End {
    match agent.rounds().await {
        Ok(end) | Err(end) => end,
    }
}

impl Agent<'_> {
    async fn rounds(&self) -> Result<End, End> {
        self.remind()?;
        loop {
            if self.interrupt.is_raised() {
                return Err(self.stopped());
            }
            if let Some(end) = self.over_budget()? {
                return Ok(end);
            }
            if self.out_of_rounds() {
                return self.wrap_up().await;
            }
            self.make_room().await?;
            self.think().await?;
            let reply = match self.ask().await {
                Err(End::Model(overflow @ ModelError::ContextOverflow { .. })) => {
                    // The estimate was too low, or the window is smaller than configured: make room by force, once.
                    if self.compact().await?.is_none() {
                        return Err(End::Model(overflow));
                    }
                    self.ask().await?
                }
                other => other?,
            };
            if reply.calls.is_empty() {
                self.overseer.at_words(self.store, self.hear).await?;
                if self.out_of_repairs() {
                    return Ok(End::CheckFailing);
                }
                if self.remind()?.is_empty() {
                    return Ok(End::Words { text: self.whole_answer(), finish: reply.finish });
                }
                continue;
            }
            let plan = self.run_calls(&reply.calls, reply.finish).await?;
            if self.interrupt.is_raised() {
                return Err(self.stopped());
            }
            if let Some(plan) = plan {
                self.store.commit()?;
                return Ok(End::Plan(plan));
            }
            self.overseer.after_round(self.store, self.hear).await?;
            if self.out_of_repairs() {
                return Ok(End::CheckFailing);
            }
            if let Some(end) = self.guard()? {
                return Ok(end);
            }
            self.remind()?;
            if self.store.facts(|facts| facts.turn.failing_rounds) >= self.settings.limits.failing_rounds {
                return Ok(End::Failing);
            }
        }
    }

    /// Places the reminders that are due, and makes the round durable.
    fn remind(&self) -> Result<Vec<&'static str>, StoreError> {
        let notes = self.store.facts(|facts| reminders::due(facts, &self.settings.limits));
        let ids = notes.iter().map(|note| note.id).collect();
        for note in notes {
            self.place(note);
        }
        self.store.commit()?;
        Ok(ids)
    }

    pub(super) fn place(&self, note: reminders::Note) {
        (self.hear)(Event::Reminder { id: note.id.to_owned() });
        self.store.note(Record::Noted { id: note.id.to_owned(), occasion: note.occasion, text: note.text });
    }

    /// Looks for a loop in the newest calls, and counts refusals as further strikes.
    fn guard(&self) -> Result<Option<End>, StoreError> {
        let limits = &self.settings.limits;
        let bounds = Bounds { repeats: limits.guard_repeats, period: limits.guard_period };
        let strike = self.store.facts(|facts| {
            let seen: Vec<_> =
                facts.guard.seen.iter().rev().take(limits.guard_window).rev().cloned().collect();
            match &facts.guard.struck {
                Some(struck) if facts.round.refused > 0 => Some((struck.keys.clone(), struck.strikes + 1)),
                _ => doom_loop::cycle(&seen, bounds).map(|period| {
                    let keys: Vec<Digest> =
                        seen.iter().rev().take(period).map(|print| print.key.clone()).collect();
                    let past = facts.guard.past.get(&doom_loop::name(&keys)).copied().unwrap_or_default();
                    (keys, past + 1)
                }),
            }
        });
        let Some((keys, strike)) = strike else { return Ok(None) };
        self.store.record([Record::Struck { keys, strike }])?;
        (self.hear)(Event::Loop { strike });
        Ok((strike >= limits.guard_strikes).then_some(End::Loop))
    }

    /// Whether the guard has struck the loop that this call belongs to.
    pub(super) fn is_struck(&self, call: &ToolCall) -> bool {
        let key = doom_loop::key(call);
        self.store.facts(|facts| facts.guard.struck.as_ref().is_some_and(|struck| struck.keys.contains(&key)))
    }

    /// The last reply, with the parts before it that the token limit cut off.
    fn whole_answer(&self) -> String {
        self.store.history(|history| {
            let rounds = history.turns().last().map(|turn| turn.rounds.as_slice()).unwrap_or_default();
            let Some((last, before)) = rounds.split_last() else { return String::new() };
            let cut = before
                .iter()
                .rev()
                .take_while(|round| round.finish == ReplyEnd::Length && round.steps.is_empty());
            let mut parts: Vec<&str> =
                std::iter::once(last).chain(cut).map(|round| round.text.as_str()).collect();
            parts.reverse();
            model::without_thoughts(&parts.concat()).to_owned()
        })
    }

    /// Whether a check failed once more than it may be sent back for repair.
    fn out_of_repairs(&self) -> bool {
        let most = self.settings.limits.check_failures;
        self.store.facts(|facts| {
            let mut steps = facts.plan.iter().filter(|_| facts.plan_in_force()).flat_map(|plan| &plan.steps);
            !facts.round.checks_failed.is_empty() && steps.any(|step| step.failures > most)
        })
    }

    fn out_of_rounds(&self) -> bool {
        self.store.facts(|facts| facts.turn.rounds) >= self.round_limit()
    }

    fn round_limit(&self) -> u32 {
        match self.role {
            ActingRole::Planner => self.settings.limits.planner_rounds,
            ActingRole::Executor => self.settings.limits.executor_rounds,
        }
    }

    /// A limit on tokens or money leaves no request to wrap up with.
    fn over_budget(&self) -> Result<Option<End>, StoreError> {
        let limits = &self.settings.limits;
        let used = self.store.facts(|facts| facts.turn.task);
        let over = [
            (limits.input_tokens > 0 && used.prompt_tokens >= limits.input_tokens).then(|| {
                format!("{} prompt tokens a task ({} sent)", limits.input_tokens, used.prompt_tokens)
            }),
            (limits.max_tokens_total > 0 && used.tokens >= limits.max_tokens_total)
                .then(|| format!("{} tokens a task ({} used)", limits.max_tokens_total, used.tokens)),
            (limits.max_usd > 0.0 && used.usd >= limits.max_usd)
                .then(|| format!("${} a task (${:.4} spent)", limits.max_usd, used.usd)),
        ];
        let Some(what) = over.into_iter().flatten().next() else { return Ok(None) };
        self.store.record([Record::Limited { what: what.clone() }])?;
        Ok(Some(End::Limit { what, words: String::new() }))
    }

    /// One last request for words. The tools stay on offer, because the provider's cache and its checks of the history
    /// want them there; calls are dropped.
    async fn wrap_up(&self) -> Result<End, End> {
        let what = format!("{} rounds", self.round_limit());
        self.store.note(Record::Limited { what: what.clone() });
        self.remind()?;
        self.make_room().await?;
        let reply = self.ask().await?;
        self.drop_calls(&reply.calls)?;
        Ok(End::Limit { what, words: reply.text })
    }

    /// The plan that a call of this round drafted, if any; it is booked with the round.
    pub(super) fn drafted(&self, artifacts: &[Artifact]) -> Option<Plan> {
        artifacts.iter().find_map(|artifact| match artifact {
            Artifact::Plan(plan) => {
                self.store.note(Record::Planned { plan: plan.clone() });
                Some(plan.clone())
            }
            Artifact::Read { .. }
            | Artifact::Wrote(_)
            | Artifact::MayHaveChanged
            | Artifact::Changed(_)
            | Artifact::SyntaxError { .. }
            | Artifact::StepUpdate { .. } => None,
        })
    }

    /// Summarises now, whatever the use; for `/compact`. Answers the estimated tokens freed; `None` when there was nothing
    /// to summarise.
    ///
    /// # Errors
    /// When the log could not be written, or on an interrupt.
    pub async fn compact_now(&self) -> Result<Option<u64>, End> {
        self.compact().await
    }

    /// Tokens in use and tokens that may be used, for `/context`.
    pub fn window(&self) -> context::Window {
        self.measured()
    }
}
