//! Tools as the loop and the models know them, and the read half of them.

use std::collections::BTreeMap;
use std::future::Future;
use std::io::Read;
use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::call::{ErrorKind, Outcome, ToolCall, ToolError};
use crate::interrupt::Interrupt;
use crate::leave::ReadLeave;
use crate::person::Person;
use crate::workspace::Workspace;

/// What a model is told of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name to call it by.
    pub name: String,
    /// When to use it and what it answers.
    pub description: String,
    /// JSON Schema of the arguments object.
    pub parameters: serde_json::Value,
    /// Whether a call may change something: then arguments that end early are not completed for it.
    pub access: Access,
}

impl ToolSpec {
    /// A tool that only looks. Derives the schema from the argument type, so that the two cannot drift apart.
    pub fn of<Args: JsonSchema>(name: &str, description: &str) -> ToolSpec {
        let mut settings = schemars::generate::SchemaSettings::draft2020_12();
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        let mut parameters = settings.into_generator().into_root_schema_for::<Args>().to_value();
        if let Some(object) = parameters.as_object_mut() {
            // The type's name and its own doc comment are for programmers.
            object.remove("title");
            object.remove("description");
        }
        let description = description.trim().to_owned();
        ToolSpec { name: name.to_owned(), description, parameters, access: Access::Read }
    }
}

/// Whether calls of a tool may run side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Changes nothing: may run beside others.
    Read,
    /// May change something: runs alone, in order.
    Write,
}

/// All that the loop knows of tools: what is offered, and how a call is run. Both read one map.
pub trait Toolbox: Send + Sync {
    /// The tools offered to the model.
    fn specs(&self) -> Vec<ToolSpec>;
    /// How a call of `name` may be scheduled. Unknown names are reads: they only answer an error.
    fn access(&self, name: &str) -> Access;
    /// Runs a call; every fault is an outcome.
    fn run<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Outcome>;
}

/// A tool that only looks. What it is handed has no way to change anything:
///
/// ```compile_fail
/// fn write(cx: tandem_shared::tool::ReadCx) {
///     cx.write("file", b"bytes");
/// }
/// ```
///
/// ```
/// fn look(cx: tandem_shared::tool::ReadCx) -> std::path::PathBuf {
///     cx.workspace.root().to_owned()
/// }
/// ```
pub trait ReadTool: Send + Sync + 'static {
    /// The arguments; their schema is the tool's schema.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// The name to call it by.
    const NAME: &'static str;
    /// The text of its prompt file.
    const DESCRIPTION: &'static str;
    /// Looks, and answers. Bad input is an outcome, worded for the model.
    fn call(&self, args: Self::Args, cx: ReadCx) -> impl Future<Output = Outcome> + Send;
}

/// What a read tool is handed. Cheap to clone.
#[derive(Clone)]
pub struct ReadCx {
    /// The project root.
    pub workspace: Workspace,
    /// Earlier outputs of this session.
    pub archive: Arc<dyn Archive>,
    /// The person, who may be nobody.
    pub person: Arc<dyn Person>,
    /// Raised when the run is to stop.
    pub interrupt: Interrupt,
    /// Leave to read files that hold secrets.
    pub leave: ReadLeave,
    /// Bounds on what one call may answer.
    pub limits: Arc<ReadLimits>,
}

/// Bounds of the read tools; from `[tools]` in the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadLimits {
    /// Lines that one read answers at most.
    pub read_lines: usize,
    /// Bytes that one read answers at most.
    pub read_bytes: usize,
    /// Characters of one line at most.
    pub line_chars: usize,
    /// Bytes up to which a file is read without a range.
    pub file_bytes: u64,
    /// Matches that one search answers at most.
    pub matches: usize,
    /// Characters that one search answers at most.
    pub match_chars: usize,
}

/// The outputs of the session, by id, and where a long one goes while it comes.
pub trait Archive: Send + Sync {
    /// The whole text behind `id`, as it was kept: a call's id, or that of an output that was cut or cleared.
    fn recall<'a>(&'a self, id: &str) -> Option<Box<dyn Read + 'a>>;

    /// An id for an output that is going to be kept piece by piece; `None` where nothing is kept.
    fn new_output(&self) -> Option<String> {
        None
    }

    /// Keeps the next piece of an output; the first one has the number 0. Blocks.
    ///
    /// # Errors
    /// Why it could not be kept.
    fn keep(&self, id: &str, piece: u32, bytes: &[u8]) -> Result<(), String> {
        let _ = (piece, bytes);
        Err(format!("nothing is kept of {id} here"))
    }
}

/// The read tools by name: the planner's whole toolbox, and part of the executor's.
#[derive(Clone, Default)]
pub struct ReadTools {
    tools: BTreeMap<&'static str, Arc<dyn ErasedReadTool>>,
}

impl ReadTools {
    /// No tools yet.
    pub fn new() -> ReadTools {
        ReadTools::default()
    }

    /// Adds a tool.
    #[must_use]
    pub fn with<T: ReadTool>(mut self, tool: T) -> ReadTools {
        self.tools.insert(T::NAME, Arc::new(tool));
        self
    }

    /// All but the tool of that name.
    #[must_use]
    pub fn without(mut self, name: &str) -> ReadTools {
        self.tools.remove(name);
        self
    }

    /// Whether a tool of that name is here.
    pub fn contains(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// What the model is told, by name.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec()).collect()
    }

    /// Runs `call`; `None` when no tool here has its name.
    pub async fn run(&self, call: &ToolCall, cx: ReadCx) -> Option<Outcome> {
        let tool = self.tools.get(call.name.as_str())?;
        Some(tool.run(call, cx).await)
    }
}

/// [`ReadTool`] with its argument type folded away.
trait ErasedReadTool: Send + Sync {
    fn spec(&self) -> ToolSpec;
    fn run<'a>(&'a self, call: &'a ToolCall, cx: ReadCx) -> BoxFuture<'a, Outcome>;
}

impl<T: ReadTool> ErasedReadTool for T {
    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<T::Args>(T::NAME, T::DESCRIPTION)
    }

    fn run<'a>(&'a self, call: &'a ToolCall, cx: ReadCx) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            match parse_args::<T::Args>(call) {
                Ok(args) => self.call(args, cx).await,
                Err(error) => error.into(),
            }
        })
    }
}

/// Reads a call's arguments as the tool's argument type. Blank arguments count as `{}`.
///
/// # Errors
/// [`ErrorKind::InvalidArguments`] with the parser's words, the raw text and the schema's required names.
pub fn parse_args<Args: DeserializeOwned + JsonSchema>(call: &ToolCall) -> Result<Args, ToolError> {
    let raw = match call.arguments.trim() {
        "" => "{}",
        text => text,
    };
    serde_json::from_str(raw).map_err(|error| {
        let spec = ToolSpec::of::<Args>(&call.name, "");
        let known = match spec.parameters.get("properties").and_then(serde_json::Value::as_object) {
            Some(properties) if !properties.is_empty() => {
                properties.keys().cloned().collect::<Vec<_>>().join(", ")
            }
            _ => "none".to_owned(),
        };
        let shown: String = raw.chars().take(400).collect();
        ToolError::new(
            ErrorKind::InvalidArguments,
            format!(
                "The arguments of {} are not valid: {error}. Its arguments are: {known}. You sent: {shown}\n\
                 Nothing was run. Call it again with one JSON object.",
                call.name
            ),
        )
    })
}

/// Runs blocking work off the async thread.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(ToolError::new(ErrorKind::Io, format!("The tool broke down: {error}"))),
    }
}
