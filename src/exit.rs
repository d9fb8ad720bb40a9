//! Exit codes: what each end of a run means to the program that started it.

/// An exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The task was done.
    Done = 0,
    /// It was not completed.
    NotCompleted = 1,
    /// The command line was wrong.
    Usage = 2,
    /// Leave was needed and not given.
    NotApproved = 3,
    /// The endpoint refused the key.
    Authentication = 4,
    /// The model or the network failed.
    Model = 5,
    /// The check of a plan step failed.
    CheckFailed = 6,
    /// The configuration is wrong or lacks something.
    Config = 52,
    /// A limit or budget was reached.
    Limit = 53,
    /// The loop guard stopped it.
    Loop = 54,
    /// A person stopped it.
    Interrupted = 130,
}

/// Every code with its meaning, as `--help` prints them.
pub const TABLE: &[(Exit, &str)] = &[
    (Exit::Done, "done"),
    (Exit::NotCompleted, "not completed"),
    (Exit::Usage, "wrong use of the command line"),
    (Exit::NotApproved, "approval needed or denied"),
    (Exit::Authentication, "authentication failed"),
    (Exit::Model, "model or network failed"),
    (Exit::CheckFailed, "a plan step's check failed"),
    (Exit::Config, "configuration"),
    (Exit::Limit, "a limit or budget was reached"),
    (Exit::Loop, "stopped by the loop guard"),
    (Exit::Interrupted, "interrupted"),
];

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// The exit of that code; [`Exit::NotCompleted`] for a code that is none.
pub fn of_code(code: u8) -> Exit {
    let known = TABLE.iter().map(|(exit, _)| *exit).find(|exit| exit.code() == code);
    known.unwrap_or(Exit::NotCompleted)
}

/// The table as text.
pub fn table() -> String {
    let rows = TABLE.iter().map(|(exit, meaning)| format!("{:>5}  {meaning}", exit.code()));
    format!("Exit codes:\n{}", rows.collect::<Vec<_>>().join("\n"))
}
