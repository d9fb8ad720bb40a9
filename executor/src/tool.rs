//! Tools that act, and the one way in which a call of one is run.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tandem_shared::call::{Outcome, ToolCall, ToolError};
use tandem_shared::person::Effect;
use tandem_shared::tool::{Access, ReadTools, ToolSpec, blocking, parse_args};

use crate::cx::{EffectCx, WriteCx};
use crate::gate::Gate;

/// A tool that may change something.
pub trait WriteTool: Send + Sync + 'static {
    /// The arguments; their schema is the tool's schema.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;
    /// The name to call it by.
    const NAME: &'static str;
    /// The text of its prompt file.
    const DESCRIPTION: &'static str;

    /// Says what the call would do, without doing it. May block.
    ///
    /// # Errors
    /// When the call cannot be carried out at all; then nobody is asked.
    fn effect(&self, args: &Self::Args, cx: &EffectCx) -> Result<Effect, ToolError>;

    /// Does it.
    fn call(&self, args: Self::Args, cx: WriteCx) -> impl Future<Output = Outcome> + Send;
}

/// All tools of the executor: those that only look, and those that act.
#[derive(Clone)]
pub struct WriteTools {
    read: ReadTools,
    write: BTreeMap<&'static str, Arc<dyn ErasedWriteTool>>,
}

impl WriteTools {
    /// The tools that only look.
    pub fn new(read: ReadTools) -> WriteTools {
        WriteTools { read, write: BTreeMap::new() }
    }

    /// Adds a tool that acts.
    #[must_use]
    pub fn with<T: WriteTool>(mut self, tool: T) -> WriteTools {
        self.write.insert(T::NAME, Arc::new(tool));
        self
    }

    /// The tools that only look.
    pub fn read(&self) -> &ReadTools {
        &self.read
    }

    /// Whether a tool of that name acts.
    pub fn acts(&self, name: &str) -> bool {
        self.write.contains_key(name)
    }

    /// What the model is told, sorted by name.
    pub fn specs(&self) -> Vec<ToolSpec> {
        // A name that both halves hold is offered once, as the one that acts: that is how it would be run.
        let mut specs: Vec<ToolSpec> = self.write.values().map(|tool| tool.spec()).collect();
        specs.extend(self.read.specs().into_iter().filter(|spec| !self.acts(&spec.name)));
        specs.sort_by(|a, b| a.name.cmp(&b.name));
        specs
    }

    /// Runs `call` if a tool that acts has its name: its arguments are read, its effect is weighed by the gate, the
    /// leave is marked in the journal, and only then does the tool get the means to act.
    pub(crate) async fn run(&self, call: &ToolCall, gate: &Gate, cx: EffectCx) -> Option<Outcome> {
        let tool = self.write.get(call.name.as_str())?.clone();
        Some(run_gated(tool, call, gate, cx).await.unwrap_or_else(Outcome::from))
    }
}

async fn run_gated(
    tool: Arc<dyn ErasedWriteTool>,
    call: &ToolCall,
    gate: &Gate,
    cx: EffectCx,
) -> Result<Outcome, ToolError> {
    let Prepared { effect, act } = tool.prepare(call, cx.clone()).await?;
    if effect != Effect::Nothing
        && let Some(why) = cx.journal().halted()
    {
        return Ok(Outcome::Denied(format!(
            "Nothing more is changed in this session, because {why}. Nothing was run. Say so, and leave the rest to \
             the user."
        )));
    }
    let interrupt = &cx.read().interrupt;
    let judged = tokio::select! {
        biased;
        () = interrupt.raised() => {
            return Ok(Outcome::Interrupted("Interrupted before leave was given. Nothing was changed.".to_owned()));
        }
        judged = gate.judge(call, &effect) => judged,
    };
    let grant = match judged {
        Ok(grant) => grant,
        Err(reason) => return Ok(Outcome::Denied(reason)),
    };
    cx.journal().started(call, grant.granted())?;
    Ok(act(WriteCx::new(grant, cx)).await)
}

/// A call whose arguments are read and whose effect is known.
struct Prepared {
    effect: Effect,
    act: Box<dyn FnOnce(WriteCx) -> BoxFuture<'static, Outcome> + Send>,
}

/// [`WriteTool`] with its argument type folded away.
trait ErasedWriteTool: Send + Sync {
    fn spec(&self) -> ToolSpec;
    fn prepare(self: Arc<Self>, call: &ToolCall, cx: EffectCx) -> BoxFuture<'_, Result<Prepared, ToolError>>;
}

impl<T: WriteTool> ErasedWriteTool for T {
    fn spec(&self) -> ToolSpec {
        ToolSpec { access: Access::Write, ..ToolSpec::of::<T::Args>(T::NAME, T::DESCRIPTION) }
    }

    fn prepare(self: Arc<Self>, call: &ToolCall, cx: EffectCx) -> BoxFuture<'_, Result<Prepared, ToolError>> {
        Box::pin(async move {
            let args = parse_args::<T::Args>(call)?;
            let tool = self.clone();
            let (args, effect) = blocking(move || {
                let effect = tool.effect(&args, &cx)?;
                Ok((args, effect))
            })
            .await?;
            Ok(Prepared {
                effect,
                act: Box::new(move |cx| Box::pin(async move { self.call(args, cx).await })),
            })
        })
    }
}
