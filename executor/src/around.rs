//! The looks at the tree before and after a command, for no longer than a person waits who has cancelled it.

use std::time::Duration;

use tandem_shared::call::{Artifact, ToolError};
use tandem_shared::interrupt::Interrupt;
use tandem_shared::journal::Journal;
use tandem_shared::workspace::Workspace;
use tokio::time::sleep;

use crate::coverage::{Before, Coverage};

/// How long the look at what a cancelled command changed may take: without it nothing can be taken back, but one who
/// cancels expects it to be over within a second.
const AFTER_INTERRUPT: Duration = Duration::from_millis(800);

/// A look before a command; `None` when an interrupt came first, after which nothing is to run.
pub async fn before<'a>(coverage: &'a Coverage, interrupt: &Interrupt) -> Option<Before<'a>> {
    tokio::select! {
        biased;
        () = interrupt.raised() => None,
        before = coverage.before() => Some(before),
    }
}

/// Looks again, and keeps what changed under `act`, or that it is not known.
///
/// # Errors
/// When that could not be kept.
pub async fn settle(
    before: Before<'_>,
    act: &str,
    workspace: &Workspace,
    journal: &dyn Journal,
    interrupt: &Interrupt,
) -> Result<Vec<Artifact>, ToolError> {
    let impatient = async {
        interrupt.raised().await;
        sleep(AFTER_INTERRUPT).await;
    };
    tokio::select! {
        kept = before.settle(act, workspace, journal) => kept,
        () = impatient => {
            let blind = "an interrupt broke off the look at what it changed".to_owned();
            journal.turned(act, &[], &[blind]).map(|()| Vec::new())
        }
    }
}
