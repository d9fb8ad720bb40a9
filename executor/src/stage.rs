//! The stages of a model's command, in their order. Each is told in the log when it begins (`-vv`), so that it can be seen how
//! far a command came and where its time went.

/// A stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The danger list, the rules of the configuration, the mode and the person: `gate.rs`.
    Gates,
    /// Its limits, and how far it may reach: `tools/run_command.rs`.
    Preparation,
    /// Whether it goes to the background: `shell/servers.rs`.
    ServerDetection,
    /// It is started, in its cage and with nobody to answer it: `process/start.rs`.
    Execution,
    /// It is listened to until it ends or has to be ended: `process.rs`.
    TimeAndInterrupt,
    /// What it printed becomes what the model is shown: `process/recording.rs`.
    Output,
}

impl Stage {
    /// Tells that it begins, with what is known.
    pub fn begins(self, known: &str) {
        tracing::debug!(target: "tandem::command", stage = ?self, "{known}");
    }
}
