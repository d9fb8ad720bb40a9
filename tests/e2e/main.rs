//! The end-to-end tests: the real binary against a scripted model server, and the shape of the source tree.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod scenarios;
mod sums;
mod tool_run;
mod events;
mod recall;
mod prefix;
mod sessions;
mod commands;
mod demo;
mod doctor;
mod cassette;
mod interrupt;
mod cancel;
mod crash;
mod side_by_side;
mod long_run;
mod real_input;
mod tidy;
mod edits;
mod killed;
mod why;
mod jobs;
mod left_behind;
mod outputs;
mod inspect;
mod undo;
mod undo_acts;
mod leave;
mod decisions;
mod endings;
mod budgets;
#[cfg(target_os = "linux")]
mod cage;
mod thinking;
mod context;
mod reminders;
mod secrets;
mod masking;
mod session_commands;
mod person;
mod shown;
mod server;
mod fault_matrix;
mod odd_streams;
mod stand_ins;
