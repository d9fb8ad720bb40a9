//! A session: the actor that owns all state of a conversation. Front ends send it [`Op`]s and hear [`Event`]s.
//!
//! [`Op`]: tandem_shared::event::Op
//! [`Event`]: tandem_shared::event::Event

mod setup;
mod asking;
mod doors;
mod heard;
mod notes;
mod plans;
mod report;
mod actor;
mod turn;
mod undoing;
mod planning;
mod executing;
mod account;

pub use actor::{Handle, kept_rules, open};
pub use plans::{PlanSource, load_plan, plan_file};
pub use report::model_exit;
pub use setup::{Attendance, Setup, SetupError, Start, StatePaths, key_variables};
