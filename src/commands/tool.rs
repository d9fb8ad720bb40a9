//! `tandem tool`: one tool without a model, on the path that a model's calls take.

use std::io::Read as _;
use std::sync::Arc;

use serde_json::json;
use tandem_executor::{Coverage, ExecutorToolbox, Gate, Inspect, Jobs, Surroundings, write_tools};
use tandem_planner::planner_tools;
use tandem_shared::agent::mask_outcome;
use tandem_shared::call::{Outcome, ToolCall, ToolError};
use tandem_shared::digest::Digest;
use tandem_shared::image::Turnover;
use tandem_shared::interrupt::{Cause, Interrupt};
use tandem_shared::journal::{Granted, Journal};
use tandem_shared::leave::ReadLeave;
use tandem_shared::person::{Nobody, Person};
use tandem_shared::tool::{Archive, ReadCx, Toolbox};
use tandem_shared::workspace::Workspace;

use crate::cli::{OutputFormat, Tool};
use crate::exit::Exit;
use crate::front::{Asking, is_interactive, say, tell};
use crate::scene::{Failure, Scene};
use crate::session::Attendance;

/// Runs one of the commands.
pub async fn run(scene: Scene, what: Tool) -> Result<Exit, Failure> {
    let programmatic = scene.global.output_format != OutputFormat::Text;
    match what {
        Tool::List { json } => list(&scene, json || programmatic),
        Tool::Run { name, args, json, read_digest } => {
            let arguments = match args.as_str() {
                "-" => standard_input()?,
                _ => args,
            };
            let seen = match read_digest.as_deref().map(Digest::parse) {
                Some(None) => {
                    return Err(Failure::new(
                        "--read-digest takes 64 hexadecimal digits of SHA-256",
                        Exit::Usage,
                    ));
                }
                Some(Some(digest)) => Some(digest),
                None => None,
            };
            let call = ToolCall { id: "call".to_owned(), name, arguments };
            let interrupt = Interrupt::new();
            let toolbox = toolbox(&scene, seen, &interrupt)?;
            let work = toolbox.run(&call);
            tokio::pin!(work);
            let mut outcome = tokio::select! {
                outcome = &mut work => outcome,
                () = stop(&interrupt) => work.await,
            };
            // What is shown is what a model would read.
            mask_outcome(&mut outcome, &crate::logs::masker());
            show(&outcome, json || programmatic);
            Ok(exit_of(&outcome))
        }
    }
}

fn list(scene: &Scene, json: bool) -> Result<Exit, Failure> {
    let specs = toolbox(scene, None, &Interrupt::new())?.specs();
    if json {
        say(&format!("{}\n", json!(specs)));
        return Ok(Exit::Done);
    }
    for spec in specs {
        let arguments = spec.parameters.get("properties").and_then(|properties| properties.as_object());
        let required = spec.parameters.get("required").and_then(|required| required.as_array());
        let names = arguments.into_iter().flatten().map(|(name, _)| {
            let needed = required.is_some_and(|required| required.iter().any(|one| one == name));
            if needed { name.clone() } else { format!("{name}?") }
        });
        let first = spec.description.split_inclusive(". ").next().unwrap_or_default().trim_end();
        say(&format!("{}({})\n    {first}\n", spec.name, names.collect::<Vec<_>>().join(", ")));
    }
    Ok(Exit::Done)
}

fn toolbox(scene: &Scene, seen: Option<Digest>, interrupt: &Interrupt) -> Result<ExecutorToolbox, Failure> {
    let setup = scene.setup(Attendance::Unattended)?;
    let env = Arc::new(setup.command_env());
    let rules = setup.rules()?;
    let cage = Arc::new(setup.cage().telling(|text| tell(&format!("{text}\n"))));
    let config = setup.loaded.config;
    let person: Arc<dyn Person> = if is_interactive() { Arc::new(Asking) } else { Arc::new(Nobody) };
    let read = ReadCx {
        workspace: scene.workspace.clone(),
        archive: Arc::new(NoArchive),
        person: person.clone(),
        interrupt: interrupt.clone(),
        leave: ReadLeave::OwnAct,
        limits: Arc::new(config.tools),
    };
    let around = Surroundings {
        read,
        journal: Arc::new(ByHand { workspace: scene.workspace.clone(), seen }),
        edits: config.edits,
        commands: config.commands,
        jobs: Jobs::default(),
        output: Arc::new(|_, text| tell(text)),
        coverage: Arc::new(Coverage::Off("the person's own act is theirs to take back")),
        env,
        cage,
    };
    let gate = Gate::own_act(scene.workspace.clone(), rules, person).masking(crate::logs::masker());
    let mut read = planner_tools();
    if around.cage.is_on() && around.cage.found().confines() {
        let (commands, env, cage) = (around.commands.clone(), around.env.clone(), around.cage.clone());
        read = read.with(Inspect { commands, env, cage });
    }
    Ok(ExecutorToolbox::new(write_tools(read), Arc::new(gate), around))
}

fn show(outcome: &Outcome, as_json: bool) {
    if !as_json {
        return match outcome {
            Outcome::Ok(output) => say(&format!("{}\n", output.text.trim_end())),
            other => tell(&format!("{}: {}\n", other.as_str(), other.content().trim_end())),
        };
    }
    let mut object = json!({ "outcome": outcome.as_str() });
    if let Outcome::Error(error) = outcome {
        object["kind"] = json!(error.kind.as_str());
    }
    object["content"] = json!(outcome.content());
    say(&format!("{object}\n"));
}

fn exit_of(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Ok(_) => Exit::Done,
        Outcome::Error(_) => Exit::NotCompleted,
        Outcome::Denied(_) => Exit::NotApproved,
        Outcome::Interrupted(_) => Exit::Interrupted,
    }
}

fn standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text).map_err(|error| Failure::new(error, Exit::Usage))?;
    Ok(text)
}

async fn stop(interrupt: &Interrupt) {
    let _ = tokio::signal::ctrl_c().await;
    interrupt.raise(Cause::Person);
}

/// The journal of a call by hand: the person knows the file, as it is now or as it was at `seen`.
struct ByHand {
    workspace: Workspace,
    seen: Option<Digest>,
}

impl Journal for ByHand {
    fn started(&self, call: &ToolCall, granted: &Granted) -> Result<(), ToolError> {
        tracing::info!(target: "tandem::audit", tool = %call.name, approved_by = ?granted.by,
            effect_digest = ?granted.effect_digest.as_ref().map(Digest::as_str), "call by hand");
        Ok(())
    }

    /// A person's own act is theirs to take back; no session keeps it.
    fn turning(&self, _: &str, _: &[Turnover<'_>]) -> Result<(), ToolError> {
        Ok(())
    }

    fn turned(&self, _: &str, _: &[Turnover<'_>], _: &[String]) -> Result<(), ToolError> {
        Ok(())
    }

    fn halt(&self, why: &str) -> Result<(), ToolError> {
        tell(&format!("ALERT: {why}\n"));
        Ok(())
    }

    /// One call is one run: there is nothing that could go on.
    fn halted(&self) -> Option<String> {
        None
    }

    fn last_seen(&self, path: &str) -> Option<Digest> {
        let now = || std::fs::read(self.workspace.resolve(path).ok()?.absolute()).ok().map(Digest::of);
        self.seen.clone().or_else(now)
    }
}

struct NoArchive;

impl Archive for NoArchive {
    fn recall<'a>(&'a self, _: &str) -> Option<Box<dyn std::io::Read + 'a>> {
        None
    }
}
