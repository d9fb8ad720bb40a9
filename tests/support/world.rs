//! A temporary home, state folder and project for the binary, cut off from those of the person who runs the tests.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::run::Launch;
use super::server::Server;

/// The key that the configuration names. It must never be seen anywhere but in the header.
pub const KEY: &str = "sk-test-3f9d1c7b5a";

/// The variable that holds [`KEY`].
pub const KEY_VARIABLE: &str = "TANDEM_TEST_KEY";

/// Where one test happens.
pub struct World {
    temp: TempDir,
}

/// All files of a folder outside `.git`: mode and content by relative path. Folders count by what is in them.
pub type Tree = BTreeMap<String, (u32, String)>;

impl World {
    /// An empty project.
    pub fn new() -> World {
        let world = World { temp: TempDir::with_prefix("tandem-e2e-").expect("a temporary folder") };
        for folder in ["project", "home", "config/tandem", "state", "cache"] {
            fs::create_dir_all(world.path(folder)).expect("a folder in the temporary folder");
        }
        world
    }

    /// A project with these files.
    pub fn with(files: &[(&str, &str)]) -> World {
        let world = World::new();
        for (path, text) in files {
            world.write(path, text);
        }
        world
    }

    /// A path beside the project.
    pub fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    pub fn root(&self) -> PathBuf {
        self.path("project")
    }

    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: &str) {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().expect("a file has a folder")).expect("the file's folder");
        fs::write(file, text).expect("a file of the project");
    }

    /// Reads a file of the project.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Makes the project a repository with everything in it committed.
    pub fn commit_all(&self) {
        self.git(&["init", "--quiet", "--initial-branch=main"]);
        self.git(&["add", "--all", "--force"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message=start"]);
    }

    /// What git answers in the project.
    pub fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"])
            .args(args)
            .current_dir(self.root())
            .env("HOME", self.path("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {}: {errors}", args.join(" "));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The project as it stands.
    pub fn tree(&self) -> Tree {
        tree(&self.root())
    }

    /// Writes the user's configuration file as it is given.
    pub fn configure(&self, text: &str) {
        fs::write(self.path("config/tandem/config.toml"), text).expect("the configuration file");
    }

    /// Binds every role to a model of its own name on one server, without thinking, and with `more` on top.
    pub fn bind(&self, server: &Server, more: &str) {
        let mut table = all_roles(&server.url());
        merge(&mut table, more.parse().expect("further configuration is TOML"));
        self.configure(&table.to_string());
    }

    /// The id of the newest session.
    pub fn newest_session(&self) -> String {
        let listed = self.tandem(&["sessions", "list"]).run().expect(0).stdout;
        listed.lines().last().and_then(|line| line.split_whitespace().next()).unwrap_or_default().to_owned()
    }

    /// The binary with these arguments.
    pub fn tandem(&self, args: &[&str]) -> Launch {
        Launch::new(self, args)
    }
}

/// The configuration that scenarios begin with.
pub fn all_roles(url: &str) -> toml::Table {
    let mut text = format!("[providers.test]\nbase_url = \"{url}\"\napi_key_env = \"{KEY_VARIABLE}\"\n");
    for role in ["planner", "thinking", "executor", "critique", "compaction"] {
        text.push_str(&format!("[roles.{role}]\nmodel = \"test/{role}\"\ncontext_window = 128000\n"));
    }
    text.push_str("[thinking]\nmode = \"off\"\n");
    text.parse().expect("the base configuration is TOML")
}

/// Lays `over` on `under`, table by table.
pub fn merge(under: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => merge(under, over),
            (_, value) => _ = under.insert(key, value),
        }
    }
}

/// All files under `root`, outside `.git`. Bytes that are not text are shown as their escapes.
pub fn tree(root: &Path) -> Tree {
    let mut files = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(root).expect("under the root").to_string_lossy().into_owned();
            let about = fs::symlink_metadata(&path).expect("metadata");
            if about.is_dir() {
                if name != ".git" {
                    folders.push(path);
                }
            } else if about.is_symlink() {
                let target = fs::read_link(&path).expect("a link's target");
                files.insert(name, (0, target.to_string_lossy().into_owned()));
            } else {
                let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
                let text = String::from_utf8(bytes)
                    .unwrap_or_else(|error| error.as_bytes().escape_ascii().to_string());
                files.insert(name, (about.permissions().mode() & 0o7777, text));
            }
        }
    }
    files
}

/// Fails with the differing files when the two are not equal.
pub fn assert_same_tree(found: &Tree, expected: &Tree, what: &str) {
    let mut differences = Vec::new();
    for name in found.keys().chain(expected.keys()).collect::<std::collections::BTreeSet<_>>() {
        match (found.get(name), expected.get(name)) {
            (Some(found), Some(expected)) if found == expected => {}
            (Some((mode, text)), Some((expected_mode, expected_text))) => differences.push(format!(
                "{name}: found mode {mode:o} and:\n{text}\nexpected mode {expected_mode:o} and:\n{expected_text}"
            )),
            (Some((_, text)), None) => differences.push(format!("{name}: not expected, but there:\n{text}")),
            (None, _) => differences.push(format!("{name}: expected, but not there")),
        }
    }
    assert!(differences.is_empty(), "{what}:\n{}", differences.join("\n"));
}

/// The paths of all files under `root`, which may be missing.
pub fn tree_paths(root: &Path) -> Vec<String> {
    if root.is_dir() { tree(root).into_keys().collect() } else { Vec::new() }
}

/// Every file under `folder` whose bytes hold `text`.
pub fn files_holding(folder: &Path, text: &str) -> Vec<PathBuf> {
    let holds = |path: &Path| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    };
    let mut holding = Vec::new();
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            holding.extend(files_holding(&path, text));
        } else if holds(&path) {
            holding.push(path);
        }
    }
    holding
}
