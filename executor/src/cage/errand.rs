//! What is said over the line between tandem and the binary that starts its commands.

use std::ffi::OsString;

use super::channel::Message;
use super::policy::{Found, Part, Policy, landlock, part};

/// The first argument by which the binary knows that it is to start a command. No person types it.
pub const LAUNCH: &str = "__cage";

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Errand {
    /// To say what this kernel allows, and to hold the namespaces of a session until nobody listens any more.
    Survey,
    /// To keep a command: to start it, to say how it ended, and to end all that it started when nobody listens any more.
    Keep(Start),
    /// To become the command.
    Become(Start),
}

/// How a command is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Its cage, if it has one.
    pub policy: Option<Box<Policy>>,
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is in a user namespace of its own, whose ids somebody outside must set.
    Unmapped,
    /// What this kernel allows.
    Found(Found),
    /// The cage could not be set up, and the command was not run.
    Failed(String),
    /// The cage stands, but the shell could not be started in it.
    NotStarted(String),
    /// The command runs.
    Began,
    /// The command itself has ended, with this status as wait(2) gives it. What it started may still run.
    Ended(i32),
}

impl Errand {
    /// As a message.
    pub(crate) fn to_message(&self) -> Message {
        match self {
            Errand::Survey => Message::default().with("errand", "survey"),
            Errand::Keep(start) => start.add_to(Message::default().with("errand", "keep")),
            Errand::Become(start) => start.add_to(Message::default().with("errand", "become")),
        }
    }

    /// From a message.
    pub(crate) fn of_message(message: &Message) -> Option<Errand> {
        match message.text("errand")?.as_str() {
            "survey" => Some(Errand::Survey),
            "keep" => Start::of_message(message).map(Errand::Keep),
            "become" => Start::of_message(message).map(Errand::Become),
            _ => None,
        }
    }
}

impl Start {
    fn add_to(&self, message: Message) -> Message {
        let message = message.with("program", &self.program).with_all("arg", &self.args);
        match &self.policy {
            Some(policy) => policy.add_to(message.with("caged", "yes")),
            None => message,
        }
    }

    fn of_message(message: &Message) -> Option<Start> {
        let policy = match message.first("caged") {
            Some(_) => Some(Box::new(Policy::of_message(message)?)),
            None => None,
        };
        let args = message.all::<OsString>("arg").into_iter().map(OsString::into_string);
        Some(Start { policy, program: message.text("program")?, args: args.collect::<Result<_, _>>().ok()? })
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
            Answer::NotStarted(why) => {
                Message::default().with("answer", "not-started").with("why", why.replace('\0', " "))
            }
            Answer::Began => Message::default().with("answer", "began"),
            Answer::Ended(status) => {
                Message::default().with("answer", "ended").with("status", status.to_string())
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
            "not-started" => Some(Answer::NotStarted(message.text("why")?)),
            "began" => Some(Answer::Began),
            "ended" => Some(Answer::Ended(message.text("status")?.parse().ok()?)),
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tandem_shared::settings::Network;

    use super::super::policy::{Namespaces, ResourceLimits};
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
        let start = |policy: Option<Policy>| Start {
            policy: policy.map(Box::new),
            program: "sh".to_owned(),
            args: vec!["-c".to_owned(), "a = b".to_owned()],
        };
        let (keep, become_it) = (Errand::Keep(start(Some(policy))), Errand::Become(start(Some(bare))));
        for errand in [Errand::Survey, keep, become_it, Errand::Keep(start(None))] {
            assert_eq!(Errand::of_message(&errand.to_message()), Some(errand));
        }
        let found = Found { landlock: Some(3), ..Found::nothing("why") };
        let ended =
            [Answer::Began, Answer::NotStarted("so".to_owned()), Answer::Ended(256), Answer::Ended(9)];
        for answer in
            ended.into_iter().chain([Answer::Unmapped, Answer::Failed("so".to_owned()), Answer::Found(found)])
        {
            assert_eq!(Answer::of_message(&answer.to_message()), Some(answer));
        }
    }
}
