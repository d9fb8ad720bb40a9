//! Commands that go on in the background of a session: servers, and what other commands left running, until they are
//! stopped or the session ends.

mod haste;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::event::JobRow;
use tandem_shared::interrupt::Interrupt;
use tandem_shared::tool::blocking;
use tandem_shared::workspace::Workspace;
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{sleep, sleep_until, timeout};

use haste::GRACE;
pub use haste::Haste;

use crate::cage::{Span, Watch};
use crate::environment::Environment;
use crate::process::{self, Behind, End, Hold, Kept, Piece, Recording, Started, Watching};

/// How long the output of a job is listened to when it starts.
const START_UP: Duration = Duration::from_secs(20);
/// Silence after which a job that said something counts as started.
const QUIET: Duration = Duration::from_secs(3);
/// Characters of a job's output that are kept, head and tail, where nothing else is.
const KEPT: usize = 100_000;

/// The jobs of a session. Cheap to clone; the clones share them. Dropping the last one ends every job.
#[derive(Clone, Default)]
pub struct Jobs(Arc<Mutex<BTreeMap<u32, Job>>>);

struct Job {
    command: String,
    started: Instant,
    shared: Arc<Mutex<Running>>,
    /// Ends the task that listens, and with it all that runs.
    task: tokio::task::JoinHandle<()>,
}

struct Running {
    recording: Recording,
    heard: Instant,
    end: Option<String>,
    /// Asks it to end, within so long.
    stop: UnboundedSender<Duration>,
}

/// What is answered when an interrupt came before a job began.
pub fn unbegun() -> ToolError {
    ToolError::new(ErrorKind::CommandFailed, "The command was interrupted before it began.")
}

/// What a job said when it started.
pub struct Opening {
    /// Its number.
    pub id: u32,
    /// What it said so far.
    pub output: String,
    /// How it ended, if it did already.
    pub end: Option<String>,
}

impl Jobs {
    /// Starts `command` in the background and listens until it has been quiet for a while, has ended, or has started for
    /// long enough. One that is interrupted meanwhile is stopped: nobody has been told of it.
    ///
    /// # Errors
    /// When no process could be started.
    pub async fn start(
        &self,
        command: &str,
        workspace: &Workspace,
        hold: Hold<'_>,
        interrupt: &Interrupt,
    ) -> Result<Opening, ToolError> {
        let started = process::begin(command, workspace, hold, Span::Long, interrupt).await?;
        let Started { kept, pipe, watching, .. } = started.ok_or_else(unbegun)?;
        let watch = watching.and_then(Watching::into_watch);
        let listener = Listener { behind: Behind { kept, pipe }, ended: None, watch };
        let (id, shared) = self.add(command, listener, hold);
        let began = Instant::now();
        while began.elapsed() < START_UP && !interrupt.is_raised() {
            let (ended, quiet, said) = {
                let running = lock(&shared);
                (running.end.is_some(), running.heard.elapsed(), !running.recording.is_empty())
            };
            if ended || (said && quiet >= QUIET) {
                break;
            }
            sleep(Duration::from_millis(50)).await;
        }
        if interrupt.is_raised() {
            self.stop(id, interrupt).await;
        }
        let running = lock(&shared);
        Ok(Opening { id, output: running.recording.text(&hold.env.secrets), end: running.end.clone() })
    }

    /// Takes over what `command`, which ended with `end`, left running, and answers with the number of the job.
    ///
    /// # Errors
    /// When what git runs could not be looked at.
    pub async fn adopt(
        &self,
        command: &str,
        behind: Behind,
        end: End,
        workspace: &Workspace,
        hold: Hold<'_>,
    ) -> Result<u32, ToolError> {
        let watch = process::watch(hold, workspace).await?.and_then(Watching::into_watch);
        Ok(self.add(command, Listener { behind, ended: Some(end), watch }, hold).0)
    }

    fn add(&self, command: &str, listener: Listener, hold: Hold<'_>) -> (u32, Arc<Mutex<Running>>) {
        let (stop, stopped) = unbounded_channel();
        let recording = Recording::new(hold.keeping.cloned(), KEPT);
        let running = Running { recording, heard: Instant::now(), end: None, stop };
        let shared = Arc::new(Mutex::new(running));
        let task = tokio::spawn(listener.listen(shared.clone(), stopped));
        let mut jobs = self.lock();
        let id = jobs.keys().next_back().map_or(1, |last| last + 1);
        let (command, started) = (command.to_owned(), Instant::now());
        jobs.insert(id, Job { command, started, shared: shared.clone(), task });
        (id, shared)
    }

    /// All jobs of the session, those that ended included.
    pub fn list(&self) -> Vec<JobRow> {
        let row = |(id, job): (&u32, &Job)| JobRow {
            id: *id,
            command: job.command.clone(),
            seconds: job.started.elapsed().as_secs(),
            end: lock(&job.shared).end.clone(),
        };
        self.lock().iter().map(row).collect()
    }

    /// What a job has said so far, head and tail, and how it ended, if it did.
    pub fn output(&self, id: u32, env: &Environment) -> Option<(String, Option<String>)> {
        let jobs = self.lock();
        let running = lock(&jobs.get(&id)?.shared);
        Some((running.recording.text(&env.secrets), running.end.clone()))
    }

    /// Stops a job with everything that it started, and waits for its end. `None` when there is no such job.
    pub async fn stop(&self, id: u32, interrupt: &Interrupt) -> Option<String> {
        let shared = self.lock().get(&id)?.shared.clone();
        let mut haste = Haste::of(interrupt);
        ask_to_end(&shared, haste);
        let began = Instant::now();
        while began.elapsed() < GRACE * 2 {
            if let Some(end) = lock(&shared).end.clone() {
                return Some(end);
            }
            if haste == Haste::None && interrupt.is_raised() {
                haste = Haste::Cancelled;
                ask_to_end(&shared, haste);
            }
            sleep(Duration::from_millis(10)).await;
        }
        Some("does not end".to_owned())
    }

    /// Stops all of them at the same time.
    pub async fn stop_all(&self, haste: Haste) {
        let running: Vec<Arc<Mutex<Running>>> = self.lock().values().map(|job| job.shared.clone()).collect();
        running.iter().for_each(|shared| ask_to_end(shared, haste));
        let began = Instant::now();
        while began.elapsed() < GRACE * 2 && running.iter().any(|shared| lock(shared).end.is_none()) {
            sleep(Duration::from_millis(10)).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hears what a job says, and what becomes of it.
struct Listener {
    behind: Behind,
    /// How the command itself ended, if it has.
    ended: Option<End>,
    watch: Option<Watch>,
}

impl Listener {
    async fn listen(self, shared: Arc<Mutex<Running>>, stopped: UnboundedReceiver<Duration>) {
        let Listener { mut behind, ended, watch } = self;
        let end = behind.follow(ended, &shared, stopped).await;
        let put_back = match watch {
            Some(watch) => blocking(move || Ok(watch.settle(Span::Long))).await.unwrap_or_default(),
            None => Vec::new(),
        };
        lock(&shared).end = Some([vec![end], put_back].concat().join("; "));
    }
}

impl Behind {
    /// Until nothing of it runs any more; answers how it ended.
    async fn follow(
        &mut self,
        mut ended: Option<End>,
        shared: &Mutex<Running>,
        mut stopped: UnboundedReceiver<Duration>,
    ) -> String {
        let mut open = true;
        let mut buffer = vec![0; 64 * 1024];
        let how = loop {
            let kept = &mut self.kept;
            let next = async {
                match ended {
                    None => kept.ended().await.map(Some),
                    Some(_) => {
                        kept.gone().await;
                        Ok(None)
                    }
                }
            };
            tokio::select! {
                count = self.pipe.read(&mut buffer), if open => {
                    open = take(&buffer, count.unwrap_or_default(), shared).await;
                }
                next = next => match next {
                    Ok(Some(end)) => ended = Some(end),
                    Ok(None) => break ended.map_or_else(|| "ended".to_owned(), End::plainly),
                    Err(error) => break error.to_string(),
                },
                Some(grace) = stopped.recv() => {
                    self.kept.ask_to_end();
                    gone_within(grace, &mut self.kept, &mut stopped).await;
                    break "was stopped".to_owned();
                }
            }
        };
        self.kept.end().await;
        // Its last words are in the pipe, which nobody holds any more.
        let _ = timeout(GRACE, async {
            loop {
                let count = self.pipe.read(&mut buffer).await.unwrap_or_default();
                if !take(&buffer, count, shared).await {
                    break;
                }
            }
        })
        .await;
        let piece = lock(shared).recording.finish();
        keep(piece, shared).await;
        how
    }
}

/// One that has ended hears nothing, which is as well.
fn ask_to_end(shared: &Mutex<Running>, haste: Haste) {
    let _ = lock(shared).stop.send(haste.grace());
}

/// Waits until nothing of it runs any more, but no longer than this, nor than somebody in more haste says meanwhile.
async fn gone_within(grace: Duration, kept: &mut Kept, stopped: &mut UnboundedReceiver<Duration>) {
    let mut latest = tokio::time::Instant::now() + grace;
    loop {
        tokio::select! {
            () = kept.gone() => return,
            () = sleep_until(latest) => return,
            Some(grace) = stopped.recv() => latest = latest.min(tokio::time::Instant::now() + grace),
        }
    }
}

/// The next bytes of a job, `count` of them in `buffer`; whether there can be more.
async fn take(buffer: &[u8], count: usize, shared: &Mutex<Running>) -> bool {
    let bytes = buffer.get(..count).filter(|bytes| !bytes.is_empty());
    if let Some(bytes) = bytes {
        let piece = {
            let mut running = lock(shared);
            running.heard = Instant::now();
            running.recording.push(bytes)
        };
        keep(piece, shared).await;
    }
    bytes.is_some()
}

async fn keep(piece: Option<Piece>, shared: &Mutex<Running>) {
    if let Some(piece) = piece
        && let Err(why) = piece.keep().await
    {
        lock(shared).recording.lost(why);
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock(running: &Mutex<Running>) -> MutexGuard<'_, Running> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}
