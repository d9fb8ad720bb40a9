//! The end-to-end tests: the real binary against a scripted model server, and the shape of the source tree.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod server;
