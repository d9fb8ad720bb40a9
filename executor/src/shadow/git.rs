//! Runs git without a person, without hooks and within bounds, and never leaves a process behind.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use crate::environment::Environment;
use crate::process::Group;

/// Why nobody can say what a command changed. Reads as a sentence for a person.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Uncovered {
    /// There is no git to be found on the `PATH`.
    #[error("git was not found, so only files that tandem writes itself can be restored")]
    NoGit,
    /// The time for one look at the tree was not enough; the next look carries on where this one stopped.
    #[error("looking at the files took longer than {} s", .0.as_secs_f32())]
    TooSlow(Duration),
    /// More than 256 MiB would have to be held in memory.
    #[error("more than 256 MiB changed, which is too much to keep")]
    TooMuch,
    /// Anything else, with what git or the system said.
    #[error("the files could not be looked at: {0}")]
    Failed(String),
}

impl Uncovered {
    /// A failure of the file system.
    pub fn io(error: &io::Error) -> Uncovered {
        Uncovered::Failed(error.to_string())
    }
}

/// Bytes of output that are held in memory.
const MAX_OUTPUT: u64 = 256 * 1024 * 1024;

/// Bytes of git's complaints that are worth showing.
const MAX_COMPLAINT: usize = 500;

/// A way to run git: where, in which environment, and on which git directory.
#[derive(Clone, Debug)]
pub struct Git<'a> {
    root: &'a Path,
    env: &'a Environment,
    own: Vec<(&'static str, OsString)>,
    settings: Vec<OsString>,
}

impl<'a> Git<'a> {
    /// Reads the repository that `root` lies in, if it lies in one, with its owner's settings but without their
    /// programs.
    pub fn of_user(root: &'a Path, env: &'a Environment) -> Git<'a> {
        let own = vec![("GIT_OPTIONAL_LOCKS", "0".into()), ("GIT_TERMINAL_PROMPT", "0".into())];
        Git { root, env, own, settings: vec!["-c".into(), "core.fsmonitor=false".into()] }
    }

    /// Works on `git_dir` with the files below `top`, and knows no settings but those of `git_dir`.
    pub fn of_shadow(root: &'a Path, env: &'a Environment, git_dir: &Path, top: &Path) -> Git<'a> {
        let own = vec![
            ("GIT_DIR", git_dir.into()),
            ("GIT_WORK_TREE", top.into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
            ("GIT_ATTR_NOSYSTEM", "1".into()),
            ("GIT_TERMINAL_PROMPT", "0".into()),
        ];
        Git { root, env, own, settings: Vec::new() }
    }

    /// With the index at this place.
    pub fn with_index(mut self, index: PathBuf) -> Git<'a> {
        self.own.push(("GIT_INDEX_FILE", index.into()));
        self
    }

    /// With the objects of another git directory in reach.
    pub fn with_objects_of(mut self, git_dir: &Path) -> Git<'a> {
        self.own.push(("GIT_ALTERNATE_OBJECT_DIRECTORIES", git_dir.join("objects").into()));
        self
    }

    /// With the ignore rules of this file, beside those of the tree.
    pub fn with_excludes(mut self, file: &OsStr) -> Git<'a> {
        let mut setting = OsString::from("core.excludesFile=");
        setting.push(file);
        self.settings.extend(["-c".into(), setting]);
        self
    }

    /// What git answers to `args` when it is fed `input`.
    ///
    /// # Errors
    /// When git ends with anything but success, or cannot be run.
    pub async fn run(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, Uncovered> {
        match self.start(args, input).await? {
            Ok(output) => Ok(output),
            Err(complaint) => {
                Err(Uncovered::Failed(format!("git {}: {complaint}", args.first().unwrap_or(&""))))
            }
        }
    }

    /// What git answers to `args`; nothing when it says no.
    ///
    /// # Errors
    /// When git cannot be run.
    pub async fn ask(&self, args: &[&str]) -> Result<Option<Vec<u8>>, Uncovered> {
        Ok(self.start(args, &[]).await?.ok())
    }

    async fn start(&self, args: &[&str], input: &[u8]) -> Result<Result<Vec<u8>, String>, Uncovered> {
        let variables = self.env.variables.iter().filter(|(name, _)| !name.starts_with("GIT_"));
        let mut command = Command::new("git");
        command
            .args(&self.settings)
            .args(args)
            .current_dir(self.root)
            .env_clear()
            .envs(variables.map(|(name, value)| (name, value)))
            .envs(self.own.iter().map(|(name, value)| (name, value)))
            .stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| match error.kind() {
            // A root that is gone is told by the same error.
            io::ErrorKind::NotFound if self.root.is_dir() => Uncovered::NoGit,
            _ => Uncovered::io(&error),
        })?;
        let mut group = Group::of(&child);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let feed = async {
            if let Some(mut pipe) = stdin {
                // One who stops reading says why in the exit code.
                let _ = pipe.write_all(input).await;
            }
            Ok(())
        };
        let ((), output, complaint) = tokio::try_join!(feed, all_of(stdout), head_of(stderr))?;
        let status = child.wait().await.map_err(|error| Uncovered::io(&error))?;
        group.let_go();
        Ok(if status.success() { Ok(output) } else { Err(self.env.mask(complaint)) })
    }
}

async fn all_of(pipe: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, Uncovered> {
    let mut output = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(MAX_OUTPUT + 1).read_to_end(&mut output).await.map_err(|error| Uncovered::io(&error))?;
    }
    if output.len() as u64 > MAX_OUTPUT { Err(Uncovered::TooMuch) } else { Ok(output) }
}

/// The first bytes; the rest is read and forgotten, so that the writer never waits.
async fn head_of(pipe: Option<impl AsyncRead + Unpin>) -> Result<String, Uncovered> {
    let mut head = Vec::new();
    let Some(mut pipe) = pipe else { return Ok(String::new()) };
    let mut buffer = [0; 4096];
    loop {
        match pipe.read(&mut buffer).await.map_err(|error| Uncovered::io(&error))? {
            0 => return Ok(String::from_utf8_lossy(&head).trim().to_owned()),
            count => {
                let room = MAX_COMPLAINT.saturating_sub(head.len()).min(count);
                head.extend_from_slice(buffer.get(..room).unwrap_or_default());
            }
        }
    }
}
