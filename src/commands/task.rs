//! One task: `plan`, `exec`, `run` and `-p`.

use std::path::{Path, PathBuf};

use tandem_shared::event::Op;
use tandem_shared::settings::PlanMode;

use crate::exit::Exit;
use crate::front::{Answers, Errand, Leave, Lines, Text, conduct, tell};
use crate::machine;
use crate::scene::{Failure, Scene};
use crate::session::{self, Attendance, Start, load_plan, plan_file};

/// `tandem plan`.
pub async fn plan(scene: Scene, prompt: Option<String>, output: Option<PathBuf>) -> Result<Exit, Failure> {
    let text = scene.prompt(prompt)?;
    let output = output.map(|file| scene.current_dir().join(file));
    if let Some(path) = &output {
        // Better to know before the planner is paid than after.
        check_writable(path)
            .map_err(|error| Failure::new(format!("{}: {error}", path.display()), Exit::Usage))?;
    }
    let mut show = scene.show(Text::one_task().with_plans_as_result());
    let handle = session::open(scene.setup(scene.attendance())?, &Start::New)?;
    let id = handle.id.clone();
    let errand = Errand {
        first: Op::Prompt { text, plan: PlanMode::Always },
        leave: Leave::PlanOnly,
        stale_ok: false,
        person: person(&scene),
    };
    let exit = conduct(handle, errand, show.as_mut(), machine::clock()).await;
    if let (Exit::Done, Some(path)) = (exit, output) {
        let project = scene.state.project(scene.workspace.root());
        let row = project.newest_plan(&id)?.ok_or_else(|| {
            Failure::new(format!("the plan of session {id} is not among the saved plans"), Exit::NotCompleted)
        })?;
        std::fs::write(&path, plan_file(&row))
            .map_err(|error| Failure::new(format!("{}: {error}", path.display()), Exit::NotCompleted))?;
        tell(&format!("written to {}\n", path.display()));
    }
    Ok(exit)
}

/// `tandem exec`.
pub async fn exec(scene: Scene, name: &str, stale_ok: bool) -> Result<Exit, Failure> {
    let project = scene.state.project(scene.workspace.root());
    let row = load_plan(name, scene.current_dir(), &scene.workspace, &project, machine::now_ms())?;
    let mut show = scene.show(Text::one_task());
    let handle = session::open(scene.setup(scene.attendance())?, &Start::New)?;
    let errand =
        Errand { first: Op::Adopt { plan: row }, leave: scene.leave(), stale_ok, person: person(&scene) };
    Ok(conduct(handle, errand, show.as_mut(), machine::clock()).await)
}

/// `tandem run`.
pub async fn run(scene: Scene, prompt: Option<String>, no_plan: bool) -> Result<Exit, Failure> {
    let text = scene.prompt(prompt)?;
    let mut show = scene.show(Text::one_task());
    let setup = scene.setup(scene.attendance())?;
    let plan = if no_plan { PlanMode::Never } else { setup.loaded.config.session.plan };
    let handle = session::open(setup, &Start::New)?;
    let errand = Errand {
        first: Op::Prompt { text, plan },
        leave: scene.leave(),
        stale_ok: false,
        person: person(&scene),
    };
    Ok(conduct(handle, errand, show.as_mut(), machine::clock()).await)
}

/// `tandem -p`, in a new session or, with `-c`, in the newest one: nobody is asked, the plan is approved by the flag, and
/// only the answer is printed.
pub async fn print(scene: Scene, prompt: &str, start: &Start) -> Result<Exit, Failure> {
    let text = scene.prompt(Some(prompt.to_owned()))?;
    let mut show = scene.show(Text::new(Answers::Only));
    let setup = scene.setup(Attendance::Unattended)?;
    let plan = setup.loaded.config.session.plan;
    let handle = session::open(setup, start)?;
    let errand =
        Errand { first: Op::Prompt { text, plan }, leave: Leave::Given, stale_ok: false, person: None };
    Ok(conduct(handle, errand, show.as_mut(), machine::clock()).await)
}

/// Whether a file could be written there, without leaving anything behind.
fn check_writable(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map(drop)
}

fn person(scene: &Scene) -> Option<Lines> {
    match scene.attendance() {
        Attendance::Attended => Some(Lines::read()),
        Attendance::Unattended => None,
    }
}
