//! Which flag means something with which command: one that could only be ignored is refused.

use crate::cli::{Cli, Command};

/// What a command does, as far as flags go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Carries out a task with models and tools.
    Task,
    /// Drafts a plan and approves nothing.
    Drafts,
    /// The demo, which brings its own folder and models.
    Demo,
    /// Asks endpoints, and runs no task.
    Asks,
    /// Only looks at what is stored or configured, or runs one tool.
    Local,
}

impl Cli {
    fn kind(&self) -> (Kind, &'static str) {
        match &self.command {
            None => (Kind::Task, "tandem"),
            Some(Command::Plan { .. }) => (Kind::Drafts, "tandem plan"),
            Some(Command::Exec { .. }) => (Kind::Task, "tandem exec"),
            Some(Command::Run { .. }) => (Kind::Task, "tandem run"),
            Some(Command::Resume { .. }) => (Kind::Task, "tandem resume"),
            Some(Command::Demo { .. }) => (Kind::Demo, "tandem demo"),
            Some(Command::Models) => (Kind::Asks, "tandem models"),
            Some(Command::Doctor { .. }) => (Kind::Asks, "tandem doctor"),
            Some(Command::Sessions { .. }) => (Kind::Local, "tandem sessions"),
            Some(Command::Tool { .. }) => (Kind::Local, "tandem tool"),
            Some(Command::Config { .. }) => (Kind::Local, "tandem config"),
            Some(Command::Trust) => (Kind::Local, "tandem trust"),
        }
    }

    /// A flag that was given and that this command could only ignore, in words.
    pub fn meaningless_flag(&self) -> Option<String> {
        let (kind, name) = self.kind();
        let global = &self.global;
        let config = matches!(self.command, Some(Command::Config { .. }));
        let task = [Kind::Task, Kind::Drafts, Kind::Demo].contains(&kind);
        // The flag, whether it was given, and whether it means something here.
        let rows = [
            ("--yes", global.yes, [Kind::Task, Kind::Demo].contains(&kind)),
            ("--approval", global.approval.is_some(), task || config),
            ("--max-rounds", global.max_rounds.is_some(), task || config),
            ("--timeout", global.timeout.is_some(), task || config),
            ("--max-budget-usd", global.max_budget_usd.is_some(), task || config),
            ("--max-tokens-total", global.max_tokens_total.is_some(), task || config),
            ("--record", global.record.is_some(), task || kind == Kind::Asks),
            ("--replay", global.replay.is_some(), task || kind == Kind::Asks),
            ("-C", global.dir.is_some(), kind != Kind::Demo),
        ];
        let (flag, ..) = rows.into_iter().find(|(_, given, meant)| *given && !meant)?;
        Some(format!("{flag} has no meaning with `{name}`"))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[test]
    fn flags_without_a_meaning_are_refused() {
        let refused = |args: &[&str]| {
            let cli = Cli::try_parse_from([&["tandem"], args].concat()).unwrap();
            cli.meaningless_flag()
        };
        assert_eq!(refused(&["plan", "x", "--yes"]), Some("--yes has no meaning with `tandem plan`".into()));
        assert_eq!(
            refused(&["tool", "run", "glob", "--approval", "plan"]),
            Some("--approval has no meaning with `tandem tool`".into())
        );
        assert_eq!(
            refused(&["models", "--timeout", "1"]),
            Some("--timeout has no meaning with `tandem models`".into())
        );
        assert_eq!(refused(&["run", "x", "--yes", "--timeout", "1", "--approval", "auto"]), None);
        assert_eq!(refused(&["demo", "-C", "/"]), Some("-C has no meaning with `tandem demo`".into()));
        assert_eq!(refused(&[]), None);
    }
}
