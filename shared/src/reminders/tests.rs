//! Every row fires on its facts, and stops at its cap.

use std::collections::{BTreeMap, BTreeSet};

use super::row::Row;
use super::table::{TABLE, THINKING_TRACE};
use super::{due, trace};
use crate::call::{Artifact, ErrorKind, Outcome, ToolCall, ToolOutput};
use crate::digest::Digest;
use crate::facts::Facts;
use crate::folded::Folded;
use crate::image::Image;
use crate::journal::{Granted, GrantedBy};
use crate::model::OwnFields;
use crate::plan::{Approver, Plan, PlanDraft, PlanStep, StepStatus};
use crate::proof::CheckRun;
use crate::record::{Audit, Decision, Moment, Record, ReplyEnd, Spent, Summary, TurnEnd};
use crate::role::{ActingRole, Role};
use crate::settings::LoopSettings;

fn settings() -> LoopSettings {
    LoopSettings {
        planner_rounds: 40,
        executor_rounds: 200,
        time_budget_s: 0,
        input_tokens: 0,
        max_usd: 0.0,
        max_tokens_total: 0,
        failing_rounds: 6,
        parallel_reads: 5,
        reply_continues: 3,
        guard_window: 25,
        guard_repeats: 3,
        guard_period: 5,
        guard_strikes: 3,
        check_failures: 3,
    }
}

/// A session in the making.
struct Told(Folded, u32);

impl Told {
    fn turn(role: ActingRole) -> Told {
        Told(Folded::default(), 0).then(opened(role))
    }

    fn executing() -> Told {
        let digest = plan().digest();
        let decision = Decision::Approve { by: Approver::Person };
        Told::turn(ActingRole::Planner)
            .then(Record::Planned { plan: plan() })
            .then(Record::Decided { digest, decision })
            .then(opened(ActingRole::Executor))
            .placed("plan_approved")
    }

    fn then(mut self, record: Record) -> Told {
        self.0.apply(&record);
        self
    }

    fn words(self, text: &str) -> Told {
        self.then(replied(text, vec![], ReplyEnd::Stop))
    }

    /// A round with one call that comes out so.
    fn round(mut self, name: &str, outcome: Outcome) -> Told {
        self.1 += 1;
        let call = ToolCall {
            id: format!("c{}", self.1),
            name: name.into(),
            arguments: format!("{{\"n\":{}}}", self.1),
        };
        let id = call.id.clone();
        self.then(replied("", vec![call], ReplyEnd::Stop)).then(stepped(&id, outcome))
    }

    fn rounds(self, times: usize) -> Told {
        (0..times).fold(self, |told, _| told.round("read_file", Outcome::text("x")))
    }

    fn failing(self, kind: ErrorKind) -> Told {
        self.round("tool", Outcome::error(kind, "no"))
    }

    fn checked(self, passed: bool) -> Told {
        let run = CheckRun {
            command: "make check".into(),
            exit: Some(i32::from(!passed)),
            passed,
            output: "E1".into(),
            duration_ms: 1,
        };
        let granted = Granted { by: GrantedBy::Plan, effect_digest: None };
        let material = BTreeMap::new();
        self.then(Record::Checked { step: 1, moment: Moment::After, granted, material, run })
    }

    fn struck(self, strike: u32) -> Told {
        self.then(Record::Struck { keys: vec![Digest::of("a")], strike })
    }

    /// Places all that is due, as the loop does.
    fn placed(mut self, id: &str) -> Told {
        let note = all_due(&self.0.facts).into_iter().find(|note| note.id == id);
        if let Some(note) = note {
            self.0.apply(&Record::Noted { id: note.id.into(), occasion: note.occasion, text: note.text });
        }
        self
    }
}

fn opened(role: ActingRole) -> Record {
    Record::TurnOpened { role, prompt: "do it".into(), plan_demanded: true }
}

fn replied(text: &str, calls: Vec<ToolCall>, finish: ReplyEnd) -> Record {
    let (role, model) = (ActingRole::Executor, "m".to_owned());
    Record::Replied {
        role,
        model,
        text: text.into(),
        reasoning: None,
        own: OwnFields::default(),
        calls,
        finish,
        spent: Spent::default(),
    }
}

fn stepped(call_id: &str, outcome: Outcome) -> Record {
    let audit = Audit {
        tool: "t".into(),
        args_hash: String::new(),
        path_scope: vec![],
        result: outcome.as_str().into(),
        duration_ms: 0,
        approved_by: None,
        effect_digest: None,
        rollback_of: None,
        turn: 1,
        role: Role::Executor,
    };
    Record::Stepped { call_id: call_id.into(), outcome, audit }
}

fn plan() -> Plan {
    let step = PlanStep { what: "Fix it".into(), files: vec![], check: Some("make check".into()) };
    Plan::new(PlanDraft { goal: "Goal".into(), steps: vec![step], ..PlanDraft::default() }).unwrap()
}

/// Without the limit on notes of one round, so that each row is seen.
fn all_due(facts: &Facts) -> Vec<super::Note> {
    let mut facts = facts.clone();
    let mut found = Vec::new();
    loop {
        let notes = due(&facts, &settings());
        if notes.is_empty() || found.len() > 20 {
            return found;
        }
        for note in notes {
            facts.apply(
                &Record::Noted { id: note.id.into(), occasion: note.occasion.clone(), text: String::new() },
                None,
            );
            found.push(note);
        }
    }
}

/// How to bring a row about, and how often it is placed when the same comes again and again.
type Script = (&'static str, fn() -> Told, fn(Told) -> Told, usize, &'static str);

const SCRIPTS: &[Script] = &[
    (
        "limit_reached",
        || Told::turn(ActingRole::Planner).then(Record::Limited { what: "40 rounds".into() }),
        same,
        1,
        "40 rounds",
    ),
    ("loop_redirect", || Told::turn(ActingRole::Executor).rounds(1).struck(1), same, 1, "repeat"),
    (
        "loop_step_back",
        || Told::turn(ActingRole::Executor).rounds(1).struck(1).struck(2),
        same,
        1,
        "Step back",
    ),
    ("compacted", || Told::turn(ActingRole::Executor).then(compacted()), same, 1, "recall"),
    (
        "session_resumed",
        || Told::turn(ActingRole::Executor).then(Record::Resumed { interrupted: vec!["run_command".into()] }),
        same,
        1,
        "run_command",
    ),
    ("plan_approved", || Told::executing().then(opened(ActingRole::Executor)), same, 1, "# Plan: Goal"),
    (
        "plan_revise",
        || Told::turn(ActingRole::Planner).then(Record::Planned { plan: plan() }).then(revise()),
        same,
        1,
        "shorter please",
    ),
    ("workspace_changed", || Told::turn(ActingRole::Executor).then(undone()), same, 1, "src/a.rs"),
    (
        "denied",
        || Told::turn(ActingRole::Executor).round("run_command", Outcome::Denied("not that".into())),
        same,
        1,
        "not that",
    ),
    (
        "check_failed",
        || Told::executing().rounds(1).checked(false),
        |told| told.rounds(1).checked(false),
        3,
        "E1",
    ),
    ("reply_cut", || Told::turn(ActingRole::Executor).then(cut()), |told| told.then(cut()), 3, "Go on"),
    (
        "error_arguments",
        || failing(ErrorKind::InvalidArguments),
        |told| told.failing(ErrorKind::InvalidArguments),
        3,
        "tool",
    ),
    (
        "error_edit_mismatch",
        || failing(ErrorKind::TextNotFound),
        |told| told.failing(ErrorKind::Ambiguous),
        3,
        "read_file",
    ),
    (
        "error_syntax",
        || Told::turn(ActingRole::Executor).round("edit_file", broken()),
        |told| told.round("edit_file", broken()),
        3,
        "src/a.rs:3",
    ),
    (
        "error_not_found",
        || failing(ErrorKind::PathNotFound),
        |told| told.failing(ErrorKind::PathNotFound),
        3,
        "glob",
    ),
    (
        "error_permission",
        || failing(ErrorKind::OutsideRoot),
        |told| told.failing(ErrorKind::Permission),
        3,
        "root",
    ),
    ("error_timeout", || failing(ErrorKind::Timeout), |told| told.failing(ErrorKind::Timeout), 3, "time"),
    (
        "error_command",
        || failing(ErrorKind::CommandFailed),
        |told| told.failing(ErrorKind::CommandFailed),
        3,
        "127",
    ),
    (
        "submit_plan",
        || Told::turn(ActingRole::Planner).words("It is fine."),
        |told| told.words("It is fine."),
        1,
        "submit_plan",
    ),
    (
        "announced_not_done",
        || Told::turn(ActingRole::Executor).words("Let me fix it."),
        |told| told.words("I'll do it."),
        2,
        "Let me fix it.",
    ),
    ("steps_open", || Told::executing().words("All done."), |told| told.words("All done."), 2, "1. Fix it"),
    ("plan_restated", || Told::executing().rounds(15), |told| told.rounds(15), 4, "1. to do"),
    (
        "context_pressure",
        || Told::turn(ActingRole::Executor).then(Record::Pressure { high: true }),
        same,
        1,
        "room",
    ),
    ("draft_now", || Told::turn(ActingRole::Planner).rounds(12), |told| told.rounds(1), 1, "submit_plan"),
    ("plan_mode", || Told::turn(ActingRole::Planner).rounds(5), |told| told.rounds(5), 4, "plan mode"),
    (
        "reads_in_a_row",
        || Told::turn(ActingRole::Executor).rounds(5),
        |told| told.rounds(5),
        4,
        "The last 5 rounds",
    ),
];

fn same(told: Told) -> Told {
    told
}

fn failing(kind: ErrorKind) -> Told {
    Told::turn(ActingRole::Executor).failing(kind)
}

fn broken() -> Outcome {
    let artifact = Artifact::SyntaxError { path: "src/a.rs".into(), line: 3 };
    Outcome::Ok(ToolOutput::text("edited").with(artifact))
}

fn undone() -> Record {
    Record::Undone {
        id: "undo-1".into(),
        of: vec!["c1".into()],
        why: "the user".into(),
        restored: BTreeMap::from([("src/a.rs".into(), Image::Missing)]),
    }
}

fn cut() -> Record {
    replied("half of a", vec![], ReplyEnd::Length)
}

fn revise() -> Record {
    Record::Decided {
        digest: plan().digest(),
        decision: Decision::Revise { comment: "shorter please".into() },
    }
}

fn compacted() -> Record {
    Record::Compacted { summary: Summary::default(), archive: Digest::of("archive"), rounds: 1, freed: 1 }
}

#[test]
fn every_row_has_a_script_and_a_filled_text() {
    let rows: BTreeSet<&str> = TABLE.iter().map(|row: &Row| row.id).collect();
    let scripted: BTreeSet<&str> = SCRIPTS.iter().map(|(id, ..)| *id).collect();
    assert_eq!(rows, scripted);
    assert_eq!(rows.len(), TABLE.len(), "ids are unique");
}

#[test]
fn every_row_fires_on_its_facts() {
    for (id, begin, _, _, text) in SCRIPTS {
        let told = begin();
        let notes = all_due(&told.0.facts);
        let note =
            notes.iter().find(|note| note.id == *id).unwrap_or_else(|| panic!("{id} is not due: {notes:?}"));
        assert!(note.text.contains(text), "{id}: {}", note.text);
        assert!(!note.text.contains("{{"), "{id}: {}", note.text);
    }
}

#[test]
fn every_row_stops_at_its_cap() {
    for (id, begin, again, times, _) in SCRIPTS {
        let mut told = begin();
        let mut placed = 0;
        for _ in 0..4 {
            let before = all_due(&told.0.facts).iter().filter(|note| note.id == *id).count().min(1);
            placed += before;
            told = again(told.placed(id));
        }
        assert_eq!(placed, *times, "{id}");
    }
}

#[test]
fn rows_stay_silent_without_their_facts() {
    let quiet = Told::turn(ActingRole::Executor).rounds(1);
    assert_eq!(due(&quiet.0.facts, &settings()), vec![]);
}

#[test]
fn two_notes_a_round_at_most_and_the_higher_row_wins() {
    let told =
        Told::executing().then(Record::Pressure { high: true }).then(compacted()).failing(ErrorKind::Timeout);
    let ids: Vec<&str> = due(&told.0.facts, &settings()).iter().map(|note| note.id).collect();
    assert_eq!(ids, ["compacted", "error_timeout"]);
}

#[test]
fn a_step_that_is_reported_done_is_not_open() {
    let update = crate::call::Artifact::StepUpdate { step: 1, status: StepStatus::Done, note: String::new() };
    let outcome = Outcome::Ok(crate::call::ToolOutput::text("noted").with(update));
    let told = Told::executing().round("update_step", outcome).words("All done.");
    assert_eq!(due(&told.0.facts, &settings()), vec![]);
}

#[test]
fn counts_survive_in_the_facts_as_data() {
    let told = Told::executing().words("All done.").placed("steps_open");
    let saved: Facts = serde_json::from_str(&serde_json::to_string(&told.0.facts).unwrap()).unwrap();
    assert_eq!(saved.placed("steps_open", "2").times, 1);
}

#[test]
fn the_thinking_trace_quotes_what_was_thought() {
    let note = trace(&Facts::default(), " look first \n");
    assert_eq!(note.id, THINKING_TRACE.id);
    assert!(note.text.ends_with("look first"), "{}", note.text);
}

#[test]
fn a_finished_plan_is_not_restated_in_the_next_task() {
    let told = Told::executing()
        .then(Record::TurnClosed { end: TurnEnd::Answered })
        .then(opened(ActingRole::Executor));
    assert!(told.0.facts.plan.is_none());
}
