//! Everything that can change the world, behind one gate.
//!
//! A write call goes one way: its arguments are read, its effect is worked out, the gate judges it, the leave is marked
//! in the journal, and only then does the tool get the means to act. This crate never prints, never reads an
//! environment variable and never asks for the current folder.

mod beneath;
mod cx;
mod environment;
mod diff;
pub mod edit;
mod file;
mod change;
mod syntax;
mod gate;
mod known;
mod nearest;
mod refusal;
mod patch;
mod hunks;
mod reach;
mod stage;
mod descent;
pub mod cage;
mod process;
mod jobs;
mod material;
mod overseer;
pub mod proof;
pub mod shadow;
mod coverage;
mod around;
pub mod shell;
mod tool;
mod toolbox;
pub mod undo;
mod tools;

pub use change::Change;
pub use coverage::Coverage;
pub use cx::command::Ran;
pub use cx::{EffectCx, HearOutput, Knowledge, Surroundings, WriteCx};
pub use descent::Left;
pub use environment::Environment;
pub use file::{Found, after_crash};
pub use gate::{Foretold, Gate, Grant, Remembered};
pub use jobs::{Haste, Jobs};
pub use overseer::PlanOverseer;
pub use process::{End, Ended, Leftovers, Limits, look};
pub use proof::run_check;
pub use tool::{WriteTool, WriteTools};
pub use toolbox::ExecutorToolbox;
pub use tools::{
    ApplyPatch, DeleteFile, EditFile, Inspect, MoveFile, MultiEdit, RunCommand, UpdateStep, WriteFile,
    executor_tools, write_tools,
};

#[cfg(test)]
#[path = "../../tests/support/cases.rs"]
mod cases;

#[cfg(test)]
#[path = "../../tests/support/plain.rs"]
mod plain;
