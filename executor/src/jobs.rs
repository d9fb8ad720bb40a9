//! Commands that go on in the background of a session: servers, until they are stopped or the session ends.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tandem_shared::call::ToolError;
use tandem_shared::event::JobRow;
use tandem_shared::interrupt::Interrupt;
use tandem_shared::tool::blocking;
use tandem_shared::workspace::Workspace;
use tokio::io::AsyncReadExt;
use tokio::time::{sleep, timeout};

use crate::environment::Environment;
use crate::process::{self, Capture, Hold, Started, Watching, end_of};

/// How long the output of a job is listened to when it starts.
const START_UP: Duration = Duration::from_secs(20);
/// Silence after which a job that said something counts as started.
const QUIET: Duration = Duration::from_secs(3);
/// Characters of a job's output that are kept, head and tail.
const KEPT: usize = 100_000;
/// How long a job has to end by itself when it is stopped.
const GRACE: Duration = Duration::from_secs(2);

/// The jobs of a session. Cheap to clone; the clones share them. Dropping the last one ends every job.
#[derive(Clone, Default)]
pub struct Jobs(Arc<Mutex<BTreeMap<u32, Job>>>);

struct Job {
    command: String,
    started: Instant,
    shared: Arc<Mutex<Running>>,
    /// Ends the task that listens, and with it the process.
    task: tokio::task::JoinHandle<()>,
}

struct Running {
    capture: Capture,
    heard: Instant,
    end: Option<String>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
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
    /// long enough.
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
        let Started { mut child, mut pipe, mut group, mark, watching, .. } =
            process::begin(command, workspace, hold, interrupt).await?;
        let watch = watching.and_then(Watching::into_watch);
        let (stop, mut stopped) = tokio::sync::oneshot::channel();
        let running =
            Running { capture: Capture::new(KEPT), heard: Instant::now(), end: None, stop: Some(stop) };
        let shared = Arc::new(Mutex::new(running));
        let writing = shared.clone();
        let task = tokio::spawn(async move {
            let mut buffer = vec![0; 16 * 1024];
            let mut open = true;
            let end = loop {
                tokio::select! {
                    read = pipe.read(&mut buffer), if open => match read {
                        Ok(0) | Err(_) => open = false,
                        Ok(count) => {
                            let mut running = lock(&writing);
                            running.capture.push(buffer.get(..count).unwrap_or_default());
                            running.heard = Instant::now();
                        }
                    },
                    status = child.wait() => break status.map_or_else(|error| error.to_string(), |status| end_of(status).plainly()),
                    _ = &mut stopped => {
                        group.signal(Signal::TERM);
                        let _ = timeout(GRACE, child.wait()).await;
                        group.signal(Signal::KILL);
                        let _ = child.wait().await;
                        break "was stopped".to_owned();
                    }
                }
            };
            group.let_go();
            process::end_marked(&mark).await;
            let put_back = match watch {
                Some(watch) => blocking(move || Ok(watch.settle())).await.unwrap_or_default(),
                None => Vec::new(),
            };
            lock(&writing).end = Some([vec![end], put_back].concat().join("; "));
        });
        let id = {
            let mut jobs = self.lock();
            let id = jobs.keys().next_back().map_or(1, |last| last + 1);
            let (command, started) = (command.to_owned(), Instant::now());
            jobs.insert(id, Job { command, started, shared: shared.clone(), task });
            id
        };
        let began = Instant::now();
        while began.elapsed() < START_UP && !interrupt.is_raised() {
            let (ended, quiet, said) = {
                let running = lock(&shared);
                (running.end.is_some(), running.heard.elapsed(), !running.capture.is_empty())
            };
            if ended || (said && quiet >= QUIET) {
                break;
            }
            sleep(Duration::from_millis(50)).await;
        }
        let running = lock(&shared);
        Ok(Opening { id, output: hold.env.mask(running.capture.text()), end: running.end.clone() })
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
        Some((env.mask(running.capture.text()), running.end.clone()))
    }

    /// Stops a job with everything that it started, and waits for its end. `None` when there is no such job.
    pub async fn stop(&self, id: u32) -> Option<String> {
        let shared = self.lock().get(&id)?.shared.clone();
        if let Some(stop) = lock(&shared).stop.take() {
            // One that has ended hears nothing, which is as well.
            let _ = stop.send(());
        }
        let began = Instant::now();
        while began.elapsed() < GRACE * 2 {
            if let Some(end) = lock(&shared).end.clone() {
                return Some(end);
            }
            sleep(Duration::from_millis(10)).await;
        }
        Some("does not end".to_owned())
    }

    /// Stops all of them.
    pub async fn stop_all(&self) {
        let running: Vec<u32> =
            self.list().into_iter().filter(|row| row.end.is_none()).map(|row| row.id).collect();
        for id in running {
            self.stop(id).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
