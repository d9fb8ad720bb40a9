//! The words, the loop, the context and the store: what every other room of tandem speaks.
//!
//! This crate never prints, never speaks HTTP, and never reads an environment variable.

pub mod role;
pub mod digest;
pub mod secret;
pub mod plain_text;
pub mod workspace;
pub mod interrupt;
pub mod person;
pub mod sensitive;
pub mod leave;
pub mod plan;
pub mod proof;
pub mod call;
pub mod tool;
pub mod image;
pub mod undo;
pub mod journal;
pub mod settings;
pub mod model;
pub mod record;
pub mod history;
pub mod doom_loop;
pub mod facts;
pub mod folded;
pub mod template;
pub mod reminders;
pub mod context;
pub mod prompt;
pub mod store;
pub mod event;
pub mod agent;

#[cfg(test)]
#[path = "../../tests/support/cases.rs"]
mod cases;
