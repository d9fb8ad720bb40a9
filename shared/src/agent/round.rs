//! The calls of one round: reads side by side, writes one at a time, each with exactly one outcome.

use std::time::{Duration, Instant};

use futures::StreamExt as _;

use super::masked;
use super::request::{Agent, End};
use crate::call::{Artifact, Extent};
use crate::call::{ErrorKind, Outcome, Receipt, ToolCall};
use crate::context;
use crate::digest::Digest;
use crate::doom_loop;
use crate::event::Event;
use crate::model::Finish;
use crate::plan::Plan;
use crate::record::{Audit, Record};
use crate::role::Role;
use crate::store::StoreError;
use crate::template::fill;
use crate::tool::Access;

/// After an interrupt a tool may still say what it did; one that does not is left behind.
const GRACE: Duration = Duration::from_secs(3);
/// Characters of a result that a person is shown.
const PREVIEW_CHARS: usize = 200;
const CALL_CUT: &str = include_str!("../../../prompts/notes/call_cut.md");
const TWO_PLANS: &str = include_str!("../../../prompts/notes/two_plans.md");
const LOOP_REFUSED: &str = include_str!("../../../prompts/notes/loop_refused.md");

impl Agent<'_> {
    /// Runs the calls of a reply. Answers the plan, if one of them drafted one.
    pub(super) async fn run_calls(&self, calls: &[ToolCall], finish: Finish) -> Result<Option<Plan>, End> {
        let mut plan = None;
        for group in self.groups(calls) {
            let is_cut = |call| is_cut(call, calls, finish) || self.ends_early(call);
            let runs = group.iter().map(|call| self.run_call(call, is_cut(call)));
            let mut done = futures::stream::iter(runs).buffered(self.settings.limits.parallel_reads.max(1));
            while let Some((call, outcome, took)) = done.next().await {
                // A reply that drafts two plans shows one: the other must not take its place.
                let outcome = if plan.is_some() { without_plan(outcome) } else { outcome };
                plan = self.book(call, outcome, took)?.or(plan);
            }
        }
        Ok(plan)
    }

    /// Some servers cut a reply off and do not say so. Such a call is told apart where it matters that it is whole.
    fn ends_early(&self, call: &ToolCall) -> bool {
        let text = call.arguments.trim();
        let whole = serde_json::from_str::<serde_json::Value>(text);
        let writes = self.toolbox.access(&call.name) == Access::Write;
        writes && !text.is_empty() && whole.is_err_and(|error| error.is_eof())
    }

    /// Gives every call of a reply an outcome without running it.
    pub(super) fn drop_calls(&self, calls: &[ToolCall]) -> Result<(), StoreError> {
        for call in calls {
            let reason = "Not run: the task's limit was reached before.";
            self.book(call, Outcome::Denied(reason.to_owned()), Duration::ZERO)?;
        }
        self.store.commit()
    }

    /// Neighbouring reads form a group; each write stands alone.
    fn groups<'c>(&self, calls: &'c [ToolCall]) -> Vec<&'c [ToolCall]> {
        let reads = |call: &ToolCall| self.toolbox.access(&call.name) == Access::Read;
        calls.chunk_by(|a, b| reads(a) && reads(b)).collect()
    }

    async fn run_call<'c>(&self, call: &'c ToolCall, cut: bool) -> (&'c ToolCall, Outcome, Duration) {
        (self.hear)(Event::ToolCall {
            call_id: call.id.clone(),
            name: call.name.clone(),
            summary: call.summary(),
            arguments: call.arguments.clone(),
        });
        let start = Instant::now();
        let outcome = if self.interrupt.is_raised() {
            Outcome::Interrupted("Interrupted before this call ran. It had no effect.".to_owned())
        } else if cut {
            Outcome::error(ErrorKind::InvalidArguments, fill(CALL_CUT, &[("arguments", &call.arguments)]))
        } else if self.is_struck(call) {
            Outcome::error(ErrorKind::Loop, fill(LOOP_REFUSED, &[]))
        } else {
            tokio::select! {
                outcome = self.toolbox.run(call) => outcome,
                () = self.left_behind() => Outcome::Interrupted(
                    "Interrupted while this call ran. Whether it took effect is unknown.".to_owned()
                ),
            }
        };
        (call, outcome, start.elapsed())
    }

    async fn left_behind(&self) {
        self.interrupt.raised().await;
        tokio::time::sleep(GRACE).await;
    }

    /// Books one outcome, offloading a long text. What changed the world becomes durable at once; reads become durable
    /// with the end of the round.
    ///
    /// Secrets go out here, before anything is kept, told or sent.
    fn book(
        &self,
        call: &ToolCall,
        mut outcome: Outcome,
        took: Duration,
    ) -> Result<Option<Plan>, StoreError> {
        masked::outcome(&mut outcome, self.masker);
        let outcome = self.offload(outcome)?;
        let artifacts = outcome.artifacts().to_vec();
        let granted = self.store.facts(|facts| facts.granted.get(&call.id).cloned());
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let audit = Audit {
            tool: call.name.clone(),
            args_hash: Digest::of(doom_loop::canonical(&call.arguments)).short().to_owned(),
            path_scope: path_scope(call, &artifacts),
            result: outcome.as_str().to_owned(),
            duration_ms,
            approved_by: granted.as_ref().map(|leave| leave.by),
            effect_digest: granted.as_ref().and_then(|leave| leave.effect_digest.clone()),
            rollback_of: None,
            turn: self.store.facts(|facts| facts.turns),
            role: Role::from(self.role),
        };
        tracing::info!(target: "tandem::audit", session = self.store.id(), call_id = %call.id, tool = %audit.tool,
            args_hash = %audit.args_hash, path_scope = ?audit.path_scope, result = %audit.result, duration_ms,
            approved_by = ?audit.approved_by, effect_digest = ?audit.effect_digest.as_ref().map(Digest::as_str),
            rollback_of = ?audit.rollback_of, turn = audit.turn, role = %audit.role, "call");
        (self.hear)(Event::ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            outcome: outcome.as_str().to_owned(),
            preview: outcome.content().chars().take(PREVIEW_CHARS).collect(),
            duration_ms,
            receipts: receipts(&artifacts),
        });
        for text in self.store.facts(|facts| facts.newly_uncovered(&call.id)) {
            (self.hear)(Event::Notice { text });
        }
        self.store.note(Record::Stepped { call_id: call.id.clone(), outcome, audit });
        if granted.is_some() {
            self.store.commit()?;
        }
        Ok(self.drafted(&artifacts))
    }

    /// Characters of a page at most: a third of what the model's window holds.
    fn page_chars(&self) -> usize {
        let budget = context::Window::of(&self.model.info(), &self.settings.context).budget;
        let third = usize::try_from(budget / 3 * context::BYTES_PER_TOKEN).unwrap_or(usize::MAX);
        third.max(self.settings.context.offload_chars)
    }

    fn offload(&self, mut outcome: Outcome) -> Result<Outcome, StoreError> {
        let general = self.settings.context.offload_chars;
        let (text, limit) = match &mut outcome {
            Outcome::Ok(output) => match output.extent {
                // A page is asked for as it is, but one that fills the window would push everything else out.
                Extent::Page => (&mut output.text, self.page_chars()),
                Extent::Offloadable => (&mut output.text, general),
                Extent::AtMost(chars) => (&mut output.text, general.min(chars)),
            },
            Outcome::Error(error) => (&mut error.text, general),
            Outcome::Denied(text) | Outcome::Interrupted(text) => (text, general),
        };
        if let Some(preview) = context::preview(text, limit) {
            self.store.put_blob(text.as_bytes())?;
            *text = preview.text;
        }
        Ok(outcome)
    }
}

fn without_plan(outcome: Outcome) -> Outcome {
    match outcome.artifacts().iter().any(|artifact| matches!(artifact, Artifact::Plan(_))) {
        true => Outcome::error(ErrorKind::InvalidArguments, TWO_PLANS.trim()),
        false => outcome,
    }
}

/// Whether the token limit ended the reply inside this call: only the last one can be incomplete.
fn is_cut(call: &ToolCall, calls: &[ToolCall], finish: Finish) -> bool {
    finish == Finish::Length && calls.last().is_some_and(|last| last.id == call.id)
}

fn path_scope(call: &ToolCall, artifacts: &[Artifact]) -> Vec<String> {
    let mut paths: Vec<String> = receipts(artifacts).into_iter().map(|receipt| receipt.path).collect();
    if paths.is_empty() {
        let arguments: Option<serde_json::Value> = serde_json::from_str(&call.arguments).ok();
        let path = arguments.and_then(|value| value.get("path")?.as_str().map(str::to_owned));
        paths.push(path.unwrap_or_else(|| ".".to_owned()));
    }
    paths
}

fn receipts(artifacts: &[Artifact]) -> Vec<Receipt> {
    let receipt = |artifact: &Artifact| match artifact {
        Artifact::Wrote(receipt) | Artifact::Changed(receipt) => Some(receipt.clone()),
        Artifact::Read { .. }
        | Artifact::Plan(_)
        | Artifact::MayHaveChanged
        | Artifact::SyntaxError { .. }
        | Artifact::StepUpdate { .. } => None,
    };
    artifacts.iter().filter_map(receipt).collect()
}
