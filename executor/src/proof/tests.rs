//! What the runs of a check show, and which files belong to a check.

use super::*;

fn ran(exit: Option<i32>) -> CheckRun {
    CheckRun { command: "t".to_owned(), exit, passed: exit == Some(0), output: String::new(), duration_ms: 1 }
}

#[test]
fn red_then_green_is_proven_and_nothing_else_is() {
    let (green, red, stuck) = (ran(Some(0)), ran(Some(1)), ran(None));
    let touched = ["tests/a.rs".to_owned()];
    for (before, after, changed, expect) in [
        (Some(&red), Some(&green), &[][..], Verdict::Proven),
        (Some(&green), Some(&green), &[], Verdict::NotDistinguishing),
        (Some(&red), Some(&red), &[], Verdict::Failed),
        (Some(&green), Some(&red), &[], Verdict::Failed),
        (None, Some(&red), &[], Verdict::Failed),
        (Some(&red), Some(&stuck), &[], Verdict::Failed),
        (Some(&red), Some(&green), &touched, Verdict::Unproven),
        (Some(&green), Some(&green), &touched, Verdict::Unproven),
        (Some(&red), Some(&red), &touched, Verdict::Failed),
        (None, Some(&green), &[], Verdict::Unproven),
        (Some(&stuck), Some(&green), &[], Verdict::Unproven),
        (Some(&red), None, &[], Verdict::Unproven),
        (None, None, &[], Verdict::Unproven),
    ] {
        assert_eq!(judge(before, after, changed).0, expect, "{before:?} {after:?} {changed:?}");
    }
    let reason = judge(Some(&red), Some(&green), &touched).1;
    assert_eq!(reason, "`t` passes, but this run changed what it checks with: tests/a.rs");
}

#[tokio::test]
async fn a_check_is_run_for_real() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let settings =
        CommandSettings { idle_s: 20, absolute_s: 20, output_chars: 100, ..crate::plain::command_settings() };
    let variables = vec![("PATH".to_owned(), std::env::var("PATH").unwrap())];
    let env = Environment { variables, secrets: Default::default() };
    let check = async |command: &str| {
        let mut run = run_check(command, &workspace, &settings, &env, &Cage::off(), &Interrupt::new()).await;
        run.duration_ms = 0;
        run
    };
    let red = check("test -f made && echo there").await;
    std::fs::write(folder.path().join("made"), "").unwrap();
    let green = check("test -f made && echo there").await;
    let run = |exit, passed, output: &str| CheckRun {
        command: "test -f made && echo there".to_owned(),
        exit: Some(exit),
        passed,
        output: output.to_owned(),
        duration_ms: 0,
    };
    assert_eq!((&red, &green), (&run(1, false, ""), &run(0, true, "there\n")));
    assert_eq!(judge(Some(&red), Some(&green), &[]).0, Verdict::Proven);

    let settings = CommandSettings { idle_s: 1, ..settings.clone() };
    let stuck =
        run_check("echo a; sleep 600", &workspace, &settings, &env, &Cage::off(), &Interrupt::new()).await;
    assert_eq!((stuck.exit, stuck.passed), (None, false));
    assert_eq!(stuck.output, "a\n[the check was stopped after 1 s without output]");

    let refused =
        run_check("touch x; sudo -n true", &workspace, &settings, &env, &Cage::off(), &Interrupt::new())
            .await;
    assert_eq!((refused.exit, refused.passed), (None, false));
    assert_eq!(
        refused.output,
        "[refused by the danger rule root_rights: the check takes the rights of another user]"
    );
    assert!(!folder.path().join("x").exists());
}
