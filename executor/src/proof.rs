//! Proof of a plan step: its check runs before and after, and what that shows.

use tandem_shared::interrupt::Interrupt;
use tandem_shared::settings::CommandSettings;
use tandem_shared::workspace::Workspace;

pub use tandem_shared::proof::{CheckRun, StepProof, Verdict};

use crate::process::{self, End, Leftovers, Limits};
use crate::shell::{self, Judgement, Place, Simple};

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

/// Test runners, by program and first operand; an empty operand stands for any.
const RUNNERS: &[(&str, &[&str])] = &[
    ("cargo", &["test", "t", "nextest"]),
    ("pytest", &[]),
    ("py.test", &[]),
    ("tox", &[]),
    ("nox", &[]),
    ("python", &["pytest", "unittest", "nose2"]),
    ("python3", &["pytest", "unittest", "nose2"]),
    ("npm", &["test", "t", "run"]),
    ("yarn", &["test", "run"]),
    ("pnpm", &["test", "run"]),
    ("bun", &["test", "run"]),
    ("deno", &["test"]),
    ("npx", &["jest", "vitest", "mocha", "ava", "playwright"]),
    ("jest", &[]),
    ("vitest", &[]),
    ("mocha", &[]),
    ("node", &["--test"]),
    ("go", &["test"]),
    ("make", &["test", "check", "tests"]),
    ("just", &["test", "check"]),
    ("ctest", &[]),
    ("mvn", &["test", "verify"]),
    ("gradle", &["test", "check"]),
    ("gradlew", &["test", "check"]),
    ("dotnet", &["test"]),
    ("mix", &["test"]),
    ("rake", &["test", "spec"]),
    ("rspec", &[]),
    ("phpunit", &[]),
    ("zig", &["test", "build"]),
    ("swift", &["test"]),
];

/// Files that rule how a runner runs, wherever they stand.
const RULING: &[&str] = &[
    "conftest.py",
    "pytest.ini",
    "tox.ini",
    "noxfile.py",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    "Rakefile",
    "CTestTestfile.cmake",
    "phpunit.xml",
    ".mocharc.json",
    ".mocharc.yml",
];

/// Which of `changed` (files changed since the check first ran, relative to the root) belong to the check `command` of a
/// step that was approved to edit `step_files`: files that it runs, tests when it starts a test runner, and files that it
/// names, save those that are the step's own subject (`grep -q done notes.txt` looks at what the step is to change).
pub fn check_material(command: &str, changed: &[String], step_files: &[String]) -> Vec<String> {
    let script = shell::parse(command);
    let runs_tests = script.commands.iter().any(is_runner);
    let belongs = |file: &String| {
        let named = script.commands.iter().any(|simple| names(simple, file));
        let run = script.commands.iter().any(|simple| runs(simple, file));
        run || (runs_tests && is_test(file)) || (named && (is_test(file) || !step_files.contains(file)))
    };
    changed.iter().filter(|file| belongs(file)).cloned().collect()
}

/// Programs that run a file which they are given.
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "source", ".", "python", "python3", "node", "deno", "bun",
    "perl", "ruby", "php", "lua", "make", "just",
];

/// Whether `simple` runs `file` itself.
fn runs(simple: &Simple, file: &str) -> bool {
    let program = simple
        .words
        .first()
        .is_some_and(|word| plain_path(simple.dir.as_deref().unwrap_or_default(), &word.text) == file);
    program || (INTERPRETERS.contains(&simple.name()) && names(simple, file))
}

fn is_runner(simple: &Simple) -> bool {
    RUNNERS.iter().any(|(program, operands)| {
        // The first operand may follow options with values, such as `make -C dir test`.
        let operand = |wanted: &&str| simple.args().iter().any(|arg| arg.text == **wanted);
        simple.name() == *program && (operands.is_empty() || operands.iter().any(operand))
    })
}

/// Whether `simple` names `file`, as a word, as the value of an option, as a test inside it, or as a folder above it.
fn names(simple: &Simple, file: &str) -> bool {
    let dir = simple.dir.as_deref().unwrap_or_default();
    let redirected = simple.redirects.iter().map(|redirect| &redirect.target);
    simple.words.iter().enumerate().chain(redirected.map(|word| (1, word))).any(|(at, word)| {
        let text = word.text.split("::").next().unwrap_or_default();
        let text = text.rsplit('=').next().unwrap_or(text);
        let joined = plain_path(dir, text);
        let named = joined == file;
        // A folder of scripts or tests counts, the root itself does not: then everything would.
        let above = at > 0
            && !joined.is_empty()
            && file.strip_prefix(&joined).is_some_and(|rest| rest.starts_with('/'));
        named || (above && is_test(file)) || (word.glob && wild_path(&joined, file))
    })
}

fn plain_path(dir: &str, text: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in dir.split('/').chain(text.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn wild_path(pattern: &str, file: &str) -> bool {
    globset::Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(file))
}

/// Whether a file is a test by where it stands or what it is called.
fn is_test(file: &str) -> bool {
    const FOLDERS: &[&str] =
        &["test", "tests", "__tests__", "spec", "specs", "testdata", "__snapshots__", "snapshots"];
    let mut folders: Vec<&str> = file.split('/').collect();
    let name = folders.pop().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or(name);
    folders.iter().any(|folder| FOLDERS.contains(folder))
        || RULING.contains(&name)
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || matches!(stem, "test" | "tests")
        || name.contains(".test.")
        || name.contains(".spec.")
}

/// Runs a check in the root, through the same code that runs commands of a model. Every fault is a run that failed, and
/// so is a check that the danger list forbids, whoever approved it.
pub async fn run_check(
    command: &str,
    workspace: &Workspace,
    settings: &CommandSettings,
    env: &[(String, String)],
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
    if let Judgement::Forbidden(rule) = shell::judge(command, &[], Place { root: workspace.root() }) {
        return run(
            None,
            false,
            format!("[refused by the danger rule {}: the check {}]", rule.id, rule.why),
            0,
        );
    }
    match process::run(command, workspace, limits, env, interrupt).await {
        Ok(ended) => {
            let duration = u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX);
            match ended.by {
                End::Exit(code) => run(Some(code), code == 0, ended.output, duration),
                by => {
                    let output = format!("{}\n[the check {}]", ended.output.trim_end(), by.in_words(&limits));
                    run(None, false, output, duration)
                }
            }
        }
        Err(error) => run(None, false, error.text, 0),
    }
}

#[cfg(test)]
mod tests;
