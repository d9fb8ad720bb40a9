//! Whole configurations: real files in a temporary folder, variables and flags as values.

use std::collections::BTreeMap;

use tandem_shared::role::Role;

use super::*;

mod layers;
mod mistakes;
mod project;
mod published;
mod roles;

/// A user and a project with nothing configured.
struct Case {
    folder: tempfile::TempDir,
    input: Input,
}

fn case() -> Case {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    std::fs::create_dir_all(root.join(".tandem")).unwrap();
    let input = Input {
        root,
        user_file: Some(folder.path().join("user.toml")),
        env: BTreeMap::new(),
        flags: Flags::default(),
        trust: TrustStore::in_state_dir(&folder.path().join("state")),
    };
    Case { folder, input }
}

impl Case {
    fn user(self, text: &str) -> Case {
        std::fs::write(self.folder.path().join("user.toml"), text).unwrap();
        self
    }

    fn project(self, text: &str) -> Case {
        std::fs::write(project_file(&self.input.root), text).unwrap();
        self
    }

    fn env(mut self, name: &str, value: &str) -> Case {
        self.input.env.insert(name.to_owned(), value.to_owned());
        self
    }

    fn flags(mut self, change: impl FnOnce(&mut Flags)) -> Case {
        change(&mut self.input.flags);
        self
    }

    fn set(self, text: &str) -> Case {
        self.flags(|flags| flags.set.push(text.to_owned()))
    }

    fn model(self, text: &str) -> Case {
        self.flags(|flags| flags.model = Some(text.to_owned()))
    }

    /// Text with the temporary folder left out.
    fn short(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }

    fn load(&self) -> Loaded {
        load(&self.input).unwrap_or_else(|error| panic!("{error}"))
    }

    fn error(&self) -> String {
        match load(&self.input) {
            Ok(_) => panic!("loaded"),
            Err(error) => self.short(&error.to_string()),
        }
    }

    fn origin(&self, key: &str) -> String {
        self.short(&self.load().origins.get(key).unwrap_or_else(|| panic!("{key} is not set")).to_string())
    }

    /// `provider/model` of a role.
    fn bound(&self, role: Role) -> Option<String> {
        self.load().config.binding(role).map(|bound| format!("{}/{}", bound.provider, bound.model))
    }

    #[track_caller]
    fn binds(&self, role: Role, model: &str) {
        assert_eq!(self.bound(role).as_deref(), Some(model), "{role}");
    }
}
