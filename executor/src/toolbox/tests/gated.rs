//! No tool acts without the gate, whatever it checks itself.

use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::person::{Answer, Effect, Question};
use tandem_shared::plan::{Approver, Plan, PlanDraft, PlanStep, StepStatus};

use tandem_shared::image::Image;

use super::*;
use crate::change::Change;
use crate::cx::WriteCx;
use crate::tool::WriteTool;

/// A tool that checks nothing and notes that it acted.
struct Careless(Arc<AtomicBool>);

#[derive(Deserialize, JsonSchema)]
struct CarelessArgs {}

impl WriteTool for Careless {
    type Args = CarelessArgs;
    const NAME: &'static str = "careless";
    const DESCRIPTION: &'static str = "Acts.";

    fn effect(&self, _args: &CarelessArgs, _cx: &EffectCx) -> Result<Effect, ToolError> {
        Ok(Effect::Command { command: "touch x".to_owned() })
    }

    async fn call(&self, _args: CarelessArgs, cx: WriteCx) -> Outcome {
        self.0.store(true, Ordering::Relaxed);
        // Its leave is for another thing.
        let workspace = &cx.look().read().workspace;
        let path = crate::file::resolve(workspace, "f").unwrap();
        let found = crate::file::load(workspace, &path, 9).unwrap();
        let then = Image::File { content: b"x".to_vec(), mode: 0o644 };
        match cx.change(&[Change::new(workspace, path, found, then, "created")]) {
            Ok(_) => Outcome::text("written"),
            Err(error) => error.into(),
        }
    }
}

fn careless(approval: Approval) -> (Room, Arc<AtomicBool>) {
    let acted = Arc::new(AtomicBool::new(false));
    let tools = WriteTools::new(ReadTools::new()).with(Careless(acted.clone()));
    (Room::with(approval, None, tools), acted)
}

#[tokio::test]
async fn a_tool_that_checks_nothing_is_still_gated() {
    for (approval, outcome, did) in [
        (Approval::Ask, "denied", false),
        (Approval::Plan, "denied", false),
        (Approval::Auto, "Permission", true),
    ] {
        let (room, acted) = careless(approval);
        assert_eq!(kind(&room.run("careless", json!({})).await), outcome);
        assert_eq!(acted.load(Ordering::Relaxed), did);
        assert_eq!(room.names(), Vec::<String>::new(), "leave for a command is none for a file");
    }
}

#[tokio::test]
async fn nothing_acts_without_a_mark_in_the_journal() {
    let (room, acted) = careless(Approval::Auto);
    room.notes.broken.store(true, Ordering::Relaxed);
    assert_eq!(room.run("careless", json!({})).await.content(), "the disk is full");
    assert!(!acted.load(Ordering::Relaxed));
}

#[tokio::test]
async fn leave_and_before_image_come_before_the_write() {
    let room = Room::new(Approval::AutoEdit, None);
    room.put("a.txt", "one\n");
    assert_eq!(kind(&room.edit("a.txt", "one", "two").await), "ok");
    assert_eq!(kind(&room.run("write_file", json!({ "path": "n", "content": "x" })).await), "ok");
    assert_eq!(
        room.entries(),
        [
            "started edit_file Mode",
            "before a.txt Some(\"one\\n\")",
            "started write_file Mode",
            "before n None"
        ]
    );
}

#[tokio::test]
async fn a_denied_call_leaves_no_trace() {
    let room = Room::new(Approval::Ask, None);
    room.put("a.txt", "one\n");
    assert_eq!(kind(&room.edit("a.txt", "one", "two").await), "denied");
    assert_eq!(kind(&room.run("run_command", json!({ "command": "touch b" })).await), "denied");
    assert_eq!((room.names(), room.bytes("a.txt")), (vec!["a.txt".to_owned()], b"one\n".to_vec()));
    assert_eq!(room.entries(), Vec::<String>::new());
}

/// Says yes, but something else happens meanwhile.
struct Slow(Mutex<Option<(PathBuf, &'static str)>>);

impl Person for Slow {
    fn ask(&self, _question: Question) -> BoxFuture<'_, Option<Answer>> {
        if let Some((path, content)) = self.0.lock().unwrap().take() {
            std::fs::write(path, content).unwrap();
        }
        Box::pin(std::future::ready(Some(Answer::Yes)))
    }
}

#[tokio::test]
async fn leave_is_for_what_was_shown_and_not_for_what_it_has_become() {
    let slow = Arc::new(Slow(Mutex::default()));
    let room = Room::before(slow.clone(), Approval::Ask, None, write_tools(ReadTools::new()));
    room.put("a.txt", "of no worth\n");
    *slow.0.lock().unwrap() = Some((room.path("a.txt"), "of great worth\n"));
    let outcome = room.run("delete_file", json!({ "path": "a.txt" })).await;
    assert_eq!(kind(&outcome), "Stale");
    assert!(outcome.content().contains("has changed since leave was given"), "{outcome:?}");
    assert_eq!(room.bytes("a.txt"), b"of great worth\n");
    assert_eq!(kind(&room.run("delete_file", json!({ "path": "a.txt" })).await), "ok");
}

#[tokio::test]
async fn an_interrupt_before_leave_changes_nothing() {
    let room = Room::new(Approval::Auto, None);
    room.toolbox.around.read.interrupt.raise(Cause::Person);
    assert_eq!(kind(&room.run("run_command", json!({ "command": "touch b" })).await), "interrupted");
    assert_eq!(room.names(), Vec::<String>::new());
}

#[tokio::test]
async fn an_unknown_tool_is_told_what_there_is() {
    let room = Room::new(Approval::Auto, None);
    let outcome = room.run("bash", json!({})).await;
    assert_eq!(kind(&outcome), "UnknownTool");
    assert_eq!(
        outcome.content(),
        "There is no tool named bash. Nothing was run. This is the executing phase, and its tools are: apply_patch, delete_file, edit_file, job_output, job_stop, jobs, move_file, multi_edit, \
         run_command, update_step, write_file. Call one of these by its exact name."
    );
    assert_eq!(room.toolbox.access("bash"), Access::Read);
    assert_eq!(room.toolbox.access("edit_file"), Access::Write);
}

#[tokio::test]
async fn bad_arguments_are_an_error_before_the_gate() {
    let room = Room::new(Approval::Plan, None);
    assert_eq!(kind(&room.run("edit_file", json!({ "path": "a" })).await), "InvalidArguments");
    assert_eq!(kind(&room.run("run_command", json!({ "command": " " })).await), "InvalidArguments");
    assert_eq!(
        kind(&room.run("run_command", json!({ "command": "ls", "cwd": "/" })).await),
        "InvalidArguments"
    );
}

fn plan() -> ApprovedPlan {
    let step =
        PlanStep { what: "a".to_owned(), files: vec!["a.txt".to_owned()], check: Some("true".to_owned()) };
    let draft = PlanDraft { goal: "g".to_owned(), steps: vec![step], ..PlanDraft::default() };
    Plan::new(draft).unwrap().approve(Approver::Flag)
}

#[tokio::test]
async fn an_approved_plan_runs_unattended_and_nothing_wider_does() {
    let room = Room::new(Approval::Ask, Some(plan()));
    room.put("a.txt", "one\n");
    room.put("b.txt", "one\n");
    assert_eq!(kind(&room.edit("a.txt", "one", "two").await), "ok");
    assert_eq!(kind(&room.edit("b.txt", "one", "two").await), "denied");
    assert_eq!(kind(&room.run("run_command", json!({ "command": "true" })).await), "ok");
    assert_eq!(kind(&room.run("run_command", json!({ "command": "touch c" })).await), "denied");
}

#[tokio::test]
async fn a_step_is_noted_by_its_number() {
    let room = Room::new(Approval::Ask, Some(plan()));
    let done = room.run("update_step", json!({ "step": 1, "status": "done", "note": "n" })).await;
    let expect = Artifact::StepUpdate { step: 1, status: StepStatus::Done, note: "n".to_owned() };
    assert_eq!(done.artifacts(), [expect]);
    assert_eq!(
        done.content(),
        "Step 1 is noted as claimed to be done. Its check is run by the harness: true"
    );
    for step in [0, 2] {
        let outcome = room.run("update_step", json!({ "step": step, "status": "done" })).await;
        assert_eq!(outcome.content(), format!("There is no step {step}: the plan has steps 1 to 1."));
    }
    let room = Room::new(Approval::Ask, None);
    assert_eq!(
        kind(&room.run("update_step", json!({ "step": 1, "status": "done" })).await),
        "InvalidArguments"
    );
}
