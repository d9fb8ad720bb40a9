//! Several sessions, what is left on disk, and what stands in the way.

use super::*;

#[tokio::test]
async fn sessions_work_side_by_side_and_begin_where_others_stopped() {
    let project = Project::new("echo 1 >f; echo 1 >g");
    let (one, two) = (project.shadow("one"), project.shadow("two"));
    let (a, b) = tokio::join!(one.snapshot(), two.snapshot());
    assert_eq!(a.unwrap().tree, b.unwrap().tree);
    let got = tokio::join!(changed(&one, &project, "echo 2 >f"), changed(&two, &project, "true"));
    assert_eq!(got.0, [r#""f": file 1\n > file 2\n"#]);
    let place = Place::open(&project.path("state"), "three", 0, Want::Newest).unwrap();
    assert!(place.index().exists());
    assert_eq!(project.sh("stat -c %a ../state"), "700\n");
}

#[tokio::test]
async fn what_a_killed_process_left_is_no_obstacle() {
    let project = Project::new("echo 1 >f");
    let shadow = project.shadow("s");
    shadow.snapshot().await.unwrap();
    let lock = project.path("state/1/sessions/s/index-0.lock");
    fs::write(&lock, "half").unwrap();
    assert_eq!(changed(&shadow, &project, "echo 2 >f").await, [r#""f": file 1\n > file 2\n"#]);
    // A broken git directory costs one snapshot; the folder may also go.
    fs::write(project.path("state/1/sessions/s/index-0"), "broken").unwrap();
    assert!(matches!(shadow.snapshot().await, Err(Uncovered::Failed(_))));
    assert_eq!(changed(&shadow, &project, "echo 3 >f").await, [r#""f": file 2\n > file 3\n"#]);
    assert!(project.path("state/2/HEAD").exists());
    fs::remove_dir_all(project.path("state")).unwrap();
    assert_eq!(changed(&shadow, &project, "echo 4 >f").await, [r#""f": file 3\n > file 4\n"#]);
}

#[tokio::test]
async fn a_git_directory_that_has_grown_is_left_between_any_two_snapshots() {
    let project = Project::new("echo 1 >f");
    let shadow = project.shadow("s");
    let before = shadow.snapshot().await.unwrap();
    shadow.with_state(|state| state.used.as_mut().unwrap().limit = 0);
    project.sh("echo 2 >f");
    let after = shadow.snapshot().await.unwrap();
    assert_ne!(before.git_dir, after.git_dir);
    let got = shadow.changes(&before, &after).await.unwrap();
    let file = |text: &str| Side::File { content: text.into(), executable: false };
    assert_eq!(got, [Changed { path: "f".to_owned(), before: file("1\n"), after: file("2\n") }]);
}

#[tokio::test]
async fn leftovers_of_ended_sessions_are_swept_after_a_day() {
    let project = Project::new("echo 1 >f");
    let state = project.path("state");
    project.shadow("gone").snapshot().await.unwrap();
    project.shadow("fresh").snapshot().await.unwrap();
    Place::open(&state, "next", 0, Want::Fresh).unwrap();
    assert!(state.join("1/sessions/gone").exists());
    project.sh("touch -d '2 days ago' ../state/1/sessions/gone");
    Place::open(&state, "next", 0, Want::Newest).unwrap();
    assert_eq!(
        [state.join("1/sessions/gone").exists(), state.join("1/sessions/fresh").exists()],
        [false, true]
    );
    project.sh("touch -d '2 days ago' ../state/1/sessions/fresh");
    Place::open(&state, "next", 0, Want::Newest).unwrap();
    assert_eq!([state.join("1").exists(), state.join("2/sessions/next").exists()], [false, true]);
}

#[tokio::test]
async fn without_git_it_says_so() {
    let project = Project::new("");
    let path = project.path("home").to_str().unwrap().to_owned();
    let shadow = project.shadow_with("", "s", vec![("PATH".to_owned(), path)]);
    assert_eq!(shadow.snapshot().await, Err(Uncovered::NoGit));
    fs::remove_dir_all(project.path("project")).unwrap();
    assert!(matches!(shadow.snapshot().await, Err(Uncovered::Failed(_))));
}

#[tokio::test]
async fn a_slow_git_and_what_it_started_are_killed() {
    let project = Project::new("");
    let git = project.path("home/git");
    fs::write(&git, "#!/bin/sh\n/bin/sleep 60 &\necho $! >>../pids\nwait\n").unwrap();
    project.sh("chmod +x ~/git");
    let path = vec![("PATH".to_owned(), project.path("home").to_str().unwrap().to_owned())];
    let mut shadow = project.shadow_with("", "s", path);
    shadow.bounds.time = Duration::from_millis(300);
    assert_eq!(shadow.snapshot().await, Err(Uncovered::TooSlow(Duration::from_millis(300))));
    let pids = fs::read_to_string(project.path("pids")).unwrap();
    for pid in pids.split_whitespace() {
        assert!(is_gone(pid).await, "{pid} lives");
    }
    assert!(!pids.is_empty());
}

async fn is_gone(pid: &str) -> bool {
    for _ in 0..200 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if stat
            .rsplit(')')
            .next()
            .is_none_or(|rest| rest.trim().is_empty() || rest.trim_start().starts_with(['Z', 'X']))
        {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}
