//! The thinking phase: a request of its own, in words only, whose trace joins the next action request as a note.

use super::request::{Agent, End};
use crate::context;
use crate::event::Event;
use crate::facts::Facts;
use crate::model::{ModelError, PlainMessage, PlainRequest, Speaker};
use crate::reminders;
use crate::role::{ActingRole, WordsRole};
use crate::settings::ThinkingMode;
use crate::template::fill;

const THINK_NOW: &str = include_str!("../../../prompts/notes/think_now.md");

impl Agent<'_> {
    /// Thinks, if its rule says so.
    pub(super) async fn think(&self) -> Result<(), End> {
        if self.store.facts(|facts| facts.turn.thinking_failed) {
            return Ok(());
        }
        let Some(occasion) = self.store.facts(|facts| occasion(facts, self.settings.thinking.mode)) else {
            return Ok(());
        };
        let mut messages = self.with_preamble(context::quoted);
        let ask = fill(THINK_NOW, &[("occasion", occasion)]);
        match messages.last_mut() {
            Some(last) if last.speaker == Speaker::User => last.text.push_str(&format!("\n\n{ask}")),
            _ => messages.push(PlainMessage { speaker: Speaker::User, text: ask }),
        }
        let request = PlainRequest {
            system: self.system.thinking.clone(),
            messages,
            max_tokens: Some(self.settings.thinking.max_tokens()),
        };
        match self.say(WordsRole::Thinking, self.thinker.as_ref(), request).await? {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => {
                (self.hear)(Event::Thinking { text: text.clone() });
                let note = self.store.facts(|facts| reminders::trace(facts, &text));
                self.place(note);
            }
            // A wrong key or binding stays wrong; a server that is down leaves the acting model its chance.
            Err(error @ (ModelError::Authentication { .. } | ModelError::NotConfigured(_))) => {
                return Err(End::Model(error));
            }
            Err(error) => {
                (self.hear)(Event::Notice {
                    text: format!("The thinking phase failed; this turn goes on without it: {error}"),
                });
            }
        }
        Ok(())
    }
}

/// Why the thinking phase runs now, in words; `None` when it does not.
fn occasion(facts: &Facts, mode: ThinkingMode) -> Option<&'static str> {
    match mode {
        ThinkingMode::Off => None,
        ThinkingMode::Always => Some("the next step"),
        ThinkingMode::Auto => auto(facts),
    }
}

fn auto(facts: &Facts) -> Option<&'static str> {
    let first = facts.turn.rounds == 0;
    let carries_out = facts.turn.role == Some(ActingRole::Executor)
        && facts.plan.as_ref().is_some_and(|plan| plan.approved.is_some());
    if !facts.turn.thought {
        // A question that one reply answers shall cost one request: where neither a plan is demanded nor one is
        // carried out, the turn counts as a task only once the model has begun to look.
        let task = facts.turn.plan_demanded || carries_out || !first;
        return task.then_some("the task begins");
    }
    if first {
        return None;
    }
    if facts.guard.struck.as_ref().is_some_and(|struck| struck.strikes == 2) && facts.round.refused > 0 {
        return Some("the same call was asked for again and again, and was refused");
    }
    if !facts.round.checks_failed.is_empty() {
        return Some("a plan step's check failed");
    }
    if !facts.round.denied.is_empty() {
        return Some("a call was denied");
    }
    if !facts.round.errors.is_empty() {
        return Some("a call failed");
    }
    let begins = facts.step_begun().is_some_and(|step| !facts.turn.thought_steps.contains(&step));
    begins.then_some("a plan step begins")
}
