//! Commands that a person is asked about, in the forms in which they are written.

use super::check;

#[test]
fn installing_is_asked_about_in_every_form() {
    for (command, rule) in [
        ("yarn", "install_bare"),
        ("yarn --frozen-lockfile", "install_bare"),
        ("bundle", "install_bare"),
        ("uv pip install x", "install_uv_pip"),
        ("bundle install", "install_other"),
        ("pip3.11 install x", "install_python"),
        ("pip3 --python .venv install x", "install_python"),
        ("python3.11 -m pip install x", "install_python_m"),
        ("python -mpip install x", "install_python_m"),
        ("npm -C web install", "install_node"),
        ("npm --prefix web install x", "install_node"),
        ("npm x foo", "install_node"),
        ("yarn --cwd web add x", "install_node"),
        ("cargo binstall x", "install_other"),
    ] {
        check(command, &format!("risky {rule}"));
    }
    for command in
        ["yarn test", "yarn --version", "python3.11 -m pytest", "npm --prefix web test", "npm run install-x"]
    {
        check(command, "plain");
    }
}

#[test]
fn discarding_and_sending_is_asked_about_in_every_form() {
    for (command, rule) in [
        ("git rm -rf src", "git_rm"),
        ("git subtree push --prefix a origin main", "git_push_part"),
        ("git lfs push origin main", "git_push_part"),
        ("git send-pack origin main", "git_push"),
        ("git switch -f main", "git_switch"),
        ("git switch --discard-changes main", "git_switch"),
        ("git checkout HEAD a.txt", "git_checkout_files"),
        ("git checkout src/main.rs", "git_checkout_files"),
        ("git restore --staged --worktree f", "git_restore_worktree"),
        ("git restore --staged -W f", "git_restore_worktree"),
        ("git restore -s HEAD --staged f", "git_restore"),
        ("git clean -f -e -n", "git_clean"),
        ("git reflog expire --expire=now --all", "git_reflog"),
        ("terraform destroy", "infrastructure"),
        ("terraform -chdir=live apply", "infrastructure"),
        ("cargo publish", "publish"),
        ("chmod -R 777 .", "chmod_wide"),
    ] {
        check(command, &format!("risky {rule}"));
    }
    for command in ["chmod -R u+w /", "chmod -R u+w ~", "chmod -R 777 ..", "chown -R me /"] {
        check(command, "forbidden chmod_vital");
    }
}
