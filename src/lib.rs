//! tandem: a terminal coding agent in two halves, a planner that can only look and an executor that carries out what a
//! person approved. This package wires the rooms together; it is the only code that prints or reads its surroundings.

pub mod exit;
pub mod cli;
mod meaning;
pub mod machine;
pub mod logs;
pub mod config;
pub mod wiring;
pub mod cassette;
pub mod session;
pub mod front;
pub mod scene;
pub mod commands;
pub mod demo;

/// Version with the commit it was built from, where that is known.
pub const VERSION: &str = env!("TANDEM_VERSION");
