//! Saved plans: rows with an id, Markdown files, and what changed under a plan since it was made.

use std::collections::BTreeMap;
use std::path::Path;

use tandem_shared::digest::Digest;
use tandem_shared::plan::{MarkdownError, Plan, PlanDraft};
use tandem_shared::store::{PlanRow, ProjectStore, StoreError};
use tandem_shared::workspace::Workspace;
use thiserror::Error;

/// Begins the lines of a plan file that say what its files were like when it was made.
const MADE_FROM: &str = "<!-- made from ";
const END: &str = " -->";
/// Stands for a file that did not exist.
const NO_FILE: &str = "nothing";

/// Why a plan could not be loaded.
#[derive(Debug, Error)]
pub enum PlanSource {
    /// Neither a file nor the id of a saved plan.
    #[error("there is no plan {0}: it is neither a file nor the id of a plan saved for this project")]
    Missing(String),
    /// A file that is no plan.
    #[error("{path}: {source}")]
    NoPlan {
        /// The file.
        path: String,
        /// What is wrong with it.
        source: MarkdownError,
    },
    /// It names a file that lies outside the project.
    #[error("{path}: {file}")]
    Outside {
        /// The plan's file.
        path: String,
        /// Which, and why.
        file: String,
    },
    /// A file that cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A row for a plan that was just drafted or read.
pub fn row(plan: &Plan, workspace: &Workspace, session: &str, created: u64) -> PlanRow {
    PlanRow {
        id: plan.digest().short().to_owned(),
        plan: plan.clone(),
        session: session.to_owned(),
        created,
        files: file_digests(plan, workspace),
    }
}

/// The files that the plan names, as they are now.
fn file_digests(plan: &Plan, workspace: &Workspace) -> BTreeMap<String, Option<Digest>> {
    plan.files().into_iter().map(|file| (file.to_owned(), file_digest(file, workspace))).collect()
}

fn file_digest(file: &str, workspace: &Workspace) -> Option<Digest> {
    let path = workspace.resolve(file).ok()?;
    std::fs::read(path.absolute()).ok().map(Digest::of)
}

/// Files that changed since the plan was made.
pub fn stale(row: &PlanRow, workspace: &Workspace) -> Vec<String> {
    let changed = row.files.iter().filter(|(file, then)| file_digest(file, workspace) != **then);
    changed.map(|(file, _)| file.clone()).collect()
}

/// The plan as a Markdown file: its canonical form, and what its files were like.
pub fn plan_file(row: &PlanRow) -> String {
    let mut text = row.plan.to_markdown();
    text.push('\n');
    for (file, digest) in &row.files {
        let then = digest.as_ref().map_or(NO_FILE, |digest| digest.as_str());
        text.push_str(&format!("{MADE_FROM}{then} {file}{END}\n"));
    }
    text
}

/// A plan by the path of its file, else by its id.
///
/// # Errors
/// When there is none, or the file is no plan.
pub fn load_plan(
    name: &str,
    folder: &Path,
    workspace: &Workspace,
    project: &ProjectStore,
    now: u64,
) -> Result<PlanRow, PlanSource> {
    let path = folder.join(name);
    if path.is_file() {
        return read_plan_file(&path, workspace, now);
    }
    project.plan(name)?.ok_or_else(|| PlanSource::Missing(name.to_owned()))
}

fn read_plan_file(path: &Path, workspace: &Workspace, now: u64) -> Result<PlanRow, PlanSource> {
    let shown = path.display().to_string();
    let text =
        std::fs::read_to_string(path).map_err(|source| PlanSource::Read { path: shown.clone(), source })?;
    let mut files = BTreeMap::new();
    let mut plan_text = String::new();
    for line in text.lines() {
        match made_from(line) {
            Some((digest, file)) => {
                files.insert(file.to_owned(), digest);
                // The line stays as a blank one, so that line numbers in errors are those of the file.
                plan_text.push('\n');
            }
            None => {
                plan_text.push_str(line);
                plan_text.push('\n');
            }
        }
    }
    let plan = Plan::from_markdown(&plan_text)
        .map_err(|source| PlanSource::NoPlan { path: shown.clone(), source })?;
    let plan = with_plain_paths(plan, workspace).map_err(|file| PlanSource::Outside { path: shown, file })?;
    let mut row = row(&plan, workspace, "", now);
    for (file, now) in &mut row.files {
        if let Some(then) = files.remove(file) {
            *now = then;
        }
    }
    Ok(row)
}

/// The plan with its files named as the tools name them, so that `./a.txt` and `a.txt` are one file.
fn with_plain_paths(plan: Plan, workspace: &Workspace) -> Result<Plan, String> {
    let mut draft = PlanDraft::from(plan);
    for file in draft.steps.iter_mut().flat_map(|step| &mut step.files) {
        *file = workspace.resolve(file).map_err(|error| error.to_string())?.relative().to_owned();
    }
    Plan::new(draft).map_err(|error| error.to_string())
}

fn made_from(line: &str) -> Option<(Option<Digest>, &str)> {
    let (digest, file) = line.trim_end().strip_prefix(MADE_FROM)?.strip_suffix(END)?.split_once(' ')?;
    match digest {
        NO_FILE => Some((None, file)),
        digest => Some((Some(Digest::parse(digest)?), file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tandem_shared::plan::PlanStep;

    #[test]
    fn a_plan_file_remembers_what_its_files_were_like() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.txt"), "one").unwrap();
        let workspace = Workspace::open(root.path()).unwrap();
        let files = vec!["a.txt".to_owned(), "new file.txt".to_owned()];
        let step = PlanStep { what: "do".into(), files, check: None };
        let plan =
            Plan::new(PlanDraft { goal: "g".into(), steps: vec![step], ..PlanDraft::default() }).unwrap();
        let saved = row(&plan, &workspace, "s", 1);
        let path = root.path().join("plan.md");
        std::fs::write(&path, plan_file(&saved)).unwrap();

        let read = read_plan_file(&path, &workspace, 1).unwrap();
        assert_eq!((&read.plan, &read.files), (&saved.plan, &saved.files));
        assert_eq!(stale(&read, &workspace), Vec::<String>::new());
        std::fs::write(root.path().join("a.txt"), "two").unwrap();
        std::fs::write(root.path().join("new file.txt"), "").unwrap();
        assert_eq!(
            stale(&read_plan_file(&path, &workspace, 1).unwrap(), &workspace),
            ["a.txt", "new file.txt"]
        );
    }
}
