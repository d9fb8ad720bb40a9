//! The flat forms that providers want: messages with calls, and words that quote the calls.

use super::fence::shown_text;
use crate::call::Step;
use crate::history::{History, Round, Shown, Turn};
use crate::model::{Message, PlainMessage, Speaker};
use crate::plan::Plan;
use crate::record::{ReplyEnd, Summary};

/// Texts that stand before the conversation and do not come from it.
#[derive(Clone, Debug, Default)]
pub struct Preamble<'a> {
    /// The project's own notes (`AGENTS.md`), already fenced; empty when there are none.
    pub project: &'a str,
    /// The plan, which outlives any summary.
    pub plan: Option<&'a Plan>,
    /// The mode in words, for the block that stands in for a summarised part.
    pub mode: &'a str,
}

/// The conversation as messages with calls. Every call is followed by its result; notes come after all results.
pub fn wire(history: &History, preamble: &Preamble<'_>) -> Vec<Message> {
    let mut messages = Messages::default();
    messages.user(preamble.project);
    let compacted = history.compacted_rounds();
    if let Some(compaction) = history.compaction() {
        messages.user(&stand_in(history, preamble, &compaction.summary, &compaction.archive));
    }
    for turn in history.turns() {
        let kept: Vec<&Round> = turn.rounds.iter().filter(|round| round.number > compacted).collect();
        if !quoted_in_summary(turn, compacted) {
            messages.user(&turn.prompt);
            turn.notes.iter().for_each(|note| messages.user(note));
        }
        for round in kept {
            messages.round(history, round);
        }
    }
    messages.list
}

/// The conversation in words only: calls and results are quoted, because some endpoints refuse a history with calls
/// where no tools are offered.
pub fn quoted(history: &History, preamble: &Preamble<'_>) -> Vec<PlainMessage> {
    let mut plain: Vec<PlainMessage> = Vec::new();
    let mut say = |speaker: Speaker, text: String| match plain.last_mut() {
        Some(last) if last.speaker == speaker => {
            last.text.push_str("\n\n");
            last.text.push_str(&text);
        }
        _ => plain.push(PlainMessage { speaker, text }),
    };
    for message in wire(history, preamble) {
        match message {
            Message::User { text } => say(Speaker::User, text),
            Message::Assistant { text, calls, .. } => {
                let mut said = text;
                for call in calls {
                    said.push_str(&format!("\n[called {} with {}]", call.name, call.arguments));
                }
                say(Speaker::Assistant, said.trim().to_owned());
            }
            Message::Tool { text, .. } => say(Speaker::User, format!("[result]\n{text}")),
        }
    }
    plain
}

/// Whether the turn's prompt stands in the block that replaces the summarised part.
fn quoted_in_summary(turn: &Turn, compacted: u64) -> bool {
    turn.rounds.first().is_some_and(|round| round.number <= compacted)
}

/// What stands in for the summarised rounds. The user's words, the plan and the mode are copied, never summarised.
fn stand_in(history: &History, preamble: &Preamble<'_>, summary: &Summary, archive: &str) -> String {
    let compacted = history.compacted_rounds();
    let prompts: Vec<&str> = history
        .turns()
        .iter()
        .filter(|turn| quoted_in_summary(turn, compacted) && !turn.prompt.is_empty())
        .map(|turn| turn.prompt.as_str())
        .collect();
    let mut text = String::new();
    if let Some((first, later)) = prompts.split_first() {
        text.push_str(first);
        for prompt in later {
            text.push_str(&format!("\n\n(later) {prompt}"));
        }
        text.push_str("\n\n");
    }
    text.push_str(&format!(
        "[The rounds that followed were summarised. The whole of them: recall(\"{archive}\"). Mode: {}]\n",
        preamble.mode
    ));
    let parts = [
        ("Goal", &summary.goal),
        ("Changes done", &summary.changes),
        ("Confirmed", &summary.confirmed),
        ("Guesses, not confirmed", &summary.guesses),
        ("Open", &summary.open),
    ];
    for (title, part) in parts.iter().filter(|(_, part)| !part.is_empty()) {
        text.push_str(&format!("\n## {title}\n\n{part}\n"));
    }
    if let Some(plan) = preamble.plan {
        text.push_str(&format!("\nThe plan, in full:\n\n{}", plan.to_markdown()));
    }
    text
}

#[derive(Default)]
struct Messages {
    list: Vec<Message>,
}

impl Messages {
    /// Adds to the last message of the user where there is one: some endpoints refuse two in a row.
    fn user(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.list.last_mut() {
            Some(Message::User { text: last }) => {
                last.push_str("\n\n");
                last.push_str(text);
            }
            _ => self.list.push(Message::User { text: text.to_owned() }),
        }
    }

    fn round(&mut self, history: &History, round: &Round) {
        let mut text = round.text.clone();
        if round.finish == ReplyEnd::Interrupted {
            text.push_str("\n[cut off here by the user]");
        }
        if !text.is_empty() || !round.steps.is_empty() {
            self.list.push(Message::Assistant {
                text,
                reasoning: round.reasoning.clone(),
                own: round.own.clone(),
                origin: Some(round.model.clone()),
                calls: round.steps.iter().map(|step| step.call.clone()).collect(),
            });
        }
        for step in &round.steps {
            let text = result_text(step, history.shown(&step.call.id));
            self.list.push(Message::Tool { call_id: step.call.id.clone(), text });
        }
        round.notes.iter().for_each(|note| self.user(note));
    }
}

/// A result as far as it is shown.
pub(super) fn result_text(step: &Step, shown: Shown) -> String {
    let id = &step.call.id;
    match shown {
        Shown::Full => shown_text(&step.outcome),
        Shown::Reference => {
            let chars = step.outcome.content().chars().count();
            let arguments: String = step.call.arguments.chars().take(80).collect();
            format!(
                "[{}: the result of {} {arguments} ({chars} characters) was set aside; recall(\"{id}\") reads it]",
                step.outcome.as_str(),
                step.call.name
            )
        }
        Shown::Marker => format!("[{}; recall(\"{id}\")]", step.outcome.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::OwnFields;
    use crate::record::{Record, Spent};
    use crate::role::ActingRole;
    use serde_json::json;

    #[test]
    fn what_a_provider_wants_back_survives_the_log_with_its_origin() {
        let own = OwnFields {
            message: json!({ "details": [1] }).as_object().unwrap().clone(),
            calls: vec![json!({ "signature": "s" }).as_object().unwrap().clone()],
        };
        let (role, model) = (ActingRole::Planner, "p/m".to_owned());
        let replied = Record::Replied {
            role,
            model: model.clone(),
            text: "t".to_owned(),
            reasoning: Some("r".to_owned()),
            own: own.clone(),
            calls: Vec::new(),
            finish: ReplyEnd::Stop,
            spent: Spent::default(),
        };
        let logged = serde_json::to_string(&replied).unwrap();
        let mut history = History::default();
        history.apply(&Record::TurnOpened { role, prompt: "go".to_owned(), plan_demanded: false });
        history.apply(&serde_json::from_str(&logged).unwrap());
        let said = Message::Assistant {
            text: "t".to_owned(),
            reasoning: Some("r".to_owned()),
            own,
            origin: Some(model),
            calls: Vec::new(),
        };
        let expect = vec![Message::User { text: "go".to_owned() }, said];
        assert_eq!(wire(&history, &Preamble::default()), expect);
    }
}
