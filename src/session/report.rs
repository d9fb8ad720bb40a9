//! How a turn went: its end, its exit code, and the report.

use tandem_shared::agent::End;
use tandem_shared::event::{Report, ReportedPlan, StepReport};
use tandem_shared::facts::{Facts, StepFacts};
use tandem_shared::model::{Finish, ModelError};
use tandem_shared::plan::StepStatus;
use tandem_shared::proof::{StepProof, Verdict};
use tandem_shared::record::TurnEnd;
use tandem_shared::role::ActingRole;

use crate::exit::Exit;

/// How a turn ended, with its exit code and its words.
pub struct Closing {
    /// For the log and the report.
    pub end: TurnEnd,
    /// For the program that started this one.
    pub exit: Exit,
    /// The answer or the wrap-up, possibly empty.
    pub words: String,
}

/// Reads a run's end by the facts: words alone do not make a task done.
pub fn close(end: End, facts: &Facts) -> Closing {
    let closing = |end, exit| Closing { end, exit, words: String::new() };
    match end {
        End::Words { text, finish } => {
            let whole = finish == Finish::Stop && !text.trim().is_empty();
            let (end, exit) = of_words(facts, whole);
            Closing { end, exit, words: text }
        }
        End::Plan(_) => closing(TurnEnd::Planned, Exit::Done),
        End::Limit { what, words } => Closing { end: TurnEnd::Limit { what }, exit: Exit::Limit, words },
        End::Failing => closing(TurnEnd::Failing, Exit::NotCompleted),
        End::CheckFailing => closing(TurnEnd::CheckFailed, Exit::CheckFailed),
        End::Loop => closing(TurnEnd::Loop, Exit::Loop),
        End::Interrupted => closing(TurnEnd::Interrupted, Exit::Interrupted),
        End::Model(error) => {
            let exit = model_exit(&error);
            closing(TurnEnd::Model { error: error.to_string() }, exit)
        }
        End::Store(error) => closing(TurnEnd::Model { error: error.to_string() }, Exit::NotCompleted),
    }
}

/// The exit code of a model's fault.
pub fn model_exit(error: &ModelError) -> Exit {
    match error {
        ModelError::NotConfigured(_) => Exit::Config,
        ModelError::Authentication { .. } => Exit::Authentication,
        ModelError::ContextOverflow { .. }
        | ModelError::BadRequest { .. }
        | ModelError::RateLimit { .. }
        | ModelError::Server { .. }
        | ModelError::Network { .. }
        | ModelError::Timeout { .. }
        | ModelError::Protocol { .. } => Exit::Model,
    }
}

/// `whole`: the reply that ended it has words, and was neither withheld nor cut.
fn of_words(facts: &Facts, whole: bool) -> (TurnEnd, Exit) {
    if facts.turn.role == Some(ActingRole::Planner) {
        return match facts.turn.plan_demanded {
            true => (TurnEnd::NoPlan, Exit::NotCompleted),
            false if whole => (TurnEnd::Answered, Exit::Done),
            false => (TurnEnd::NoAnswer, Exit::NotCompleted),
        };
    }
    let carried_out = facts.plan.as_ref().is_some_and(|plan| plan.approved.is_some());
    let blocked = || {
        let steps = facts.plan.iter().flat_map(|plan| &plan.steps);
        steps.filter(|step| step.status == Some(StepStatus::Blocked)).count() > 0
    };
    if carried_out && !facts.failed_steps().is_empty() {
        (TurnEnd::CheckFailed, Exit::CheckFailed)
    } else if carried_out && has_refused_check(facts) {
        (TurnEnd::NotApproved, Exit::NotApproved)
    } else if carried_out && has_unproven_check(facts) {
        (TurnEnd::Unproven, Exit::NotCompleted)
    } else if carried_out && facts.open_steps().is_empty() && !blocked() && has_done_nothing(facts) {
        (TurnEnd::NothingDone, Exit::NotCompleted)
    } else if carried_out && facts.open_steps().is_empty() && !blocked() {
        (TurnEnd::Answered, Exit::Done)
    } else if facts.turn.denied > 0 {
        (TurnEnd::NotApproved, Exit::NotApproved)
    } else if carried_out {
        (TurnEnd::StepsOpen, Exit::NotCompleted)
    } else if whole {
        (TurnEnd::Answered, Exit::Done)
    } else {
        (TurnEnd::NoAnswer, Exit::NotCompleted)
    }
}

/// Whether the plan stands as done by the model's word alone.
fn has_done_nothing(facts: &Facts) -> bool {
    let passes = |step: &StepFacts| step.after.as_ref().is_some_and(|run| run.passed);
    facts.acts == 0 && !facts.plan.iter().flat_map(|plan| &plan.steps).any(passes)
}

/// Whether a step was judged without its check, which was not allowed to run.
fn has_refused_check(facts: &Facts) -> bool {
    let refused = |step: &StepFacts| step.proof.is_some() && step.after.is_none();
    facts.plan.iter().flat_map(|plan| &plan.steps).any(refused)
}

/// Whether a check that was red turned green only after this run changed what it checks with.
fn has_unproven_check(facts: &Facts) -> bool {
    let unproven = |step: &StepFacts| {
        let verdict = step.proof.as_ref().map(|proof| proof.verdict);
        verdict == Some(Verdict::Unproven) && step.before.as_ref().is_some_and(|run| !run.passed)
    };
    facts.plan.iter().flat_map(|plan| &plan.steps).any(unproven)
}

/// The report of a turn.
pub fn report(session: &str, closing: Closing, facts: &Facts) -> Report {
    let executed = facts.turn.role == Some(ActingRole::Executor);
    let plan = facts.plan.as_ref().filter(|plan| !executed || plan.approved.is_some());
    let steps = plan.filter(|_| executed).map(|plan| {
        let rows = plan.plan.steps().iter().zip(&plan.steps).enumerate();
        let report = rows.map(|(index, (step, known))| StepReport {
            what: step.what.clone(),
            check: step.check.clone(),
            proof: known.proof.clone().unwrap_or_else(|| StepProof {
                step: index + 1,
                verdict: Verdict::Unproven,
                reason: unproven(step.check.as_deref(), known.status, &known.note),
            }),
        });
        report.collect()
    });
    Report {
        session: session.to_owned(),
        end: closing.end,
        exit: closing.exit.code(),
        answer: closing.words,
        plan: plan
            .map(|plan| ReportedPlan { id: plan.plan.digest().short().to_owned(), plan: plan.plan.clone() }),
        steps: steps.unwrap_or_default(),
        changed: facts.changed.clone(),
        spent: facts.spent.clone(),
        turn_spent: facts.turn.spent.clone(),
    }
}

fn unproven(check: Option<&str>, status: Option<StepStatus>, note: &str) -> String {
    let claim = match status {
        Some(StepStatus::Done) => "the model says that it is done",
        Some(StepStatus::Doing) => "the model was working on it",
        Some(StepStatus::Blocked) => "the model says that it is blocked",
        Some(StepStatus::Todo) | None => "it was not reported",
    };
    let check = match check {
        None => "it has no check",
        Some(_) => "its check was not run",
    };
    let note = if note.is_empty() { String::new() } else { format!(" ({note})") };
    format!("{check}; {claim}{note}")
}
