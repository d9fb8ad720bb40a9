//! A scenario is a folder: `scenario.toml` says what the model says, what is run and what must come of it; `input/` is
//! the project before; `expected/` holds the files that differ after. Without `expected/`, nothing may differ.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::reply::Reply;
use super::request::Request;
use super::run::Ran;
use super::script::Script;
use super::server::Server;
use super::sheet::{Run, Scenario, Servers, holding, lacking};
use super::world::{self, KEY, World};

/// The folder that holds all scenarios.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}

/// Plays the scenario of that name, and fails with everything that is not as it must be.
pub fn play(name: &str) {
    let folder = folder().join(name);
    let file = folder.join("scenario.toml");
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let scenario: Scenario = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut stage = Stage::set(&folder, &scenario);
    let before = stage.world.tree();
    for run in &scenario.run {
        stage.run(run);
    }
    let chats = stage.chats();
    for fact in &scenario.request {
        stage.problems.extend(fact.problems(&chats));
    }
    stage.check_key(&chats);
    stage.check_servers();
    if stage.problems.is_empty() {
        let expected = expected(&folder, &scenario, before);
        world::assert_same_tree(&stage.world.tree(), &expected, "the project after");
        return;
    }
    let sent = chats.iter().map(|chat| format!("{}: …{}", chat.model, tail(&chat.last(), 300)));
    panic!(
        "{name}: {}\n\n{}\n\nruns:\n{}\n\nlast messages sent:\n{}",
        scenario.about,
        stage.problems.join("\n"),
        stage.shown.join("\n"),
        sent.collect::<Vec<_>>().join("\n")
    );
}

/// The scenario while it plays.
struct Stage {
    world: World,
    /// With the role that is to be asked there; one server for all has none.
    servers: Vec<(Option<&'static str>, Server)>,
    names: BTreeMap<String, String>,
    problems: Vec<String>,
    shown: Vec<String>,
}

impl Stage {
    fn set(folder: &Path, scenario: &Scenario) -> Stage {
        let world = World::new();
        copy(&folder.join("input"), &world.root());
        if scenario.git {
            world.commit_all();
        }
        let replies = |name: &str| {
            let root = world.root();
            let replies = scenario.replies.get(name).cloned().unwrap_or_default();
            replies.into_iter().map(move |reply| with_writes(reply, root.clone())).collect::<Vec<_>>()
        };
        let mut names = BTreeMap::from([
            ("root".to_owned(), world.root().display().to_string()),
            ("key".to_owned(), KEY.to_owned()),
            ("temp".to_owned(), world.path("").display().to_string().trim_end_matches('/').to_owned()),
        ]);
        let mut servers = Vec::new();
        let mut table = toml::Table::new();
        match scenario.servers {
            Servers::One => {
                let script = scenario
                    .replies
                    .keys()
                    .fold(Script::new(), |script, name| script.say(name, replies(name)));
                let server = Server::start(script);
                names.insert("server".into(), server.url());
                table = world::all_roles(&server.url());
                servers.push((None, server));
            }
            Servers::Each => {
                for role in ["planner", "thinking", "executor"] {
                    let server = Server::start(Script::new().say(role, replies(role)));
                    names.insert(format!("server-{role}"), server.url());
                    let binding = format!(
                        "[providers.of-{role}]\nbase_url = \"{}\"\napi_key_env = \"{}\"\n\
                         [roles.{role}]\nmodel = \"of-{role}/{role}\"\ncontext_window = 128000\n",
                        server.url(),
                        world::KEY_VARIABLE
                    );
                    world::merge(&mut table, binding.parse().expect("a binding is TOML"));
                    servers.push((Some(role), server));
                }
            }
        }
        let mut stage = Stage { world, servers, names, problems: Vec::new(), shown: Vec::new() };
        let text = match &scenario.raw_config {
            Some(raw) => stage.fill(raw),
            None => {
                let more = stage.fill(&scenario.config);
                world::merge(&mut table, more.parse().unwrap_or_else(|error| panic!("config: {error}")));
                table.to_string()
            }
        };
        stage.world.configure(&text);
        stage
            .names
            .insert("config".into(), stage.world.path("config/tandem/config.toml").display().to_string());
        stage
    }

    /// Every chat request so far, in the order of arrival.
    fn chats(&self) -> Vec<Arc<Request>> {
        let mut chats: Vec<_> = self.servers.iter().flat_map(|(_, server)| server.chats()).collect();
        chats.sort_by_key(|chat| chat.at);
        chats
    }

    fn fill(&self, text: &str) -> String {
        self.names
            .iter()
            .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
    }

    fn run(&mut self, run: &Run) {
        for (path, text) in &run.write {
            self.world.write(path, text);
        }
        let (before, sent_before) = (self.world.tree(), self.chats().len());
        let args: Vec<String> = run.args.iter().map(|arg| self.fill(arg)).collect();
        let mut launch = self.world.tandem(&args.iter().map(String::as_str).collect::<Vec<_>>());
        for (name, value) in &run.env {
            launch = launch.env(name, self.fill(value));
        }
        let ran = match &run.terminal {
            None => match &run.stdin {
                Some(text) => launch.stdin(&self.fill(text)).run(),
                None => launch.run(),
            },
            Some(lines) => {
                let mut running = launch.terminal().spawn();
                for (wait, line) in lines {
                    running.wait_for(&self.fill(wait));
                    running.say(&format!("{}\n", self.fill(line)));
                }
                running.wait()
            }
        };
        self.judge(run, &ran);
        if run.unchanged && self.world.tree() != before {
            self.problems.push(format!("`{}` changed the project", args.join(" ")));
        }
        if let Some(expected) = &run.requests {
            let mut found: BTreeMap<String, usize> = BTreeMap::new();
            for chat in self.chats().iter().skip(sent_before) {
                *found.entry(chat.model.clone()).or_default() += 1;
            }
            if found != *expected {
                self.problems.push(format!("`{}` sent {found:?}, not {expected:?}", args.join(" ")));
            }
        }
        for (name, marker) in &run.keep {
            let said = format!("{}\n{}", ran.stdout, ran.stderr);
            let word = said.split_once(marker.as_str()).and_then(|(_, rest)| rest.split_whitespace().next());
            match word {
                Some(word) => _ = self.names.insert(name.clone(), word.to_owned()),
                None => self.problems.push(format!("nothing follows {marker:?} in the output")),
            }
        }
        self.shown.push(ran.all());
    }

    fn judge(&mut self, run: &Run, ran: &Ran) {
        let mut problems = Vec::new();
        if !run.code.allows(ran.code) {
            problems.push(format!("exit code {}, not {}", ran.code, run.code));
        }
        let texts = |texts: &[String]| texts.iter().map(|text| self.fill(text)).collect::<Vec<_>>();
        let both = format!("{}\n{}", ran.stdout, ran.stderr);
        let stderr = &ran.stderr;
        for (stream, said, has, lacks) in [
            ("stdout", &ran.stdout, &run.stdout, &run.stdout_lacks),
            ("stderr", stderr, &run.stderr, &run.stderr_lacks),
            ("the output", &both, &run.said, &Vec::new()),
        ] {
            problems.extend(lacking(said, &texts(has)).map(|text| format!("{stream} lacks {text:?}")));
            problems.extend(holding(said, &texts(lacks)).map(|text| format!("{stream} holds {text:?}")));
        }
        if let Some(all) = run.stdout_is.as_ref().map(|all| self.fill(all))
            && all != ran.stdout
        {
            problems.push(format!("stdout is {:?}, not {all:?}", ran.stdout));
        }
        for (path, has) in &run.files {
            let file = self.world.root().join(self.fill(path));
            match fs::read_to_string(&file) {
                Ok(text) => {
                    problems.extend(lacking(&text, &texts(has)).map(|has| format!("{path} lacks {has:?}")));
                }
                Err(error) => problems.push(format!("{path}: {error}")),
            }
        }
        let line = run.args.join(" ");
        self.problems.extend(problems.into_iter().map(|problem| format!("`{line}`: {problem}")));
    }

    /// A server of one role was asked by no other.
    fn check_servers(&mut self) {
        for (role, server) in &self.servers {
            let strangers =
                server.chats().into_iter().filter(|chat| role.is_some_and(|role| chat.role() != role));
            self.problems
                .extend(strangers.map(|chat| format!("the server of {role:?} was asked by {}", chat.model)));
        }
    }

    /// The key is in every chat request's header, and nowhere else.
    fn check_key(&mut self, chats: &[Arc<Request>]) {
        let bearer = ("authorization".to_owned(), format!("Bearer {KEY}"));
        if chats.iter().any(|chat| !chat.headers.contains(&bearer)) {
            self.problems.push("a request does not carry the key in its header".to_owned());
        }
        for file in world::files_holding(&self.world.path(""), KEY) {
            self.problems.push(format!("the key is in {}", file.display()));
        }
    }
}

fn with_writes(reply: Reply, root: PathBuf) -> Reply {
    if reply.write.is_empty() {
        return reply;
    }
    let files = reply.write.clone();
    reply.before(move |_| {
        for (path, text) in &files {
            fs::write(root.join(path), text).expect("a file of the project");
        }
    })
}

/// The project as it must be after: before, with `expected/` laid over it and `deleted` taken out.
fn expected(folder: &Path, scenario: &Scenario, before: world::Tree) -> world::Tree {
    let mut tree = before;
    let over = folder.join("expected");
    if over.is_dir() {
        for (path, (mode, text)) in world::tree(&over) {
            let mode = tree.get(&path).map_or(mode, |(mode, _)| *mode);
            tree.insert(path, (mode, text));
        }
    }
    for path in &scenario.deleted {
        assert!(tree.remove(path).is_some(), "{path} is not in the input");
    }
    tree
}

fn copy(from: &Path, to: &Path) {
    for path in world::tree_paths(from) {
        let target = to.join(&path);
        fs::create_dir_all(target.parent().expect("a file has a folder")).expect("the file's folder");
        fs::copy(from.join(&path), target).expect("a file of the input");
    }
}

fn tail(text: &str, chars: usize) -> String {
    let skipped = text.chars().count().saturating_sub(chars);
    text.chars().skip(skipped).collect()
}
