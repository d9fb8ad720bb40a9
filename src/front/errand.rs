//! One task through a session, from its first words to its exit code.

use tandem_shared::event::{Event, Op};
use tandem_shared::person::{Answer, Question};
use tandem_shared::plan::Approver;
use tandem_shared::record::{Decision, TurnEnd};
use tandem_shared::store::Clock;

use super::lines::Lines;
use super::show::{Show, Teller};
use super::terminal::tell;
use super::words;
use crate::exit::Exit;
use crate::session::Handle;

/// A task.
pub struct Errand {
    /// What is said first.
    pub first: Op,
    /// Who approves a plan.
    pub leave: Leave,
    /// Whether a plan goes ahead although its files changed.
    pub stale_ok: bool,
    /// The person, if there is one.
    pub person: Option<Lines>,
}

/// Who approves a plan that the errand drafts or brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// The plan is the result; nothing is approved.
    PlanOnly,
    /// It was given on the command line.
    Given,
    /// The person is asked; nobody is no.
    Ask,
}

/// Runs the errand and closes the session.
pub async fn conduct(mut session: Handle, mut errand: Errand, show: &mut dyn Show, clock: Clock) -> Exit {
    let mut teller = Teller::new(&session.id, clock);
    let brings_plan = matches!(errand.first, Op::Adopt { .. });
    let _ = session.ops.send(errand.first.clone());
    let mut signals = Signals::new();
    let exit = loop {
        let event = tokio::select! {
            event = session.events.recv() => event,
            () = signals.next() => {
                signals.leave_if_repeated();
                let _ = session.ops.send(Op::Interrupt);
                continue;
            }
        };
        let Some(event) = event else { break Exit::NotCompleted };
        show.event(&teller.wrap(event.clone()));
        match event {
            Event::Asked { id, question } => {
                let answer = ask(&mut errand.person, &question, &mut signals).await;
                if signals.count > 0 {
                    let _ = session.ops.send(Op::Interrupt);
                }
                let _ = session.ops.send(Op::Answer { id, answer });
            }
            Event::Plan { stale, .. } if brings_plan => {
                if !stale.is_empty() && !errand.stale_ok && errand.person.is_none() {
                    tell(
                        "The plan is stale: files that it names changed since it was made. Plan again, or use --stale-ok.\n",
                    );
                    break Exit::NotApproved;
                }
                match decide(&mut errand, &session, &mut signals).await {
                    Some(exit) => break exit,
                    None => continue,
                }
            }
            // A drafted plan comes right after the turn that drafted it has ended.
            Event::Plan { .. } if errand.leave == Leave::PlanOnly => break Exit::Done,
            Event::Plan { .. } => match decide(&mut errand, &session, &mut signals).await {
                Some(exit) => break exit,
                None => continue,
            },
            Event::Done { report } if report.end != TurnEnd::Planned => break exit_of(report.exit),
            Event::Error { exit, .. } => break exit_of(exit),
            _ => {}
        }
    };
    let _ = session.ops.send(Op::Close);
    while let Some(event) = session.events.recv().await {
        show.event(&teller.wrap(event));
    }
    show.finish(exit);
    exit
}

/// Decides on the plan; `Some` ends the errand.
async fn decide(errand: &mut Errand, session: &Handle, signals: &mut Signals) -> Option<Exit> {
    let decision = match (errand.leave, &mut errand.person) {
        (Leave::Given, _) => Decision::Approve { by: Approver::Flag },
        (Leave::Ask, Some(lines)) => match decision(lines, signals).await {
            Verdict::Decided(decision) => decision,
            // One task has no commands; the words are meant for the planner.
            Verdict::Command(comment) => Decision::Revise { comment },
            Verdict::Interrupted => return Some(Exit::Interrupted),
        },
        (Leave::Ask, None) | (Leave::PlanOnly, _) => {
            tell(
                "The plan was not approved: nobody is there to ask. Approve it with --yes, or later with `tandem exec`.\n",
            );
            return Some(Exit::NotApproved);
        }
    };
    let rejected = decision == Decision::Reject;
    let _ = session.ops.send(Op::Decide { decision });
    rejected.then_some(Exit::NotApproved)
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

/// Asks for a decision on a plan.
pub(super) async fn decision(lines: &mut Lines, signals: &mut Signals) -> Verdict {
    tell("Carry out this plan? [y]es, [n]o, or what to change: ");
    let line = tokio::select! {
        line = lines.next() => line,
        () = signals.next() => return Verdict::Interrupted,
    };
    Verdict::Decided(match line.as_deref().map(str::trim) {
        Some("y" | "Y" | "yes") => Decision::Approve { by: Approver::Person },
        None | Some("" | "n" | "N" | "no") => Decision::Reject,
        Some(command) if command.starts_with('/') => return Verdict::Command(command.to_owned()),
        Some(comment) => Decision::Revise { comment: comment.to_owned() },
    })
}

/// Asks a person; `None` when nobody answers.
pub(super) async fn ask(
    person: &mut Option<Lines>,
    question: &Question,
    signals: &mut Signals,
) -> Option<Answer> {
    let lines = person.as_mut()?;
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

/// The exit code of that number.
pub(super) fn exit_of(code: u8) -> Exit {
    let known = crate::exit::TABLE.iter().map(|(exit, _)| *exit);
    known.into_iter().find(|exit| exit.code() == code).unwrap_or(Exit::NotCompleted)
}

/// Ctrl+C and its like, counted.
pub(super) struct Signals {
    pub(super) count: u32,
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    pub(super) fn new() -> Signals {
        Signals {
            count: 0,
            #[cfg(unix)]
            terminate: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).ok(),
        }
    }

    /// The second signal ends the program at once. The log is durable up to the last mark.
    pub(super) fn leave_if_repeated(&self) {
        if self.count > 1 {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
    }

    /// Returns when a signal came.
    pub(super) async fn next(&mut self) {
        #[cfg(unix)]
        let terminated = async {
            match &mut self.terminate {
                Some(signal) => {
                    signal.recv().await;
                }
                None => std::future::pending().await,
            }
        };
        #[cfg(not(unix))]
        let terminated = std::future::pending::<()>();
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            () = terminated => {}
        }
        self.count += 1;
    }
}
