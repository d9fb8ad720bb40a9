//! `run_command`: runs a shell command in the project root.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{Artifact, ErrorKind, Outcome, ToolError, ToolOutput};
use tandem_shared::person::Effect;

use crate::cx::command::Ran;
use crate::cx::{EffectCx, WriteCx};
use crate::jobs::Opening;
use crate::process::{self, End, Ended, Leftovers, Limits};
use crate::reach::Reach;
use crate::shell::{self, Judgement, Place, Rules};
use crate::stage::Stage;
use crate::tool::WriteTool;

/// The tool.
pub struct RunCommand;

/// Its arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunCommandArgs {
    /// The command, run by `sh -c` in the project root.
    command: String,
    /// Seconds that it may take, also without output. Only for commands that are slow or silent for long.
    #[serde(default)]
    timeout: Option<u64>,
    /// Let it go on in the background, for a server or a watcher; known servers do so by themselves.
    #[serde(default)]
    background: bool,
}

impl WriteTool for RunCommand {
    type Args = RunCommandArgs;
    const NAME: &'static str = "run_command";
    const DESCRIPTION: &'static str = include_str!("../../../prompts/tools/run_command.md");

    fn effect(&self, args: &RunCommandArgs, _cx: &EffectCx) -> Result<Effect, ToolError> {
        let invalid = |text: &str| Err(ToolError::new(ErrorKind::InvalidArguments, text));
        if args.command.trim().is_empty() {
            return invalid("The command is empty. Nothing was run.");
        }
        if args.command.contains('\0') {
            return invalid("The command holds a NUL byte, which no command line can. Nothing was run.");
        }
        process::fits(&args.command)?;
        if args.timeout == Some(0) {
            return invalid("A timeout of 0 seconds lets nothing run. Leave it out, or give a larger one.");
        }
        Ok(Effect::Command { command: args.command.clone() })
    }

    async fn call(&self, args: RunCommandArgs, cx: WriteCx) -> Outcome {
        let settings = cx.look().commands();
        let shown = settings.output_chars;
        let limits = Limits::new(settings, args.timeout, Leftovers::Keep);
        let root = cx.look().read().workspace.root().to_owned();
        let weighed = shell::weigh(&args.command, &Rules::default(), Place { root: &root });
        let looks = weighed.judgement == Judgement::Looks;
        let reach = if looks { Reach::Looks } else { Reach::Acts };
        Stage::Preparation.begins(&format!("{reach:?}, {limits:?}"));
        let is_server = args.background || shell::starts_server(&weighed.script);
        Stage::ServerDetection.begins(if is_server {
            "it goes to the background"
        } else {
            "it is waited for"
        });
        if is_server {
            return match cx.start_job().await {
                Ok((opening, changes)) => with_changes(started(&opening, &changed_files(&changes)), changes),
                Err(error) => error.into(),
            };
        }
        let ran = match run(&cx, limits, reach).await {
            Ok(ran) => ran,
            Err(error) => return error.into(),
        };
        let further = still_running(&ran) + &changed_files(&ran.changes) + &ran.ended.of_cage();
        let outcome = outcome(&ran.ended, &limits, shown, &further);
        if looks { outcome } else { with_changes(outcome, ran.changes) }
    }
}

/// With what the harness has to know of what the command changed.
fn with_changes(outcome: Outcome, changes: Vec<Artifact>) -> Outcome {
    match outcome {
        Outcome::Ok(output) => {
            Outcome::Ok(changes.into_iter().fold(output.with(Artifact::MayHaveChanged), ToolOutput::with))
        }
        outcome => outcome,
    }
}

/// Runs the command; one that the cage seems to have kept from its work is offered a run outside it.
async fn run(cx: &WriteCx, limits: Limits, reach: Reach) -> Result<Ran, ToolError> {
    let mut ran = cx.run_command(limits, reach).await?;
    let Some(hindrance) = ran.ended.hindrance else { return Ok(ran) };
    if let Some(outside) = cx.run_outside_the_cage(limits, hindrance).await? {
        let changes = ran.changes.into_iter().chain(outside.changes).collect();
        ran = Ran { changes, ..outside };
    }
    Ok(ran)
}

/// What the model reads of a command that goes on in the background.
fn started(opening: &Opening, changed: &str) -> Outcome {
    let Opening { id, output, end } = opening;
    let output = match output.trim_end() {
        "" => "It printed nothing so far.",
        output => output,
    };
    let text = match end {
        None => format!(
            "The command goes on in the background as job {id}. Its output so far:\n{output}\n[job_output reads more, \
             job_stop stops it]{changed}"
        ),
        Some(end) => {
            format!(
                "The command was started in the background and {end} at once. Its output:\n{output}{changed}"
            )
        }
    };
    match end.as_deref() {
        None | Some("ended") => Outcome::Ok(ToolOutput::text(text).from_source("command")),
        Some(_) => ToolError::new(ErrorKind::CommandFailed, text).from_source("command").into(),
    }
}

/// What a command left running, for the model.
fn still_running(ran: &Ran) -> String {
    let Some(job) = ran.job else { return String::new() };
    let named: Vec<&str> = ran.ended.left.iter().take(NAMED).map(|one| one.name.as_str()).collect();
    format!("\n[still running as job {job}: {}; job_stop ends it]", named.join(", "))
}

/// Files that are named to the model.
const NAMED: usize = 10;

/// The files that a command changed, for the model, whose knowledge of them is out of date.
fn changed_files(changes: &[Artifact]) -> String {
    let path = |artifact: &Artifact| match artifact {
        Artifact::Changed(receipt) => Some(receipt.path.clone()),
        _ => None,
    };
    let paths: Vec<String> = changes.iter().filter_map(path).collect();
    let rest = match paths.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match paths.get(..paths.len().min(NAMED)).unwrap_or_default() {
        [] => String::new(),
        named => format!("\n[files changed: {}{rest}]", named.join(", ")),
    }
}

fn outcome(ended: &Ended, limits: &Limits, shown: usize, further: &str) -> Outcome {
    let how = ended.by.in_words(limits);
    let output = ended.output.trim_end_matches('\n');
    let said =
        if output.is_empty() { "It printed nothing.".to_owned() } else { format!("Its output:\n{output}") };
    match ended.by {
        End::Exit(0) => {
            let mut text = match output {
                "" => "The command succeeded (exit code 0) and printed nothing.".to_owned(),
                output => format!("{output}\n[exit code 0]"),
            };
            text.push_str(further);
            Outcome::Ok(ToolOutput::text(text).from_source("command").at_most(shown))
        }
        End::Exit(_) | End::Signal(_) => {
            ToolError::new(ErrorKind::CommandFailed, format!("The command {how}. {said}{further}")).from_source("command").into()
        }
        End::Idle | End::TooLong => ToolError::new(
            ErrorKind::Timeout,
            format!(
                "The command {how}, with every process that it started. It may have done a part of its work. Nothing \
                 can answer a question that it asks. If it is only slow, give a larger timeout (at most {} s). {said}{further}",
                limits.absolute.as_secs()
            ),
        )
        .from_source("command")
        .into(),
        End::Interrupted => Outcome::Interrupted(format!(
            "The command {how}, with every process that it started. It may have done a part of its work. {said}{further}"
        )),
    }
}
