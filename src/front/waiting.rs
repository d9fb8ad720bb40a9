//! Shows what a session does until it is at rest, and carries questions to the person meanwhile.

use tandem_shared::digest::Digest;
use tandem_shared::event::{Event, Op};
use tandem_shared::person::{Answer, Question};
use tandem_shared::plan::Approver;
use tandem_shared::record::Decision;
use tandem_shared::store::Clock;

use super::lines::Lines;
use super::show::{Show, Teller};
use super::signals::Signals;
use super::terminal::tell;
use super::words;
use crate::exit::{self, Exit};
use crate::session::Handle;

/// A session with whoever watches it.
pub(super) struct Watched<'a> {
    session: Handle,
    teller: Teller,
    show: &'a mut dyn Show,
    /// The person's lines, if there is a person.
    pub(super) person: Option<Lines>,
    pub(super) signals: Signals,
}

/// What happened until the session came to rest.
#[derive(Default)]
pub(super) struct Rest {
    /// The plan that waits for a decision.
    pub(super) plan: Option<ShownPlan>,
    /// The exit code that it means, if anything was said of one.
    pub(super) exit: Option<Exit>,
}

/// A plan that was shown.
#[derive(Clone, Debug)]
pub(super) struct ShownPlan {
    /// Of exactly what was shown.
    pub(super) digest: Digest,
    /// Files that it names and that changed since it was made.
    pub(super) stale: Vec<String>,
}

/// How waiting ended.
pub(super) enum Waited {
    /// The session is at rest.
    Rest(Rest),
    /// The session is gone.
    Gone,
    /// The person wants to leave at once.
    Left,
}

/// What a person makes of a plan.
pub(super) enum Verdict {
    /// A decision.
    Decided(Decision),
    /// A command comes first; the plan waits.
    Command(String),
    /// Ctrl+C.
    Interrupted,
}

impl<'a> Watched<'a> {
    pub(super) fn new(
        session: Handle,
        person: Option<Lines>,
        show: &'a mut dyn Show,
        clock: Clock,
    ) -> Watched<'a> {
        let teller = Teller::new(&session.id, clock);
        Watched { session, teller, show, person, signals: Signals::new() }
    }

    /// Shows what has happened already, without waiting.
    pub(super) fn catch_up(&mut self) {
        while let Ok(event) = self.session.events.try_recv() {
            self.show.event(&self.teller.wrap(event));
        }
    }

    /// Says `op` and waits for what comes of it.
    pub(super) async fn send(&mut self, op: Op) -> Waited {
        self.say(op);
        let mut rest = Rest::default();
        let mut early: Option<Event> = None;
        loop {
            let event = tokio::select! {
                biased;
                () = std::future::ready(()), if early.is_some() => early.take(),
                event = self.session.events.recv() => event,
                () = self.signals.next() => {
                    if self.signals.count > 1 {
                        return Waited::Left;
                    }
                    self.say(Op::Interrupt);
                    continue;
                }
            };
            let Some(event) = event else { return Waited::Gone };
            if event == Event::Ready {
                // Only whoever waits needs to know.
                return Waited::Rest(rest);
            }
            self.show.event(&self.teller.wrap(event.clone()));
            match event {
                Event::Asked { id, question } => {
                    let digest = question.digest();
                    // The session goes on when the question is void, for example because the time is up.
                    let (answer, event) = self.ask(&question).await;
                    early = event;
                    if self.signals.count > 1 {
                        return Waited::Left;
                    }
                    if self.signals.count > 0 {
                        self.say(Op::Interrupt);
                    }
                    self.say(Op::Answer { id, digest, answer });
                }
                Event::Plan { plan, stale, .. } => {
                    rest.plan = Some(ShownPlan { digest: plan.digest(), stale })
                }
                // What was shown before it was decided on waits no more.
                Event::PlanDecided { .. } => rest.plan = None,
                Event::Done { report } => rest.exit = Some(exit::of_code(report.exit)),
                Event::Error { exit, .. } => rest.exit = Some(exit::of_code(exit)),
                _ => {}
            }
        }
    }

    /// Asks for a decision on a plan that was shown.
    pub(super) async fn decide(&mut self) -> Verdict {
        let Some(lines) = &mut self.person else { return Verdict::Decided(Decision::Reject) };
        lines.forget_typed();
        tell("Carry out this plan? [y]es, [n]o, or what to change: ");
        let line = tokio::select! {
            line = lines.next() => line,
            () = self.signals.next() => return Verdict::Interrupted,
        };
        Verdict::Decided(match line.as_deref().map(str::trim) {
            Some("y" | "Y" | "yes") => Decision::Approve { by: Approver::Person },
            None | Some("" | "n" | "N" | "no") => Decision::Reject,
            Some(command) if command.starts_with('/') => return Verdict::Command(command.to_owned()),
            Some(comment) => Decision::Revise { comment: comment.to_owned() },
        })
    }

    /// Ends the session and shows what it still says.
    pub(super) async fn close(mut self, exit: Exit) -> Exit {
        self.say(Op::Close);
        while let Some(event) = self.session.events.recv().await {
            self.show.event(&self.teller.wrap(event));
        }
        self.show.finish(exit);
        exit
    }

    /// Leaves without waiting: the log is durable up to the last mark, and what still runs ends with the session's task.
    pub(super) fn leave(self) -> Exit {
        self.show.finish(Exit::Interrupted);
        Exit::Interrupted
    }

    fn say(&self, op: Op) {
        // A session that is gone is seen where its events end.
        let _ = self.session.ops.send(op);
    }

    /// The answer, or the event that came before it.
    async fn ask(&mut self, question: &Question) -> (Option<Answer>, Option<Event>) {
        let Some(lines) = &mut self.person else { return (None, None) };
        tokio::select! {
            answer = ask(lines, question, &mut self.signals) => (answer, None),
            event = self.session.events.recv() => (None, event),
        }
    }
}

/// Asks a person; `None` when nobody answers.
pub(super) async fn ask(lines: &mut Lines, question: &Question, signals: &mut Signals) -> Option<Answer> {
    lines.forget_typed();
    tell(&words::question(question));
    let line = tokio::select! {
        line = lines.next() => line?,
        () = signals.next() => return None,
    };
    let line = line.trim();
    Some(match question {
        Question::Choose { options, .. } => {
            let chosen = line.parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
            Answer::Text { text: chosen.cloned().unwrap_or_else(|| line.to_owned()) }
        }
        Question::Approve { .. } => match line {
            "y" | "Y" | "yes" => Answer::Yes,
            "a" | "A" | "always" => Answer::Always,
            "n" | "N" | "no" | "" => Answer::No { reason: String::new() },
            reason => Answer::No { reason: reason.to_owned() },
        },
    })
}
