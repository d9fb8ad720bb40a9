//! Everything that can change the world, behind one gate.
//!
//! This crate never prints, never reads an environment variable and never asks for the current folder.

pub mod shell;
