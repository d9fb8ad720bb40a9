//! Hooks and settings that a command changed.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Project {
        let project = Project(tempfile::tempdir().unwrap());
        project.repository(".git");
        fs::write(project.at(".git/hooks/pre-commit"), "#!/bin/sh\necho mine\n").unwrap();
        fs::set_permissions(project.at(".git/hooks/pre-commit"), fs::Permissions::from_mode(0o755)).unwrap();
        project
    }

    fn at(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap().join(path)
    }

    fn repository(&self, path: &str) {
        for part in ["objects", "refs", "hooks"] {
            fs::create_dir_all(self.at(path).join(part)).unwrap();
        }
        fs::write(self.at(path).join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(self.at(path).join("config"), "[core]\n").unwrap();
    }

    /// What is said of what `act` does, and that nothing of it lasts.
    fn check(&self, act: impl FnOnce(&Project), said: &[&str]) {
        let watch = Watch::begin(&self.at(""), &environment());
        let before = watch.before.clone();
        act(self);
        assert_eq!(watch.settle(Span::Short), said);
        let mut after = Watch::begin(&self.at(""), &environment()).before;
        after.retain(|path, _| !path.starts_with(self.at("new")));
        assert_eq!(after, before);
    }
}

/// What git needs to be found.
fn environment() -> Environment {
    let path = std::env::var("PATH").unwrap();
    Environment { variables: vec![("PATH".to_owned(), path)], secrets: Default::default() }
}

#[test]
fn nothing_is_said_when_nothing_changed() {
    Project::new().check(|project| fs::write(project.at(".git/index"), "x").unwrap(), &[]);
}

#[test]
fn changed_hooks_and_settings_are_put_back() {
    Project::new().check(
        |project| {
            fs::write(project.at(".git/hooks/pre-commit"), "evil").unwrap();
            fs::write(project.at(".git/config"), "[core]\nfsmonitor = evil\n").unwrap();
        },
        &[".git/config was changed, and was put back", ".git/hooks/pre-commit was changed, and was put back"],
    );
}

#[test]
fn new_hooks_and_settings_are_removed() {
    Project::new().check(
        |project| {
            fs::write(project.at(".git/hooks/post-checkout"), "evil").unwrap();
            fs::write(project.at(".git/config.worktree"), "[core]").unwrap();
            fs::write(project.at(".git/commondir"), "../evil").unwrap();
        },
        &[
            ".git/commondir was made, and was removed",
            ".git/config.worktree was made, and was removed",
            ".git/hooks/post-checkout was made, and was removed",
        ],
    );
}

#[test]
fn removed_hooks_come_back_with_their_folder_and_mode() {
    Project::new().check(
        |project| fs::remove_dir_all(project.at(".git/hooks")).unwrap(),
        &[".git/hooks/pre-commit was changed, and was put back"],
    );
}

#[test]
fn a_link_in_the_place_of_the_hooks_is_removed() {
    let project = Project::new();
    fs::remove_file(project.at(".git/hooks/pre-commit")).unwrap();
    project.check(
        |project| {
            fs::remove_dir(project.at(".git/hooks")).unwrap();
            symlink(project.at("evil"), project.at(".git/hooks")).unwrap();
        },
        &[".git/hooks was made, and was removed"],
    );
}

#[test]
fn hooks_in_the_project_are_put_back_with_their_folder_whatever_stands_in_its_place() {
    let project = Project::new();
    fs::write(project.at(".git/config"), "[core]\nhooksPath = .husky/_\n").unwrap();
    fs::create_dir_all(project.at(".husky/_")).unwrap();
    fs::write(project.at(".husky/pre-commit"), "mine").unwrap();
    fs::write(project.at(".husky/_/pre-commit"), "wrapper").unwrap();
    // Written anew with the same content, as setting them up does.
    project.check(|project| fs::write(project.at(".husky/_/pre-commit"), "wrapper").unwrap(), &[]);
    let both = [
        ".husky/_/pre-commit was changed, and was put back",
        ".husky/pre-commit was changed, and was put back",
    ];
    project.check(|project| fs::remove_dir_all(project.at(".husky")).unwrap(), &both);
    let replaced = [&[".husky was made, and was removed"][..], &both].concat();
    project.check(
        |project| {
            fs::rename(project.at(".husky"), project.at("new")).unwrap();
            symlink("new", project.at(".husky")).unwrap();
        },
        &replaced,
    );
    fs::remove_dir_all(project.at("new")).unwrap();
    project.check(
        |project| {
            fs::remove_dir_all(project.at(".husky")).unwrap();
            fs::write(project.at(".husky"), "a file").unwrap();
        },
        &replaced,
    );
}

#[test]
fn what_somebody_else_may_have_changed_beside_a_job_stays_and_is_told() {
    let project = Project::new();
    fs::write(project.at(".git/config"), "[include]\npath = ../team.ini\n").unwrap();
    let watch = Watch::begin(&project.at(""), &environment());
    fs::write(project.at("team.ini"), "[core]\n").unwrap();
    assert_eq!(
        watch.settle(Span::Long),
        ["team.ini, which git runs or reads, was changed by it or by somebody else, and stays so"]
    );
    assert_eq!(fs::read_to_string(project.at("team.ini")).unwrap(), "[core]\n");
    let watch = Watch::begin(&project.at(""), &environment());
    fs::write(project.at("team.ini"), "[core]\nfsmonitor = evil\n").unwrap();
    assert_eq!(watch.settle(Span::Short), ["team.ini was changed, and was put back"]);
}

#[test]
fn what_a_held_job_cannot_have_done_is_left_alone() {
    let project = Project::new();
    let mut watch = Watch::begin(&project.at(""), &environment());
    assert_eq!(watch.hold(), Vec::<PathBuf>::new());
    // As `git push -u` and a person do meanwhile.
    fs::write(project.at(".git/config"), "[branch \"x\"]\nremote = origin\n").unwrap();
    fs::write(project.at(".git/hooks/pre-push"), "mine").unwrap();
    fs::write(project.at(".git/commondir"), "../evil").unwrap();
    assert_eq!(
        watch.settle(Span::Long),
        [
            ".git/commondir was made, and was removed",
            ".git/config, which git runs or reads, was changed by it or by somebody else, and stays so",
        ]
    );
    assert!(fs::read_to_string(project.at(".git/config")).unwrap().contains("origin"));
    assert!(project.at(".git/hooks/pre-push").exists());
}

#[test]
fn a_bare_repository_may_be_removed_but_not_changed() {
    let project = Project::new();
    project.repository("old/bare.git");
    project.check(
        |project| fs::write(project.at("old/bare.git/config"), "[core]\nfsmonitor = evil\n").unwrap(),
        &["old/bare.git/config was changed, and was put back"],
    );
    let watch = Watch::begin(&project.at(""), &environment());
    fs::remove_dir_all(project.at("old")).unwrap();
    assert_eq!(watch.settle(Span::Short), Vec::<String>::new());
}

#[test]
fn a_new_repository_is_told_and_loses_its_hooks() {
    Project::new().check(
        |project| {
            project.repository("new/.git");
            fs::write(project.at("new/.git/hooks/pre-push"), "evil").unwrap();
            fs::write(project.at("new/.git/hooks/pre-push.sample"), "harmless").unwrap();
        },
        &[
            "new/.git/hooks/pre-push was made, and was removed",
            "new/.git is a new repository, whose settings were not looked at",
        ],
    );
}
