//! The Markdown form of a plan: what a person reads and may edit, parsed back strictly.

use thiserror::Error;

use super::canonical::{Plan, PlanDraft, PlanError, PlanStep};

const GOAL: &str = "# Plan: ";
const CONSTRAINTS: &str = "## Constraints";
const STEPS: &str = "## Steps";
const RISKS: &str = "## Risks";
/// A further line of a step's text. Marked, so that a text that looks like a file or a check stays text.
const MORE: &str = "   > ";
const FILE: &str = "   - file: ";
const CHECK: &str = "   - check: ";

/// Where a Markdown text stops being a plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MarkdownError {
    /// A line that has no meaning at its place.
    #[error("line {line}: {problem}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// Every line was understood, but together they are no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl Plan {
    /// The canonical Markdown form, which [`Plan::from_markdown`] reads back to an equal plan.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("{GOAL}{}\n", self.goal);
        bullets(&mut text, CONSTRAINTS, &self.constraints);
        text.push_str(&format!("\n{STEPS}\n\n"));
        for (index, step) in self.steps.iter().enumerate() {
            let mut lines = step.what.split('\n');
            text.push_str(&format!("{}. {}\n", index + 1, lines.next().unwrap_or_default()));
            for line in lines {
                text.push_str(format!("{MORE}{line}").trim_end());
                text.push('\n');
            }
            for file in &step.files {
                text.push_str(&format!("{FILE}{file}\n"));
            }
            if let Some(check) = &step.check {
                text.push_str(&format!("{CHECK}{check}\n"));
            }
        }
        bullets(&mut text, RISKS, &self.risks);
        text
    }

    /// Reads the Markdown form. Blank lines count for nothing; every other line must have its place.
    ///
    /// # Errors
    /// The first line without a meaning, by number, or what the plan lacks.
    pub fn from_markdown(text: &str) -> Result<Plan, MarkdownError> {
        let mut draft = PlanDraft::default();
        let mut section = Section::Head;
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim_end();
            if line.is_empty() {
                continue;
            }
            read_line(&mut draft, &mut section, line)
                .map_err(|problem| MarkdownError::Line { line: index + 1, problem })?;
        }
        Ok(Plan::new(draft)?)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Head,
    Goal,
    Constraints,
    Steps,
    Risks,
}

fn bullets(text: &mut String, heading: &str, items: &[String]) {
    if !items.is_empty() {
        text.push_str(&format!("\n{heading}\n\n"));
        for item in items {
            text.push_str(&format!("- {item}\n"));
        }
    }
}

fn read_line(draft: &mut PlanDraft, section: &mut Section, line: &str) -> Result<(), String> {
    let next = match line {
        CONSTRAINTS => Some(Section::Constraints),
        STEPS => Some(Section::Steps),
        RISKS => Some(Section::Risks),
        _ if line.starts_with(GOAL.trim_end()) => Some(Section::Goal),
        _ if line.starts_with('#') => {
            return Err(format!(
                "unknown heading; expected `{GOAL}…`, `{CONSTRAINTS}`, `{STEPS}` or `{RISKS}`"
            ));
        }
        _ => None,
    };
    if let Some(next) = next {
        if next <= *section {
            return Err("this heading comes twice or out of order: goal, constraints, steps, risks".into());
        }
        if *section == Section::Head && next != Section::Goal {
            return Err(format!("a plan begins with `{GOAL}…`"));
        }
        *section = next;
        if next == Section::Goal {
            draft.goal = line.get(GOAL.trim_end().len()..).unwrap_or_default().to_owned();
        }
        return Ok(());
    }
    match section {
        Section::Head => return Err(format!("a plan begins with `{GOAL}…`")),
        Section::Goal => return Err(format!("expected `{CONSTRAINTS}` or `{STEPS}`; a goal is one line")),
        Section::Constraints => draft.constraints.push(bullet(line)?),
        Section::Risks => draft.risks.push(bullet(line)?),
        Section::Steps => read_step_line(&mut draft.steps, line)?,
    }
    Ok(())
}

fn bullet(line: &str) -> Result<String, String> {
    line.strip_prefix("- ").map(str::to_owned).ok_or_else(|| "expected `- …`".to_owned())
}

fn read_step_line(steps: &mut Vec<PlanStep>, line: &str) -> Result<(), String> {
    let next = steps.len() + 1;
    if let Some(what) = line.strip_prefix(&format!("{next}. ")) {
        steps.push(PlanStep { what: what.to_owned(), files: Vec::new(), check: None });
        return Ok(());
    }
    let expected = format!("expected `{next}. …`, `{MORE}…`, `{FILE}…` or `{CHECK}…`");
    let Some(step) = steps.last_mut() else { return Err(expected) };
    let has_details = !step.files.is_empty() || step.check.is_some();
    if let Some(more) = line.strip_prefix(MORE.trim_end()) {
        if has_details {
            return Err("a step's text comes before its files and its check".into());
        }
        step.what.push('\n');
        step.what.push_str(more.strip_prefix(' ').unwrap_or(more));
    } else if let Some(file) = line.strip_prefix(FILE) {
        step.files.push(file.to_owned());
    } else if let Some(check) = line.strip_prefix(CHECK) {
        if step.check.replace(check.to_owned()).is_some() {
            return Err("a step has one check".into());
        }
    } else {
        return Err(expected);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plan() -> Plan {
        Plan::new(PlanDraft {
            goal: "Make  add\nadd".into(),
            constraints: vec!["no new packages".into()],
            steps: vec![
                PlanStep {
                    what: "Fix the operator\n\n- check: this is text".into(),
                    files: vec!["src/lib.rs".into()],
                    check: Some("cargo test `x` # y".into()),
                },
                PlanStep { what: "Tell".into(), files: vec![], check: None },
            ],
            risks: vec!["none".into()],
        })
        .unwrap()
    }

    #[test]
    fn the_form_is_this() {
        let expect = "# Plan: Make add add\n\n## Constraints\n\n- no new packages\n\n## Steps\n\n\
                      1. Fix the operator\n   >\n   > - check: this is text\n   - file: src/lib.rs\n   \
                      - check: cargo test `x` # y\n2. Tell\n\n## Risks\n\n- none\n";
        assert_eq!(plan().to_markdown(), expect);
        assert_eq!(Plan::from_markdown(expect), Ok(plan()));
    }

    fn refuses(text: &str, expect: &str) {
        assert_eq!(Plan::from_markdown(text).unwrap_err().to_string(), expect);
    }

    #[test]
    fn strange_lines_are_named() {
        refuses("hello", "line 1: a plan begins with `# Plan: …`");
        refuses("# Plan: x\n", "the plan has no steps");
        refuses(
            "# Plan: x\n## Steps\n2. y",
            "line 3: expected `1. …`, `   > …`, `   - file: …` or `   - check: …`",
        );
        refuses("# Plan: x\n## Steps\n1. y\n   - check: a\n   - check: b", "line 5: a step has one check");
        refuses(
            "# Plan: x\n## Notes\n",
            "line 2: unknown heading; expected `# Plan: …`, `## Constraints`, `## Steps` or `## Risks`",
        );
    }

    proptest! {
        #[test]
        fn any_plan_reads_back_equal(
            goal in ".{1,40}",
            constraints in prop::collection::vec(".{0,20}", 0..3),
            steps in prop::collection::vec(("(.|\n){1,60}", prop::collection::vec(".{1,20}", 0..3), prop::option::of(".{0,30}")), 1..4),
            risks in prop::collection::vec(".{0,20}", 0..3),
        ) {
            let steps = steps.into_iter().map(|(what, files, check)| PlanStep { what, files, check }).collect();
            if let Ok(plan) = Plan::new(PlanDraft { goal, constraints, steps, risks }) {
                prop_assert_eq!(Plan::from_markdown(&plan.to_markdown()), Ok(plan));
            }
        }
    }
}
