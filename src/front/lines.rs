//! Lines from standard input, read by a thread so that waiting for one does not hold up anything else.

use std::io::{BufRead as _, IsTerminal as _};

use tokio::sync::mpsc;

/// What a person types.
pub struct Lines {
    lines: mpsc::UnboundedReceiver<String>,
}

impl Lines {
    /// Starts to read. The thread ends with the input or with the process.
    pub fn read() -> Lines {
        let (sender, lines) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().split(b'\n') {
                let Ok(bytes) = line else { break };
                let text = String::from_utf8_lossy(&bytes).trim_end_matches('\r').to_owned();
                if sender.send(text).is_err() {
                    break;
                }
            }
        });
        Lines { lines }
    }

    /// Forgets what was typed before a question was shown: nobody answers what they have not seen. Lines from a file or a
    /// pipe stay.
    pub fn forget_typed(&mut self) {
        let stdin = std::io::stdin();
        if !stdin.is_terminal() {
            return;
        }
        #[cfg(unix)]
        let _ = rustix::termios::tcflush(&stdin, rustix::termios::QueueSelector::IFlush);
        while self.lines.try_recv().is_ok() {}
    }

    /// The next line; `None` at the end of the input.
    pub async fn next(&mut self) -> Option<String> {
        self.lines.recv().await
    }
}
