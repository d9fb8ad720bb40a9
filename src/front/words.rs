//! Events in words: pure functions from what happened to lines for a person.

use tandem_shared::event::{Evidence, JobRow, Report, Status, WindowUse};
use tandem_shared::facts::RoleSpent;
use tandem_shared::person::{Effect, Question};
use tandem_shared::proof::CheckRun;
use tandem_shared::record::{Moment, TurnEnd};
use tandem_shared::role::Role;
use tandem_shared::undo::{Earnest, Fate, UndoReport};

/// Takes out control characters, so that no text from a model, a file or a command can steer the terminal.
pub fn clean(text: &str) -> String {
    // Marks that reorder text could make a command look like another one.
    let reorders = |c: &char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let keep = |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || reorders(c));
    text.chars().filter(keep).collect()
}

/// `text` with each line indented.
pub fn indented(text: &str) -> String {
    clean(text).lines().map(|line| format!("    {line}\n")).collect()
}

/// On one line.
pub fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A role's requests, tokens and cost.
pub fn spent(role: Role, spent: &RoleSpent) -> String {
    let about = if spent.estimated { "about " } else { "" };
    let least = if spent.unpriced > 0 { "at least " } else { "" };
    let cost = spent.cost.map(|cost| format!(", {least}{about}${cost:.4}")).unwrap_or_default();
    let models: Vec<&str> = spent.models.iter().map(String::as_str).collect();
    let cached = if spent.cached > 0 { format!(" ({} cached)", spent.cached) } else { String::new() };
    let requests = if spent.requests == 1 { "request" } else { "requests" };
    format!(
        "{role}: {} {requests}, {about}{} tokens in{cached}, {about}{} out{cost} ({})",
        spent.requests,
        spent.prompt,
        spent.completion,
        models.join(", ")
    )
}

/// The state of a session.
pub fn status(session: &str, status: &Status) -> String {
    let mut lines = vec![format!("session {session}")];
    lines.extend(status.models.iter().map(|(role, model)| format!("{:>10}  {model}", role.as_str())));
    lines.push(format!("approval {:?}, plan {:?}", status.approval, status.planning).to_lowercase());
    lines.extend(status.spent.iter().map(|(role, row)| spent(*role, row)));
    lines.extend(status.plan.iter().map(|plan| {
        let state = if plan.in_force { "approved, open" } else { "drafted" };
        format!("plan {} ({state}): {}", plan.id, clean(&plan.goal))
    }));
    lines.join("\n")
}

/// What fills the window.
pub fn window(window: &WindowUse) -> String {
    let WindowUse { used, budget, system, tools, results, rounds, compactions } = window;
    let share = *used as f64 * 100.0 / (*budget).max(1) as f64;
    format!(
        "about {used} of {budget} tokens in use ({share:.0} %)\n{system:>8}  system message\n{tools:>8}  tools\n\
         {results:>8}  tool results, before cutting\n{rounds} rounds, {compactions} summaries"
    )
}

/// A check that ran.
pub fn check(step: usize, moment: Moment, run: &CheckRun) -> String {
    let when = match moment {
        Moment::Before => "before",
        Moment::After => "after",
    };
    let how = match (run.passed, run.exit) {
        (true, _) => "passes".to_owned(),
        (false, Some(code)) => format!("fails with exit code {code}"),
        (false, None) => "did not end by itself".to_owned(),
    };
    format!("check {when} step {step}: {} {how}\n", one_line(&run.command))
}

/// A question, with how to answer it.
pub fn question(question: &Question) -> String {
    match question {
        Question::Choose { text, options } => {
            let rows =
                options.iter().enumerate().map(|(n, option)| format!("  {}. {}\n", n + 1, clean(option)));
            format!("? {}\n{}", clean(text), rows.collect::<String>())
        }
        Question::Approve { call, effect, why, always } => {
            let always = match always.as_slice() {
                [] => "[a]lways in this session".to_owned(),
                rules => {
                    let rules: Vec<String> =
                        rules.iter().map(|rule| format!("`{}`", one_line(rule))).collect();
                    format!("[a]lways in this project: {}", rules.join(", "))
                }
            };
            let what = match effect {
                Effect::Nothing => String::new(),
                Effect::Write { diff, .. } => {
                    format!("{}{}\n", indented(diff), effect.summary().unwrap_or_default())
                }
                Effect::Command { command } | Effect::Uncaged { command } => indented(command),
                Effect::Read { path } => indented(path),
                Effect::Remote { service } => indented(service),
            };
            format!(
                "? {} wants to go ahead ({})\n{what}  [y]es, {always}, anything else is no: ",
                call.name,
                clean(why)
            )
        }
    }
}

/// How a turn ended, for a person; empty for an answer, which speaks for itself.
pub fn end(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Answered | TurnEnd::Planned => String::new(),
        TurnEnd::NoPlan => "There is no plan: the planner answered in words, and did so again when asked for one.".into(),
        TurnEnd::NoAnswer => "Not completed: the last reply was empty, withheld by the provider, or cut off.".into(),
        TurnEnd::NothingDone => "Not completed: the steps are called done, but nothing was changed and no check passes.".into(),
        TurnEnd::StepsOpen => "Not completed: steps of the plan are open.".into(),
        TurnEnd::CheckFailed => "Not completed: the check of a plan step fails.".into(),
        TurnEnd::Unproven => "Not completed: a failing check passes only since this run changed what it checks with.".into(),
        TurnEnd::NotApproved => {
            "Not completed: leave was needed and not given. Answer in a terminal, or allow it with --approval, a rule \
             in commands.allow, or a plan with --yes."
                .into()
        }
        TurnEnd::Limit { what } => format!("Stopped at a limit: {what}."),
        TurnEnd::Failing => "Stopped: every call of several rounds in a row failed.".into(),
        TurnEnd::Loop => "Stopped by the loop guard: the same calls came again and again.".into(),
        TurnEnd::Model { error } => clean(error),
        TurnEnd::Interrupted => "Interrupted. `tandem resume` goes on.".into(),
        TurnEnd::Crashed => "The program ended in the middle of the turn.".into(),
    }
}

/// What shows that planning changed nothing.
pub fn evidence(evidence: &Evidence) -> String {
    let Evidence { before, after, files, changed } = evidence;
    let (before, after) = (before.short(), after.short());
    match changed.as_slice() {
        [] => format!(
            "evidence: {files} files, tree {before} before and {after} after planning: 0 files changed"
        ),
        changed => format!(
            "evidence: {files} files, tree {before} before and {after} after planning. The planner has no way to write; \
             changed meanwhile by somebody else: {}",
            one_line(&changed.join(", "))
        ),
    }
}

/// What a command prints while it runs.
pub fn output(text: &str) -> String {
    clean(text).lines().map(|line| format!("  | {line}\n")).collect()
}

/// What goes on in the background.
pub fn jobs(jobs: &[JobRow]) -> String {
    if jobs.is_empty() {
        return "Nothing runs in the background.\n".to_owned();
    }
    let row = |job: &JobRow| {
        let state = job.end.clone().unwrap_or_else(|| format!("runs since {} s", job.seconds));
        format!("{:>3}  {}  ({state})\n", job.id, one_line(&job.command))
    };
    jobs.iter().map(row).collect()
}

/// What a taking back did, or would do: each file with what becomes of it.
pub fn undone(report: &UndoReport, earnest: Earnest) -> String {
    let mut text = String::new();
    for file in &report.files {
        let what = match (&file.fate, earnest) {
            (Fate::Restored, Earnest::Do) => "as it was before",
            (Fate::Restored, Earnest::Tell) => "would be as it was before",
            (Fate::Removed, Earnest::Do) => "removed",
            (Fate::Removed, Earnest::Tell) => "would be removed",
            (Fate::Merged, Earnest::Do) => "as it was before, with what was changed since",
            (Fate::Merged, Earnest::Tell) => "would be as it was before, with what was changed since",
            (Fate::Already, _) => "stands as it was before already",
            (Fate::Conflict { .. }, _) => "left as it is",
        };
        text.push_str(&format!("  {}: {what}\n", one_line(&file.path)));
        if let Fate::Conflict { why } = &file.fate {
            text.push_str(&indented(why));
        }
    }
    for command in &report.uncovered {
        text.push_str(&format!("  not known, so not taken back: {}\n", one_line(command)));
    }
    if report.acts.iter().any(|act| act.tool == "run_command" || act.tool == "check") {
        text.push_str("  files that git ignores are not covered where a command changed them\n");
    }
    let conflicts = report.conflicts().count();
    let acts: Vec<&str> = report.acts.iter().map(|act| act.id.as_str()).collect();
    let head = match (&report.id, earnest) {
        (Some(id), _) => format!("{id} takes back {}:\n", one_line(&acts.join(", "))),
        (None, Earnest::Tell) => format!("This would take back {}:\n", one_line(&acts.join(", "))),
        (None, Earnest::Do) => format!(
            "Nothing was changed, because {conflicts} of the files cannot be taken back without loss. \
             `tandem undo --skip-conflicts` leaves those and takes back the others.\n"
        ),
    };
    head + &text
}

/// The report after an execution: each step with what is shown of it, what changed, what it cost.
pub fn report(report: &Report) -> String {
    let mut text = String::new();
    if !report.steps.is_empty() {
        text.push_str("Steps:\n");
    }
    for step in &report.steps {
        let what = step.what.lines().next().unwrap_or_default();
        text.push_str(&format!(
            "  {}. {}: {}\n     {}\n",
            step.proof.step,
            step.proof.verdict.as_str().replace('_', " "),
            clean(what),
            clean(&step.proof.reason)
        ));
    }
    if !report.changed.is_empty() {
        text.push_str("Changed:\n");
    }
    for (path, change) in &report.changed {
        let new = match (&change.before, &change.after) {
            (None, _) => " (new)",
            (_, None) => " (deleted)",
            _ => "",
        };
        text.push_str(&format!("  {} +{} -{}{new}\n", clean(path), change.added, change.removed));
    }
    if !report.turn_spent.is_empty() {
        text.push_str("Cost of this turn:\n");
    }
    for (role, row) in &report.turn_spent {
        text.push_str(&format!("  {}\n", spent(*role, row)));
    }
    if report.spent != report.turn_spent {
        text.push_str("Cost of the session:\n");
        for (role, row) in &report.spent {
            text.push_str(&format!("  {}\n", spent(*role, row)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_steers_the_terminal() {
        assert_eq!(clean("a\x1b[2Jb\r\x07\tc\n"), "a[2Jb\tc\n");
        assert_eq!(clean("rm \u{202e}a"), "rm a");
    }
}
