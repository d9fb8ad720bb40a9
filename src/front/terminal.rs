//! Standard output and error. A reader that is gone is no fault of the run; a full disk is.

use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a result could not be written.
static LOST: AtomicBool = AtomicBool::new(false);

/// Writes a result to standard output.
pub fn say(text: &str) {
    say_bytes(text.as_bytes());
}

/// The same of what need not be text.
pub fn say_bytes(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => LOST.store(true, Ordering::Relaxed),
        Ok(()) | Err(_) => {}
    }
}

/// Whether a result was lost, because standard output could not be written.
pub fn lost_output() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Writes talk to standard error.
pub fn tell(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Whether a person sits at both ends: types into standard input and reads standard error.
pub fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Whether standard output is a terminal.
pub(super) fn shows_output() -> bool {
    std::io::stdout().is_terminal()
}
