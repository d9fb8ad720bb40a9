//! What a command may reach, in the words that the launcher is told.

use std::ffi::OsString;
use std::path::PathBuf;

use tandem_shared::settings::Network;

use super::channel::Message;

/// The first argument by which the binary knows that it is to be the launcher. No person types it.
pub const LAUNCH: &str = "__cage";

/// What is asked of the launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// What the launcher answers. A command that begins answers nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is in a user namespace of its own, whose ids somebody outside must set.
    Unmapped,
    /// What this kernel allows.
    Found(Found),
    /// The cage could not be set up, and the command was not run.
    Failed(String),
}

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

impl Errand {
    /// As a message.
    pub(crate) fn to_message(&self) -> Message {
        match self {
            Errand::Survey => Message::default().with("errand", "survey"),
            Errand::Run { policy, program, args } => {
                let message = Message::default().with("errand", "run");
                policy.add_to(message).with("program", program).with_all("arg", args)
            }
        }
    }

    /// From a message.
    pub(crate) fn of_message(message: &Message) -> Option<Errand> {
        match message.text("errand")?.as_str() {
            "survey" => Some(Errand::Survey),
            "run" => Some(Errand::Run {
                policy: Box::new(Policy::of_message(message)?),
                program: message.text("program")?,
                args: message
                    .all::<OsString>("arg")
                    .into_iter()
                    .map(OsString::into_string)
                    .collect::<Result<_, _>>()
                    .ok()?,
            }),
            _ => None,
        }
    }
}

impl Policy {
    fn add_to(&self, message: Message) -> Message {
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

    fn of_message(message: &Message) -> Option<Policy> {
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

impl Answer {
    /// As a message.
    pub(crate) fn to_message(&self) -> Message {
        let lacks = |message: Message, name: &str, part: &Part| match part {
            Part::Has => message,
            Part::Lacks(why) => message.with(name, why.replace('\0', " ")),
        };
        match self {
            Answer::Unmapped => Message::default().with("answer", "unmapped"),
            Answer::Failed(why) => {
                Message::default().with("answer", "failed").with("why", why.replace('\0', " "))
            }
            Answer::Found(found) => {
                let message = Message::default().with("answer", "found");
                let message = lacks(message, "no_namespaces", &found.namespaces);
                let message = lacks(message, "no_syscalls", &found.syscalls);
                match found.landlock {
                    Some(version) => message.with("landlock", version.to_string()),
                    None => message,
                }
            }
        }
    }

    /// From a message.
    pub(crate) fn of_message(message: &Message) -> Option<Answer> {
        match message.text("answer")?.as_str() {
            "unmapped" => Some(Answer::Unmapped),
            "failed" => Some(Answer::Failed(message.text("why")?)),
            "found" => Some(Answer::Found(Found {
                namespaces: part(message, "no_namespaces"),
                landlock: landlock(message),
                syscalls: part(message, "no_syscalls"),
            })),
            _ => None,
        }
    }
}

fn part(message: &Message, name: &str) -> Part {
    message.text(name).map_or(Part::Has, Part::Lacks)
}

fn landlock(message: &Message) -> Option<u32> {
    message.number("landlock").and_then(|version| u32::try_from(version).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errands_and_answers_arrive_as_they_were_sent() {
        let path = |name: &str| PathBuf::from(name);
        let policy = Policy {
            root: path("/r"),
            write: vec![path("/r"), path("/c")],
            temp: path("/t"),
            temp_over: vec![path("/tmp")],
            pinned: vec![path("/r/.git")],
            read_only: vec![path("/r/.git/hooks")],
            masked: vec![path("/k")],
            empty_folder: path("/e"),
            empty_file: path("/f"),
            network: Network::On,
            limits: ResourceLimits { memory: 1, processes: 2, file: 3, cpu: 4 },
            namespaces: Some(Namespaces { user: path("/u"), network: path("/n") }),
            landlock: Some(7),
            syscalls: Part::Has,
        };
        let bare = Policy {
            network: Network::Off,
            namespaces: None,
            landlock: None,
            syscalls: Part::Lacks("no".to_owned()),
            ..policy.clone()
        };
        let run = |policy| Errand::Run {
            policy: Box::new(policy),
            program: "sh".to_owned(),
            args: vec!["-c".to_owned(), "a = b".to_owned()],
        };
        for errand in [Errand::Survey, run(policy), run(bare)] {
            assert_eq!(Errand::of_message(&errand.to_message()), Some(errand));
        }
        let found = Found { landlock: Some(3), ..Found::nothing("why") };
        for answer in [Answer::Unmapped, Answer::Failed("so".to_owned()), Answer::Found(found)] {
            assert_eq!(Answer::of_message(&answer.to_message()), Some(answer));
        }
    }
}
