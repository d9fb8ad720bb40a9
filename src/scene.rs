//! What most commands begin with: the folder, the state directory, the configuration.

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use tandem_shared::store::{Clock, StoreError};
use tandem_shared::workspace::Workspace;

use crate::cassette::{self, CassetteError};
use crate::cli::{Global, OutputFormat};
use crate::config::{self, ConfigError, Flags, Input, TrustStore};
use crate::exit::Exit;
use crate::front::{Answers, Json, Leave, Show, StreamJson, Text, is_interactive};
use crate::machine::{self, Machine};
use crate::session::{Attendance, PlanSource, Setup, SetupError, Start, StatePaths, key_variables};
use crate::wiring::Route;

/// Why a command cannot go on.
#[derive(Debug)]
pub struct Failure {
    /// For the person.
    pub text: String,
    /// For the program that started this one.
    pub exit: Exit,
}

impl Failure {
    /// A failure in words, with its exit code.
    pub fn new(text: impl ToString, exit: Exit) -> Failure {
        Failure { text: text.to_string(), exit }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        Failure::new(error, Exit::Config)
    }
}

impl From<CassetteError> for Failure {
    fn from(error: CassetteError) -> Failure {
        Failure::new(error, Exit::Usage)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::new(error, Exit::NotCompleted)
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Failure {
        let exit = match error {
            SetupError::Config(_)
            | SetupError::Router(_)
            | SetupError::Rules(_)
            | SetupError::NoPrice(..)
            | SetupError::StandIn(..)
            | SetupError::NoModel => Exit::Config,
            SetupError::Store(_) => Exit::NotCompleted,
        };
        Failure::new(error, exit)
    }
}

impl From<PlanSource> for Failure {
    fn from(error: PlanSource) -> Failure {
        let exit = match error {
            PlanSource::Missing(_)
            | PlanSource::NoPlan { .. }
            | PlanSource::Outside { .. }
            | PlanSource::Read { .. } => Exit::Usage,
            PlanSource::Store(_) => Exit::NotCompleted,
        };
        Failure::new(error, exit)
    }
}

/// The folder, the state directory, and what the configuration is made of.
pub struct Scene {
    /// The flags.
    pub global: Global,
    /// The process.
    pub machine: Arc<Machine>,
    /// The root.
    pub workspace: Workspace,
    /// Where sessions are kept.
    pub state: StatePaths,
    /// What the configuration is made of.
    pub input: Input,
}

impl Scene {
    /// Looks at the folder and the state directory; the configuration is read later.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn new(global: Global, machine: Machine) -> Result<Scene, Failure> {
        let dir = global
            .dir
            .as_deref()
            .map_or_else(|| machine.current_dir.clone(), |dir| machine.current_dir.join(dir));
        let workspace = Workspace::open(&dir)
            .map_err(|error| Failure::new(format!("{}: {error}", dir.display()), Exit::Usage))?;
        let state = global
            .state_dir
            .as_deref()
            .map(|dir| machine.current_dir.join(dir))
            .or_else(|| machine.state_dir());
        let state = state.ok_or_else(|| {
            Failure::new(
                "there is no place for sessions: set HOME, XDG_STATE_HOME or --state-dir",
                Exit::Config,
            )
        })?;
        let input = Input {
            root: workspace.root().to_owned(),
            user_file: config::user_file(&machine.env),
            env: machine.env.clone(),
            flags: flags(&global),
            trust: TrustStore::in_state_dir(&state),
        };
        Ok(Scene { global, machine: Arc::new(machine), workspace, state: StatePaths { root: state }, input })
    }

    /// Reads the configuration and puts a session's parts together.
    ///
    /// # Errors
    /// When the configuration is wrong.
    pub fn setup(&self, attendance: Attendance) -> Result<Setup, Failure> {
        let loaded = config::load(&self.input)?;
        for notice in &loaded.notices {
            crate::front::tell(&format!("{notice}\n"));
        }
        let (route, clock) = self.route()?;
        let masker = crate::logs::masker();
        self.machine.secrets(&key_variables(&loaded)).iter().for_each(|secret| masker.learn(secret));
        Ok(Setup {
            masker,
            workspace: self.workspace.clone(),
            input: self.input.clone(),
            loaded,
            route,
            state: self.state.clone(),
            machine: self.machine.clone(),
            attendance,
            clock,
        })
    }

    /// How requests travel, and the time that goes with it: a cassette is played at the time it was recorded, since
    /// requests name the day.
    fn route(&self) -> Result<(Route, Clock), CassetteError> {
        let root = self.workspace.root();
        let file = |name: &PathBuf| self.machine.current_dir.join(name);
        match (&self.global.record, &self.global.replay) {
            (Some(name), _) => {
                let recorder = cassette::record(&file(name), root, machine::now_ms())?;
                Ok((Route::Recording(Arc::new(recorder)), machine::clock()))
            }
            (None, Some(name)) => {
                let cassette = cassette::replay(&file(name), root)?;
                let clock = cassette.head().started_ms.map_or_else(machine::clock, machine::clock_from);
                Ok((Route::Cassette(Arc::new(cassette)), clock))
            }
            (None, None) => Ok((Route::Endpoints, machine::clock())),
        }
    }

    /// The front end for one task.
    pub fn show(&self, text: Text) -> Box<dyn Show> {
        match self.global.output_format {
            OutputFormat::Text => Box::new(text),
            OutputFormat::Json => Box::new(Json::default()),
            OutputFormat::StreamJson => Box::new(StreamJson),
        }
    }

    /// The front end for a conversation.
    pub fn show_conversation(&self) -> Box<dyn Show> {
        self.show(Text::new(Answers::AsTheyCome))
    }

    /// Whether a person answers questions of one task.
    pub fn attendance(&self) -> Attendance {
        if is_interactive() { Attendance::Attended } else { Attendance::Unattended }
    }

    /// Who approves plans.
    pub fn leave(&self) -> Leave {
        if self.global.yes { Leave::Given } else { Leave::Ask }
    }

    /// The prompt: the argument, else standard input where it is no terminal.
    ///
    /// # Errors
    /// When there is none.
    pub fn prompt(&self, argument: Option<String>) -> Result<String, Failure> {
        let missing = || {
            Failure::new("what is to be done? Give a prompt, or pipe one into standard input", Exit::Usage)
        };
        let given = match argument.as_deref() {
            None | Some("-") => self.piped_prompt()?,
            Some(text) => Some(text.trim().to_owned()),
        };
        given.filter(|text| !text.is_empty()).ok_or_else(missing)
    }

    /// The text that is piped into standard input; `None` where that is a terminal or holds nothing but blanks.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn piped_prompt(&self) -> Result<Option<String>, Failure> {
        let mut stdin = std::io::stdin().lock();
        if std::io::IsTerminal::is_terminal(&stdin) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        stdin.read_to_end(&mut bytes).map_err(|error| Failure::new(error, Exit::Usage))?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// A new session, or the newest one of this project.
    ///
    /// # Errors
    /// When the newest one is asked for and there is none.
    pub fn start(&self, newest: bool) -> Result<Start, Failure> {
        Ok(if newest { Start::Resume(self.session_id(None)?) } else { Start::New })
    }

    /// The session of this project whose id begins with `id`; the newest one without an id.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn session_id(&self, id: Option<&str>) -> Result<String, Failure> {
        let none = |what: &str| {
            Failure::new(format!("{what}; `tandem sessions list` names those of this project"), Exit::Usage)
        };
        let rows = self.state.project(self.workspace.root()).sessions()?;
        let Some(id) = id.filter(|id| !id.is_empty()) else {
            let newest = rows.into_iter().max_by_key(|row| row.updated);
            return newest.map(|row| row.id).ok_or_else(|| none("this project has no session"));
        };
        let mut found = rows.into_iter().filter(|row| row.id.starts_with(id));
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one.id),
            (Some(_), Some(_)) => Err(none(&format!("more than one session begins with {id}"))),
            (None, _) => Err(none(&format!("this project has no session {id}"))),
        }
    }

    /// Where files named on the command line lie.
    pub fn current_dir(&self) -> &PathBuf {
        &self.machine.current_dir
    }
}

fn flags(global: &Global) -> Flags {
    Flags {
        set: global.set.clone(),
        model: global.model.clone(),
        planner_model: global.planner_model.clone(),
        thinking_model: global.thinking_model.clone(),
        executor_model: global.executor_model.clone(),
        profile: global.profile.clone(),
        approval: global.approval.clone(),
        max_rounds: global.max_rounds,
        timeout: global.timeout,
        max_budget_usd: global.max_budget_usd,
        max_tokens_total: global.max_tokens_total,
    }
}
