//! Real commands, in real process groups.

use tandem_shared::interrupt::{Cause, Interrupt};
use tandem_shared::settings::CommandSettings;

use super::*;

/// An upper bound for what must not hang; no test waits for it.
const NEVER: Duration = Duration::from_secs(50);

fn limits(idle: u64, absolute: u64) -> Limits {
    Limits {
        idle: Duration::from_secs(idle),
        absolute: Duration::from_secs(absolute),
        output_chars: 15_000,
        leftovers: Leftovers::Kill,
    }
}

fn environment() -> Environment {
    let variables =
        vec![("PATH".to_owned(), std::env::var("PATH").unwrap()), ("SHOWN".to_owned(), "yes".to_owned())];
    Environment { variables, secrets: Default::default() }
}

async fn run_in(folder: &std::path::Path, command: &str, limits: Limits, interrupt: &Interrupt) -> Ended {
    let workspace = Workspace::open(folder).unwrap();
    let (cage, env) = (Cage::off(), environment());
    let hold = Hold { env: &env, cage: &cage, reach: Reach::Acts, tell: None, keeping: None };
    let run = run(command, &workspace, limits, hold, interrupt);
    timeout(NEVER, run).await.expect("the command hung").unwrap().0
}

async fn check(command: &str, by: End, output: &str) {
    let folder = tempfile::tempdir().unwrap();
    let ended = run_in(folder.path(), command, limits(20, 20), &Interrupt::new()).await;
    assert_eq!((ended.by, ended.output.as_str()), (by, output), "{command}");
}

/// Whether a process lives that is no zombie.
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.trim().is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}

/// The system needs a moment to end a process that was killed.
async fn is_gone(pid: &str) -> bool {
    for _ in 0..200 {
        if !lives(pid) {
            return true;
        }
        sleep(Duration::from_millis(20)).await;
    }
    false
}

#[tokio::test]
async fn output_errors_and_exit_codes_come_back() {
    check("echo out; echo err >&2; echo out2; exit 3", End::Exit(3), "out\nerr\nout2\n").await;
    check("true", End::Exit(0), "").await;
    check("kill -9 $$", End::Signal(9), "").await;
    check("no-such-program-here 2>/dev/null", End::Exit(127), "").await;
}

#[tokio::test]
async fn there_is_no_input_and_only_the_given_environment() {
    check("cat; echo end", End::Exit(0), "end\n").await;
    check("echo $SHOWN$HOME$GIT_TERMINAL_PROMPT$PAGER", End::Exit(0), "yes0cat\n").await;
}

#[tokio::test]
async fn a_background_child_does_not_hold_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let ended = run_in(folder.path(), "sleep 600 & echo $!", limits(100, 100), &Interrupt::new()).await;
    assert_eq!((ended.by, ended.left), (End::Exit(0), Vec::new()));
    assert!(is_gone(&ended.output).await, "leftovers are killed where that is asked for");

    let keep = Limits { leftovers: Leftovers::Keep, ..limits(100, 100) };
    let workspace = Workspace::open(folder.path()).unwrap();
    let (cage, env) = (Cage::off(), environment());
    let hold = Hold { env: &env, cage: &cage, reach: Reach::Acts, tell: None, keeping: None };
    let (ended, behind) =
        run("sleep 600 & echo $!", &workspace, keep, hold, &Interrupt::new()).await.unwrap();
    assert!(lives(&ended.output), "and go on where they are kept");
    let pid: i32 = ended.output.trim().parse().unwrap();
    assert_eq!(ended.left, [Left { pid, name: "sleep".to_owned() }]);
    drop(behind);
    assert!(is_gone(&ended.output).await, "for as long as somebody keeps them");
}

#[tokio::test]
async fn a_silent_command_is_stopped_with_its_whole_group() {
    let folder = tempfile::tempdir().unwrap();
    let command =
        "trap '' TERM; sleep 600 & echo $!; (trap '' TERM; sleep 601) & echo $!; wait; wait; sleep 602";
    let ended = run_in(folder.path(), command, limits(1, 100), &Interrupt::new()).await;
    assert_eq!(ended.by, End::Idle);
    let pids: Vec<&str> = ended.output.lines().collect();
    assert_eq!(pids.len(), 2);
    for pid in pids {
        assert!(is_gone(pid).await, "{pid} lives on");
    }
}

#[tokio::test]
async fn a_busy_command_is_stopped_at_the_absolute_limit() {
    let folder = tempfile::tempdir().unwrap();
    let ended =
        run_in(folder.path(), "while :; do echo x; sleep 0.1; done", limits(100, 1), &Interrupt::new()).await;
    assert_eq!(ended.by, End::TooLong);
    assert!(ended.output.starts_with("x\nx\n"));
}

#[tokio::test]
async fn an_interrupt_stops_it_and_keeps_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::new();
    let raiser = interrupt.clone();
    let waits_for = folder.path().join("ready");
    tokio::spawn(async move {
        while !waits_for.exists() {
            sleep(Duration::from_millis(10)).await;
        }
        raiser.raise(Cause::Person);
    });
    let ended =
        run_in(folder.path(), "echo first; sleep 0.2; touch ready; sleep 600", limits(100, 100), &interrupt)
            .await;
    assert_eq!((ended.by, ended.output.as_str()), (End::Interrupted, "first\n"));
}

#[tokio::test]
async fn a_dropped_run_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::new();
    let noted = folder.path().join("pid");
    let run = run_in(folder.path(), "echo $$ > pid; sleep 600", limits(100, 100), &interrupt);
    let seen = async {
        while std::fs::read_to_string(&noted).unwrap_or_default().trim().is_empty() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        _ = run => panic!("it cannot have ended"),
        () = seen => {}
    }
    assert!(is_gone(&std::fs::read_to_string(&noted).unwrap()).await);
}

#[tokio::test]
async fn a_flood_is_cut_to_head_and_tail() {
    let folder = tempfile::tempdir().unwrap();
    let command = "echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last";
    let ended = run_in(folder.path(), command, limits(100, 100), &Interrupt::new()).await;
    assert_eq!(ended.by, End::Exit(0));
    assert!(ended.output.starts_with("first\nxxx") && ended.output.ends_with("xxx\nlast\n"));
    assert!(ended.output.chars().count() < 15_200);
}

#[test]
fn a_wanted_time_counts_for_both_limits_up_to_the_setting() {
    let settings =
        CommandSettings { idle_s: 60, absolute_s: 600, output_chars: 9, ..crate::plain::command_settings() };
    let seconds = |wanted| {
        let limits = Limits::new(&settings, wanted, Leftovers::Keep);
        (limits.idle.as_secs(), limits.absolute.as_secs())
    };
    assert_eq!(
        [seconds(None), seconds(Some(5)), seconds(Some(300)), seconds(Some(9999))],
        [(60, 600), (5, 5), (300, 300), (600, 600)]
    );
}
