//! The table of reminders, the more urgent first.

use super::row::{Category, Demand, Due, Row};
use crate::call::ErrorKind;
use crate::context::fence;
use crate::facts::{ErrorFact, Facts, PlanFacts};
use crate::plan::StepStatus;
use crate::record::ReplyEnd;
use crate::role::ActingRole;
use crate::settings::LoopSettings;

type Cap = fn(&LoopSettings) -> u32;

/// No limit but that of its occasion.
const EACH: Cap = |_| 1;
/// Placed as often as its cool-down lets it.
const ALWAYS: Cap = |_| u32::MAX;
/// Calls after which the model is taken to have lost sight of the plan: OpenDev's paper (arXiv 2603.05344) sees the pull of a text fade at
/// about 15 tool calls.
const PLAN_FADES: u32 = 15;
/// Rounds of looking after which the planner is asked for its draft.
const LOOKED_ENOUGH: u32 = 12;
/// Rounds of only reading after which the executor is asked to act.
const READ_ENOUGH: u32 = 5;
/// Rounds between two reminders of plan mode.
const PLAN_MODE_EVERY: u64 = 5;

macro_rules! row {
    ($id:literal, $category:ident, $demand:ident, $cap:expr, $cool_down:expr, $when:expr) => {
        Row {
            id: $id,
            category: Category::$category,
            text: include_str!(concat!("../../../prompts/reminders/", $id, ".md")),
            demand: Demand::$demand,
            cap: $cap,
            cool_down: $cool_down,
            when: $when,
        }
    };
}

/// All reminders that are chosen by facts.
pub const TABLE: &[Row] = &[
    row!("limit_reached", Limits, Nothing, EACH, 0, limit_reached),
    row!("loop_step_back", Limits, Nothing, EACH, 0, |facts| looped(facts, 2)),
    row!("loop_redirect", Limits, Nothing, EACH, 0, |facts| looped(facts, 1)),
    row!("compacted", Limits, Nothing, EACH, 0, compacted),
    row!("session_resumed", TaskLifecycle, Nothing, EACH, 0, resumed),
    row!("plan_approved", TaskLifecycle, Nothing, EACH, 0, plan_approved),
    row!("plan_revise", TaskLifecycle, Nothing, EACH, 0, plan_revise),
    row!("workspace_changed", TaskLifecycle, Nothing, EACH, 0, workspace_changed),
    row!("denied", ErrorRecovery, Nothing, EACH, 0, denied),
    row!("check_failed", Completion, AnotherRound, |s| s.check_failures, 0, check_failed),
    row!("reply_cut", Limits, AnotherRound, |s| s.reply_continues, 0, reply_cut),
    row!("error_arguments", ErrorRecovery, Nothing, |_| 3, 0, |facts| error(
        facts,
        &[ErrorKind::InvalidArguments]
    )),
    row!("error_edit_mismatch", ErrorRecovery, Nothing, |_| 3, 0, |facts| error(
        facts,
        &[ErrorKind::TextNotFound, ErrorKind::Ambiguous, ErrorKind::Stale]
    )),
    row!("error_syntax", ErrorRecovery, Nothing, |_| 3, 0, syntax_error),
    row!("error_not_found", ErrorRecovery, Nothing, |_| 3, 0, |facts| error(
        facts,
        &[ErrorKind::PathNotFound]
    )),
    row!("error_permission", ErrorRecovery, Nothing, |_| 3, 0, |facts| error(
        facts,
        &[ErrorKind::Permission, ErrorKind::OutsideRoot]
    )),
    row!("error_timeout", ErrorRecovery, Nothing, |_| 3, 0, |facts| error(facts, &[ErrorKind::Timeout])),
    row!("error_command", ErrorRecovery, Nothing, |_| 3, 0, |facts| error(
        facts,
        &[ErrorKind::CommandFailed]
    )),
    row!("submit_plan", PhaseControl, AnotherRound, EACH, 0, submit_plan),
    row!("announced_not_done", Completion, AnotherRound, |_| 2, 0, announced_not_done),
    row!("steps_open", Completion, AnotherRound, |_| 2, 0, steps_open),
    row!("plan_restated", TaskLifecycle, Nothing, ALWAYS, 0, plan_restated),
    row!("context_pressure", Limits, Nothing, EACH, 0, context_pressure),
    row!("draft_now", PhaseControl, Nothing, EACH, 0, draft_now),
    row!("plan_mode", PhaseControl, Nothing, ALWAYS, PLAN_MODE_EVERY, plan_mode),
    row!("reads_in_a_row", Exploration, Nothing, ALWAYS, READ_ENOUGH as u64, reads_in_a_row),
];

/// The one note that no condition chooses: it is placed when the thinking phase has spoken.
pub const THINKING_TRACE: Row = row!("thinking_trace", PhaseControl, Nothing, EACH, 0, |_| None);

/// Beginnings of a sentence that promises an act of the speaker.
const PROMISES: &[&str] = &[
    "i'll ",
    "i will ",
    "i'm going to ",
    "i am going to ",
    "let me ",
    "let's ",
    "now i'll ",
    "now i will ",
    "next, i'll ",
    "next, i will ",
    "next i'll ",
    "first, i'll ",
    "first, i will ",
    "now let me ",
];
/// Beginnings that only look like a promise.
const NO_PROMISES: &[&str] = &["let me know", "i'll be ", "i will be ", "i'll wait", "i will wait"];

fn due(occasion: impl ToString, values: Vec<(&'static str, String)>) -> Option<Due> {
    Some(Due { occasion: occasion.to_string(), values })
}

fn acts_as(facts: &Facts, role: ActingRole) -> bool {
    facts.turn.role == Some(role)
}

/// The plan that the executor is carrying out.
fn carried_out(facts: &Facts) -> Option<&PlanFacts> {
    facts.plan.as_ref().filter(|plan| plan.approved.is_some() && acts_as(facts, ActingRole::Executor))
}

fn limit_reached(facts: &Facts) -> Option<Due> {
    let what = facts.turn.limit.clone()?;
    due(facts.turns, vec![("limit", what)])
}

fn looped(facts: &Facts, strikes: u32) -> Option<Due> {
    let struck = facts.guard.struck.as_ref()?;
    (struck.strikes == strikes).then(|| due(facts.guard.loops, vec![])).flatten()
}

fn compacted(facts: &Facts) -> Option<Due> {
    let count = facts.context.compactions;
    (count > 0).then(|| due(count, vec![("id", facts.context.archive.clone())])).flatten()
}

fn resumed(facts: &Facts) -> Option<Due> {
    let calls = match facts.interrupted.as_slice() {
        [] => "No call was in flight.".to_owned(),
        names => format!("In flight at that moment: {}.", names.join(", ")),
    };
    (facts.resumes > 0).then(|| due(facts.resumes, vec![("calls", calls)])).flatten()
}

fn workspace_changed(facts: &Facts) -> Option<Due> {
    let files = facts.undone.join(", ");
    (facts.undos > 0).then(|| due(facts.undos, vec![("files", fence("changed files", &files))])).flatten()
}

fn syntax_error(facts: &Facts) -> Option<Due> {
    let places = facts.round.syntax_errors.join(", ");
    (!places.is_empty()).then(|| due(facts.turns, vec![("places", places)])).flatten()
}

fn plan_approved(facts: &Facts) -> Option<Due> {
    let plan = carried_out(facts)?;
    due(facts.turns, vec![("plan", plan.plan.to_markdown())])
}

fn plan_restated(facts: &Facts) -> Option<Due> {
    let plan = carried_out(facts)?;
    let compacted = facts.context.compactions > 0 && facts.placed("plan_restated", "compacted").times == 0;
    if plan.calls_since_seen < PLAN_FADES && !compacted {
        return None;
    }
    let states: Vec<String> = plan
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            let state = match (&step.proof, step.status) {
                (Some(proof), _) => proof.verdict.as_str(),
                (None, Some(StepStatus::Done)) => "reported done",
                (None, Some(StepStatus::Doing)) => "being worked on",
                (None, Some(StepStatus::Blocked)) => "blocked",
                (None, Some(StepStatus::Todo) | None) => "to do",
            };
            format!("{}. {state}", index + 1)
        })
        .collect();
    let occasion = if compacted { "compacted" } else { "faded" };
    due(occasion, vec![("plan", plan.plan.to_markdown()), ("states", states.join("\n"))])
}

fn plan_revise(facts: &Facts) -> Option<Due> {
    let plan = facts.plan.as_ref().filter(|_| acts_as(facts, ActingRole::Planner))?;
    due(plan.revisions, vec![("comment", plan.comment.clone()?), ("plan", plan.plan.to_markdown())])
}

fn denied(facts: &Facts) -> Option<Due> {
    let reason = facts.round.denied.first()?;
    due(facts.rounds, vec![("reason", reason.clone())])
}

fn check_failed(facts: &Facts) -> Option<Due> {
    let number = *facts.round.checks_failed.first()?;
    let step = carried_out(facts)?.steps.get(number.checked_sub(1)?)?;
    let run = step.after.as_ref()?;
    due(
        format!("step {number}"),
        vec![
            ("step", number.to_string()),
            ("check", run.command.clone()),
            ("output", fence("check", &run.output)),
        ],
    )
}

fn reply_cut(facts: &Facts) -> Option<Due> {
    let cut = facts.round.finish == Some(ReplyEnd::Length) && facts.round.calls == 0;
    cut.then(|| due(facts.turns, vec![])).flatten()
}

fn error(facts: &Facts, kinds: &[ErrorKind]) -> Option<Due> {
    let found: &ErrorFact = facts.round.errors.iter().find(|error| kinds.contains(&error.kind))?;
    // An occasion is a turn: a new prompt may need the hint again.
    due(facts.turns, vec![("tool", found.tool.clone())])
}

fn submit_plan(facts: &Facts) -> Option<Due> {
    let waits = acts_as(facts, ActingRole::Planner) && facts.turn.plan_demanded && !facts.turn.planned;
    (waits && facts.round.finish.is_some() && facts.round.calls == 0)
        .then(|| due(facts.turns, vec![]))
        .flatten()
}

fn announced_not_done(facts: &Facts) -> Option<Due> {
    let in_words = facts.round.finish == Some(ReplyEnd::Stop) && facts.round.calls == 0;
    let announced = in_words.then(|| announcement(&facts.round.text)).flatten()?;
    due(facts.turns, vec![("announcement", announced)])
}

fn steps_open(facts: &Facts) -> Option<Due> {
    let plan = carried_out(facts)?;
    let in_words = facts.round.finish == Some(ReplyEnd::Stop) && facts.round.calls == 0;
    let open = facts.open_steps();
    if !in_words || open.is_empty() {
        return None;
    }
    let named: Vec<String> = open
        .iter()
        .take(3)
        .filter_map(|number| plan.plan.steps().get(number - 1).map(|step| (number, step)))
        .map(|(number, step)| format!("{number}. {}", step.what.lines().next().unwrap_or_default()))
        .collect();
    due(facts.turns, vec![("count", open.len().to_string()), ("steps", named.join("\n"))])
}

fn context_pressure(facts: &Facts) -> Option<Due> {
    facts.context.high.then(|| due(facts.context.crossings, vec![])).flatten()
}

fn draft_now(facts: &Facts) -> Option<Due> {
    let looked =
        acts_as(facts, ActingRole::Planner) && facts.turn.rounds >= LOOKED_ENOUGH && !facts.turn.planned;
    looked.then(|| due(facts.turns, vec![])).flatten()
}

fn plan_mode(facts: &Facts) -> Option<Due> {
    let every = PLAN_MODE_EVERY as u32;
    let often = acts_as(facts, ActingRole::Planner) && facts.turn.rounds >= every;
    often.then(|| due(facts.turns, vec![])).flatten()
}

fn reads_in_a_row(facts: &Facts) -> Option<Due> {
    let reading = acts_as(facts, ActingRole::Executor) && facts.turn.reading_rounds >= READ_ENOUGH;
    reading.then(|| due(facts.turns, vec![("rounds", facts.turn.reading_rounds.to_string())])).flatten()
}

/// The last sentence of `text`, if it promises an act that the reply does not contain.
fn announcement(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    // A sentence ends at a mark before a blank, so that the dot of a file name ends none.
    let start =
        [". ", "! ", "? ", ": "].iter().filter_map(|end| line.rfind(end)).max().map_or(0, |at| at + 2);
    let sentence = line.get(start..)?.trim();
    let lower = sentence.to_lowercase().replace('’', "'");
    let promises = PROMISES.iter().any(|start| lower.starts_with(start))
        && !NO_PROMISES.iter().any(|start| lower.starts_with(start))
        && !lower.ends_with('?');
    promises.then(|| sentence.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(announcement(text).as_deref(), expect, "{text}");
    }

    #[test]
    fn only_the_last_sentence_announces() {
        check("The bug is in add. Let me fix it.", Some("Let me fix it."));
        check("Done.\n\nNow I'll run the tests:", Some("Now I'll run the tests:"));
        check("I’ll edit src/lib.rs", Some("I’ll edit src/lib.rs"));
        check("Let me know if you want more.", None);
        check("I'll be glad to help.", None);
        check("Let me fix it. It is fixed.", None);
        check("Shall I? Let me see?", None);
        check("", None);
    }
}
