//! Why a command ended, in types and in words.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::limits::Limits;

/// Why a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this exit code.
    Exit(i32),
    /// By this signal, which was not ours.
    Signal(i32),
    /// It was silent for too long, and its group was killed.
    Idle,
    /// It ran for too long, and its group was killed.
    TooLong,
    /// The run was interrupted, and its group was killed.
    Interrupted,
}

impl End {
    /// In words without the limits, for one that ended by itself.
    pub fn plainly(self) -> String {
        match self {
            End::Exit(0) => "ended".to_owned(),
            End::Exit(code) => match exit_meaning(code) {
                Some(meaning) => format!("ended with exit code {code} ({meaning})"),
                None => format!("ended with exit code {code}"),
            },
            End::Signal(signal) => format!("was ended by signal {}", signal_name(signal)),
            End::Idle | End::TooLong | End::Interrupted => "was stopped".to_owned(),
        }
    }

    /// In words, as the end of a sentence that begins with the command.
    pub fn in_words(self, limits: &Limits) -> String {
        match self {
            End::Exit(code) => match exit_meaning(code) {
                Some(meaning) => format!("ended with exit code {code} ({meaning})"),
                None => format!("ended with exit code {code}"),
            },
            End::Signal(signal) => format!("was ended by signal {}", signal_name(signal)),
            End::Idle => format!("was stopped after {} s without output", limits.idle.as_secs()),
            End::TooLong => format!("was stopped after {} s", limits.absolute.as_secs()),
            End::Interrupted => "was stopped by an interrupt".to_owned(),
        }
    }
}

fn exit_meaning(code: i32) -> Option<String> {
    match code {
        126 => Some("the program cannot be executed".to_owned()),
        127 => Some("the program was not found".to_owned()),
        129..=192 => Some(format!("a process of it was ended by signal {}", signal_name(code - 128))),
        _ => None,
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return signal.to_string(),
    };
    format!("{signal}, {name}")
}

/// How a process ended by itself.
pub fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}
