//! Output for people: the answer and the report on standard output, everything else on standard error.

use tandem_shared::event::{Envelope, Event, Report};
use tandem_shared::record::Decision;
use tandem_shared::undo::Earnest;

use super::show::Show;
use super::terminal::{say, shows_output, tell};
use super::words;
use crate::exit::Exit;

/// How answers are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// As they arrive, on standard output: a person reads along.
    AsTheyCome,
    /// Whole, when the turn has ended; what arrives before is talk.
    AtTheEnd,
    /// Only the last answer, and no talk.
    Only,
}

/// The text front end.
pub struct Text {
    answers: Answers,
    /// Plans are the result, and not a step on the way.
    plan_is_result: bool,
    /// The cursor stands behind text without a line break.
    mid_line: bool,
    /// Reasoning is being shown.
    reasons: bool,
}

impl Text {
    /// For a run of one task.
    pub fn one_task() -> Text {
        let answers = if shows_output() { Answers::AsTheyCome } else { Answers::AtTheEnd };
        Text::new(answers)
    }

    /// With a way of showing answers.
    pub fn new(answers: Answers) -> Text {
        Text { answers, plan_is_result: false, mid_line: false, reasons: false }
    }

    /// Plans go to standard output.
    pub fn with_plans_as_result(mut self) -> Text {
        self.plan_is_result = true;
        self
    }

    fn talk(&mut self, text: &str) {
        if self.answers == Answers::Only {
            return;
        }
        self.end_line();
        tell(text);
    }

    fn line(&mut self, text: &str) {
        self.talk(&format!("{text}\n"));
    }

    fn end_reasoning(&mut self) {
        if std::mem::take(&mut self.reasons) {
            tell("\n");
        }
    }

    fn end_line(&mut self) {
        self.end_reasoning();
        if std::mem::take(&mut self.mid_line) {
            match self.answers {
                Answers::AsTheyCome => say("\n"),
                Answers::AtTheEnd => tell("\n"),
                Answers::Only => {}
            }
        }
    }

    /// The model's own reasoning, apart from its answer.
    fn reasoning(&mut self, text: &str) {
        if self.answers == Answers::Only {
            return;
        }
        if !self.reasons {
            self.end_line();
            tell("(reasoning) ");
        }
        self.reasons = true;
        tell(&words::clean(text));
    }

    fn delta(&mut self, text: &str) {
        self.end_reasoning();
        let text = words::clean(text);
        match self.answers {
            Answers::AsTheyCome => say(&text),
            Answers::AtTheEnd => tell(&text),
            Answers::Only => return,
        }
        self.mid_line = !text.ends_with('\n');
    }

    fn done(&mut self, report: &Report) {
        self.end_line();
        if self.answers != Answers::AsTheyCome && !report.answer.is_empty() {
            say(&format!("{}\n", words::clean(report.answer.trim_end())));
        }
        let end = words::end(&report.end);
        if !end.is_empty() {
            // An unattended run must not end without a word of why.
            tell(&format!("{end}\n"));
        }
        if self.answers == Answers::Only {
            return;
        }
        match report.steps.is_empty() {
            // Without a plan the report is only about what the run cost: talk.
            true => tell(&words::report(report)),
            false => say(&words::report(report)),
        }
    }
}

impl Show for Text {
    fn event(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::SessionOpened { root, resumed } => {
                let how = if *resumed { "taken up again" } else { "new" };
                self.line(&format!("session {} ({how}) in {root}", envelope.id));
            }
            Event::TurnOpened { role, model } => {
                let role = tandem_shared::role::Role::from(*role);
                self.line(&format!("{role}: {model}"));
            }
            Event::Delta { text } => self.delta(text),
            Event::Reasoning { text } => self.reasoning(text),
            Event::Usage { .. } | Event::Ready => {}
            Event::Retry { attempt, wait_ms, reason } => {
                let seconds = *wait_ms as f64 / 1000.0;
                self.line(&format!(
                    "try {attempt} failed, next in {seconds:.1} s: {}",
                    words::one_line(reason)
                ));
            }
            Event::Thinking { text } => self.talk(&format!("thinking:\n{}", words::indented(text))),
            Event::Critique { accepted, text } => {
                let verdict = if *accepted { "accepts the plan" } else { "sends the plan back" };
                self.talk(&format!("critique {verdict}:\n{}", words::indented(text)));
            }
            Event::ToolCall { name, summary, .. } => {
                self.line(&format!("· {name} {}", words::clean(summary)))
            }
            Event::ToolResult { outcome, preview, receipts, .. } => {
                for receipt in receipts {
                    self.talk(&words::indented(&receipt.diff));
                }
                if receipts.is_empty() {
                    self.line(&format!("  {outcome}: {}", words::one_line(preview)));
                }
            }
            // Asked by whoever holds the person's lines.
            Event::Asked { .. } => self.end_line(),
            Event::Plan { id, plan, stale, evidence } => {
                self.end_line();
                let markdown = words::clean(&plan.to_markdown());
                match self.plan_is_result {
                    true => say(&markdown),
                    false => self.talk(&markdown),
                }
                self.line(&format!("plan {id}"));
                if let Some(evidence) = evidence {
                    self.line(&words::evidence(evidence));
                }
                for file in stale {
                    self.line(&format!("changed since the plan was made: {}", words::clean(file)));
                }
            }
            Event::PlanDecided { id, decision } => {
                let what = match decision {
                    Decision::Approve { .. } => "approved",
                    Decision::Revise { .. } => "sent back",
                    Decision::Reject => "rejected",
                };
                self.line(&format!("plan {id} {what}"));
            }
            Event::Check { step, moment, run } => {
                self.talk(&words::check(*step, *moment, run));
                if !run.passed {
                    let tail: Vec<&str> = run.output.lines().rev().take(5).collect();
                    let tail: Vec<&str> = tail.into_iter().rev().collect();
                    self.talk(&words::indented(&tail.join("\n")));
                }
            }
            Event::Reminder { id } => self.line(&format!("  reminded: {id}")),
            Event::Context { stage, used, budget, freed } => {
                let stage = format!("{stage:?}").to_lowercase();
                self.line(&format!("context {stage}: {used} of {budget} tokens in use, {freed} freed"));
            }
            Event::Loop { strike } => self.line(&format!("the same calls repeat (strike {strike})")),
            Event::Status(status) => self.line(&words::status(&envelope.id, status)),
            Event::Window(window) => self.line(&words::window(window)),
            Event::Output { text, .. } => self.talk(&words::output(text)),
            Event::Jobs { jobs } => self.talk(&words::jobs(jobs)),
            Event::Undone(report) => self.talk(&words::undone(report, Earnest::Do)),
            Event::Notice { text } => self.line(&words::clean(text)),
            Event::Done { report } => self.done(report),
            Event::Error { message, .. } => {
                self.end_line();
                tell(&format!("error: {}\n", words::clean(message)));
            }
        }
    }

    fn finish(&mut self, _exit: Exit) {
        self.end_line();
    }
}
