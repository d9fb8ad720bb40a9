//! A command's process group.

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

use crate::descent::{self, Left};

/// The command's process group; killed when it is dropped before the command has ended.
pub struct Group(Option<Pid>);

impl Group {
    /// Of a child that was started in a group of its own.
    pub fn of(child: &Child) -> Group {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group(id.and_then(Pid::from_raw))
    }

    /// Sends a signal to all of it.
    pub fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // It may be gone already, which is as well.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Who is in it, the child included.
    pub fn left(&self) -> Vec<Left> {
        self.0.map(|group| descent::in_group(group.as_raw_nonzero().get())).unwrap_or_default()
    }

    /// Leaves it to itself.
    pub fn let_go(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
