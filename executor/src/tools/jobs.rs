//! `jobs`, `job_output`, `job_stop`: the commands that go on in the background.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{ErrorKind, Outcome, ToolError, ToolOutput};
use tandem_shared::event::JobRow;
use tandem_shared::person::Effect;

use crate::cx::{EffectCx, WriteCx};
use crate::tool::WriteTool;

/// Lists them.
pub struct ListJobs;

/// No arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListJobsArgs {}

impl WriteTool for ListJobs {
    type Args = ListJobsArgs;
    const NAME: &'static str = "jobs";
    const DESCRIPTION: &'static str = include_str!("../../../prompts/tools/jobs.md");

    fn effect(&self, _args: &ListJobsArgs, _cx: &EffectCx) -> Result<Effect, ToolError> {
        Ok(Effect::Nothing)
    }

    async fn call(&self, _args: ListJobsArgs, cx: WriteCx) -> Outcome {
        let rows = cx.look().jobs().list();
        match rows.as_slice() {
            [] => Outcome::text("Nothing runs in the background."),
            rows => Outcome::text(rows.iter().map(told).collect::<String>()),
        }
    }
}

/// Reads the output of one.
pub struct JobOutput;

/// Which one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobArgs {
    /// The job's number.
    id: u32,
}

impl WriteTool for JobOutput {
    type Args = JobArgs;
    const NAME: &'static str = "job_output";
    const DESCRIPTION: &'static str = include_str!("../../../prompts/tools/job_output.md");

    fn effect(&self, _args: &JobArgs, _cx: &EffectCx) -> Result<Effect, ToolError> {
        Ok(Effect::Nothing)
    }

    async fn call(&self, args: JobArgs, cx: WriteCx) -> Outcome {
        let Some((output, end)) = cx.look().jobs().output(args.id, cx.look().env()) else {
            return no_job(args.id);
        };
        let state = end.map_or_else(|| "it runs".to_owned(), |end| format!("it {end}"));
        let output = if output.trim().is_empty() { "It printed nothing." } else { output.trim_end() };
        let shown = cx.look().commands().output_chars;
        Outcome::Ok(ToolOutput::text(format!("{output}\n[{state}]")).from_source("command").at_most(shown))
    }
}

/// Stops one.
pub struct StopJob;

impl WriteTool for StopJob {
    type Args = JobArgs;
    const NAME: &'static str = "job_stop";
    const DESCRIPTION: &'static str = include_str!("../../../prompts/tools/job_stop.md");

    fn effect(&self, _args: &JobArgs, _cx: &EffectCx) -> Result<Effect, ToolError> {
        Ok(Effect::Nothing)
    }

    async fn call(&self, args: JobArgs, cx: WriteCx) -> Outcome {
        match cx.look().jobs().stop(args.id, &cx.look().read().interrupt).await {
            Some(end) => Outcome::text(format!("Job {} {end}.", args.id)),
            None => no_job(args.id),
        }
    }
}

fn no_job(id: u32) -> Outcome {
    Outcome::error(
        ErrorKind::InvalidArguments,
        format!("There is no job {id}. `jobs` lists those of this session."),
    )
}

fn told(row: &JobRow) -> String {
    let state = row.end.as_deref().map_or_else(|| format!("runs since {} s", row.seconds), str::to_owned);
    format!("{}  {}  ({state})\n", row.id, row.command)
}
