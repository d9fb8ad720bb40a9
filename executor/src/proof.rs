//! Proof of a plan step: its check runs before and after, and what that shows.

use tandem_shared::interrupt::Interrupt;
use tandem_shared::settings::CommandSettings;
use tandem_shared::workspace::Workspace;

pub use tandem_shared::proof::{CheckRun, StepProof, Verdict};

use crate::cage::Cage;
use crate::environment::Environment;
use crate::process::{self, End, Hold, Leftovers, Limits};
use crate::reach::Reach;
use crate::shell::{self, Judgement, Place, Rules};

/// What the runs of a check show. `before` and `after` are `None` when it was not run then; `changed_check_files` are
/// files of the check that were changed between the two runs.
pub fn judge(
    before: Option<&CheckRun>,
    after: Option<&CheckRun>,
    changed_check_files: &[String],
) -> (Verdict, String) {
    let Some(after) = after else {
        return (Verdict::Unproven, "no check was run after the step".to_owned());
    };
    let how = |run: &CheckRun| match run.exit {
        Some(code) => format!("exit code {code}"),
        None => "it did not end by itself".to_owned(),
    };
    if !after.passed {
        return (Verdict::Failed, format!("`{}` fails after the step ({})", after.command, how(after)));
    }
    if !changed_check_files.is_empty() {
        let files = changed_check_files.join(", ");
        return (
            Verdict::Unproven,
            format!("`{}` passes, but this run changed what it checks with: {files}", after.command),
        );
    }
    match before {
        None => {
            (Verdict::Unproven, format!("`{}` passes, but it was not run before the step", after.command))
        }
        Some(before) if before.passed => (
            Verdict::NotDistinguishing,
            format!("`{}` passes after the step, but it also passed before", after.command),
        ),
        // A check that could not run at all before was not red because the work was missing.
        Some(before) if before.exit.is_none() => (
            Verdict::Unproven,
            format!("`{}` passes, but before the step it did not end by itself", after.command),
        ),
        Some(before) => (
            Verdict::Proven,
            format!("`{}` failed before the step ({}) and passes after it", after.command, how(before)),
        ),
    }
}

/// Runs a check in the root, through the same code that runs commands of a model. Every fault is a run that failed, and
/// so is a check that the danger list forbids, whoever approved it.
pub async fn run_check(
    command: &str,
    workspace: &Workspace,
    settings: &CommandSettings,
    env: &Environment,
    cage: &Cage,
    interrupt: &Interrupt,
) -> CheckRun {
    let limits = Limits::new(settings, None, Leftovers::Kill);
    let run = |exit, passed, output, duration_ms| CheckRun {
        command: command.to_owned(),
        exit,
        passed,
        output,
        duration_ms,
    };
    if let Judgement::Forbidden(rule) =
        shell::judge(command, &Rules::default(), Place { root: workspace.root() })
    {
        return run(
            None,
            false,
            format!("[refused by the danger rule {}: the check {}]", rule.id, rule.why),
            0,
        );
    }
    let hold = Hold { env, cage, reach: Reach::Acts, tell: None, keeping: None };
    match process::run(command, workspace, limits, hold, interrupt).await {
        Ok((ended, _)) => {
            let of_cage = ended.of_cage();
            let duration = u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX);
            match ended.by {
                End::Exit(code) => run(Some(code), code == 0, ended.output + &of_cage, duration),
                by => {
                    let output =
                        format!("{}\n[the check {}]{of_cage}", ended.output.trim_end(), by.in_words(&limits));
                    run(None, false, output, duration)
                }
            }
        }
        Err(error) => run(None, false, error.text, 0),
    }
}

#[cfg(test)]
mod tests;
