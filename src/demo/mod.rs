//! `tandem demo`: the main job, whole, on a small bundled crate with a failing test. Only the model is scripted; its
//! replies go through the same decoder as those of a server, and everything that they cause is real.

use std::path::Path;
use std::sync::Arc;

use tandem_router::Cassette;
use tandem_shared::event::Op;
use tandem_shared::folded::Folded;
use tandem_shared::proof::Verdict;
use tandem_shared::record::Entry;
use tandem_shared::settings::PlanMode;
use tandem_shared::store::SessionStore;

use crate::cli::{Global, OutputFormat};
use crate::exit::Exit;
use crate::front::{Errand, Lines, Text, conduct, say, tell};
use crate::machine::{self, Machine};
use crate::scene::{Failure, Scene};
use crate::session::{self, Attendance, Setup, Start};
use crate::wiring::Route;

const SCRIPT: &str = include_str!("script.jsonl");
/// The bundled crate.
const PROJECT: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("project/Cargo.toml")),
    ("src/lib.rs", include_str!("project/src/lib.rs")),
    ("src/median.rs", include_str!("project/src/median.rs")),
    ("tests/figures.rs", include_str!("project/tests/figures.rs")),
];
const TASK: &str = "A test of this crate fails. Find out why, and mend the cause.";

/// Runs the demo. The exit code is 0 only if the check failed before the edit and passes after it.
///
/// # Errors
/// When there is no cargo, or the folder cannot be made.
pub async fn run(global: Global, machine: Machine, keep: bool) -> Result<Exit, Failure> {
    let opening = "demo: only the model is scripted; the tools, the edit and the test run for real\n";
    match global.output_format {
        OutputFormat::Text => say(opening),
        OutputFormat::Json | OutputFormat::StreamJson => tell(opening),
    }
    if machine.find_program("cargo").is_none() {
        return Err(Failure::new(
            "the demo runs the tests of a Rust crate, and there is no cargo in PATH; rustup.rs installs it",
            Exit::NotCompleted,
        ));
    }
    let folder = tempfile::Builder::new().prefix("tandem-demo-").tempdir().map_err(not_made)?;
    let project = folder.path().join("figures");
    write_project(&project).map_err(not_made)?;
    let exit = carry_out(&global, machine, folder.path(), &project).await;
    if keep {
        tell(&format!("kept {}\n", folder.keep().display()));
    }
    exit
}

async fn carry_out(
    global: &Global,
    machine: Machine,
    folder: &Path,
    project: &Path,
) -> Result<Exit, Failure> {
    if global.record.is_some() || global.replay.is_some() {
        return Err(Failure::new(
            "the demo plays a cassette of its own; leave --record and --replay out",
            Exit::Usage,
        ));
    }
    let mut global = global.clone();
    global.dir = Some(project.to_owned());
    global.state_dir.get_or_insert_with(|| folder.join("state"));
    // The address is never used: a script stands in for the endpoint.
    global.set.push("providers.demo.base_url=http://127.0.0.1/v1".to_owned());
    global.planner_model = Some("demo/scripted-planner".to_owned());
    global.thinking_model = Some("demo/scripted-thinker".to_owned());
    global.executor_model = Some("demo/scripted-executor".to_owned());
    let mut scene = Scene::new(global, machine)?;
    // The user's own configuration and endpoints stay out of it.
    scene.input.user_file = None;
    scene.input.env.clear();
    let person = (scene.attendance() == Attendance::Attended).then(Lines::read);
    let script = Cassette::parse(SCRIPT).map_err(|error| Failure::new(error, Exit::NotCompleted))?;
    let setup = Setup { route: Route::Cassette(Arc::new(script)), ..scene.setup(scene.attendance())? };
    let mut show = scene.show(Text::one_task());
    let handle = session::open(setup, &Start::New)?;
    let id = handle.id.clone();
    let first = Op::Prompt { text: TASK.to_owned(), plan: PlanMode::Auto };
    let errand = Errand { first, leave: scene.leave(), stale_ok: false, person };
    let exit = conduct(handle, errand, show.as_mut(), machine::clock()).await;
    if exit == Exit::Done && !is_proven(&SessionStore::read(&scene.state.sessions(), &id)?) {
        return Err(Failure::new(
            "the test did not fail before the edit and pass after it",
            Exit::NotCompleted,
        ));
    }
    Ok(exit)
}

/// Whether the log shows every step of the plan as proven.
fn is_proven(entries: &[Entry]) -> bool {
    let facts = Folded::from_records(entries.iter().map(|entry| &entry.record)).facts;
    facts.plan.is_some_and(|plan| {
        plan.steps
            .iter()
            .all(|step| step.proof.as_ref().is_some_and(|proof| proof.verdict == Verdict::Proven))
    })
}

fn write_project(folder: &Path) -> std::io::Result<()> {
    for (name, text) in PROJECT {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

fn not_made(error: std::io::Error) -> Failure {
    Failure::new(format!("the demo's folder could not be made: {error}"), Exit::NotCompleted)
}
