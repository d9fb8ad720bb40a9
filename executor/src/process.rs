//! Runs one shell command in a process group of its own, within limits, and never hangs on what it leaves behind.

mod border;
mod capture;
mod end;
mod group;
mod hold;
mod kept;
mod limits;
mod recording;
mod start;
mod stream;

use std::io;
use std::time::Duration;

use tandem_shared::call::{ErrorKind, ToolError};
use tandem_shared::interrupt::Interrupt;
use tandem_shared::secret::Masker;
use tandem_shared::tool::blocking;
use tandem_shared::workspace::Workspace;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::time::{sleep, timeout};

pub use end::End;
pub use group::Group;
pub use hold::Hold;
pub use kept::Kept;
pub use limits::{Leftovers, Limits};
pub use recording::{Keeping, Piece, Recording};
pub use start::{Caged, Started, Watching, begin, fits, watch};

use crate::cage::{Cage, Hindrance, Span};
use crate::descent::Left;
use crate::environment::Environment;
use crate::reach::Reach;
use crate::stage::Stage;
use stream::Stream;

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Why.
    pub by: End,
    /// Output and errors in the order they came, without terminal control sequences; of a long one head and tail, with the id
    /// of the whole.
    pub output: String,
    /// How long it ran.
    pub duration: Duration,
    /// Processes that it started and that still run.
    pub left: Vec<Left>,
    /// What the cage put back after it, a sentence each.
    pub put_back: Vec<String>,
    /// What the cage most likely kept it from, where its failure looks like that.
    pub hindrance: Option<Hindrance>,
}

impl Ended {
    /// Of a command that an interrupt kept from beginning.
    fn unbegun() -> Ended {
        Ended {
            by: End::Interrupted,
            output: "[it had not begun]".to_owned(),
            duration: Duration::ZERO,
            left: Vec::new(),
            put_back: Vec::new(),
            hindrance: None,
        }
    }

    /// What the cage has to say to the model; nothing most of the time.
    pub fn of_cage(&self) -> String {
        let mut text = String::new();
        if !self.put_back.is_empty() {
            text.push_str(&format!(
                "\n[the cage guards what git runs: {}. If the user wants that changed, say so: they can do it \
                 themselves, or let the command run outside the cage]",
                self.put_back.join("; ")
            ));
        }
        if let Some(hindrance) = self.hindrance {
            text.push_str(&format!("\n[{}]", hindrance.advice()));
        }
        text
    }
}

/// How long output is still read after the command itself has ended, while something holds its pipe.
const DRAIN: Duration = Duration::from_millis(500);

/// How long a stopped command has to end by itself. One who cancels expects it to be over within a second.
pub const GRACE: Duration = Duration::from_millis(400);

/// What a command left running when it ended.
pub struct Behind {
    /// The processes.
    pub kept: Kept,
    /// Where their output comes.
    pub pipe: pipe::Receiver,
}

/// Runs `command` by `sh -c` in the root, with no input, no terminal of its own, and the environment and cage of `hold`.
///
/// # Errors
/// Only when no process could be started, or none in its cage; everything else is an [`Ended`].
pub async fn run(
    command: &str,
    workspace: &Workspace,
    limits: Limits,
    hold: Hold<'_>,
    interrupt: &Interrupt,
) -> Result<(Ended, Option<Behind>), ToolError> {
    let failed = |error: io::Error| {
        ToolError::new(ErrorKind::Io, format!("The command could not be started: {error}."))
    };
    let Some(started) = begin(command, workspace, hold, Span::Short, interrupt).await? else {
        return Ok((Ended::unbegun(), None));
    };
    let Started { mut kept, mut pipe, caged, since: started, watching } = started;
    let mut listener = Listener {
        recording: Recording::new(hold.keeping.cloned(), limits.output_chars),
        stream: Stream::new(hold.tell, hold.env),
    };
    Stage::TimeAndInterrupt.begins(&format!("{limits:?}"));
    let by = follow(&mut kept, &mut pipe, &mut listener, limits, interrupt).await.map_err(failed)?;
    if matches!(by, End::Idle | End::TooLong | End::Interrupted) {
        kept.ask_to_end();
        // Its last words are read while it has time to end by itself; those of what it leaves behind are not waited for.
        let _ = timeout(GRACE, async {
            tokio::select! {
                _ = kept.ended() => {}
                () = async {
                    let _ = drain(&mut pipe, &mut listener).await;
                    std::future::pending::<()>().await;
                } => {}
            }
        })
        .await;
        kept.end().await;
    }
    Stage::Output.begins(&format!("{by:?}"));
    // Whoever goes on in the background may hold the pipe for as long as it likes.
    let _ = timeout(DRAIN, drain(&mut pipe, &mut listener)).await;
    let mut left = kept.left();
    if !left.is_empty() && limits.leftovers == Leftovers::Kill {
        kept.end().await;
        left.clear();
    }
    let behind = match left.as_slice() {
        [] => {
            kept.let_go();
            None
        }
        _ => Some(Behind { kept, pipe }),
    };
    let output = listener.finish(&hold.env.secrets).await;
    let is_failure = matches!(by, End::Exit(1..) | End::Signal(_)) && caged == Caged::Yes;
    let hindrance = is_failure.then(|| Hindrance::in_output(&output, hold.cage.network())).flatten();
    let put_back = match watching.and_then(Watching::into_watch) {
        Some(watch) => blocking(move || Ok(watch.settle(Span::Short))).await?,
        None => Vec::new(),
    };
    hold.cage.tell(&put_back);
    Ok((Ended { by, output, duration: started.elapsed(), left, put_back, hindrance }, behind))
}

/// Runs `command` where it can change nothing and reach nobody: it may write only temporary files.
///
/// # Errors
/// When nothing on this system would hold it to that, or no process could be started.
pub async fn look(
    command: &str,
    workspace: &Workspace,
    limits: Limits,
    env: &Environment,
    cage: &Cage,
    keeping: Option<&Keeping>,
    interrupt: &Interrupt,
) -> Result<Ended, ToolError> {
    if !cage.is_on() || !cage.found().confines() {
        return Err(ToolError::new(
            ErrorKind::Permission,
            "The command was not run: there is no cage on this system that would hold it to looking only.",
        ));
    }
    let hold = Hold { env, cage, reach: Reach::Looks, tell: None, keeping };
    Ok(run(command, workspace, Limits { leftovers: Leftovers::Kill, ..limits }, hold, interrupt).await?.0)
}

/// Hears the output: keeps it, and passes it on.
struct Listener<'a> {
    recording: Recording,
    stream: Stream<'a>,
}

impl Listener<'_> {
    async fn push(&mut self, bytes: &[u8]) {
        self.stream.push(bytes);
        let piece = self.recording.push(bytes);
        self.keep(piece).await;
    }

    async fn keep(&mut self, piece: Option<Piece>) {
        if let Some(piece) = piece
            && let Err(why) = piece.keep().await
        {
            self.recording.lost(why);
        }
    }

    /// What a model is shown of all that came.
    async fn finish(mut self, secrets: &Masker) -> String {
        let piece = self.recording.finish();
        self.keep(piece).await;
        self.stream.finish();
        self.recording.text(secrets)
    }
}

/// Reads until the command itself has ended or has to be stopped.
async fn follow(
    kept: &mut Kept,
    pipe: &mut pipe::Receiver,
    listener: &mut Listener<'_>,
    limits: Limits,
    interrupt: &Interrupt,
) -> io::Result<End> {
    let end = sleep(limits.absolute);
    tokio::pin!(end);
    let idle = sleep(limits.idle);
    tokio::pin!(idle);
    let mut buffer = vec![0; 64 * 1024];
    let mut open = true;
    loop {
        tokio::select! {
            biased;
            () = interrupt.raised() => return Ok(End::Interrupted),
            () = &mut end => return Ok(End::TooLong),
            read = pipe.read(&mut buffer), if open => match read? {
                0 => open = false,
                count => {
                    listener.push(buffer.get(..count).unwrap_or_default()).await;
                    idle.as_mut().reset(tokio::time::Instant::now() + limits.idle);
                }
            },
            end = kept.ended() => return end,
            () = &mut idle => return Ok(End::Idle),
        }
    }
}

/// Reads until nobody holds the other end.
async fn drain(pipe: &mut pipe::Receiver, listener: &mut Listener<'_>) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match pipe.read(&mut buffer).await? {
            0 => return Ok(()),
            count => listener.push(buffer.get(..count).unwrap_or_default()).await,
        }
    }
}

#[cfg(test)]
mod tests;
