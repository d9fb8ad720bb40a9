//! `submit_plan`: hands over the plan, which ends the planner's part.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{Artifact, ErrorKind, Outcome, ToolError, ToolOutput};
use tandem_shared::plan::{Plan, PlanDraft, PlanStep};
use tandem_shared::tool::{ReadCx, ReadTool};

use crate::off_thread::off_thread;
use crate::{place, walk};

/// Hands over a plan.
#[derive(Clone, Copy, Debug)]
pub struct SubmitPlan;

/// Arguments of `submit_plan`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitPlanArgs {
    /// What will be true when the plan is carried out, in one sentence.
    pub goal: String,
    /// What must hold throughout, one sentence each.
    pub constraints: Option<Vec<String>>,
    /// The steps in order, each small enough to be checked by itself.
    pub steps: Vec<PlannedStep>,
    /// What may go wrong or is uncertain, one sentence each; assumptions made in the user's place too.
    pub risks: Option<Vec<String>>,
}

/// One step of `submit_plan`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlannedStep {
    /// What is to be done, exact enough for somebody who has not seen the exploration.
    pub what: String,
    /// Every file that this step changes or creates, relative to the project root. Only these may be edited.
    pub files: Vec<String>,
    /// A shell command on one line that fails before the step and passes after it.
    pub check: Option<String>,
}

impl ReadTool for SubmitPlan {
    type Args = SubmitPlanArgs;
    const NAME: &'static str = "submit_plan";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/submit_plan.md");

    async fn call(&self, args: SubmitPlanArgs, cx: ReadCx) -> Outcome {
        off_thread(move || submit(args, &cx)).await
    }
}

fn submit(args: SubmitPlanArgs, cx: &ReadCx) -> Result<Outcome, ToolError> {
    let draft = Plan::new(PlanDraft {
        goal: args.goal,
        constraints: args.constraints.unwrap_or_default(),
        steps: args
            .steps
            .into_iter()
            .map(|step| PlanStep { what: step.what, files: step.files, check: step.check })
            .collect(),
        risks: args.risks.unwrap_or_default(),
    })
    .map_err(|error| refused(ErrorKind::InvalidArguments, &error.to_string()))?;
    let plan = with_files_inside(draft, cx)?;
    let new: Vec<&str> =
        plan.files().into_iter().filter(|file| !cx.workspace.root().join(file).exists()).collect();
    let mut text = format!("The plan was handed over ({}).", count(plan.steps().len(), "step"));
    if !new.is_empty() {
        text.push_str(&format!(" Files that do not exist yet and would be created: {}.", new.join(", ")));
    }
    Ok(Outcome::Ok(ToolOutput::text(text).with(Artifact::Plan(plan))))
}

/// The plan with every file as a path from the root. All that is wrong with files is said at once.
fn with_files_inside(plan: Plan, cx: &ReadCx) -> Result<Plan, ToolError> {
    let mut draft = PlanDraft::from(plan);
    let mut problems: Vec<ToolError> = Vec::new();
    for (index, step) in draft.steps.iter_mut().enumerate() {
        for file in &mut step.files {
            match editable(cx, file) {
                Ok(relative) => *file = relative,
                Err(error) => {
                    problems.push(ToolError::new(error.kind, format!("step {}: {}", index + 1, error.text)));
                }
            }
        }
    }
    if let Some(first) = problems.first() {
        let texts: Vec<&str> = problems.iter().map(|problem| problem.text.as_str()).collect();
        return Err(refused(first.kind, &texts.join(" ")));
    }
    // Two spellings of one file are one file, which the canonical form sees to.
    Plan::new(draft).map_err(|error| refused(ErrorKind::InvalidArguments, &error.to_string()))
}

fn editable(cx: &ReadCx, file: &str) -> Result<String, ToolError> {
    let place = place::resolve(cx, file)?;
    if walk::in_private(place.relative()) {
        return Err(ToolError::new(
            ErrorKind::OutsideRoot,
            format!("{file} belongs to git's or tandem's own store, which no plan may edit."),
        ));
    }
    if place.absolute().is_dir() {
        let text = format!("{file} is a folder; name the files in it that are changed.");
        return Err(ToolError::new(ErrorKind::InvalidArguments, text));
    }
    Ok(place.relative().to_owned())
}

fn refused(kind: ErrorKind, problem: &str) -> ToolError {
    let problem = problem.trim_end_matches('.');
    ToolError::new(
        kind,
        format!("The plan was not accepted: {problem}. Mend that and submit the whole plan again."),
    )
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Tree, run};
    use serde_json::json;

    fn tree() -> Tree {
        let tree = Tree::of(&[("src/a.rs", ""), (".git/config", "")]);
        tree.link("alias.rs", "src/a.rs");
        tree
    }

    fn submit(args: serde_json::Value) -> Outcome {
        run(&tree().cx(), "submit_plan", args)
    }

    #[test]
    fn a_plan_is_handed_over_with_paths_from_the_root() {
        let got = submit(json!({
            "goal": " Fix  it ",
            "constraints": ["no new dependency"],
            "steps": [{
                "what": "Mend a",
                "files": ["./src/../src/a.rs", "alias.rs", "src/new.rs"],
                "check": "cargo test",
            }, {"what": "Look again", "files": []}],
            "risks": ["none seen"],
        }));
        let plan = Plan::new(PlanDraft {
            goal: "Fix it".into(),
            constraints: vec!["no new dependency".into()],
            steps: vec![
                PlanStep {
                    what: "Mend a".into(),
                    files: vec!["src/a.rs".into(), "src/new.rs".into()],
                    check: Some("cargo test".into()),
                },
                PlanStep { what: "Look again".into(), files: vec![], check: None },
            ],
            risks: vec!["none seen".into()],
        })
        .unwrap();
        let text = "The plan was handed over (2 steps). Files that do not exist yet and would be created: src/new.rs.";
        assert_eq!(got, Outcome::Ok(ToolOutput::text(text).with(Artifact::Plan(plan))));
    }

    fn check_files(files: &[&str], kind: ErrorKind, problem: &str) {
        let got = submit(json!({"goal": "g", "steps": [{"what": "w", "files": files}]}));
        let text =
            format!("The plan was not accepted: {problem}. Mend that and submit the whole plan again.");
        assert_eq!(got, Outcome::error(kind, text), "{files:?}");
    }

    #[test]
    fn files_that_no_plan_may_touch_are_refused_all_at_once() {
        check_files(
            &[".git/config", ".tandem/config.toml", "src"],
            ErrorKind::OutsideRoot,
            "step 1: .git/config belongs to git's or tandem's own store, which no plan may edit. \
             step 1: .tandem/config.toml belongs to git's or tandem's own store, which no plan may edit. \
             step 1: src is a folder; name the files in it that are changed",
        );
        check_files(
            &["sub/.GIT/hooks/x"],
            ErrorKind::OutsideRoot,
            "step 1: sub/.GIT/hooks/x belongs to git's or tandem's own store, which no plan may edit",
        );
        let Outcome::Error(error) = submit(json!({"goal": "g", "steps": [{"what": "w", "files": ["../x"]}]}))
        else {
            panic!()
        };
        assert_eq!(error.kind, ErrorKind::OutsideRoot);
    }

    #[test]
    fn a_plan_without_its_parts_is_refused() {
        let check = |args, problem: &str| {
            let text =
                format!("The plan was not accepted: {problem}. Mend that and submit the whole plan again.");
            assert_eq!(submit(args), Outcome::error(ErrorKind::InvalidArguments, text));
        };
        check(json!({"goal": " ", "steps": [{"what": "w", "files": []}]}), "the plan has no goal");
        check(json!({"goal": "g", "steps": []}), "the plan has no steps");
        check(
            json!({"goal": "g", "steps": [{"what": "w", "files": [], "check": "a\nb"}]}),
            "the check of step 1 must be a command on one line",
        );
        let Outcome::Error(error) = submit(json!({"goal": "g", "steps": [], "extra": 1})) else { panic!() };
        assert_eq!(error.kind, ErrorKind::InvalidArguments);
    }
}
