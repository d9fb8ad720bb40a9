//! A session in the terminal, line by line.

use tandem_shared::event::{Event, Op};
use tandem_shared::plan::Approver;
use tandem_shared::record::{Decision, TurnEnd};
use tandem_shared::settings::PlanMode;
use tandem_shared::store::Clock;

use super::errand::{Leave, Signals, Verdict, ask, decision, exit_of};
use super::lines::Lines;
use super::show::{Show, Teller};
use super::terminal::tell;
use super::typed::{Line, help, read};
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
        teller: Teller::new(&session.id, clock),
        session,
        person: Some(lines),
        signals: Signals::new(),
        show,
        next: None,
        usual: plan,
        plan,
        leave,
        interactive,
    };
    let last = conversation.run(first).await;
    conversation.close(last).await;
    if interactive && last != Exit::Interrupted { Exit::Done } else { last }
}

struct Conversation<'a> {
    session: Handle,
    person: Option<Lines>,
    signals: Signals,
    show: &'a mut dyn Show,
    teller: Teller,
    /// A command that was typed where an answer was asked for.
    next: Option<String>,
    /// As the configuration says.
    usual: PlanMode,
    plan: PlanMode,
    leave: Leave,
    interactive: bool,
}

impl Conversation<'_> {
    /// Answers the exit code of the last turn.
    async fn run(&mut self, first: Option<Op>) -> Exit {
        let mut last = Exit::Done;
        while let Ok(event) = self.session.events.try_recv() {
            self.show(event);
        }
        if let Some(op) = first {
            last = self.turn(op).await.unwrap_or(last);
        }
        loop {
            self.signals.count = 0;
            let Some(line) = self.next_line().await else {
                return if self.signals.count > 0 { Exit::Interrupted } else { last };
            };
            match read(&line, self.plan) {
                Line::Nothing => {}
                Line::Exit => return last,
                Line::Help => tell(&help()),
                Line::TogglePlan => self.toggle_plan(),
                Line::Wrong(why) => tell(&format!("{why}\n")),
                Line::Send(op) => last = self.turn(op).await.unwrap_or(last),
            }
        }
    }

    async fn next_line(&mut self) -> Option<String> {
        if let Some(line) = self.next.take() {
            return Some(line);
        }
        if self.interactive {
            tell("> ");
        }
        let lines = self.person.as_mut()?;
        tokio::select! {
            line = lines.next() => line,
            () = self.signals.next() => None,
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

    /// Sends one op and shows what comes of it, until the session is at rest again.
    async fn turn(&mut self, op: Op) -> Option<Exit> {
        // These answer at once with one event.
        let short =
            matches!(op, Op::Status | Op::Context | Op::Bind { .. } | Op::Profile { .. } | Op::Compact);
        self.send(op);
        loop {
            let event = tokio::select! {
                event = self.session.events.recv() => event?,
                () = self.signals.next() => {
                    self.signals.leave_if_repeated();
                    self.send(Op::Interrupt);
                    continue;
                }
            };
            self.show(event.clone());
            match event {
                Event::Asked { id, question } => {
                    let answer = ask(&mut self.person, &question, &mut self.signals).await;
                    if self.signals.count > 0 {
                        self.send(Op::Interrupt);
                    }
                    self.send(Op::Answer { id, answer });
                }
                Event::Plan { .. } => match self.decide().await {
                    Some(Decision::Reject) => {
                        self.send(Op::Decide { decision: Decision::Reject });
                        self.wait_for_rest().await;
                        return Some(Exit::NotApproved);
                    }
                    Some(decision) => self.send(Op::Decide { decision }),
                    None => return None,
                },
                Event::Done { report } if report.end != TurnEnd::Planned => {
                    return Some(exit_of(report.exit));
                }
                Event::Error { exit, .. } => return Some(exit_of(exit)),
                Event::Notice { .. } | Event::Context { .. } if short => return None,
                _ => {}
            }
        }
    }

    /// `None`: the plan waits, for a command or because of an interrupt.
    async fn decide(&mut self) -> Option<Decision> {
        if self.leave == Leave::Given {
            return Some(Decision::Approve { by: Approver::Flag });
        }
        match decision(self.person.as_mut()?, &mut self.signals).await {
            Verdict::Decided(decision) => Some(decision),
            Verdict::Command(line) => {
                self.next = Some(line);
                None
            }
            Verdict::Interrupted => None,
        }
    }

    /// A rejected plan ends with the news that it was decided.
    async fn wait_for_rest(&mut self) {
        while let Some(event) = self.session.events.recv().await {
            let decided = matches!(event, Event::PlanDecided { .. } | Event::Error { .. });
            self.show(event);
            if decided {
                break;
            }
        }
    }

    async fn close(&mut self, last: Exit) {
        tell("Goodbye.\n");
        self.send(Op::Close);
        while let Some(event) = self.session.events.recv().await {
            self.show(event);
        }
        self.show.finish(last);
    }

    fn send(&self, op: Op) {
        // A session that is gone is seen where its events end.
        let _ = self.session.ops.send(op);
    }

    fn show(&mut self, event: Event) {
        self.show.event(&self.teller.wrap(event));
    }
}
