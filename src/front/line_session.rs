//! A session in the terminal, line by line.

use tandem_shared::event::{Event, Op};
use tandem_shared::plan::Approver;
use tandem_shared::record::{Decision, TurnEnd};
use tandem_shared::role::Role;
use tandem_shared::settings::PlanMode;
use tandem_shared::store::Clock;

use super::errand::{Signals, ask, decision};
use super::lines::Lines;
use super::show::{Show, Teller};
use super::terminal::tell;
use crate::exit::{self, Exit};
use crate::session::Handle;

/// What can be typed, with what it does.
const HELP: &[(&str, &str)] = &[
    ("/plan TEXT", "drafts a plan for TEXT; alone, every prompt is planned first until /plan again"),
    ("/execute", "approves the drafted plan and carries it out; with TEXT, goes straight to work on TEXT"),
    ("/model [ROLE] NAME", "binds planner and executor, or one role, to another model"),
    ("/profile NAME", "uses another named set of bindings"),
    ("/status", "the session, its models, its cost"),
    ("/context", "what fills the model's window"),
    ("/compact", "summarises the conversation now"),
    ("/help", "this list"),
    ("exit", "ends the session"),
];

/// What a line asks for.
#[derive(Debug, PartialEq)]
enum Line {
    Nothing,
    Send(Op),
    TogglePlan,
    Help,
    Exit,
    Wrong(String),
}

/// Runs until the person leaves. Answers the exit code of the last turn where lines come from a file or a pipe.
pub async fn line_session(
    mut session: Handle,
    lines: Lines,
    show: &mut dyn Show,
    clock: Clock,
    first: Option<Op>,
    interactive: bool,
    mut plan: PlanMode,
) -> Exit {
    let mut teller = Teller::new(&session.id, clock);
    let mut signals = Signals::new();
    let mut person = Some(lines);
    let mut last = Exit::Done;
    let usual = plan;
    let mut first = first;
    while let Ok(event) = session.events.try_recv() {
        show.event(&teller.wrap(event));
    }
    loop {
        let op = match first.take() {
            Some(op) => op,
            None => {
                if interactive {
                    tell("> ");
                }
                let line = match &mut person {
                    Some(lines) => tokio::select! {
                        line = lines.next() => line,
                        () = signals.next() => { last = Exit::Interrupted; None }
                    },
                    None => None,
                };
                let Some(line) = line else { break };
                match read(&line, plan) {
                    Line::Nothing => continue,
                    Line::Exit => break,
                    Line::Help => {
                        tell(&help());
                        continue;
                    }
                    Line::TogglePlan => {
                        plan = if plan == PlanMode::Always { usual } else { PlanMode::Always };
                        if plan == PlanMode::Always && usual == PlanMode::Always {
                            plan = PlanMode::Auto;
                        }
                        tell(match plan {
                            PlanMode::Always => "Every prompt is planned first.\n",
                            PlanMode::Auto => "A plan is drafted where something is to be changed.\n",
                            PlanMode::Never => "Prompts go straight to the executor.\n",
                        });
                        continue;
                    }
                    Line::Wrong(why) => {
                        tell(&format!("{why}\n"));
                        continue;
                    }
                    Line::Send(op) => op,
                }
            }
        };
        if let Some(exit) = turn(&mut session, op, &mut person, show, &mut teller, &mut signals).await {
            last = exit;
        }
        signals.count = 0;
    }
    tell("Goodbye.\n");
    let _ = session.ops.send(Op::Close);
    while let Some(event) = session.events.recv().await {
        show.event(&teller.wrap(event));
    }
    show.finish(last);
    if interactive && last != Exit::Interrupted { Exit::Done } else { last }
}

/// Sends one op and shows what comes of it, until the session is at rest again.
async fn turn(
    session: &mut Handle,
    op: Op,
    person: &mut Option<Lines>,
    show: &mut dyn Show,
    teller: &mut Teller,
    signals: &mut Signals,
) -> Option<Exit> {
    // These answer at once with one event.
    let short = matches!(op, Op::Status | Op::Context | Op::Bind { .. } | Op::Profile { .. } | Op::Compact);
    let _ = session.ops.send(op);
    loop {
        let event = tokio::select! {
            event = session.events.recv() => event?,
            () = signals.next() => {
                if signals.count > 1 {
                    std::process::exit(i32::from(Exit::Interrupted.code()));
                }
                let _ = session.ops.send(Op::Interrupt);
                continue;
            }
        };
        show.event(&teller.wrap(event.clone()));
        match event {
            Event::Asked { id, question } => {
                let answer = ask(person, &question, signals).await;
                if signals.count > 0 {
                    let _ = session.ops.send(Op::Interrupt);
                }
                let _ = session.ops.send(Op::Answer { id, answer });
            }
            Event::Plan { .. } => {
                let lines = person.as_mut()?;
                let decided = decision(lines, signals).await?;
                let rejected = decided == Decision::Reject;
                let _ = session.ops.send(Op::Decide { decision: decided });
                if rejected {
                    // The session says that it was decided, and is at rest.
                    while let Some(event) = session.events.recv().await {
                        let decided = matches!(event, Event::PlanDecided { .. } | Event::Error { .. });
                        show.event(&teller.wrap(event));
                        if decided {
                            break;
                        }
                    }
                    return Some(Exit::NotApproved);
                }
            }
            Event::Done { report } if report.end != TurnEnd::Planned => {
                let known = exit::TABLE.iter().find(|(exit, _)| exit.code() == report.exit);
                return Some(known.map_or(Exit::NotCompleted, |(exit, _)| *exit));
            }
            Event::Error { .. } => return Some(Exit::NotCompleted),
            Event::Notice { .. } | Event::Context { .. } if short => return None,
            _ => {}
        }
    }
}

fn read(line: &str, plan: PlanMode) -> Line {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let prompt = |text: &str, plan| Line::Send(Op::Prompt { text: text.to_owned(), plan });
    match word {
        "" => Line::Nothing,
        "exit" | "quit" if rest.is_empty() => Line::Exit,
        "/exit" | "/quit" => Line::Exit,
        "/help" => Line::Help,
        "/plan" if rest.is_empty() => Line::TogglePlan,
        "/plan" => prompt(rest, PlanMode::Always),
        "/execute" if rest.is_empty() => {
            Line::Send(Op::Decide { decision: Decision::Approve { by: Approver::Person } })
        }
        "/execute" => prompt(rest, PlanMode::Never),
        "/model" => model(rest),
        "/profile" if rest.is_empty() => Line::Wrong("/profile needs a name".to_owned()),
        "/profile" => Line::Send(Op::Profile { name: rest.to_owned() }),
        "/status" => Line::Send(Op::Status),
        "/context" => Line::Send(Op::Context),
        "/compact" => Line::Send(Op::Compact),
        _ if word.starts_with('/') && !word.get(1..).unwrap_or_default().contains('/') => {
            Line::Wrong(format!("there is no command {word}; /help lists them"))
        }
        _ => prompt(line, plan),
    }
}

fn model(rest: &str) -> Line {
    let (role, name) = match rest.split_once(char::is_whitespace) {
        Some((role, name)) => match Role::ALL.iter().find(|known| known.as_str() == role) {
            Some(role) => (Some(*role), name.trim()),
            None => return Line::Wrong(format!("there is no role {role}")),
        },
        None => (None, rest),
    };
    match name {
        "" => Line::Send(Op::Status),
        name => Line::Send(Op::Bind { role, model: name.to_owned() }),
    }
}

fn help() -> String {
    HELP.iter().map(|(what, does)| format!("{what:<20} {does}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: Line) {
        assert_eq!(read(line, PlanMode::Auto), expect, "{line}");
    }

    fn prompt(text: &str, plan: PlanMode) -> Line {
        Line::Send(Op::Prompt { text: text.into(), plan })
    }

    #[test]
    fn lines_are_commands_or_prompts() {
        check("  ", Line::Nothing);
        check("exit", Line::Exit);
        check("exit the loop early", prompt("exit the loop early", PlanMode::Auto));
        check("/plan fix it", prompt("fix it", PlanMode::Always));
        check("/plan", Line::TogglePlan);
        check("/etc/hosts is wrong", prompt("/etc/hosts is wrong", PlanMode::Auto));
        check("/nope", Line::Wrong("there is no command /nope; /help lists them".into()));
        check("/model a/b/c", Line::Send(Op::Bind { role: None, model: "a/b/c".into() }));
        check(
            "/model executor a/b",
            Line::Send(Op::Bind { role: Some(Role::Executor), model: "a/b".into() }),
        );
        check("/model driver a/b", Line::Wrong("there is no role driver".into()));
    }

    #[test]
    fn help_names_every_command_that_is_understood() {
        for (what, _) in HELP {
            let word = what.split_whitespace().next().unwrap();
            assert!(
                !matches!(read(word, PlanMode::Auto), Line::Wrong(ref why) if why.contains("no command")),
                "{word}"
            );
        }
    }
}
