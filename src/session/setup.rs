//! What a session is opened with.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tandem_executor::cage::{Cage, CagePlaces};
use tandem_executor::shell::Rules;
use tandem_executor::{Environment, after_crash};
use tandem_router::RouterError;
use tandem_shared::digest::Digest;
use tandem_shared::image::Imaged;
use tandem_shared::role::Role;
use tandem_shared::secret::Masker;
use tandem_shared::settings::ThinkingMode;
use tandem_shared::store::{Clock, ProjectStore, SessionStore, StoreError};
use tandem_shared::workspace::Workspace;
use thiserror::Error;

use crate::config::{self, ConfigError, Input, Loaded};
use crate::machine::Machine;
use crate::wiring::Route;

/// Everything a session needs; nothing else is looked at.
#[derive(Clone)]
pub struct Setup {
    /// The project root.
    pub workspace: Workspace,
    /// What the configuration was made of, to make it again when a model or profile is switched.
    pub input: Input,
    /// The configuration.
    pub loaded: Loaded,
    /// How requests travel.
    pub route: Route,
    /// Where sessions are kept.
    pub state: StatePaths,
    /// Takes secrets out of whatever comes in, is kept, told or sent.
    pub masker: Masker,
    /// The process.
    pub machine: Arc<Machine>,
    /// Whether somebody answers.
    pub attendance: Attendance,
    /// The time.
    pub clock: Clock,
}

/// Whether somebody answers questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attendance {
    /// A front end asks a person.
    Attended,
    /// Every question stays unanswered.
    Unattended,
}

/// A new session, or one taken up again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// A new one.
    New,
    /// The one of this id.
    Resume(String),
}

/// Folders of the state directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePaths {
    /// The directory itself.
    pub root: PathBuf,
}

impl StatePaths {
    /// One file a session.
    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// What tells what commands changed in the project at `root`.
    pub fn shadow(&self, root: &Path) -> PathBuf {
        self.root.join("shadow").join(Digest::of(root.as_os_str().as_encoded_bytes()).short())
    }

    /// The file of the project at `root`.
    pub fn project(&self, root: &Path) -> ProjectStore {
        ProjectStore::new(&self.root.join("projects"), root)
    }
}

/// Why a session could not be opened.
#[derive(Debug, Error)]
pub enum SetupError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A role names a provider that is not there.
    #[error(transparent)]
    Router(#[from] RouterError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A budget in dollars cannot be kept.
    #[error(
        "a budget in dollars needs the price of every model, and that of {0} is not known: set roles.{1}.price"
    )]
    NoPrice(String, Role),
    /// A stand-in could spend beyond a budget in dollars.
    #[error(
        "a budget in dollars cannot be kept with the stand-in {0}, whose price is not known: leave out roles.{1}.fallback"
    )]
    StandIn(String, Role),
    /// A rule cannot be used.
    #[error("commands: {0}")]
    Rules(String),
    /// No model is configured.
    #[error("no model is configured. {}", NO_MODEL)]
    NoModel,
}

/// What to do without a model.
pub const NO_MODEL: &str = "Set one of:\n  \
    OPENAI_API_KEY and --model NAME (with OPENAI_BASE_URL for another endpoint)\n  \
    API_BASE, API_KEY and MODEL\n  \
    roles.planner.model in the configuration file (`tandem config path` names it)\n\
    Or start a local server (Ollama, LM Studio, llama.cpp, vLLM) and run `tandem` in a terminal: it is found and \
    offered.";

impl Setup {
    /// Opens the session's file.
    pub(super) fn open_store(&self, start: &Start) -> Result<SessionStore, StoreError> {
        let folder = self.state.sessions();
        match start {
            Start::New => {
                SessionStore::create(&folder, self.workspace.root(), crate::VERSION, self.clock.clone())
            }
            Start::Resume(id) => {
                let look = |imaged: &Imaged| after_crash(&self.workspace, imaged);
                SessionStore::resume(&folder, id, self.clock.clone(), &look)
            }
        }
    }

    /// The rules of the configuration.
    ///
    /// # Errors
    /// The first that is not one simple command.
    pub fn rules(&self) -> Result<Rules, SetupError> {
        let commands = &self.loaded.config.commands;
        Rules::parse(&commands.deny, &commands.ask, &commands.allow)
            .map_err(|error| SetupError::Rules(error.to_string()))
    }

    /// A budget that could not be counted against would be no budget.
    pub(super) fn check_budget(&self) -> Result<(), SetupError> {
        let config = &self.loaded.config;
        if config.r#loop.max_usd <= 0.0 {
            return Ok(());
        }
        let asked = |role: &&Role| match role {
            Role::Thinking => config.thinking.mode != ThinkingMode::Off,
            Role::Critique => config.thinking.critique,
            Role::Planner | Role::Executor | Role::Compaction => true,
        };
        let bound = Role::ALL.iter().filter(asked).filter_map(|role| Some((*role, config.binding(*role)?)));
        for (role, binding) in bound {
            // A stand-in has no price of its own.
            if let Some(model) = binding.fallback.first() {
                return Err(SetupError::StandIn(format!("{}/{}", model.provider, model.model), role));
            }
            if binding.price.is_none() {
                return Err(SetupError::NoPrice(format!("{}/{}", binding.provider, binding.model), role));
            }
        }
        Ok(())
    }

    /// What commands get of the environment: no variable that looks like a secret or holds a provider's key.
    pub fn command_env(&self) -> Environment {
        let keys = key_variables(&self.loaded);
        let mut variables = self.machine.command_env(&keys);
        let own = &self.loaded.config.commands.env;
        variables.retain(|(name, _)| !own.contains_key(name));
        variables.extend(own.iter().map(|(name, value)| (name.clone(), value.clone())));
        Environment { variables, secrets: self.masker.clone() }
    }

    /// The cage that commands run in. One serves a whole session.
    pub fn cage(&self) -> Cage {
        let places = CagePlaces {
            launcher: self.machine.launcher.clone(),
            home: self.machine.home(),
            temp: self.machine.temp_dir.clone(),
            secret: vec![self.state.root.clone()],
        };
        Cage::new(&self.loaded.config.commands, places)
    }

    /// The same setup with other flags.
    pub(super) fn reload(&self, change: impl FnOnce(&mut Input)) -> Result<Setup, ConfigError> {
        let mut input = self.input.clone();
        change(&mut input);
        let loaded = config::load(&input)?;
        self.machine.secrets(&key_variables(&loaded)).iter().for_each(|secret| self.masker.learn(secret));
        Ok(Setup { input, loaded, ..self.clone() })
    }
}

/// The variables that the configuration names as holding a key.
pub fn key_variables(loaded: &Loaded) -> BTreeSet<String> {
    loaded.config.providers.values().filter_map(|provider| provider.api_key_env.clone()).collect()
}
