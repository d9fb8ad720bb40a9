//! A plan: what the planner hands over, what a person approves, what the executor carries out.

mod canonical;
mod markdown;

pub use canonical::{ApprovedPlan, Approver, Plan, PlanDraft, PlanError, PlanStep, StepStatus};
pub use markdown::MarkdownError;
