//! Reminders: short notes in the user role, placed after all results of a round, driven by facts in the store.

mod row;
mod table;
mod due;

pub use due::{due, trace};
pub use row::{Category, Demand, Due, Note, Row};
pub use table::TABLE;

#[cfg(test)]
mod tests;
