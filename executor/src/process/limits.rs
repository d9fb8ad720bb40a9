//! The bounds of one command.

use std::time::Duration;

use tandem_shared::settings::CommandSettings;

/// How long a command may run, how much of its output is kept, and what becomes of its background processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Without output.
    pub idle: Duration,
    /// In all.
    pub absolute: Duration,
    /// Characters of output, head and tail.
    pub output_chars: usize,
    /// What becomes of processes that outlive the command.
    pub leftovers: Leftovers,
}

/// What becomes of processes that outlive the command and still hold its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftovers {
    /// They go on.
    Keep,
    /// They are ended.
    Kill,
}

impl Limits {
    /// The limits of the settings. A `wanted` time in seconds takes the place of both times, up to the absolute one:
    /// who names a time knows that the command may be silent for that long.
    pub fn new(settings: &CommandSettings, wanted: Option<u64>, leftovers: Leftovers) -> Limits {
        let (idle, absolute) = match wanted {
            Some(seconds) => (seconds.min(settings.absolute_s), seconds.min(settings.absolute_s)),
            None => (settings.idle_s, settings.absolute_s),
        };
        Limits {
            idle: Duration::from_secs(idle),
            absolute: Duration::from_secs(absolute),
            output_chars: settings.output_chars,
            leftovers,
        }
    }
}
