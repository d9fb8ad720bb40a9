//! The command line, as types.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::exit;

/// Looks at a project, plans changes with you, and carries out what you approved.
#[derive(Debug, Parser)]
#[command(name = "tandem", version = crate::VERSION, after_help = exit::table(), disable_help_subcommand = true)]
pub struct Cli {
    /// What to do; a session in this terminal when absent.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Do the task without a question and print only the answer; reads the prompt from standard input when it is left
    /// out.
    #[arg(short = 'p', long = "print", value_name = "PROMPT", num_args = 0..=1, default_missing_value = "-")]
    pub print: Option<String>,
    /// Go on with the newest session of this project, in this terminal or with -p.
    #[arg(short = 'c', long = "continue")]
    pub continue_newest: bool,
    /// Flags that every command takes.
    #[command(flatten)]
    pub global: Global,
}

/// Flags that every command takes.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// The project root; the current folder when left out.
    #[arg(short = 'C', long = "dir", value_name = "DIR", global = true)]
    pub dir: Option<PathBuf>,
    /// A named set of bindings from the configuration.
    #[arg(long, value_name = "NAME", global = true)]
    pub profile: Option<String>,
    /// Sets one configuration key; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,
    /// The model of planner and executor: provider/name, or a name at the endpoint that the environment gives.
    #[arg(long, value_name = "MODEL", global = true)]
    pub model: Option<String>,
    /// The planner's model.
    #[arg(long, value_name = "MODEL", global = true)]
    pub planner_model: Option<String>,
    /// The thinking phase's model.
    #[arg(long, value_name = "MODEL", global = true)]
    pub thinking_model: Option<String>,
    /// The executor's model.
    #[arg(long, value_name = "MODEL", global = true)]
    pub executor_model: Option<String>,
    /// What may happen without a question.
    #[arg(long, value_name = "MODE", global = true,
          value_parser = PossibleValuesParser::new(["ask", "auto-edit", "auto", "strict", "plan"]))]
    pub approval: Option<String>,
    /// Approves the plan that this command drafts or is given.
    #[arg(long, global = true)]
    pub yes: bool,
    /// Rounds that planner and executor may take, each.
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_rounds: Option<u32>,
    /// Time for the whole task: seconds, or 90s, 5m, 1h.
    #[arg(long, value_name = "TIME", global = true, value_parser = duration)]
    pub timeout: Option<Duration>,
    /// US dollars that the whole task may cost; needs the prices of the models.
    #[arg(long, value_name = "USD", global = true, value_parser = dollars)]
    pub max_budget_usd: Option<f64>,
    /// Tokens of prompts and answers that the whole task may take.
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_tokens_total: Option<u64>,
    /// Writes what the models are sent and answer to a new file, without keys.
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// Answers every request from a recorded file instead of a server; needs no key and no network.
    #[arg(long, value_name = "FILE", global = true)]
    pub replay: Option<PathBuf>,
    /// The form of what is printed on standard output.
    #[arg(long, value_name = "FORMAT", global = true, default_value = "text")]
    pub output_format: OutputFormat,
    /// Logs to standard error: once for what happens, twice for details.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Where sessions and plans are kept.
    #[arg(long, value_name = "DIR", global = true)]
    pub state_dir: Option<PathBuf>,
}

/// Forms of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people.
    Text,
    /// One JSON object at the end.
    Json,
    /// One JSON object for each event, a line each.
    StreamJson,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Draft a plan; nothing in the folder changes.
    Plan {
        /// The task; from standard input when left out.
        prompt: Option<String>,
        /// Also writes the plan as Markdown, which can be edited and executed.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Carry out a plan, by its id or from a Markdown file.
    Exec {
        /// The id, or the file.
        plan: String,
        /// Go ahead although files that the plan names changed since it was made.
        #[arg(long)]
        stale_ok: bool,
    },
    /// Plan, approve and execute in one go.
    Run {
        /// The task; from standard input when left out.
        prompt: Option<String>,
        /// Straight to the executor.
        #[arg(long)]
        no_plan: bool,
    },
    /// Go on with a session.
    Resume {
        /// Its id or the beginning of it; the newest of this project when left out.
        id: Option<String>,
        /// What to do next; from standard input when left out, or a session in this terminal.
        prompt: Option<String>,
        /// Straight to the executor.
        #[arg(long)]
        no_plan: bool,
    },
    /// Look at, export or delete sessions.
    Sessions {
        /// What to do.
        #[command(subcommand)]
        what: Sessions,
    },
    /// Take back what the agent changed in this project; only files that it changed are touched.
    Undo(Undo),
    /// Put back what was taken back last.
    Redo {
        /// The session's id or the beginning of it; the newest of this project when left out.
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Tell what a command is made of, and whether it may run; runs nothing.
    Why(Why),
    /// Run one tool without a model.
    Tool {
        /// What to do.
        #[command(subcommand)]
        what: Tool,
    },
    /// Look at the configuration.
    Config {
        /// What to do.
        #[command(subcommand)]
        what: Config,
    },
    /// Trust the project's configuration file as it stands now.
    Trust,
    /// Tell which model each role is bound to, and whether it answers.
    Models,
    /// Find out what the endpoint of each role can do, and print the settings that follow from it.
    Doctor {
        /// Only the endpoint of this role.
        #[arg(long, value_name = "ROLE",
              value_parser = PossibleValuesParser::new(["planner", "thinking", "executor", "critique", "compaction"]))]
        role: Option<String>,
        /// Also measures how long a prompt may be, with long prompts; says first what that takes.
        #[arg(long)]
        window: bool,
    },
    /// Do the main job on a small bundled project, with a scripted model: no key, no network.
    Demo {
        /// Keeps the folder.
        #[arg(long)]
        keep: bool,
    },
}

/// `tandem undo`.
#[derive(Debug, Args)]
pub struct Undo {
    /// The session's id or the beginning of it; the newest of this project when left out.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The turn, counted from 1; the newest one with a change that stands when left out.
    #[arg(long, value_name = "N", conflicts_with = "step")]
    pub turn: Option<u32>,
    /// One call, by the id that --list shows.
    #[arg(long, value_name = "ID")]
    pub step: Option<String>,
    /// Lists what can be taken back, the newest first.
    #[arg(long, conflicts_with_all = ["turn", "step", "dry_run", "skip_conflicts"])]
    pub list: bool,
    /// Tells what would be done, and does nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Leaves files that somebody changed since in the same lines, and takes back the others.
    #[arg(long)]
    pub skip_conflicts: bool,
}

/// `tandem why`. The exit code is 0 for a command that needs no question, 3 for one that needs approval, 1 for one that is
/// forbidden.
#[derive(Debug, Args)]
pub struct Why {
    /// The command, as one argument.
    pub command: Option<String>,
    /// Whose command it would be: the planner only runs what only looks.
    #[arg(long, value_name = "ROLE", value_parser = PossibleValuesParser::new(["planner", "executor"]))]
    pub role: Option<String>,
    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Lists the rules that hold here, with where they come from.
    #[arg(long, conflicts_with_all = ["command", "role", "json", "forget"])]
    pub rules: bool,
    /// Takes away a rule that "always" kept for this project.
    #[arg(long, value_name = "RULE", conflicts_with_all = ["command", "role", "json"])]
    pub forget: Option<String>,
}

/// `tandem sessions`.
#[derive(Debug, Subcommand)]
pub enum Sessions {
    /// The sessions of this project, newest last.
    List,
    /// A session, readable.
    Show {
        /// Its id or the beginning of it.
        id: String,
    },
    /// A session's log, one JSON object a line.
    Export {
        /// Its id or the beginning of it.
        id: String,
    },
    /// Writes an output of a session to standard output, byte for byte as it was kept.
    Output {
        /// The session's id or the beginning of it.
        id: String,
        /// The output's id, as it stands where the output was cut (`recall("…")`).
        #[arg(value_name = "OUTPUT")]
        output: String,
    },
    /// Deletes a session.
    Delete {
        /// Its id or the beginning of it.
        id: String,
    },
}

/// `tandem tool`.
#[derive(Debug, Subcommand)]
pub enum Tool {
    /// The tools with their arguments.
    List {
        /// One JSON array with the schemas.
        #[arg(long)]
        json: bool,
    },
    /// Runs one tool as your own act: approved inside the root, while the danger list holds.
    Run {
        /// The tool.
        name: String,
        /// Its arguments as a JSON object; from standard input when `-`.
        #[arg(long, value_name = "JSON", default_value = "{}")]
        args: String,
        /// Prints one JSON object: outcome, kind, content.
        #[arg(long)]
        json: bool,
        /// The SHA-256 of the file when it was read; the edit is refused if it differs now.
        #[arg(long, value_name = "DIGEST")]
        read_digest: Option<String>,
    },
}

/// `tandem config`.
#[derive(Debug, Subcommand)]
pub enum Config {
    /// Every value, with where it came from.
    Show,
    /// One key: its value, where it came from, and why the default is what it is.
    Explain {
        /// Dotted, as in loop.planner_rounds.
        key: String,
    },
    /// The JSON schema of configuration files.
    Schema {
        /// That of the lines of `--output-format stream-json` instead.
        #[arg(long)]
        events: bool,
    },
    /// The files that are looked at.
    Path,
}

/// The arguments with every `--set KEY=VALUE` moved to the front. A repeated flag that stands before and behind a command
/// would lose those before it.
pub fn with_settings_first(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args = args.into_iter();
    let mut first: Vec<OsString> = args.next().into_iter().collect();
    let mut rest = Vec::new();
    while let Some(arg) = args.next() {
        if arg == "--" {
            rest.push(arg);
            break;
        }
        if arg == "--set" {
            first.push(arg);
            first.extend(args.next());
        } else if arg.to_str().is_some_and(|text| text.starts_with("--set=")) {
            first.push(arg);
        } else {
            rest.push(arg);
        }
    }
    first.extend(rest);
    first.extend(args);
    first
}

fn duration(text: &str) -> Result<Duration, String> {
    let parsed = match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds > 0.0 => Duration::try_from_secs_f64(seconds).ok(),
        Ok(_) => None,
        Err(_) => humantime::parse_duration(text).ok().filter(|time| !time.is_zero()),
    };
    parsed.ok_or_else(|| "expected a time over zero, as in 90, 90s, 5m or 1h".to_owned())
}

fn dollars(text: &str) -> Result<f64, String> {
    let parsed = text.parse::<f64>().ok().filter(|usd| usd.is_finite() && *usd > 0.0);
    parsed.ok_or_else(|| "expected US dollars over zero, as in 0.50 or 5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn settings_count_wherever_they_stand() {
        let args = ["tandem", "--set", "a=1", "run", "--set=b=2", "--", "--set", "c"].map(OsString::from);
        let moved = with_settings_first(args);
        assert_eq!(
            moved,
            ["tandem", "--set", "a=1", "--set=b=2", "run", "--", "--set", "c"].map(OsString::from)
        );
    }

    #[test]
    fn times_are_seconds_or_have_a_unit() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        for wrong in ["0", "-1", "soon", "inf", "1e300", "0s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_budget_is_a_sum_over_zero() {
        assert_eq!(dollars("0.50"), Ok(0.5));
        for wrong in ["0", "-1", "much", "inf", "NaN", "$5"] {
            assert!(dollars(wrong).is_err(), "{wrong}");
        }
    }
}
