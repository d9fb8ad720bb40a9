//! Sessions in the terminal: a new one, the newest one, or one by its id.

use std::time::Duration;

use tandem_shared::event::Op;
use tandem_shared::folded::Folded;
use tandem_shared::record::TurnEnd;
use tandem_shared::settings::PlanMode;
use tandem_shared::store::SessionStore;

use crate::config;
use crate::exit::Exit;
use crate::front::{Errand, Lines, Opening, Text, conduct, is_interactive, line_session, tell};
use crate::machine;
use crate::scene::{Failure, Scene};
use crate::session::{self, Attendance, Setup, Start};

/// Providers of the default configuration that stand for servers on this machine.
const LOCAL: &[&str] = &["ollama", "lmstudio", "llamacpp", "vllm"];
/// A local server answers at once or is not there.
const LOOK_FOR: Duration = Duration::from_millis(700);

/// `tandem` and `tandem -c`.
pub async fn open(scene: Scene, newest: bool) -> Result<Exit, Failure> {
    let start = scene.start(newest)?;
    let first = match &start {
        Start::Resume(id) => what_is_left(&scene, id)?,
        Start::New => None,
    };
    converse(scene, start, first).await
}

/// `tandem resume`.
pub async fn resume(
    scene: Scene,
    id: Option<String>,
    prompt: Option<String>,
    no_plan: bool,
) -> Result<Exit, Failure> {
    let id = scene.session_id(id.as_deref())?;
    let left = what_is_left(&scene, &id)?;
    if prompt.is_none() && is_interactive() {
        return converse(scene, Start::Resume(id), left).await;
    }
    let setup = scene.setup(scene.attendance())?;
    let plan = if no_plan { PlanMode::Never } else { setup.loaded.config.session.plan };
    let words = match prompt {
        Some(_) => Some(scene.prompt(prompt)?),
        None => scene.piped_prompt()?,
    };
    let first = words.map(|text| Op::Prompt { text, plan }).or(left).ok_or_else(|| {
        let text = format!("session {id} has nothing left to do; give it a prompt: tandem resume {id} \"…\"");
        Failure::new(text, Exit::Usage)
    })?;
    let mut show = scene.show(Text::one_task());
    let leave = scene.leave();
    let person = (scene.attendance() == Attendance::Attended).then(Lines::read);
    let handle = session::open(setup, &Start::Resume(id))?;
    let errand = Errand { first, leave, stale_ok: false, person };
    Ok(conduct(handle, errand, show.as_mut(), machine::clock()).await)
}

async fn converse(scene: Scene, start: Start, first: Option<Op>) -> Result<Exit, Failure> {
    let interactive = is_interactive();
    let mut lines = Lines::read();
    // Lines from a file or a pipe are commands; they answer no question.
    let mut setup = scene.setup(scene.attendance())?;
    if setup.loaded.config.binding(tandem_shared::role::Role::Planner).is_none() && interactive {
        setup = offer_local(setup, &mut lines).await?;
    }
    tell(&format!(
        "tandem {}\nfolder {}\n/help lists the commands, exit leaves.\n",
        crate::VERSION,
        setup.workspace.root().display()
    ));
    let plan = setup.loaded.config.session.plan;
    let mut show = scene.show_conversation();
    let handle = session::open(setup, &start)?;
    let opening = Opening { lines, interactive, first, plan, leave: scene.leave() };
    Ok(line_session(handle, opening, show.as_mut(), machine::clock()).await)
}

/// Looks for a server on this machine and offers it. Nothing but a request for its list of models is sent before the
/// person says yes.
async fn offer_local(setup: Setup, lines: &mut Lines) -> Result<Setup, Failure> {
    let urls: Vec<(&str, String)> = LOCAL
        .iter()
        .filter_map(|name| Some((*name, setup.loaded.config.providers.get(*name)?.base_url.clone())))
        .collect();
    let bases: Vec<String> = urls.iter().map(|(_, url)| url.clone()).collect();
    let found = tandem_router::find_local(&bases, LOOK_FOR).await;
    let offer = found.into_iter().find_map(|(base, models)| {
        let (name, _) = urls.iter().find(|(_, url)| *url == base)?;
        Some((*name, base, models.first()?.clone()))
    });
    let Some((name, base, model)) = offer else {
        return Err(session::SetupError::NoModel.into());
    };
    tell(&format!(
        "No model is configured. {name} answers at {base} with the model {model}. Use it? [y]es, anything else is no: "
    ));
    match lines.next().await.as_deref().map(str::trim) {
        Some("y" | "Y" | "yes") => {
            let mut input = setup.input.clone();
            input.flags.model = Some(format!("{name}/{model}"));
            let loaded = config::load(&input)?;
            Ok(Setup { input, loaded, ..setup })
        }
        _ => Err(session::SetupError::NoModel.into()),
    }
}

/// What a session still has to do: a turn that did not end as it should, or a plan that nobody decided on.
fn what_is_left(scene: &Scene, id: &str) -> Result<Option<Op>, Failure> {
    let entries = SessionStore::read(&scene.state.sessions(), id)?;
    let history = Folded::from_records(entries.iter().map(|entry| &entry.record)).history;
    let Some(last) = history.turns().last() else { return Ok(None) };
    Ok(match last.end {
        Some(TurnEnd::Answered) => None,
        Some(TurnEnd::Planned) => {
            let row = scene.state.project(scene.workspace.root()).newest_plan(id)?;
            row.map(|plan| Op::Adopt { plan })
        }
        _ => Some(Op::Continue),
    })
}
