//! A tool call and what came of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::plan::{Plan, StepStatus};

/// A call as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// The provider's id, or one made up by the router; echoed with the result.
    pub id: String,
    /// The tool's name, which may be hallucinated.
    pub name: String,
    /// The arguments as JSON text, which may be malformed.
    pub arguments: String,
}

/// What came of a call. Every call has exactly one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The tool did what it was asked to.
    Ok(ToolOutput),
    /// The tool could not; nothing was changed unless the text says so.
    Error(ToolError),
    /// A person, a rule or silence said no; the text is the reason, and whoever shows it adds that it is a denial. Nothing
    /// was changed.
    Denied(String),
    /// The run ended while the call was in flight; the text says what is known. The effect may have happened.
    Interrupted(String),
}

impl Outcome {
    /// Plain text as a success.
    pub fn text(text: impl Into<String>) -> Outcome {
        Outcome::Ok(ToolOutput::text(text))
    }

    /// An error of `kind`, worded for the model.
    pub fn error(kind: ErrorKind, text: impl Into<String>) -> Outcome {
        Outcome::Error(ToolError::new(kind, text))
    }

    /// The text as the model reads it, before any offloading or masking.
    pub fn content(&self) -> &str {
        match self {
            Outcome::Ok(output) => &output.text,
            Outcome::Error(error) => &error.text,
            Outcome::Denied(reason) | Outcome::Interrupted(reason) => reason,
        }
    }

    /// `ok`, `error`, `denied` or `interrupted`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Outcome::Ok(_) => "ok",
            Outcome::Error(_) => "error",
            Outcome::Denied(_) => "denied",
            Outcome::Interrupted(_) => "interrupted",
        }
    }

    /// What the call left behind beside its text.
    pub fn artifacts(&self) -> &[Artifact] {
        match self {
            Outcome::Ok(output) => &output.artifacts,
            Outcome::Error(_) | Outcome::Denied(_) | Outcome::Interrupted(_) => &[],
        }
    }
}

impl From<ToolError> for Outcome {
    fn from(error: ToolError) -> Outcome {
        Outcome::Error(error)
    }
}

/// What a successful call answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// The text for the model.
    pub text: String,
    /// Facts for the harness; the model does not see them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// Where the text comes from (`file src/lib.rs`, `command`), when it is material that is not to be trusted.
    /// The loop fences such text when it shows it to a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether a long text may be offloaded, or was asked for in this extent and stays whole.
    #[serde(default)]
    pub extent: Extent,
}

/// Whether a result may be cut to a preview when it is long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// A long text goes to a blob; head, tail and an id stay.
    #[default]
    Offloadable,
    /// The same, from this many characters on, where that is less than what the context settings say.
    AtMost(usize),
    /// The model asked for exactly this page, which has a bound of its own: it stays whole.
    Page,
}

impl ToolOutput {
    /// Trusted plain text with nothing beside it.
    pub fn text(text: impl Into<String>) -> ToolOutput {
        ToolOutput { text: text.into(), artifacts: Vec::new(), source: None, extent: Extent::Offloadable }
    }

    /// Names where the text comes from, so that it is fenced as material.
    pub fn from_source(mut self, source: impl Into<String>) -> ToolOutput {
        self.source = Some(source.into());
        self
    }

    /// Adds a fact for the harness.
    pub fn with(mut self, artifact: Artifact) -> ToolOutput {
        self.artifacts.push(artifact);
        self
    }

    /// Offloads the text when it has more than this many characters.
    pub fn at_most(mut self, chars: usize) -> ToolOutput {
        self.extent = Extent::AtMost(chars);
        self
    }

    /// Marks the text as a page of bounded size that is never cut.
    pub fn as_page(mut self) -> ToolOutput {
        self.extent = Extent::Page;
        self
    }
}

/// Why a call failed, worded for the model: what was wrong, what is true, what to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolError {
    /// The kind, which reminders and `--json` go by.
    pub kind: ErrorKind,
    /// The text for the model.
    pub text: String,
    /// Where parts of the text come from (`command`, `file src/lib.rs`), when they are not to be trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl ToolError {
    /// An error of `kind`, worded for the model.
    pub fn new(kind: ErrorKind, text: impl Into<String>) -> ToolError {
        ToolError { kind, text: text.into(), source: None }
    }

    /// Names where parts of the text come from, so that it is fenced as material.
    #[must_use]
    pub fn from_source(mut self, source: impl Into<String>) -> ToolError {
        self.source = Some(source.into());
        self
    }
}

/// The kinds of tool error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// No file, folder or stored output of that name.
    PathNotFound,
    /// The text to be replaced does not stand in the file.
    TextNotFound,
    /// The text to be replaced stands in the file more than once.
    Ambiguous,
    /// The replacement equals the text to be replaced.
    Identical,
    /// The file is not as it was last read or written by the agent, or was never read.
    Stale,
    /// The arguments are not what the tool's schema says.
    InvalidArguments,
    /// No tool of that name is offered in this mode.
    UnknownTool,
    /// A search pattern that cannot be parsed.
    InvalidPattern,
    /// The path leads out of the project root, or into protected files.
    OutsideRoot,
    /// The operating system said no.
    Permission,
    /// A file of bytes that are not text.
    Binary,
    /// More than the tool's bound.
    TooLarge,
    /// A command ended with a failure; its output is in the text.
    CommandFailed,
    /// A command ran out of time and was stopped.
    Timeout,
    /// Refused by the loop guard.
    Loop,
    /// Any other fault of the file system or the process.
    Io,
}

impl ErrorKind {
    /// The public name, as `--json` prints it. Both kinds of "not there" share one.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::PathNotFound | ErrorKind::TextNotFound => "not_found",
            ErrorKind::Ambiguous => "ambiguous",
            ErrorKind::Identical => "identical",
            ErrorKind::Stale => "stale",
            ErrorKind::InvalidArguments => "invalid_arguments",
            ErrorKind::UnknownTool => "unknown_tool",
            ErrorKind::InvalidPattern => "invalid_pattern",
            ErrorKind::OutsideRoot => "outside_root",
            ErrorKind::Permission => "permission",
            ErrorKind::Binary => "binary",
            ErrorKind::TooLarge => "too_large",
            ErrorKind::CommandFailed => "command_failed",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Loop => "loop",
            ErrorKind::Io => "io",
        }
    }
}

/// A fact that a call established, for the harness and not for the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Artifact {
    /// A file was read; edits of it are now allowed while its content has this digest.
    Read {
        /// Relative to the root, with forward slashes.
        path: String,
        /// Of the whole file's bytes.
        digest: Digest,
    },
    /// A file was written.
    Wrote(Receipt),
    /// A command ran that does more than look: files may have changed.
    MayHaveChanged,
    /// A command changed a file; the agent has not seen its new content.
    Changed(Receipt),
    /// A write left a syntax error that the file did not have before.
    SyntaxError {
        /// Relative to the root, with forward slashes.
        path: String,
        /// Counted from 1.
        line: usize,
    },
    /// A plan was drafted; this ends the planner's loop.
    Plan(Plan),
    /// The model says where a plan step stands.
    StepUpdate {
        /// Counted from 1.
        step: usize,
        /// What the model claims; proof is the harness's own affair.
        status: StepStatus,
        /// The model's note, possibly empty.
        note: String,
    },
}

/// What one write did to one file; the same for the model, the person and the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    /// Relative to the root, with forward slashes.
    pub path: String,
    /// How the place was found: a pass of the edit (`exact`, `line_trimmed`, …), or what else was done: `created`,
    /// `overwritten`, `patched`, `deleted`, `moved` or `command`.
    pub pass: String,
    /// Digest of the content before; `None` for a new file.
    pub before: Option<Digest>,
    /// Digest of the content after; `None` when no file stands there any more.
    pub after: Option<Digest>,
    /// Size before in bytes.
    pub bytes_before: u64,
    /// Size after in bytes.
    pub bytes_after: u64,
    /// First and last changed line of the new text, counted from 1.
    pub lines: (usize, usize),
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
    /// `utf-8`, `utf-8-bom` or `bytes` (not UTF-8; matched and written as bytes).
    pub encoding: String,
    /// `lf`, `crlf`, `mixed` or `none`.
    pub line_end: String,
    /// Unix mode bits, in octal; empty where the system has none.
    pub mode: String,
    /// Unified diff.
    pub diff: String,
}

/// A call with its outcome: the only form in which history holds a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The call.
    pub call: ToolCall,
    /// What came of it.
    pub outcome: Outcome,
}

impl ToolCall {
    /// The call's main argument on one line, for a person: a path, a command, a pattern, else the arguments as they are.
    pub fn summary(&self) -> String {
        let parsed: Option<serde_json::Value> = serde_json::from_str(&self.arguments).ok();
        let main = ["command", "path", "pattern", "goal", "question", "id", "step"];
        let named = |name: &&str| parsed.as_ref().and_then(|value| value.get(*name));
        let text = match main.iter().find_map(named) {
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => self.arguments.clone(),
        };
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(100) {
            Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
            None => line,
        }
    }
}
