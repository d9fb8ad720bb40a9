//! The executor's toolbox: everything the planner's has, and the tools that act, behind the gate.

use std::sync::Arc;

use futures::future::BoxFuture;
use tandem_shared::call::{ErrorKind, Outcome, ToolCall};
use tandem_shared::template::fill;
use tandem_shared::tool::{Access, ToolSpec, Toolbox};

use crate::cx::{EffectCx, Seen, Surroundings};
use crate::gate::Gate;
use crate::tool::WriteTools;

/// What the model reads when it calls a tool that is not there.
const UNKNOWN_TOOL: &str = include_str!("../../prompts/notes/unknown_tool_executor.md");

/// Tools, gate and surroundings of one executor run.
pub struct ExecutorToolbox {
    tools: WriteTools,
    gate: Arc<Gate>,
    around: Arc<Surroundings>,
    seen: Arc<Seen>,
}

impl ExecutorToolbox {
    /// Puts the parts together.
    pub fn new(tools: WriteTools, gate: Arc<Gate>, around: Surroundings) -> ExecutorToolbox {
        ExecutorToolbox { tools, gate, around: Arc::new(around), seen: Arc::default() }
    }

    async fn outcome_of(&self, call: &ToolCall) -> Outcome {
        let cx = EffectCx::new(self.around.clone(), self.seen.clone(), self.gate.plan().cloned());
        if let Some(outcome) = self.tools.run(call, &self.gate, cx).await {
            return outcome;
        }
        if let Some(outcome) = self.tools.read().run(call, self.around.read.clone()).await {
            return outcome;
        }
        let names: Vec<String> = self.specs().into_iter().map(|spec| spec.name).collect();
        let text = fill(UNKNOWN_TOOL, &[("name", &call.name), ("tools", &names.join(", "))]);
        Outcome::error(ErrorKind::UnknownTool, text)
    }
}

impl Toolbox for ExecutorToolbox {
    fn specs(&self) -> Vec<ToolSpec> {
        self.tools.specs()
    }

    fn access(&self, name: &str) -> Access {
        if self.tools.acts(name) { Access::Write } else { Access::Read }
    }

    fn run<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let outcome = self.outcome_of(call).await;
            self.seen.note(&outcome);
            outcome
        })
    }
}

#[cfg(test)]
mod tests;
