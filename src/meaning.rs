//! Which flag means something with which command: one that could only be ignored is named, and refused where it promises
//! protection.

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
            Some(Command::Undo(_)) => (Kind::Local, "tandem undo"),
            Some(Command::Why(_)) => (Kind::Local, "tandem why"),
            Some(Command::Redo { .. }) => (Kind::Local, "tandem redo"),
            Some(Command::Tool { .. }) => (Kind::Local, "tandem tool"),
            Some(Command::Config { .. }) => (Kind::Local, "tandem config"),
            Some(Command::Trust) => (Kind::Local, "tandem trust"),
        }
    }

    /// Flags that were given and that this command can only ignore, each in words.
    ///
    /// # Errors
    /// The words, where ignoring the flag would drop a protection that the person asked for.
    pub fn meaningless_flags(&self) -> Result<Vec<String>, String> {
        let (kind, name) = self.kind();
        let global = &self.global;
        let config = matches!(self.command, Some(Command::Config { .. }));
        let task = [Kind::Task, Kind::Drafts, Kind::Demo].contains(&kind);
        // The flag, whether it was given, and whether it means something here.
        let rows = [
            ("--yes", global.yes, [Kind::Task, Kind::Demo].contains(&kind)),
            // Only `tool` could act in spite of it.
            ("--approval", global.approval.is_some(), !matches!(self.command, Some(Command::Tool { .. }))),
            ("--max-rounds", global.max_rounds.is_some(), task || config),
            ("--timeout", global.timeout.is_some(), task || config),
            ("--max-budget-usd", global.max_budget_usd.is_some(), task || config),
            ("--max-tokens-total", global.max_tokens_total.is_some(), task || config),
            ("--record", global.record.is_some(), task || kind == Kind::Asks),
            ("--replay", global.replay.is_some(), task || kind == Kind::Asks),
            ("-C", global.dir.is_some(), kind != Kind::Demo),
        ];
        let ignored = rows.into_iter().filter(|(_, given, meant)| *given && !meant);
        let said = |flag: &str| format!("{flag} has no meaning with `{name}`");
        let flags: Vec<&str> = ignored.map(|(flag, ..)| flag).collect();
        match flags.iter().find(|flag| **flag == "--approval") {
            Some(flag) => Err(format!("{}: a tool that you run by hand is your own act", said(flag))),
            None => Ok(flags.into_iter().map(said).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn check(args: &[&str], expect: Result<&[&str], &str>) {
        let cli = Cli::try_parse_from([&["tandem"], args].concat()).unwrap();
        let expect =
            expect.map(|said| said.iter().map(|text| (*text).to_owned()).collect()).map_err(str::to_owned);
        assert_eq!(cli.meaningless_flags(), expect, "{args:?}");
    }

    #[test]
    fn flags_without_a_meaning_are_named() {
        check(&["plan", "x", "--yes"], Ok(&["--yes has no meaning with `tandem plan`"]));
        check(&["models", "--timeout", "1"], Ok(&["--timeout has no meaning with `tandem models`"]));
        check(&["demo", "-C", "/"], Ok(&["-C has no meaning with `tandem demo`"]));
        check(&["run", "x", "--yes", "--timeout", "1", "--approval", "auto"], Ok(&[]));
        check(&[], Ok(&[]));
    }

    #[test]
    fn a_protection_is_never_ignored() {
        check(
            &["tool", "run", "glob", "--approval", "plan"],
            Err("--approval has no meaning with `tandem tool`: a tool that you run by hand is your own act"),
        );
    }
}
