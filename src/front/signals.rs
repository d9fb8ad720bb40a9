//! Ctrl+C and its like, counted.

/// Counts the signals that ask the program to stop. Each is caught from the moment this is made.
pub(super) struct Signals {
    /// How many came.
    pub(super) count: u32,
    #[cfg(unix)]
    caught: Vec<tokio::signal::unix::Signal>,
}

impl Signals {
    #[cfg(unix)]
    pub(super) fn new() -> Signals {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Signals { count: 0, caught: kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect() }
    }

    #[cfg(not(unix))]
    pub(super) fn new() -> Signals {
        Signals { count: 0 }
    }

    /// Returns when a signal came.
    pub(super) async fn next(&mut self) {
        #[cfg(unix)]
        {
            let waits = self.caught.iter_mut().map(|signal| Box::pin(signal.recv()));
            futures::future::select_all(waits).await;
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
        self.count += 1;
    }
}
