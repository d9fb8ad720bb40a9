//! The store: one redb file for each session, one for each project. The only code that knows redb.

mod file;
mod project;
mod session;

pub use file::StoreError;
pub use project::{PlanRow, ProjectStore, SessionRow};
pub use session::{Clock, Look, SessionStore};

#[cfg(test)]
mod tests;
