//! What a person types in a session: a command or a prompt.

use tandem_shared::event::Op;
use tandem_shared::role::Role;
use tandem_shared::settings::PlanMode;
use tandem_shared::undo::Scope;

/// What can be typed, with what it does.
const HELP: &[(&str, &str)] = &[
    ("/plan TEXT", "drafts a plan for TEXT; alone, every prompt is planned first until /plan again"),
    ("/execute", "approves the drafted plan and carries it out; with TEXT, goes straight to work on TEXT"),
    ("/model [ROLE] NAME", "binds planner and executor, or one role, to another model"),
    ("/profile NAME", "uses another named set of bindings"),
    ("/thinking MODE", "when the thinking phase runs: off, auto or always"),
    ("/undo [TURN|ID]", "takes back what the newest turn changed, or that turn, or that call"),
    ("/redo", "puts back what was taken back last"),
    ("/jobs", "what goes on in the background"),
    ("/status", "the session, its models, its cost"),
    ("/context", "what fills the model's window"),
    ("/compact", "summarises the conversation now"),
    ("/help", "this list"),
    ("exit", "ends the session"),
];

/// What a line asks for.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// It is blank.
    Nothing,
    /// The session is to do it.
    Send(Op),
    /// The plan that was shown is approved.
    Execute,
    /// Planning first is switched on or off.
    TogglePlan,
    /// The list of commands.
    Help,
    /// The end.
    Exit,
    /// It cannot be understood; the text says why.
    Wrong(String),
}

/// Reads a line; a prompt is planned as `plan` says.
pub(super) fn read(line: &str, plan: PlanMode) -> Line {
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
        "/execute" if rest.is_empty() => Line::Execute,
        "/execute" => prompt(rest, PlanMode::Never),
        "/model" => model(rest),
        "/profile" if rest.is_empty() => Line::Wrong("/profile needs a name".to_owned()),
        "/profile" => Line::Send(Op::Profile { name: rest.to_owned() }),
        "/thinking" if rest.is_empty() => Line::Wrong("/thinking needs off, auto or always".to_owned()),
        "/thinking" => Line::Send(Op::Think { mode: rest.to_owned() }),
        "/undo" => Line::Send(Op::Undo { scope: undo_scope(rest) }),
        "/redo" => Line::Send(Op::Undo { scope: Scope::Redo }),
        "/jobs" => Line::Send(Op::Jobs),
        "/status" => Line::Send(Op::Status),
        "/context" => Line::Send(Op::Context),
        "/compact" => Line::Send(Op::Compact),
        _ if word.starts_with('/') && !word.get(1..).unwrap_or_default().contains('/') => {
            Line::Wrong(format!("there is no command {word}; /help lists them"))
        }
        _ => prompt(line, plan),
    }
}

fn undo_scope(rest: &str) -> Scope {
    match (rest, rest.parse()) {
        ("", _) => Scope::NewestTurn,
        (_, Ok(turn)) => Scope::Turn(turn),
        (id, Err(_)) => Scope::Call(id.to_owned()),
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

/// The list of commands.
pub(super) fn help() -> String {
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
        check("/undo", Line::Send(Op::Undo { scope: Scope::NewestTurn }));
        check("/undo 3", Line::Send(Op::Undo { scope: Scope::Turn(3) }));
        check("/undo call_7", Line::Send(Op::Undo { scope: Scope::Call("call_7".into()) }));
        check("/redo", Line::Send(Op::Undo { scope: Scope::Redo }));
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
