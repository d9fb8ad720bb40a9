//! `run_command` as the model reads it.

use super::*;

async fn check(command: &str, expect_kind: &str, expect: &str) {
    let room = Room::new(Approval::Auto, None);
    let outcome = room.run("run_command", json!({ "command": command })).await;
    assert_eq!((kind(&outcome).as_str(), outcome.content()), (expect_kind, expect), "{command}");
}

#[tokio::test]
async fn every_end_is_told_in_words() {
    check("echo hi", "ok", "hi\n[exit code 0]").await;
    check("true", "ok", "The command succeeded (exit code 0) and printed nothing.").await;
    check("echo why >&2; exit 2", "CommandFailed", "The command ended with exit code 2. Its output:\nwhy")
        .await;
    check("false", "CommandFailed", "The command ended with exit code 1. It printed nothing.").await;
    check(
        "sh -c 'exit 127'",
        "CommandFailed",
        "The command ended with exit code 127 (the program was not found). It printed nothing.",
    )
    .await;
    check(
        "sh -c 'ulimit -c 0; ulimit -t 1; while :; do :; done' 2>/dev/null; exit $?",
        "CommandFailed",
        "The command ended with exit code 137 (a process of it was ended by signal 9, SIGKILL). It printed nothing.",
    )
    .await;
}

#[tokio::test]
async fn a_timeout_returns_what_was_printed() {
    let room = Room::new(Approval::Auto, None);
    let outcome = room.run("run_command", json!({ "command": "echo part; sleep 600", "timeout": 1 })).await;
    assert_eq!(kind(&outcome), "Timeout");
    let text = outcome.content();
    assert!(text.starts_with("The command was stopped after 1 s"), "{text}");
    assert!(text.ends_with("Its output:\npart"), "{text}");
}

#[tokio::test]
async fn a_command_runs_in_the_root_and_its_output_is_material() {
    let room = Room::new(Approval::Auto, None);
    let Outcome::Ok(output) = room.run("run_command", json!({ "command": "pwd; echo x > made" })).await
    else {
        panic!("it failed");
    };
    let root = room.toolbox.around.read.workspace.root().display().to_string();
    assert_eq!((output.text, output.source), (format!("{root}\n[exit code 0]"), Some("command".to_owned())));
    assert_eq!(room.bytes("made"), b"x\n");
}
