//! The person at the other end: what can be asked, and what comes back.

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::call::ToolCall;
use crate::digest::Digest;
use crate::secret::Masker;

/// Something only a person can answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "ask")]
pub enum Question {
    /// The model asks for a decision.
    Choose {
        /// The question in the model's words.
        text: String,
        /// Possible answers; empty for a free answer.
        options: Vec<String>,
    },
    /// Leave is asked for one call.
    Approve {
        /// The call.
        call: ToolCall,
        /// What it would do.
        effect: Effect,
        /// Why it is asked, for example the danger rule that it meets.
        why: String,
        /// The allow rules that "always" would keep for this project; empty where it is only remembered for the session.
        always: Vec<String>,
    },
}

impl Question {
    /// Names exactly what is asked, as it is shown: an answer carries it, so that it cannot be taken for an answer to
    /// anything else. Where leave is asked, this is the digest of the effect, which the log keeps with the leave.
    pub fn digest(&self) -> Digest {
        match self {
            Question::Approve { effect, .. } => effect.digest(),
            Question::Choose { text, options } => {
                Digest::of_json(json!({ "text": text, "options": options }))
            }
        }
    }

    /// Takes out secrets. A mask never hides what would act: no token holds anything that a shell would run.
    pub fn mask(&mut self, masker: &Masker) {
        match self {
            Question::Choose { text, options } => {
                masker.clean(text);
                options.iter_mut().for_each(|option| masker.clean(option));
            }
            Question::Approve { call, effect, why, .. } => {
                masker.clean(&mut call.arguments);
                masker.clean(why);
                effect.mask(masker);
            }
        }
    }
}

/// What a call would do to the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "effect")]
pub enum Effect {
    /// Only the session's own notes change.
    Nothing,
    /// Files are written.
    Write {
        /// Relative to the root.
        paths: Vec<String>,
        /// Lines that would be added.
        added: usize,
        /// Lines that would be removed.
        removed: usize,
        /// Files that would be deleted.
        deleted: usize,
        /// Unified diff of what would change.
        diff: String,
    },
    /// A command runs.
    Command {
        /// Exactly as it would be run by `sh -c`, in the root.
        command: String,
    },
    /// A command runs once more, outside the cage.
    Uncaged {
        /// Exactly as it would be run by `sh -c`, in the root.
        command: String,
    },
    /// A file that may hold secrets is read.
    Read {
        /// Relative to the root.
        path: String,
    },
    /// A service outside this machine is called.
    Remote {
        /// Its name.
        service: String,
    },
}

impl Effect {
    /// Names exactly this effect: its digest as JSON without blanks and with sorted keys.
    pub fn digest(&self) -> Digest {
        // Texts and numbers: nothing in it could not be JSON.
        Digest::of_json(serde_json::to_value(self).unwrap_or_default())
    }

    /// Takes out secrets, which leaves the effect as a person is shown it.
    pub fn mask(&mut self, masker: &Masker) {
        match self {
            Effect::Write { diff: text, .. }
            | Effect::Command { command: text }
            | Effect::Uncaged { command: text } => masker.clean(text),
            Effect::Nothing | Effect::Read { .. } | Effect::Remote { .. } => {}
        }
    }

    /// What a write would do, in one line: files, lines and risk. `None` for what is no write.
    pub fn summary(&self) -> Option<String> {
        let Effect::Write { paths, added, removed, deleted, .. } = self else { return None };
        let files = match paths.len() {
            1 => "1 file changes".to_owned(),
            count => format!("{count} files change"),
        };
        // What goes is what can be missed afterwards.
        let risk = match (deleted, removed > added) {
            (0, false) => "low",
            (0, true) => "medium: more lines go than come",
            _ => "high: files are deleted",
        };
        let deleted = match deleted {
            0 => String::new(),
            count => format!(", {count} of them deleted"),
        };
        Some(format!("{files}{deleted}, +{added} -{removed} lines, risk {risk}"))
    }
}

/// What a person answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum Answer {
    /// Leave is given, this once.
    Yes,
    /// Leave is given, for the same call until the session ends.
    Always,
    /// Leave is refused, with an optional reason for the model.
    No {
        /// Possibly empty.
        reason: String,
    },
    /// A free answer to [`Question::Choose`].
    Text {
        /// As typed.
        text: String,
    },
}

/// Carries questions to a person. `None` means that nobody is there to answer.
pub trait Person: Send + Sync {
    /// Asks and waits.
    fn ask(&self, question: Question) -> BoxFuture<'_, Option<Answer>>;
}

/// Nobody: every question comes back unanswered.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl Person for Nobody {
    fn ask(&self, _question: Question) -> BoxFuture<'_, Option<Answer>> {
        Box::pin(std::future::ready(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &str, diff: &str) -> Effect {
        Effect::Write {
            paths: vec![path.to_owned()],
            added: 1,
            removed: 0,
            deleted: 0,
            diff: diff.to_owned(),
        }
    }

    fn command(command: &str) -> Effect {
        Effect::Command { command: command.to_owned() }
    }

    #[test]
    fn equal_effects_have_one_digest_and_different_ones_two() {
        let all = [
            write("a", "+x\n"),
            write("b", "+x\n"),
            write("a", "+y\n"),
            command("make"),
            command("make "),
            Effect::Uncaged { command: "make".to_owned() },
            Effect::Read { path: "make".to_owned() },
            Effect::Remote { service: "make".to_owned() },
            Effect::Nothing,
        ];
        for (at, one) in all.iter().enumerate() {
            for (other_at, other) in all.iter().enumerate() {
                assert_eq!(one.digest() == other.digest(), at == other_at, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn the_digest_is_that_of_sorted_json() {
        let of = |json: &str| Digest::of(json);
        let written = r#"{"added":1,"deleted":0,"diff":"+x\n","effect":"write","paths":["a"],"removed":0}"#;
        assert_eq!(write("a", "+x\n").digest(), of(written));
        assert_eq!(command("make").digest(), of(r#"{"command":"make","effect":"command"}"#));
    }

    #[test]
    fn a_question_is_named_by_what_is_shown_of_it() {
        let ask = |effect: Effect| Question::Approve {
            call: ToolCall { id: "1".into(), name: "x".into(), arguments: "{}".into() },
            effect,
            why: String::new(),
            always: Vec::new(),
        };
        let choose = |options: &[&str]| Question::Choose {
            text: "Which?".into(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
        };
        assert_eq!(ask(command("make")).digest(), command("make").digest());
        assert_ne!(choose(&["a", "b"]).digest(), choose(&["b", "a"]).digest());

        let secret = format!("TOKEN=ghp_{}", "a1B2".repeat(9));
        let mut shown = ask(command(&secret));
        shown.mask(&Masker::default());
        assert_ne!(shown.digest(), ask(command(&secret)).digest(), "the secret is not in what is shown");
        let once = shown.digest();
        shown.mask(&Masker::default());
        assert_eq!(shown.digest(), once, "masked again it is the same");
    }
}
