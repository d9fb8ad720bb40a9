//! What the store knows: counters and states folded from the log, which reminders and reports read.

mod state;
mod fold;
mod questions;

pub use state::{
    Change, ContextFacts, ErrorFact, Facts, Guard, Placed, PlanFacts, Progress, RoleSpent, RoundFacts,
    StepFacts, Struck, TaskFacts, TurnFacts,
};
