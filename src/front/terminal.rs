//! Standard output and error. A reader that is gone is no fault of the run, so failed writes are let go.

use std::io::{IsTerminal as _, Write as _};

/// Writes a result to standard output.
pub fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
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
