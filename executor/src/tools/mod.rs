//! The executor's own tools, one file each.

mod apply_patch;
mod delete_file;
mod edit_file;
mod inspect;
mod jobs;
mod making;
mod move_file;
mod multi_edit;
mod replacing;
mod run_command;
mod update_step;
mod write_file;

pub use apply_patch::ApplyPatch;
pub use delete_file::DeleteFile;
pub use edit_file::EditFile;
pub use inspect::Inspect;
pub use jobs::{JobOutput, ListJobs, StopJob};
pub use move_file::MoveFile;
pub use multi_edit::MultiEdit;
pub use run_command::RunCommand;
pub use update_step::UpdateStep;
pub use write_file::WriteFile;

use tandem_shared::tool::ReadTools;

use crate::tool::WriteTools;

/// The executor's tools beside those that only look.
pub fn write_tools(read: ReadTools) -> WriteTools {
    WriteTools::new(read)
        .with(EditFile)
        .with(MultiEdit)
        .with(ApplyPatch)
        .with(WriteFile)
        .with(DeleteFile)
        .with(MoveFile)
        .with(RunCommand)
        .with(ListJobs)
        .with(JobOutput)
        .with(StopJob)
        .with(UpdateStep)
}

/// The executor's tools: the planner's read tools, and those that act.
pub fn executor_tools() -> WriteTools {
    write_tools(tandem_planner::read_tools())
}
