//! What a command may reach, in the words that the launcher is told.

use std::path::PathBuf;

use tandem_shared::settings::Network;

use super::channel::Message;

/// The cage of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespaces {
    /// Of users.
    pub user: PathBuf,
    /// Of the network: nothing but the machine itself.
    pub network: PathBuf,
}

/// Bounds on what a command uses up; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Namespaces of users, mounts and the network: read-only places, masks, a network of its own.
    pub namespaces: Part,
    /// The version of Landlock, which fences writing in.
    pub landlock: Option<u32>,
    /// The filter of system calls.
    pub syscalls: Part,
}

/// Whether a part of the cage is there.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl Policy {
    pub(super) fn add_to(&self, message: Message) -> Message {
        let limits = self.limits;
        let mut message = message
            .with("root", &self.root)
            .with_all("write", &self.write)
            .with("temp", &self.temp)
            .with_all("temp_over", &self.temp_over)
            .with_all("pinned", &self.pinned)
            .with_all("read_only", &self.read_only)
            .with_all("masked", &self.masked)
            .with("empty_folder", &self.empty_folder)
            .with("empty_file", &self.empty_file);
        if self.network == Network::On {
            message = message.with("network", "on");
        }
        let bounds = [
            ("memory", limits.memory),
            ("processes", limits.processes),
            ("file", limits.file),
            ("cpu", limits.cpu),
        ];
        for (name, most) in bounds {
            message = message.with(name, most.to_string());
        }
        if let Some(spaces) = &self.namespaces {
            message = message.with("space_of_users", &spaces.user).with("space_of_network", &spaces.network);
        }
        if let Some(version) = self.landlock {
            message = message.with("landlock", version.to_string());
        }
        if let Part::Lacks(why) = &self.syscalls {
            message = message.with("no_syscalls", why);
        }
        message
    }

    pub(super) fn of_message(message: &Message) -> Option<Policy> {
        let path = |name: &str| message.first(name).map(PathBuf::from);
        let bound = |name: &str| message.number(name);
        let namespaces = match (path("space_of_users"), path("space_of_network")) {
            (Some(user), Some(network)) => Some(Namespaces { user, network }),
            _ => None,
        };
        Some(Policy {
            root: path("root")?,
            write: message.all("write"),
            temp: path("temp")?,
            temp_over: message.all("temp_over"),
            pinned: message.all("pinned"),
            read_only: message.all("read_only"),
            masked: message.all("masked"),
            empty_folder: path("empty_folder")?,
            empty_file: path("empty_file")?,
            network: if message.first("network").is_some() { Network::On } else { Network::Off },
            limits: ResourceLimits {
                memory: bound("memory")?,
                processes: bound("processes")?,
                file: bound("file")?,
                cpu: bound("cpu")?,
            },
            namespaces,
            landlock: landlock(message),
            syscalls: part(message, "no_syscalls"),
        })
    }
}

pub(super) fn part(message: &Message, name: &str) -> Part {
    message.text(name).map_or(Part::Has, Part::Lacks)
}

pub(super) fn landlock(message: &Message) -> Option<u32> {
    message.number("landlock").and_then(|version| u32::try_from(version).ok())
}
