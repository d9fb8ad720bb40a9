//! The cage of a session: made once, it says for each command how it is to be started.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::settings::{CommandSettings, Network, Sandbox};
use tempfile::TempDir;

use super::errand::Start;
use super::policy::{Found, Policy, ResourceLimits};
use super::{places, repos::Repositories};
use crate::reach::Reach;

/// What a cage is made with, beside the settings; handed in by those who may ask the system.
#[derive(Clone, Debug)]
pub struct CagePlaces {
    /// The binary that becomes commands.
    pub launcher: PathBuf,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// Where a folder for temporary files can be made.
    pub temp: PathBuf,
    /// What no command may read, beside what the settings say: tandem's own state.
    pub secret: Vec<PathBuf>,
}

/// Who hears what the cage has to say to a person.
type Hear = Box<dyn Fn(String) + Send + Sync>;

/// The cage of a session's commands.
pub struct Cage {
    hear: Hear,
    sandbox: Sandbox,
    network: Network,
    limits: ResourceLimits,
    cache_dirs: Vec<String>,
    hidden: Vec<String>,
    places: Option<CagePlaces>,
    pretended: Option<Found>,
    made: OnceLock<Made>,
}

/// What this kernel allows, found out by `launcher`, whatever the settings say.
pub fn survey(launcher: &Path) -> Found {
    #[cfg(target_os = "linux")]
    return match super::holder::survey(launcher) {
        Ok((found, _)) => found,
        Err(error) => Found::nothing(&error.to_string()),
    };
    #[cfg(not(target_os = "linux"))]
    {
        let _ = launcher;
        Found::nothing("only Linux has it")
    }
}

/// What is only made when the first command runs.
struct Made {
    found: Found,
    #[cfg(target_os = "linux")]
    held: Option<super::holder::Held>,
    den: Option<Den>,
}

impl Cage {
    /// No cage: commands can do what the user can do.
    pub fn off() -> Cage {
        Cage {
            hear: Box::new(drop),
            sandbox: Sandbox::Off,
            network: Network::On,
            limits: ResourceLimits::default(),
            cache_dirs: Vec::new(),
            hidden: Vec::new(),
            places: None,
            pretended: None,
            made: OnceLock::new(),
        }
    }

    /// The cage that the settings ask for.
    pub fn new(settings: &CommandSettings, places: CagePlaces) -> Cage {
        let megabytes = |count: u64| count.saturating_mul(1024 * 1024);
        Cage {
            hear: Box::new(drop),
            sandbox: settings.sandbox,
            network: settings.network,
            limits: ResourceLimits {
                memory: megabytes(settings.max_memory_mb),
                processes: settings.max_processes,
                file: megabytes(settings.max_file_mb),
                cpu: settings.max_cpu_s,
            },
            cache_dirs: settings.cache_dirs.clone(),
            hidden: settings.hidden.clone(),
            places: Some(places),
            pretended: None,
            made: OnceLock::new(),
        }
    }

    /// The same cage, which tells a person by this.
    #[must_use]
    pub fn telling(mut self, hear: impl Fn(String) + Send + Sync + 'static) -> Cage {
        self.hear = Box::new(hear);
        self
    }

    /// Tells a person what was put back after a command.
    pub(crate) fn tell(&self, put_back: &[String]) {
        for sentence in put_back {
            tracing::warn!(target: "tandem::audit", "after a command: {sentence}");
        }
        if !put_back.is_empty() {
            (self.hear)(format!("A command changed what git runs: {}.", put_back.join("; ")));
        }
    }

    /// The same cage as on a kernel that allows no more than this.
    #[must_use]
    pub fn pretending(mut self, found: Found) -> Cage {
        if let Some(made) = self.made.get_mut() {
            made.found = found.clone();
        }
        self.pretended = Some(found);
        self
    }

    /// Whether commands are caged at all, by the settings.
    pub fn is_on(&self) -> bool {
        self.sandbox != Sandbox::Off && self.places.is_some()
    }

    /// Whether commands can reach other machines.
    pub fn network(&self) -> Network {
        self.network
    }

    /// What this kernel allows. The first time, that is found out by a process of some milliseconds.
    pub fn found(&self) -> &Found {
        &self.made().found
    }

    /// Whether a command that is judged to be only looking is held to that by the kernel, so that it needs no question.
    /// Who switched the cage off has decided to rely on the judgement.
    pub fn holds_looking(&self) -> bool {
        !self.is_on() || self.found().confines()
    }

    /// Whether the kernel keeps commands from changing git's hooks and settings. Who switched the cage off has decided to do
    /// without.
    pub fn holds_settings(&self) -> bool {
        !self.is_on() || self.found().namespaces.is_there()
    }

    /// What a person should know of a cage that is not whole; nothing where it is off by their own word.
    pub fn notice(&self) -> Option<String> {
        if !self.is_on() {
            return None;
        }
        let missing = self.found().missing();
        let what = match (missing.is_empty(), self.found().confines()) {
            (true, _) => return None,
            (false, true) => "Commands run in a part of the cage only",
            (false, false) => "Commands run WITHOUT a cage, and even those that only look are asked for",
        };
        Some(format!(
            "{what}: this system lacks {}. `tandem doctor` says what that means.",
            missing.join(", ")
        ))
    }

    /// How the command is to be started in `root`, where `known` repositories lie; `None` where no binary is known that
    /// would keep it, to start it as it is.
    ///
    /// # Errors
    /// When the settings require a whole cage and there is none.
    pub(crate) fn errand(
        &self,
        command: &str,
        reach: Reach,
        root: &Path,
        known: &Repositories,
    ) -> Result<Option<(PathBuf, Start)>, ToolError> {
        let Some(places) = self.places.as_ref().filter(|_| cfg!(target_os = "linux")) else {
            return Ok(None);
        };
        let policy = self.confinement(places, reach, root, known)?.map(Box::new);
        let args = vec!["-c".to_owned(), command.to_owned()];
        Ok(Some((places.launcher.clone(), Start { policy, program: "sh".to_owned(), args })))
    }

    /// What a command is held by, if anything.
    fn confinement(
        &self,
        places: &CagePlaces,
        reach: Reach,
        root: &Path,
        known: &Repositories,
    ) -> Result<Option<Policy>, ToolError> {
        if !self.is_on() || reach == Reach::Beyond {
            return Ok(None);
        }
        let made = self.made();
        let missing = made.found.missing();
        if self.sandbox == Sandbox::Require && !missing.is_empty() {
            return Err(ToolError::new(
                ErrorKind::Permission,
                format!(
                    "The command was not run: commands.sandbox is \"require\", and this system lacks {}. Nothing can \
                     be run until the user changes that.",
                    missing.join(", ")
                ),
            ));
        }
        let holds = made.found.confines() || made.found.syscalls.is_there();
        Ok(made.den.as_ref().filter(|_| holds).map(|den| self.policy(made, den, places, reach, root, known)))
    }

    fn policy(
        &self,
        made: &Made,
        den: &Den,
        given: &CagePlaces,
        reach: Reach,
        root: &Path,
        known: &Repositories,
    ) -> Policy {
        let home = given.home.as_deref();
        let (write, network) = match reach {
            Reach::Looks => (Vec::new(), Network::Off),
            Reach::Acts | Reach::Beyond => {
                let mut write = places::named(&self.cache_dirs, home);
                write.push(root.to_owned());
                write.extend(known.outside.iter().cloned());
                (places::outermost(write), self.network)
            }
        };
        let secret = given.secret.iter().filter_map(|path| fs::canonicalize(path).ok());
        let masked = places::named(&self.hidden, home).into_iter().chain(secret);
        // Who works in such a folder wants it to be seen.
        let masked: Vec<PathBuf> = masked.filter(|path| !root.starts_with(path)).collect();
        let git = |names: &[&str]| {
            known
                .folders
                .iter()
                .flat_map(|folder| names.iter().map(|name| folder.join(name)))
                .collect::<Vec<_>>()
        };
        let (pinned, read_only) = match reach {
            Reach::Looks => (Vec::new(), Vec::new()),
            Reach::Acts | Reach::Beyond => {
                let on_the_way = |path: &PathBuf| -> Vec<PathBuf> {
                    let above = path.ancestors().skip(1).take_while(|folder| *folder != root);
                    above.filter(|_| path.starts_with(root)).map(Path::to_owned).collect()
                };
                let ways = known.shut.iter().flat_map(on_the_way);
                // Outer ones first: a mount on a folder hides those below it.
                let pinned: BTreeSet<PathBuf> =
                    known.folders.iter().chain(&known.pointers).cloned().chain(ways).collect();
                let mut read_only = git(&["hooks", "config", "config.worktree", "commondir"]);
                read_only.extend(known.shut.iter().cloned());
                (pinned.into_iter().collect(), read_only)
            }
        };
        let root = root.to_owned();
        let namespaces = made.namespaces();
        let temp_over = match &namespaces {
            Some(_) => places::shared_temp(write.iter().chain(&given.home).chain([&root])),
            None => Vec::new(),
        };
        Policy {
            temp_over,
            root,
            write,
            temp: den.temp(),
            pinned,
            read_only,
            masked,
            empty_folder: den.empty_folder(),
            empty_file: den.empty_file(),
            network,
            limits: self.limits,
            namespaces,
            landlock: made.found.landlock,
            syscalls: made.found.syscalls.clone(),
        }
    }

    fn made(&self) -> &Made {
        self.made.get_or_init(|| {
            let mut made = match self.places.as_ref().filter(|_| self.is_on()) {
                Some(places) => Made::new(places),
                None => Made::without(Found::nothing("commands.sandbox is \"off\"")),
            };
            if let Some(found) = &self.pretended {
                made.found = found.clone();
            }
            made
        })
    }
}

impl Made {
    #[cfg(target_os = "linux")]
    fn new(places: &CagePlaces) -> Made {
        let made = || {
            let den = Den::new(&places.temp)?;
            let (found, held) = super::holder::survey(&places.launcher)?;
            Ok::<_, io::Error>(Made { found, held, den: Some(den) })
        };
        made().unwrap_or_else(|error| Made::without(Found::nothing(&error.to_string())))
    }

    #[cfg(not(target_os = "linux"))]
    fn new(_: &CagePlaces) -> Made {
        Made::without(Found::nothing("only Linux has it"))
    }

    #[cfg(target_os = "linux")]
    fn without(found: Found) -> Made {
        Made { found, held: None, den: None }
    }

    #[cfg(not(target_os = "linux"))]
    fn without(found: Found) -> Made {
        Made { found, den: None }
    }

    #[cfg(target_os = "linux")]
    fn namespaces(&self) -> Option<super::policy::Namespaces> {
        self.held.as_ref().filter(|_| self.found.namespaces.is_there()).map(super::holder::Held::paths)
    }

    #[cfg(not(target_os = "linux"))]
    fn namespaces(&self) -> Option<super::policy::Namespaces> {
        None
    }
}

/// A folder of the session's own: temporary files of commands, and what stands in the place of masked things.
struct Den {
    folder: TempDir,
    real: PathBuf,
}

impl Den {
    fn new(temp: &Path) -> io::Result<Den> {
        let folder = tempfile::Builder::new().prefix("tandem-").tempdir_in(temp)?;
        let den = Den { real: fs::canonicalize(folder.path())?, folder };
        fs::create_dir(den.temp())?;
        fs::create_dir(den.empty_folder())?;
        fs::write(den.empty_file(), "")?;
        for path in [den.empty_folder(), den.empty_file()] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o000))?;
        }
        Ok(den)
    }

    fn temp(&self) -> PathBuf {
        self.real.join("tmp")
    }

    fn empty_folder(&self) -> PathBuf {
        self.real.join("folder")
    }

    fn empty_file(&self) -> PathBuf {
        self.real.join("file")
    }
}

impl Drop for Den {
    fn drop(&mut self) {
        // A folder that nobody may read cannot be removed with what it holds, even if that is nothing.
        let _ = fs::remove_dir(self.folder.path().join("folder"));
    }
}
