//! The sheet of a scenario: `scenario.toml` as types, and what its facts say of requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::reply::Reply;
use super::request::Request;

/// `scenario.toml`. In texts, `{root}`, `{temp}`, `{server}`, `{config}`, `{key}` and the names of `keep` stand for their values.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The rule that is shown, in one sentence.
    pub about: String,
    /// The project is a repository with everything committed.
    #[serde(default)]
    pub git: bool,
    #[serde(default)]
    pub servers: Servers,
    /// Laid over the base configuration.
    #[serde(default)]
    pub config: String,
    /// Written as it stands instead of the base configuration.
    pub raw_config: Option<String>,
    /// Input files that are gone after.
    #[serde(default)]
    pub deleted: Vec<String>,
    /// By the model's name.
    #[serde(default)]
    pub replies: BTreeMap<String, Vec<Reply>>,
    pub run: Vec<Run>,
    #[serde(default)]
    pub request: Vec<RequestFact>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Servers {
    /// One for all roles.
    #[default]
    One,
    /// One for each role.
    Each,
}

/// One command line, in order, and what must come of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub args: Vec<String>,
    #[serde(default)]
    pub stdin: Option<String>,
    /// With a terminal: pairs of what is waited for and what is typed then.
    pub terminal: Option<Vec<(String, String)>>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Files that somebody else writes before this run.
    #[serde(default)]
    pub write: BTreeMap<String, String>,
    /// The exit code; or all that would be right.
    pub code: Code,
    #[serde(default)]
    pub stdout: Vec<String>,
    #[serde(default)]
    pub stdout_lacks: Vec<String>,
    /// All of it.
    pub stdout_is: Option<String>,
    #[serde(default)]
    pub stderr: Vec<String>,
    #[serde(default)]
    pub stderr_lacks: Vec<String>,
    /// On either.
    #[serde(default)]
    pub said: Vec<String>,
    /// Texts that files hold after this run.
    #[serde(default)]
    pub files: BTreeMap<String, Vec<String>>,
    /// Names the word that follows a text on stdout or stderr.
    #[serde(default)]
    pub keep: BTreeMap<String, String>,
    /// Chat requests during this run by the model's name; a name that is not here sent none.
    pub requests: Option<BTreeMap<String, usize>>,
    /// This run changes no file of the project.
    #[serde(default)]
    pub unchanged: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub enum Code {
    One(i32),
    AnyOf(Vec<i32>),
}

impl Code {
    pub fn allows(&self, code: i32) -> bool {
        match self {
            Code::One(one) => *one == code,
            Code::AnyOf(all) => all.contains(&code),
        }
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Code::One(one) => write!(f, "{one}"),
            Code::AnyOf(all) => write!(f, "one of {all:?}"),
        }
    }
}

/// What one request holds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestFact {
    pub model: String,
    /// Counted from 1 for this model; from the end when negative.
    pub nth: isize,
    /// In the text of any message.
    #[serde(default)]
    pub has: Vec<String>,
    #[serde(default)]
    pub lacks: Vec<String>,
    /// In the text of the last message.
    #[serde(default)]
    pub last_has: Vec<String>,
    /// In the text of some tool result.
    #[serde(default)]
    pub results_have: Vec<String>,
}

impl RequestFact {
    /// Where the requests are not as they must be.
    pub fn problems(&self, chats: &[Arc<Request>]) -> Vec<String> {
        let chats: Vec<_> = chats.iter().filter(|chat| chat.model == self.model).collect();
        let index = if self.nth < 0 {
            chats.len().checked_add_signed(self.nth)
        } else {
            self.nth.checked_sub(1).map(|n| n as usize)
        };
        let place = format!("request {} of {}", self.nth, self.model);
        let Some(chat) = index.and_then(|index| chats.get(index)) else {
            return vec![format!("{place}: there are only {}", chats.len())];
        };
        let mut problems = Vec::new();
        problems.extend(lacking(&chat.text(), &self.has).map(|text| format!("{place} lacks {text:?}")));
        problems.extend(holding(&chat.text(), &self.lacks).map(|text| format!("{place} holds {text:?}")));
        let last = chat.last();
        problems.extend(lacking(&last, &self.last_has).map(|text| format!("{place} ends without {text:?}")));
        let results = chat.results().join("\n");
        problems.extend(
            lacking(&results, &self.results_have).map(|text| format!("no result in {place} holds {text:?}")),
        );
        problems
    }
}

/// Those of `texts` that `said` does not hold.
pub fn lacking(said: &str, texts: &[String]) -> impl Iterator<Item = String> {
    texts.iter().filter(|text| !said.contains(text.as_str())).cloned().collect::<Vec<_>>().into_iter()
}

/// Those of `texts` that `said` holds.
pub fn holding(said: &str, texts: &[String]) -> impl Iterator<Item = String> {
    texts.iter().filter(|text| said.contains(text.as_str())).cloned().collect::<Vec<_>>().into_iter()
}
