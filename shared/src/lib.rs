//! The words, the loop, the context and the store: what every other room of tandem speaks.
//!
//! This crate never prints, never speaks HTTP, and never reads an environment variable.

pub mod call;
pub mod digest;
pub mod interrupt;
pub mod model;
pub mod person;
pub mod plan;
pub mod proof;
pub mod role;
pub mod secret;
pub mod tool;
pub mod journal;
pub mod settings;
pub mod workspace;
