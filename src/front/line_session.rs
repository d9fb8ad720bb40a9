//! A session in the terminal, line by line.

use tandem_shared::digest::Digest;
use tandem_shared::event::Op;
use tandem_shared::plan::Approver;
use tandem_shared::record::Decision;
use tandem_shared::settings::PlanMode;
use tandem_shared::store::Clock;

use super::errand::Leave;
use super::lines::Lines;
use super::show::Show;
use super::terminal::tell;
use super::typed::{Line, help, read};
use super::waiting::{Verdict, Waited, Watched};
use crate::exit::Exit;
use crate::session::Handle;

/// What a conversation begins with.
pub struct Opening {
    /// What the person types.
    pub lines: Lines,
    /// Whether a person sits there, or lines come from a file or a pipe.
    pub interactive: bool,
    /// What is done before the first line is read.
    pub first: Option<Op>,
    /// When prompts are planned first.
    pub plan: PlanMode,
    /// Who approves plans.
    pub leave: Leave,
}

/// Runs until the person leaves. Answers the exit code of the last turn where lines come from a file or a pipe.
pub async fn line_session(session: Handle, opening: Opening, show: &mut dyn Show, clock: Clock) -> Exit {
    let Opening { lines, interactive, first, plan, leave } = opening;
    let mut conversation = Conversation {
        watched: Watched::new(session, Some(lines), show, clock),
        next: None,
        usual: plan,
        plan,
        leave,
        shown: None,
        last: Exit::Done,
        interactive,
    };
    match conversation.run(first).await {
        Ended::Orderly => {
            tell("Goodbye.\n");
            let last = conversation.last;
            conversation.watched.close(last).await;
            if interactive && last != Exit::Interrupted { Exit::Done } else { last }
        }
        Ended::AtOnce => conversation.watched.leave(),
    }
}

struct Conversation<'a> {
    watched: Watched<'a>,
    /// A command that was typed where an answer was asked for.
    next: Option<String>,
    /// As the configuration says.
    usual: PlanMode,
    plan: PlanMode,
    leave: Leave,
    /// The plan that was shown last and not decided on.
    shown: Option<Digest>,
    /// The exit code of the last turn.
    last: Exit,
    interactive: bool,
}

enum Ended {
    Orderly,
    AtOnce,
}

impl Conversation<'_> {
    async fn run(&mut self, first: Option<Op>) -> Ended {
        self.watched.catch_up();
        let mut op = first;
        loop {
            if let Some(op) = op.take() {
                match self.turn(op).await {
                    Some(ended) => return ended,
                    None => continue,
                }
            }
            self.watched.signals.count = 0;
            let Some(line) = self.next_line().await else {
                if self.watched.signals.count > 0 {
                    self.last = Exit::Interrupted;
                }
                return Ended::Orderly;
            };
            match read(&line, self.plan) {
                Line::Nothing => {}
                Line::Exit => return Ended::Orderly,
                Line::Help => tell(&help()),
                Line::TogglePlan => self.toggle_plan(),
                Line::Wrong(why) => tell(&format!("{why}\n")),
                Line::Execute => match self.shown.take() {
                    Some(digest) => op = Some(Op::Decide { digest, decision: approved(Approver::Person) }),
                    None => tell("There is no plan that waits; /plan TEXT drafts one.\n"),
                },
                Line::Send(said) => op = Some(said),
            }
        }
    }

    /// Says `op`, and what follows from it: a plan is shown and decided on until the session is at rest.
    async fn turn(&mut self, op: Op) -> Option<Ended> {
        let mut op = op;
        loop {
            let rest = match self.watched.send(op).await {
                Waited::Rest(rest) => rest,
                Waited::Gone => return Some(Ended::Orderly),
                Waited::Left => return Some(Ended::AtOnce),
            };
            self.last = rest.exit.unwrap_or(self.last);
            let plan = rest.plan?;
            let decision = match self.leave {
                Leave::Given => approved(Approver::Flag),
                Leave::Ask | Leave::PlanOnly if !self.interactive => {
                    tell("The plan waits; /execute approves it.\n");
                    self.shown = Some(plan.digest);
                    self.last = Exit::NotApproved;
                    return None;
                }
                Leave::Ask | Leave::PlanOnly => match self.watched.decide().await {
                    Verdict::Decided(decision) => decision,
                    Verdict::Command(line) => {
                        self.next = Some(line);
                        self.shown = Some(plan.digest);
                        return None;
                    }
                    Verdict::Interrupted => {
                        self.shown = Some(plan.digest);
                        return None;
                    }
                },
            };
            if decision == Decision::Reject {
                self.last = Exit::NotApproved;
            }
            op = Op::Decide { digest: plan.digest, decision };
        }
    }

    async fn next_line(&mut self) -> Option<String> {
        if let Some(line) = self.next.take() {
            return Some(line);
        }
        if self.interactive {
            tell("> ");
        }
        let Watched { person, signals, .. } = &mut self.watched;
        tokio::select! {
            line = person.as_mut()?.next() => line,
            () = signals.next() => None,
        }
    }

    fn toggle_plan(&mut self) {
        self.plan = match (self.plan, self.usual) {
            (PlanMode::Always, PlanMode::Always) => PlanMode::Auto,
            (PlanMode::Always, usual) => usual,
            (PlanMode::Auto | PlanMode::Never, _) => PlanMode::Always,
        };
        tell(match self.plan {
            PlanMode::Always => "Every prompt is planned first.\n",
            PlanMode::Auto => "A plan is drafted where something is to be changed.\n",
            PlanMode::Never => "Prompts go straight to the executor.\n",
        });
    }
}

fn approved(by: Approver) -> Decision {
    Decision::Approve { by }
}
