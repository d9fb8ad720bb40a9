//! Everything that looks: the read tools, and the drafting of a plan.
//!
//! This crate changes nothing: it has no write tool and cannot name one, it starts no process, and its `clippy.toml`
//! refuses the calls of the standard library that would write. It never prints, never speaks HTTP, and never reads an
//! environment variable. No result is kept from one call to the next. Only [`ast`] uses tree-sitter.

mod toolbox;

mod ask_user;
mod ast_search;
mod glob;
mod grep;
mod list_dir;
mod outline;
mod read_file;
mod recall;
mod wrapped;
mod submit_plan;

pub mod ast;
mod hits;
mod off_thread;
mod page;
mod path_pattern;
mod place;
pub mod secrets;
mod stoppable;
mod survey;
#[cfg(test)]
mod testing;
mod walk;

pub use ask_user::{AskUser, AskUserArgs};
pub use ast_search::{AstSearch, AstSearchArgs};
pub use glob::{Glob, GlobArgs};
pub use grep::{Grep, GrepArgs};
pub use list_dir::{ListDir, ListDirArgs};
pub use outline::{Outline, OutlineArgs};
pub use read_file::{ReadFile, ReadFileArgs};
pub use recall::{Recall, RecallArgs};
pub use submit_plan::{PlannedStep, SubmitPlan, SubmitPlanArgs};
pub use survey::Survey;
pub use toolbox::PlannerToolbox;

use tandem_shared::tool::ReadTools;

/// The tools that look around: the executor's share.
pub fn read_tools() -> ReadTools {
    ReadTools::new()
        .with(AskUser)
        .with(AstSearch)
        .with(Glob)
        .with(Grep)
        .with(ListDir)
        .with(Outline)
        .with(ReadFile)
        .with(Recall)
}

/// The tools that look around, and the one that hands over a plan.
pub fn planner_tools() -> ReadTools {
    read_tools().with(SubmitPlan)
}

#[cfg(test)]
#[path = "../../tests/support/cases.rs"]
mod cases;
