//! Which process descends from which, as `/proc` tells. Where there is no `/proc`, nothing is known.

use std::collections::{BTreeMap, BTreeSet};

use rustix::process::{Pid, Signal, kill_process};

/// A process that still runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its number.
    pub pid: i32,
    /// Its program's name.
    pub name: String,
}

/// What is known of one.
struct Seen {
    name: String,
    parent: i32,
    group: i32,
}

/// All that descend from the process `top`, that one and zombies aside.
pub fn below(top: i32) -> Vec<Left> {
    let seen = all();
    let mut found = BTreeSet::from([top]);
    loop {
        let of_found = |(pid, one): &(&i32, &Seen)| !found.contains(pid) && found.contains(&one.parent);
        let more: Vec<i32> = seen.iter().filter(of_found).map(|(pid, _)| *pid).collect();
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    found.remove(&top);
    found.into_iter().filter_map(|pid| Some(Left { pid, name: seen.get(&pid)?.name.clone() })).collect()
}

/// All of the process group `group`, zombies aside.
pub fn in_group(group: i32) -> Vec<Left> {
    all()
        .into_iter()
        .filter(|(_, one)| one.group == group)
        .map(|(pid, one)| Left { pid, name: one.name })
        .collect()
}

/// Sends a signal to each. One may be gone already, which is as well.
pub fn signal(left: &[Left], signal: Signal) {
    for pid in left.iter().filter_map(|one| Pid::from_raw(one.pid)) {
        let _ = kill_process(pid, signal);
    }
}

/// The parent of a process.
pub fn parent_of(pid: i32) -> Option<i32> {
    stat_of(pid).map(|one| one.parent)
}

fn all() -> BTreeMap<i32, Seen> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| Some((pid, stat_of(pid)?))).collect()
}

/// What proc_pid_stat(5) says of a process that is no zombie.
fn stat_of(pid: i32) -> Option<Seen> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses, and may hold some itself.
    let (head, rest) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(Seen { name, parent, group })
}
