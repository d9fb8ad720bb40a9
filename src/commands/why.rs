//! `tandem why`: what a command is made of, what is said of each part, and by which rule.

use std::sync::Arc;

use serde_json::{Value, json};
use tandem_executor::shell::{Judgement, Part, Place, Rules, Script, Simple, Weighed, weigh};
use tandem_executor::{Foretold, Gate};
use tandem_shared::person::{Effect, Nobody};

use crate::cli::{OutputFormat, Why};
use crate::exit::Exit;
use crate::front::{say, tell, words};
use crate::scene::{Failure, Scene};
use crate::session::{Attendance, Setup, kept_rules};

/// Whose command it would be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asker {
    Executor,
    Planner,
}

/// Runs the command.
pub fn run(scene: &Scene, asked: Why) -> Result<Exit, Failure> {
    let project = scene.state.project(scene.workspace.root());
    if let Some(rule) = asked.forget {
        return match project.forget_rule(&rule)? {
            true => Ok(Exit::Done),
            false => Err(Failure::new(format!("no rule `{rule}` was kept for this project"), Exit::Usage)),
        };
    }
    let setup = scene.setup(Attendance::Unattended)?;
    let commands = &setup.loaded.config.commands;
    let kept = project.rules()?;
    if asked.rules {
        list(commands, &kept);
        return Ok(Exit::Done);
    }
    let Some(command) = asked.command else {
        return Err(Failure::new("which command? Give it as one argument", Exit::Usage));
    };
    let mut rules = Rules::parse(&commands.deny, &commands.ask, &commands.allow)
        .map_err(|error| Failure::new(format!("commands: {error}"), Exit::Config))?;
    rules.allow.extend(kept_rules(&project));
    let asker = if asked.role.as_deref() == Some("planner") { Asker::Planner } else { Asker::Executor };
    let weighed = weigh(&command, &rules, Place { root: scene.workspace.root() });
    let judged = verdict(&weighed.judgement, asker);
    let (verdict, exit) = match asker {
        Asker::Planner => judged,
        Asker::Executor => in_effect(judged, &foretold(&setup, rules, &command)),
    };
    if asked.json || scene.global.output_format != OutputFormat::Text {
        let parts: Vec<Value> = rows(&weighed).iter().map(Row::json).collect();
        say(&format!(
            "{}\n",
            json!({ "command": command, "verdict": verdict.0, "why": verdict.1, "parts": parts })
        ));
        return Ok(exit);
    }
    for row in rows(&weighed) {
        say(&row.text());
    }
    for odd in &weighed.script.odd {
        say(&format!("not understood: {}\n", words::one_line(odd)));
    }
    say(&format!("{}: {}\n", verdict.0, verdict.1));
    Ok(exit)
}

/// What the gate of a session with these settings would say.
fn foretold(setup: &Setup, rules: Rules, command: &str) -> Foretold {
    let approval = setup.loaded.config.session.approval;
    let gate =
        Gate::new(setup.workspace.clone(), approval, rules, None, Arc::new(Nobody)).in_cage(&setup.cage());
    gate.foretell(&Effect::Command { command: command.to_owned() })
}

/// The verdict on the command, or that of the approval mode and the cage where they say otherwise.
fn in_effect(judged: Verdict, foretold: &Foretold) -> Verdict {
    match (foretold, judged.1) {
        (Foretold::Goes, Exit::NotApproved) => {
            (("allowed", "the approval mode lets it go ahead".to_owned()), Exit::Done)
        }
        (Foretold::Asked(why), Exit::Done) => (("needs approval", why.clone()), Exit::NotApproved),
        (Foretold::Denied(reason), Exit::Done | Exit::NotApproved) => {
            (("forbidden", reason.clone()), Exit::NotCompleted)
        }
        _ => judged,
    }
}

fn list(commands: &tandem_shared::settings::CommandSettings, kept: &[String]) {
    let sources = [
        ("deny", &commands.deny, "commands.deny"),
        ("ask", &commands.ask, "commands.ask"),
        ("allow", &commands.allow, "commands.allow"),
    ];
    for (what, rules, source) in sources {
        for rule in rules {
            say(&format!("{what:<5}  {}  ({source})\n", words::one_line(rule)));
        }
    }
    for rule in kept {
        say(&format!("allow  {}  (kept for this project; --forget takes it away)\n", words::one_line(rule)));
    }
    if commands.deny.is_empty() && commands.ask.is_empty() && commands.allow.is_empty() && kept.is_empty() {
        tell("There is no rule beside the danger list and what only looks.\n");
    }
}

/// A word and its reason, and the exit code that says the same.
type Verdict = ((&'static str, String), Exit);

/// The verdict on the command itself.
fn verdict(judgement: &Judgement, asker: Asker) -> Verdict {
    let (word, why) = match judgement {
        Judgement::Looks => return (("read-only", "every part only looks".to_owned()), Exit::Done),
        Judgement::Forbidden(rule) => ("forbidden", format!("danger rule {}: it {}", rule.id, rule.why)),
        Judgement::Denied(rule) => ("forbidden", format!("the rule `{rule}` of commands.deny")),
        Judgement::Asked(rule) => ("needs approval", format!("the rule `{rule}` of commands.ask")),
        Judgement::Risky(rule) => ("needs approval", format!("danger rule {}: it {}", rule.id, rule.why)),
        Judgement::Unclear(what) => ("needs approval", format!("not understood: {what}")),
        Judgement::Allowed => ("allowed", "rules allow every part that does more than look".to_owned()),
        Judgement::Plain => ("needs approval", "no rule names it, so the approval mode decides".to_owned()),
    };
    if asker == Asker::Planner && word != "forbidden" {
        return (("forbidden", format!("the planner only runs what only looks; {why}")), Exit::NotCompleted);
    }
    let exit = match word {
        "forbidden" => Exit::NotCompleted,
        "allowed" => Exit::Done,
        _ => Exit::NotApproved,
    };
    ((word, why), exit)
}

/// A part of the command, with how deep it stands in others.
struct Row<'a> {
    depth: usize,
    simple: &'a Simple,
    part: &'a Part,
    piped: bool,
}

/// The parts as a tree, flattened: what stands inside the words of another, or is started by a wrapper, is one deeper.
fn rows(weighed: &Weighed) -> Vec<Row<'_>> {
    let script = &weighed.script;
    let inner = |at: usize| script.commands.iter().any(|simple| simple.inner.contains(&at));
    let mut rows = Vec::new();
    for at in (0..script.commands.len()).filter(|at| !inner(*at)) {
        push(script, &weighed.parts, at, 0, &mut rows);
    }
    rows
}

fn push<'a>(script: &'a Script, parts: &'a [Part], at: usize, depth: usize, rows: &mut Vec<Row<'a>>) {
    let (Some(simple), Some(part)) = (script.commands.get(at), parts.get(at)) else { return };
    // Substitutions cannot stand in themselves, but a row more or less must never hang the program.
    if rows.len() > script.commands.len() {
        return;
    }
    let started = usize::from(simple.via.is_some());
    rows.push(Row { depth: depth + started, simple, part, piped: !simple.upstream.is_empty() });
    for inner in &simple.inner {
        push(script, parts, *inner, depth + started + 1, rows);
    }
}

impl Row<'_> {
    fn command(&self) -> String {
        let words = self.simple.words.iter().map(|word| word.text.clone());
        let assigns = self.simple.assigns.iter().map(|name| format!("{name}=…"));
        let redirects = self.simple.redirects.iter().map(|to| format!("{}{}", to.op, to.target.text));
        assigns.chain(words).chain(redirects).collect::<Vec<_>>().join(" ")
    }

    fn notes(&self) -> Vec<String> {
        let simple = self.simple;
        let unknown = simple.words.iter().any(|word| !word.known);
        [
            self.piped.then(|| "reads a pipe".to_owned()),
            simple.background.then(|| "in the background".to_owned()),
            simple.via.as_ref().map(|via| format!("started by {via}")),
            simple.function.as_ref().map(|name| format!("in the function {name}")),
            simple.dir.as_deref().filter(|dir| !dir.is_empty()).map(|dir| format!("in {dir}")),
            unknown.then(|| "with words that are only known when it runs".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn ruling(&self) -> (&'static str, Option<String>) {
        match self.part {
            Part::Forbidden(rule) => ("forbidden", Some(format!("danger rule {}: it {}", rule.id, rule.why))),
            Part::Denied(rule) => ("denied", Some(format!("rule `{rule}`"))),
            Part::Asked(rule) => ("asked", Some(format!("rule `{rule}`"))),
            Part::Risky(rule) => ("risky", Some(format!("danger rule {}: it {}", rule.id, rule.why))),
            Part::Looks => ("read-only", None),
            Part::Allowed(rule) => ("allowed", Some(format!("rule `{rule}`"))),
            Part::Plain => ("by the mode", None),
        }
    }

    fn text(&self) -> String {
        let (word, rule) = self.ruling();
        let rule = rule.map(|rule| format!(" ({rule})")).unwrap_or_default();
        let notes = self.notes().join(", ");
        let notes = if notes.is_empty() { notes } else { format!(" [{notes}]") };
        let indent = "  ".repeat(self.depth);
        format!("{indent}{}{}: {word}{rule}\n", words::one_line(&self.command()), words::one_line(&notes))
    }

    fn json(&self) -> Value {
        let (word, rule) = self.ruling();
        json!({ "depth": self.depth, "command": self.command(), "notes": self.notes(), "ruling": word, "rule": rule })
    }
}
