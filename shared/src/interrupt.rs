//! The one way to stop what is running: a flag that can be waited for.

use tokio::sync::watch;

/// Raised once by the front end, seen by everything that waits. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Interrupt {
    sender: std::sync::Arc<watch::Sender<bool>>,
}

impl Interrupt {
    /// One that nobody has raised yet.
    pub fn new() -> Interrupt {
        Interrupt { sender: std::sync::Arc::new(watch::Sender::new(false)) }
    }

    /// Stops everything that holds a clone.
    pub fn raise(&self) {
        self.sender.send_replace(true);
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        *self.sender.borrow()
    }

    /// Returns when it is raised; at once if it already was.
    pub async fn raised(&self) {
        let mut receiver = self.sender.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = receiver.wait_for(|raised| *raised).await;
    }
}

impl Default for Interrupt {
    fn default() -> Interrupt {
        Interrupt::new()
    }
}
