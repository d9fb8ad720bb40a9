//! Whether a command names hooks or settings of git, which decide what git runs later.

use super::operands::operands;
use super::script::{Script, Simple};

/// What of git's own writes its settings.
const WRITES: &[&str] = &["config", "remote", "submodule", "worktree", "init", "clone", "sparse-checkout"];

/// Folders of which git or its helpers run files.
const FOLDERS: &[&str] = &[".git", ".husky", ".githooks"];

/// Whether some part of `script` does.
pub fn names_git_settings(script: &Script) -> bool {
    script.commands.iter().any(|simple| {
        let names = simple.words.iter().chain(simple.redirects.iter().map(|to| &to.target));
        let folder = |text: &str| text.split('/').any(|part| FOLDERS.contains(&part.to_lowercase().as_str()));
        names.into_iter().any(|word| folder(&word.text)) || writes(simple)
    })
}

fn writes(simple: &Simple) -> bool {
    let verb = || operands(simple).first().map(|word| word.text.clone());
    simple.name() == "git" && verb().is_some_and(|verb| WRITES.contains(&verb.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::parse;

    #[test]
    fn settings_and_hooks_are_named_in_many_ways() {
        for command in [
            "git config core.fsmonitor x",
            "git -C sub config a.b c",
            "git submodule add x",
            "sed -i s/a/b/ .git/config",
            "cp x sub/.GIT/hooks/",
            "echo x > .husky/pre-commit",
        ] {
            assert!(names_git_settings(&parse(command)), "{command}");
        }
        for command in ["git commit -m config", "cargo build", "cp .gitignore x", "echo git config"] {
            assert!(!names_git_settings(&parse(command)), "{command}");
        }
    }
}
