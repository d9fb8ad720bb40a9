//! `inspect`: runs a command that only looks, where nothing can be written and nobody reached. The planner's one way to a
//! shell: it looks, so it is a read tool, although it lives here.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{ErrorKind, Outcome, ToolError, ToolOutput};
use tandem_shared::settings::CommandSettings;
use tandem_shared::tool::{ReadCx, ReadTool};

use crate::cage::Cage;
use crate::environment::Environment;
use crate::process::{End, Keeping, Leftovers, Limits, look};
use crate::shell::{self, Judgement, Part, Place, Rules, Simple};

/// The tool. Only to be offered where the cage of this system holds a command to looking.
pub struct Inspect {
    /// Bounds of commands.
    pub commands: CommandSettings,
    /// What commands see of the environment.
    pub env: Arc<Environment>,
    /// What holds them.
    pub cage: Arc<Cage>,
}

/// Its arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InspectArgs {
    /// The command, run by `sh -c` in the project root. Every part of it must only look.
    command: String,
}

/// The danger rules about files of secrets.
const OF_SECRETS: &[&str] = &["secret_file", "secret_below"];

impl ReadTool for Inspect {
    type Args = InspectArgs;
    const NAME: &'static str = "inspect";
    const DESCRIPTION: &'static str = include_str!("../../../prompts/tools/inspect.md");

    async fn call(&self, args: InspectArgs, cx: ReadCx) -> Outcome {
        if args.command.trim().is_empty() || args.command.contains('\0') {
            return Outcome::error(ErrorKind::InvalidArguments, "The command is empty or holds a NUL byte.");
        }
        let before = match only_looks(&args.command, Place { root: cx.workspace.root() }) {
            Ok(before) => before,
            Err(refused) => return refused.into(),
        };
        let shown = self.commands.output_chars;
        let limits = Limits::new(&self.commands, None, Leftovers::Kill);
        let command = format!("{before}{}", args.command);
        let keeping = Keeping::new(&cx.archive, &self.commands, &self.env);
        match look(&command, &cx.workspace, limits, &self.env, &self.cage, Some(&keeping), &cx.interrupt)
            .await
        {
            Err(fault) => fault.into(),
            Ok(ended) => {
                let output = ended.output.trim_end();
                let text = match (output, ended.by) {
                    ("", End::Exit(0)) => "It printed nothing (exit code 0).".to_owned(),
                    (output, End::Exit(0)) => output.to_owned(),
                    (output, by) => format!("{output}\n[the command {}]", by.in_words(&limits)),
                };
                Outcome::Ok(ToolOutput::text(text).from_source("command").at_most(shown))
            }
        }
    }
}

/// What is to be set before the command, if it may run.
fn only_looks(command: &str, place: Place<'_>) -> Result<&'static str, ToolError> {
    let weighed = shell::weigh(command, &Rules::default(), place);
    let looks = |(simple, part): (&Simple, &Part)| {
        *part == Part::Looks || (*part == Part::Plain && shell::asks(simple))
    };
    let understood = weighed.script.odd.is_empty() && weighed.script.functions.is_empty();
    let all = weighed.script.commands.iter().zip(&weighed.parts).all(looks);
    match weighed.judgement {
        Judgement::Looks => Ok(""),
        Judgement::Plain if understood && all => Ok(shell::BEFORE_ASKING),
        Judgement::Risky(rule) if OF_SECRETS.contains(&rule.id) => Err(ToolError::new(
            ErrorKind::Permission,
            format!(
                "Not run: the command {}. That needs a person's leave, and inspect asks for none. Leave such files out \
                 (grep --exclude, rg -g '!NAME'), search other folders, or use the tool grep, which leaves them out by \
                 itself.",
                rule.why
            ),
        )),
        _ => Err(ToolError::new(
            ErrorKind::Permission,
            "Not run: inspect only runs commands of which every part only looks (git log, wc, find, cargo metadata and \
             their like, in pipes too), without redirects to files, expansions of variables, or background marks. Use \
             such a command, or put what has to be run into the plan as a step's check.",
        )),
    }
}
