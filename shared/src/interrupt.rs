//! The one way to stop what is running: a flag that can be waited for.

use tokio::sync::watch;

/// Why everything is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A person asked for it.
    Person,
    /// The time budget of the task is used up.
    Deadline,
}

/// Raised once by the front end, seen by everything that waits. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Interrupt {
    sender: std::sync::Arc<watch::Sender<Option<Cause>>>,
}

impl Interrupt {
    /// One that nobody has raised yet.
    pub fn new() -> Interrupt {
        Interrupt { sender: std::sync::Arc::new(watch::Sender::new(None)) }
    }

    /// Stops everything that holds a clone. The first cause stays.
    pub fn raise(&self, cause: Cause) {
        self.sender.send_modify(|raised| *raised = raised.or(Some(cause)));
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        self.cause().is_some()
    }

    /// Why it was raised, if it was.
    pub fn cause(&self) -> Option<Cause> {
        *self.sender.borrow()
    }

    /// Returns when it is raised; at once if it already was.
    pub async fn raised(&self) {
        let mut receiver = self.sender.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = receiver.wait_for(Option::is_some).await;
    }
}

impl Default for Interrupt {
    fn default() -> Interrupt {
        Interrupt::new()
    }
}
