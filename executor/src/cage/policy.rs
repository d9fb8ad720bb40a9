//! What a command may reach, in the words that the launcher is told.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tandem_shared::settings::Network;

/// The first argument by which the binary knows that it is to be the launcher. No person types it.
pub const LAUNCH: &str = "__cage";

/// What is asked of the launcher: one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Errand {
    /// To say what this kernel allows, and to hold the namespaces of a session until nobody listens any more.
    Survey,
    /// To become a command in its cage.
    Run {
        /// The cage.
        policy: Box<Policy>,
        /// The program.
        program: String,
        /// Its arguments.
        args: Vec<String>,
    },
}

/// What the launcher answers: one line of JSON for each. A command that begins answers nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// It is in a user namespace of its own, whose ids somebody outside must set.
    Unmapped,
    /// What this kernel allows.
    Found(Found),
    /// The cage could not be set up, and the command was not run.
    Failed(String),
}

/// The cage of one command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Where the command begins.
    pub root: PathBuf,
    /// What it may write.
    pub write: Vec<PathBuf>,
    /// The session's own folder for temporary files.
    pub temp: PathBuf,
    /// Shared folders for temporary files, in whose place the command sees its own.
    pub temp_over: Vec<PathBuf>,
    /// Folders that cannot be moved or replaced.
    pub pinned: Vec<PathBuf>,
    /// Files and folders in what it may write that it can only read.
    pub read_only: Vec<PathBuf>,
    /// What it cannot read.
    pub masked: Vec<PathBuf>,
    /// What stands in the place of a masked folder.
    pub empty_folder: PathBuf,
    /// What stands in the place of a masked file.
    pub empty_file: PathBuf,
    /// Whether it can reach other machines.
    pub network: Network,
    /// Bounds on what it uses up.
    pub limits: ResourceLimits,
    /// The session's namespaces; without them, what the kernel has beside them must do.
    pub namespaces: Option<Namespaces>,
    /// Which version of Landlock fences it in.
    pub landlock: Option<u32>,
    /// Whether system calls are filtered.
    pub syscalls: Part,
}

/// Where the namespaces of a session can be entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespaces {
    /// Of users.
    pub user: PathBuf,
    /// Of the network: nothing but the machine itself.
    pub network: PathBuf,
}

/// Bounds on what a command uses up; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Bytes of address space of each process.
    pub memory: u64,
    /// Processes of the user.
    pub processes: u64,
    /// Bytes of each file that is written.
    pub file: u64,
    /// Seconds of computing of each process.
    pub cpu: u64,
}

/// What this kernel allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Namespaces of users, mounts and the network: read-only places, masks, a network of its own.
    pub namespaces: Part,
    /// The version of Landlock, which fences writing in.
    pub landlock: Option<u32>,
    /// The filter of system calls.
    pub syscalls: Part,
}

/// Whether a part of the cage is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// It is.
    Has,
    /// It is not, for this reason.
    Lacks(String),
}

impl Part {
    /// Whether it is there.
    pub fn is_there(&self) -> bool {
        *self == Part::Has
    }
}

impl Found {
    /// Nothing, for this reason.
    pub fn nothing(why: &str) -> Found {
        let lacks = || Part::Lacks(why.to_owned());
        Found { namespaces: lacks(), landlock: None, syscalls: lacks() }
    }

    /// Whether writing can be kept to some places at all. Without that there is no cage to rely on.
    pub fn confines(&self) -> bool {
        self.namespaces.is_there() || self.landlock.is_some()
    }

    /// What is missing, for people; nothing when all is there.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        if let Part::Lacks(why) = &self.namespaces {
            missing.push(format!("namespaces ({why})"));
        }
        if self.landlock.is_none() {
            missing.push("Landlock".to_owned());
        }
        if let Part::Lacks(why) = &self.syscalls {
            missing.push(format!("the filter of system calls ({why})"));
        }
        missing
    }
}
