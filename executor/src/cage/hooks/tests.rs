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
        let watch = Watch::begin(&self.at(""));
        let before = watch.before.clone();
        act(self);
        assert_eq!(watch.settle(), said);
        let mut after = Watch::begin(&self.at("")).before;
        after.retain(|path, _| !path.starts_with(self.at("new")));
        assert_eq!(after, before);
    }
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
