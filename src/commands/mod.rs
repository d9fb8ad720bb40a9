//! The commands, one file each. Each answers an exit code.

mod task;
mod conversation;
mod sessions;
mod undo;
mod why;
mod tool;
mod settings;
mod models;
mod doctor;

use serde_json::json;

use crate::cli::{Cli, Command, OutputFormat};
use crate::demo;
use crate::exit::Exit;
use crate::front::{lost_output, say, tell};
use crate::machine::Machine;
use crate::scene::{Failure, Scene};
use crate::{cli, logs};

/// Runs the program.
pub fn run(cli: Cli) -> Exit {
    let machine = match Machine::read() {
        Ok(machine) => machine,
        Err(error) => return refuse(&format!("the current folder cannot be used: {error}"), Exit::Usage),
    };
    logs::start(cli.global.verbose, &machine.env);
    // One thread is enough: the work waits for models, and tools that block have threads of their own.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return refuse(&error.to_string(), Exit::NotCompleted),
    };
    let local = tokio::task::LocalSet::new();
    let format = cli.global.output_format;
    let exit = local.block_on(&runtime, dispatch(cli, machine)).unwrap_or_else(|failure| {
        if format != OutputFormat::Text {
            // A program that reads standard output must find there why nothing else is.
            say(&format!("{}\n", json!({ "error": failure.text, "exit": failure.exit.code() })));
        }
        refuse(&failure.text, failure.exit)
    });
    // A tool that still blocks must not hold up the end.
    drop(local);
    runtime.shutdown_background();
    match exit {
        Exit::Done if lost_output() => {
            refuse("the result could not be written to standard output", Exit::NotCompleted)
        }
        exit => exit,
    }
}

async fn dispatch(cli: Cli, machine: Machine) -> Result<Exit, Failure> {
    match cli.meaningless_flags() {
        Ok(said) => said.iter().for_each(|text| tell(&format!("{text}\n"))),
        Err(refusal) => return Err(Failure::new(refusal, Exit::Usage)),
    }
    let Cli { command, print, continue_newest, global } = cli;
    if let Some(prompt) = print {
        if command.is_some() {
            return Err(Failure::new("-p takes no command beside it", Exit::Usage));
        }
        let scene = Scene::new(global, machine)?;
        let start = scene.start(continue_newest)?;
        return task::print(scene, &prompt, &start).await;
    }
    let Some(command) = command else {
        return conversation::open(Scene::new(global, machine)?, continue_newest).await;
    };
    if continue_newest {
        return Err(Failure::new("-c takes no command beside it; use `tandem resume`", Exit::Usage));
    }
    match command {
        Command::Demo { keep } => demo::run(global, machine, keep).await,
        Command::Plan { prompt, output } => task::plan(Scene::new(global, machine)?, prompt, output).await,
        Command::Exec { plan, stale_ok } => task::exec(Scene::new(global, machine)?, &plan, stale_ok).await,
        Command::Run { prompt, no_plan } => task::run(Scene::new(global, machine)?, prompt, no_plan).await,
        Command::Resume { id, prompt, no_plan } => {
            conversation::resume(Scene::new(global, machine)?, id, prompt, no_plan).await
        }
        Command::Sessions { what } => sessions::run(&Scene::new(global, machine)?, what),
        Command::Undo(asked) => undo::run(&Scene::new(global, machine)?, asked),
        Command::Why(asked) => why::run(&Scene::new(global, machine)?, asked),
        Command::Redo { session } => undo::redo(&Scene::new(global, machine)?, session.as_deref()),
        Command::Tool { what } => tool::run(Scene::new(global, machine)?, what).await,
        Command::Config { what: cli::Config::Schema { events } } => Ok(settings::schema(events)),
        Command::Config { what } => settings::run(&Scene::new(global, machine)?, &what),
        Command::Trust => settings::trust(&Scene::new(global, machine)?),
        Command::Doctor { role, window } => doctor::run(&Scene::new(global, machine)?, role, window).await,
        Command::Models => models::run(&Scene::new(global, machine)?).await,
    }
}

fn refuse(text: &str, exit: Exit) -> Exit {
    tell(&format!("tandem: {text}\n"));
    exit
}
