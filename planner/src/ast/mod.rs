//! Code as syntax: languages, structural search and outlines. The only module of this crate that uses tree-sitter.

mod faults;
mod holes;
mod lang;
mod outline;
mod pattern;
mod search;

pub use faults::{Fault, faults, faults_below};
pub use lang::Lang;
pub use outline::{Item, OutlineError, outline};
pub use pattern::{Pattern, PatternFault};
pub use search::{Match, search};
