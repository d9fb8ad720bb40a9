//! Every process that a command left behind, found by a mark in its environment: also those that left its process group.
//!
//! A process that clears its environment is found as long as one that it descends from still runs. Where there is no
//! `/proc`, only the group is known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use tokio::time::sleep;

/// The variable that carries the mark.
pub const VARIABLE: &str = "TANDEM_COMMAND";

/// A process that still runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its number.
    pub pid: i32,
    /// Its program's name.
    pub name: String,
}

/// What tells the commands of this program from those of others.
fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| uuid::Uuid::now_v7().to_string())
}

/// A mark that no other command has.
pub fn mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", program(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The processes that carry `mark` or descend from one that does, zombies aside.
pub fn left(mark: &str) -> Vec<Left> {
    let wanted = format!("{VARIABLE}={mark}");
    find(|environ| environ.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes()))
}

/// Those of every command that this program ran.
fn left_by_all() -> Vec<Left> {
    let wanted = format!("{VARIABLE}={}-", program());
    find(|environ| environ.split(|&byte| byte == 0).any(|variable| variable.starts_with(wanted.as_bytes())))
}

/// Ends the processes that carry `mark`, and waits until they are gone.
pub async fn end(mark: &str) {
    end_while(|| left(mark)).await;
}

/// Ends what every command of this program left behind.
pub async fn end_all() {
    end_while(left_by_all).await;
}

/// Times that new processes are looked for: one that keeps starting others is not chased for ever.
const CHASES: usize = 50;

async fn end_while(left: impl Fn() -> Vec<Left>) {
    for _ in 0..CHASES {
        let found = left();
        if found.is_empty() {
            return;
        }
        for one in found {
            if let Some(pid) = Pid::from_raw(one.pid) {
                // It may be gone already, which is as well.
                let _ = kill_process(pid, Signal::KILL);
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
        }
        sleep(Duration::from_millis(10)).await;
    }
}

struct Seen {
    parent: i32,
    name: String,
    marked: bool,
}

fn find(is_marked: impl Fn(&[u8]) -> bool) -> Vec<Left> {
    let mut seen: BTreeMap<i32, Seen> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let Some((name, parent)) = status_of(pid) else { continue };
        // That of somebody else's process cannot be read, and is none of ours.
        let marked = std::fs::read(entry.path().join("environ")).is_ok_and(|environ| is_marked(&environ));
        seen.insert(pid, Seen { parent, name, marked });
    }
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    let mut found: BTreeSet<i32> =
        seen.iter().filter(|(pid, one)| one.marked && **pid != own).map(|(pid, _)| *pid).collect();
    loop {
        let more: Vec<i32> = seen
            .iter()
            .filter(|(pid, one)| !found.contains(pid) && found.contains(&one.parent))
            .map(|(pid, _)| *pid)
            .collect();
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    found.into_iter().filter_map(|pid| Some(Left { pid, name: seen.get(&pid)?.name.clone() })).collect()
}

/// Name and parent of a process that is no zombie.
fn status_of(pid: i32) -> Option<(String, i32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses, and may hold some itself.
    let (head, rest) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some((name, parent))
}
