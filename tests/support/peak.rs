//! The most memory that a process ever held, watched from outside while it runs.

use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A watch on one process.
pub struct Peak(JoinHandle<u64>);

impl Peak {
    /// Begins to watch the process. The kernel keeps the number, but only as long as the process lives.
    pub fn of(id: u32) -> Peak {
        Peak(thread::spawn(move || {
            let mut peak = 0;
            while let Some(kib) = resident_at_most(id) {
                peak = peak.max(kib);
                thread::sleep(Duration::from_millis(5));
            }
            peak
        }))
    }

    /// In KiB, once the process has ended.
    pub fn kib(self) -> u64 {
        self.0.join().unwrap()
    }
}

fn resident_at_most(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
