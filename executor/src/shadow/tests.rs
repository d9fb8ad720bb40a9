//! Real trees, and the real git.

use std::fs;
use std::process::Command;

use super::*;

mod keeping;

const BOUNDS: ShadowBounds = ShadowBounds { file_bytes: 1000, time: Duration::from_secs(50) };

/// A project, the home of its owner, and the folder of the shadow.
struct Project {
    outer: tempfile::TempDir,
}

impl Project {
    /// With what `script` makes of an empty folder.
    fn new(script: &str) -> Project {
        let outer = tempfile::tempdir().unwrap();
        for folder in ["project", "home"] {
            fs::create_dir(outer.path().join(folder)).unwrap();
        }
        let project = Project { outer };
        project.sh(script);
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.outer.path().join(name)
    }

    fn variables(&self) -> Vec<(String, String)> {
        let home = self.path("home").to_str().unwrap().to_owned();
        let mut variables =
            vec![("PATH".to_owned(), std::env::var("PATH").unwrap()), ("HOME".to_owned(), home)];
        for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
            variables.push((name.to_owned(), "t".to_owned()));
        }
        variables
    }

    fn sh(&self, script: &str) -> String {
        let mut command = Command::new("sh");
        command.args(["-ec", script]).current_dir(self.path("project")).env_clear().envs(self.variables());
        let done = command.output().unwrap();
        assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn shadow_with(&self, root: &str, session: &str, variables: Vec<(String, String)>) -> Shadow {
        let workspace = Workspace::open(&self.path("project").join(root)).unwrap();
        let env = Arc::new(Environment { variables, secrets: Default::default() });
        Shadow::new(self.path("state"), session, workspace, BOUNDS, env)
    }

    fn shadow(&self, session: &str) -> Shadow {
        self.shadow_with("", session, self.variables())
    }
}

fn side(side: &Side) -> String {
    match side {
        Side::Missing => "-".to_owned(),
        Side::File { content, executable } => {
            let kind = if *executable { "program" } else { "file" };
            format!("{kind} {}", content.escape_ascii())
        }
        Side::Link { target } => format!("link {}", target.escape_ascii()),
    }
}

async fn changed(shadow: &Shadow, project: &Project, command: &str) -> Vec<String> {
    let before = shadow.snapshot().await.unwrap();
    project.sh(command);
    let after = shadow.snapshot().await.unwrap();
    let row = |one: &Changed| format!("{:?}: {} > {}", one.path, side(&one.before), side(&one.after));
    shadow.changes(&before, &after).await.unwrap().iter().map(row).collect()
}

/// What `command` changes in a project that `script` made, without and with a repository around it.
async fn check(script: &str, command: &str, expect: &[&str]) {
    for first in ["", "git init -q\n", "git init -q\ngit add -A\ngit commit -qm x --allow-empty\n"] {
        let project = Project::new(&format!("{script}\n{first}"));
        let got = changed(&project.shadow("s"), &project, command).await;
        assert_eq!(got, expect, "{first}{script} / {command}");
    }
}

#[tokio::test]
async fn contents_modes_links_and_deletions_are_changes() {
    check("echo a >f", "true", &[]).await;
    check("", "true", &[]).await;
    check(
        "",
        "echo b >new; mkdir -p d/e; echo c >d/e/n",
        &[r#""d/e/n": - > file c\n"#, r#""new": - > file b\n"#],
    )
    .await;
    check("echo a >f", "rm f", &[r#""f": file a\n > -"#]).await;
    check("echo a >f", "echo b >f", &[r#""f": file a\n > file b\n"#]).await;
    check("echo a >f", "touch -d 2001-01-01 f", &[]).await;
    check("echo a >f", "chmod +x f", &[r#""f": file a\n > program a\n"#]).await;
    check("ln -s a l", "ln -sf b l", &[r#""l": link a > link b"#]).await;
    check("ln -s a l", "rm l; echo x >l", &[r#""l": link a > file x\n"#]).await;
    check("printf '\\0\\377' >f", "printf '' >f", &[r#""f": file \x00\xff > file "#]).await;
}

#[tokio::test]
async fn a_file_may_become_a_folder_and_back() {
    check("echo a >x", "rm x; mkdir x; echo b >x/y", &[r#""x": file a\n > -"#, r#""x/y": - > file b\n"#])
        .await;
    check("mkdir x; echo b >x/y", "rm -r x; echo a >x", &[r#""x": - > file a\n"#, r#""x/y": file b\n > -"#])
        .await;
    check(
        "mkdir d; echo b >d/y",
        "mv d e; ln -s e d",
        &[r#""d": - > link e"#, r#""d/y": file b\n > -"#, r#""e/y": - > file b\n"#],
    )
    .await;
    check("echo a >x", "rm x; mkfifo x", &[r#""x": file a\n > -"#]).await;
}

#[tokio::test]
async fn names_may_hold_anything() {
    check(
        "",
        "echo a >'a b'; echo a >\"$(printf 'n\\nl')\"; echo a >-x; echo a >:y; echo a >'*'; echo a >'\"q'; echo a >ä",
        &[
            r#""\"q": - > file a\n"#,
            r#""*": - > file a\n"#,
            r#""-x": - > file a\n"#,
            r#"":y": - > file a\n"#,
            r#""a b": - > file a\n"#,
            r#""n\nl": - > file a\n"#,
            r#""ä": - > file a\n"#,
        ],
    )
    .await;
    let project = Project::new("");
    let shadow = project.shadow("s");
    let before = shadow.snapshot().await.unwrap();
    project.sh("echo a >\"$(printf 'x\\377')\"");
    let after = shadow.snapshot().await.unwrap();
    assert_eq!(shadow.changes(&before, &after).await.unwrap(), []);
    let blind: Vec<_> = after.blind_since(&before).iter().map(|gap| (gap.path.as_str(), gap.why)).collect();
    assert_eq!(blind, [("x\u{fffd}", Why::Name)]);
}

#[tokio::test]
async fn ignored_files_cost_nothing_unless_the_repository_tracks_them() {
    let rules = "mkdir sub target; echo target/ >.gitignore; echo '*.o' >sub/.gitignore; echo x >target/a";
    check(rules, "echo y >target/a; echo y >sub/b.o; echo y >b.o", &[r#""b.o": - > file y\n"#]).await;

    let personal = "git init -q; echo mine >.git/info/exclude; mkdir -p ~/.config/git; echo global >~/.config/git/ignore";
    let project = Project::new(personal);
    assert_eq!(changed(&project.shadow("s"), &project, "echo x >mine; echo x >global").await, [""; 0]);
    project.sh("git config --global core.excludesFile '~/other'; echo named >~/other; rm global mine");
    let got = changed(&project.shadow("s"), &project, "echo x >named; echo x >global").await;
    assert_eq!(got, [r#""global": - > file x\n"#]);

    let project =
        Project::new("git init -q; echo out/ >.gitignore; mkdir out; echo a >out/kept; git add -f out/kept");
    let got = changed(&project.shadow("s"), &project, "echo b >out/kept; echo b >out/new").await;
    assert_eq!(got, [r#""out/kept": file a\n > file b\n"#]);
}

#[tokio::test]
async fn a_file_that_becomes_ignored_is_still_told_in_this_session_and_not_in_the_next() {
    let project = Project::new("echo a >log; echo a >f");
    let shadow = project.shadow("one");
    assert_eq!(
        changed(&shadow, &project, "echo b >log; echo log >.gitignore").await,
        [r#"".gitignore": - > file log\n"#, r#""log": file a\n > file b\n"#]
    );
    assert_eq!(changed(&shadow, &project, "rm log").await, [r#""log": file b\n > -"#]);
    project.sh("echo c >log; rm .gitignore");
    shadow.snapshot().await.unwrap();
    project.sh("echo log >.gitignore");
    assert_eq!(
        changed(&project.shadow("two"), &project, "echo d >log; echo d >f").await,
        [r#""f": file a\n > file d\n"#]
    );
}

#[tokio::test]
async fn rules_of_the_repository_hold_in_a_folder_of_it() {
    let project = Project::new(
        "git init -q; mkdir -p a/b; echo '/a/b/x' >.gitignore; echo y >.git/info/exclude; echo 1 >a/b/f; echo 1 >out",
    );
    let got = changed(
        &project.shadow_with("a/b", "s", project.variables()),
        &project,
        "cd a/b; echo 2 >x; echo 2 >y; echo 2 >f; mkdir -p .tandem; echo 2 >.tandem/s; echo 2 >../../out",
    )
    .await;
    assert_eq!(got, [r#""f": file 1\n > file 2\n"#]);
    // In a folder that the repository ignores, only rules of the folder hold.
    let project = Project::new(
        "git init -q; mkdir -p play/in; echo play >.gitignore; echo i >play/.gitignore; echo 1 >play/in/f",
    );
    let got = changed(
        &project.shadow_with("play", "s", project.variables()),
        &project,
        "echo 2 >play/in/f; echo 2 >play/i",
    )
    .await;
    assert_eq!(got, [r#""in/f": file 1\n > file 2\n"#]);
}

#[tokio::test]
async fn files_of_git_and_tandem_are_never_covered() {
    let command = "mkdir -p .tandem .Tandem sub/.git; echo x >.tandem/a; echo x >.Tandem/a; echo x >sub/.git/a; git init -q";
    check("", command, &[]).await;
}

#[tokio::test]
async fn repositories_inside_the_project_are_named_and_not_entered() {
    let project = Project::new(
        "git init -q; git init -q sub; cd sub; echo a >f; git add f; git commit -qm x; cd ..; git init -q empty",
    );
    let shadow = project.shadow("s");
    let before = shadow.snapshot().await.unwrap();
    assert_eq!(before.nested(), ["empty", "sub"]);
    project.sh("echo b >sub/f; rm -r empty/.git; echo x >empty/x");
    let after = shadow.snapshot().await.unwrap();
    assert_eq!(after.nested(), ["sub"]);
    assert_eq!(shadow.changes(&before, &after).await.unwrap(), []);
    assert_eq!(after.blind_since(&before).iter().map(|gap| &gap.path).collect::<Vec<_>>(), ["empty"]);
    // A submodule, and a second working tree of it, are such repositories too.
    project.sh("rm -r empty; git -c protocol.file.allow=always submodule --quiet add ./sub mod; git -C sub worktree add -q ../tree");
    assert_eq!(shadow.snapshot().await.unwrap().nested(), ["mod", "sub", "tree"]);
}

#[tokio::test]
async fn a_linked_working_tree_is_covered_with_the_rules_of_its_repository() {
    let project = Project::new(
        "git init -q; echo 1 >f; git add f; git commit -qm x; echo y >.git/info/exclude; git worktree add -q ../project/tree",
    );
    let shadow = project.shadow_with("tree", "s", project.variables());
    assert_eq!(
        changed(&shadow, &project, "cd tree; echo 2 >f; echo 2 >y").await,
        [r#""f": file 1\n > file 2\n"#]
    );
}

#[tokio::test]
async fn bytes_are_taken_as_they_are() {
    let project = Project::new(
        "git init -q; git config core.autocrlf true; git config filter.f.clean 'echo no'; git config filter.f.required true
        git config core.fsmonitor 'touch ../ran #'; git config core.hooksPath hooks
        mkdir hooks; printf '#!/bin/sh\ntouch ../ran' >hooks/post-index-change; chmod +x hooks/*
        git config --global core.attributesFile ../attributes; echo '* eol=crlf' >../attributes
        echo '* text=auto eol=crlf ident filter=f working-tree-encoding=UTF-16' >.gitattributes",
    );
    let shadow = project.shadow("s");
    let got = changed(&shadow, &project, "printf 'a\\r\\n$Id: x$\\n' >f").await;
    assert_eq!(got, [r#""f": - > file a\r\n$Id: x$\n"#]);
    let got = changed(&shadow, &project, "printf 'a\\n$Id$\\n' >f").await;
    assert_eq!(got, [r#""f": file a\r\n$Id: x$\n > file a\n$Id$\n"#]);
    assert!(!project.path("ran").exists(), "a program of the user's settings ran");
}

#[tokio::test]
async fn the_repository_and_its_index_stay_as_they_are() {
    let project = Project::new(
        "git init -q; echo 1 >f; echo 1 >g; git add f; git commit -qm x; git add g; echo 2 >f; git stash -q",
    );
    let listing = "find . -newermt 1970-01-02 -printf '%p %s %T@ %C@ %m\n' | sort";
    let before = project.sh(listing);
    let mut variables = project.variables();
    for (name, value) in
        [("GIT_DIR", ".git"), ("GIT_INDEX_FILE", ".git/index"), ("GIT_OBJECT_DIRECTORY", ".git/objects")]
    {
        variables.push((name.to_owned(), value.to_owned()));
    }
    let shadow = project.shadow_with("", "s", variables);
    let snapshots = [shadow.snapshot().await.unwrap(), shadow.snapshot().await.unwrap()];
    assert_eq!(snapshots[0], snapshots[1]);
    assert_eq!(project.sh(listing), before);
}

#[tokio::test]
async fn large_files_are_named_and_neither_read_nor_told_as_deleted() {
    let project =
        Project::new("head -c 2000 /dev/zero >old; head -c 2000 /dev/zero >still; echo a >grows; echo a >f");
    let shadow = project.shadow("s");
    let before = shadow.snapshot().await.unwrap();
    assert_eq!(before.too_big(), ["old", "still"]);
    project.sh(
        "head -c 2000 /dev/zero >>old; head -c 2000 /dev/zero >grows; head -c 2000 /dev/zero >new; echo b >f",
    );
    let after = shadow.snapshot().await.unwrap();
    assert_eq!(after.too_big(), ["grows", "new", "old", "still"]);
    let paths = |changes: Vec<Changed>| changes.into_iter().map(|one| one.path).collect::<Vec<_>>();
    assert_eq!(paths(shadow.changes(&before, &after).await.unwrap()), ["f"]);
    let blind =
        |now: &Snapshot, then| now.blind_since(then).iter().map(|gap| gap.path.clone()).collect::<Vec<_>>();
    assert_eq!(blind(&after, &before), ["grows", "new", "old"]);
    project.sh("rm new; echo small >grows");
    let last = shadow.snapshot().await.unwrap();
    assert_eq!(last.too_big(), ["old", "still"]);
    assert_eq!(paths(shadow.changes(&after, &last).await.unwrap()), [""; 0]);
    assert_eq!(blind(&last, &after), ["grows", "new"]);
    let size = project.sh("find ../state -size +4k -path '*objects*' -type f");
    assert_eq!(size, "");
}

#[tokio::test]
async fn a_folder_that_becomes_a_repository_is_covered_to_the_end_of_the_session() {
    let project = Project::new("mkdir sub; echo 1 >sub/f");
    let shadow = project.shadow("one");
    let got = changed(&shadow, &project, "git init -q sub; echo 2 >sub/f").await;
    assert_eq!(got, [r#""sub/f": file 1\n > file 2\n"#]);
    let next = project.shadow("two");
    assert_eq!(next.snapshot().await.unwrap().nested(), ["sub"]);
    assert_eq!(changed(&next, &project, "echo 3 >sub/f").await, [""; 0]);
}
