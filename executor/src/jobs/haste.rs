//! How long a job has to end by itself when it is stopped.

use std::time::Duration;

use tandem_shared::interrupt::Interrupt;

use crate::process;

/// Time for an end in order: a database closes its files.
pub const GRACE: Duration = Duration::from_secs(2);

/// How urgent the end of a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Haste {
    /// It has time to end in order.
    None,
    /// A person has cancelled, and expects that it is over within a second.
    Cancelled,
}

impl Haste {
    /// As an interrupt says.
    pub fn of(interrupt: &Interrupt) -> Haste {
        if interrupt.is_raised() { Haste::Cancelled } else { Haste::None }
    }

    /// How long a job has.
    pub(super) fn grace(self) -> Duration {
        match self {
            Haste::None => GRACE,
            Haste::Cancelled => process::GRACE,
        }
    }
}
