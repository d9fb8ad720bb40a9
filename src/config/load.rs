//! All layers, read, checked and merged: default, user, project, environment, flags; later wins.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use tandem_shared::digest::Digest;
use toml::Value;

use super::binding::split;
use super::environment::{self, Env, FromEnvironment};
use super::error::{ConfigError, Fault, Origin, ProtectedKey};
use super::flags::{self, Flags};
use super::layer::{Entry, KeyPath, Layer, merge, nested};
use super::protect::{protected, providers_of};
use super::settings::Config;
use super::shape::Shape;
use super::trust::TrustStore;
use super::{check, defaults, rules};

/// Everything that a configuration is made of. Nothing else is looked at.
#[derive(Clone, Debug)]
pub struct Input {
    /// The project root.
    pub root: PathBuf,
    /// The user's file, which need not exist; `None` without a home.
    pub user_file: Option<PathBuf>,
    /// The variables of the process.
    pub env: Env,
    /// What the command line sets.
    pub flags: Flags,
    /// Which project files are trusted.
    pub trust: TrustStore,
}

/// A configuration, and how it came about.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// Where each setting came from, by dotted key.
    pub origins: BTreeMap<String, Origin>,
    /// What a person should know before anything is sent.
    pub notices: Vec<String>,
    /// The layers, lowest first.
    pub(super) layers: Vec<Layer>,
    /// The layers as one.
    pub(super) merged: Layer,
}

/// A project file, for a person to judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// The file.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
    /// Digest of the content; what [`TrustStore::trust`] is given.
    pub digest: Digest,
    /// What it may not set without trust; empty when it needs none.
    pub protected: Vec<ProtectedKey>,
    /// Whether this content is trusted already.
    pub trusted: bool,
}

/// Reads and checks everything, before any request.
///
/// # Errors
/// [`ConfigError`], with every fault of the first source that has any.
pub fn load(input: &Input) -> Result<Loaded, ConfigError> {
    let shape = Shape::of_config();
    let own = own_layers(input, &shape)?;
    let mut files = own.clone();
    if let Some((review, layer)) = project(input, &shape, &own)? {
        if !review.trusted && !review.protected.is_empty() {
            return Err(ConfigError::Untrusted { path: review.path, keys: review.protected });
        }
        files.push(layer);
    }
    let mut flags = flags::layer(&input.flags, &shape)?;
    let FromEnvironment { fallback, settings: mut env, provider, mut notices } =
        environment::read(&input.env, &merge(&files));
    files.insert(1, fallback);

    let all = merge(files.iter().chain([&env, &flags]));
    let profile = profile(&all)?;
    // A profile from a file is part of the files; one from a flag goes before the environment.
    let (mut file_profile, mut flag_profile) = (None, None);
    match profile {
        Some((Origin::Flag(_), layer)) => flag_profile = Some(layer),
        Some((_, layer)) => file_profile = Some(layer),
        None => {}
    }
    files.extend(file_profile);

    let bound = merge(files.iter().chain(&flag_profile));
    let names = Names {
        providers: all.names("providers"),
        fallback: provider.or_else(|| in_use(&bound)).or_else(|| openai_key(&input.env)),
    };
    let mut chosen = false;
    if let Some(text) = environment::value(&input.env, "TANDEM_MODEL") {
        names.bind(&mut env, Origin::Env("TANDEM_MODEL"), text, &["planner", "executor"])?;
        chosen = true;
    }
    for (flag, text, roles) in flags::models(&input.flags) {
        names.bind(&mut flags, Origin::Flag(flag.to_owned()), text, roles)?;
        chosen |= flag == "--model";
        if text.starts_with("openai/") && environment::value(&input.env, "OPENAI_BASE_URL").is_some() {
            notices.push(format!(
                "{flag} {text}: asked of OPENAI_BASE_URL as {}; if the model's own name there is {text}, write openai/{text}",
                text.trim_start_matches("openai/")
            ));
        }
    }

    let mut layers = files;
    layers.push(env);
    layers.extend(flag_profile);
    layers.push(flags);
    let merged = merge(&layers);
    if chosen {
        notices.extend(elsewhere(&merged));
    }
    let faults = rules::faults(&merged);
    if !faults.is_empty() {
        return Err(ConfigError::Invalid(faults));
    }
    let config = typed(&merged)?;
    let origins = merged.entries.iter().map(|(key, entry)| (key.to_string(), entry.origin.clone())).collect();
    Ok(Loaded { config, origins, notices, layers, merged })
}

/// The project's file with what is dangerous in it; `None` when there is none.
///
/// # Errors
/// When a file cannot be read or is not valid, or the list of trusted projects is damaged.
pub fn review(input: &Input) -> Result<Option<Review>, ConfigError> {
    let shape = Shape::of_config();
    let own = own_layers(input, &shape)?;
    Ok(project(input, &shape, &own)?.map(|(review, _)| review))
}

/// Where the project's file would be.
pub fn project_file(root: &Path) -> PathBuf {
    root.join(".tandem").join("config.toml")
}

/// Where the user's file would be: in `$XDG_CONFIG_HOME`, else in `~/.config`; `None` without either.
pub fn user_file(env: &Env) -> Option<PathBuf> {
    let folder = |name: &str| env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")))?;
    Some(config.join("tandem").join("config.toml"))
}

/// What the user alone decides by files: the defaults and the user's own.
fn own_layers(input: &Input, shape: &Shape) -> Result<Vec<Layer>, ConfigError> {
    let mut layers = vec![defaults::layer(shape)?];
    if let Some(path) = &input.user_file
        && let Some(text) = read(path)?
    {
        layers.push(check::file("user", &text, shape, &in_file(path))?);
    }
    Ok(layers)
}

fn project(input: &Input, shape: &Shape, own: &[Layer]) -> Result<Option<(Review, Layer)>, ConfigError> {
    let path = project_file(&input.root);
    if input.user_file.as_ref() == Some(&path) {
        return Ok(None);
    }
    let Some(text) = read(&path)? else { return Ok(None) };
    let layer = check::file("project", &text, shape, &in_file(&path))?;
    let digest = Digest::of(&text);
    let merged = merge(own);
    let set = environment::read(&input.env, &merged);
    let texts = flags::models(&input.flags).into_iter().map(|(_, text, _)| text);
    let named = texts.chain(environment::value(&input.env, "TANDEM_MODEL"));
    let used: Vec<&str> = [&merged, &set.fallback, &set.settings]
        .into_iter()
        .flat_map(providers_of)
        .chain(named.filter_map(split).map(|(provider, _)| provider))
        .chain(set.provider)
        .collect();
    let protected = protected(&layer, &merged, &used);
    let trusted = input.trust.is_trusted(&input.root, &digest)?;
    Ok(Some((Review { path, text, digest, protected, trusted }, layer)))
}

fn in_file(path: &Path) -> impl Fn(usize) -> Origin {
    move |line| Origin::File { path: path.to_owned(), line }
}

/// More than any configuration, and little enough to read at start.
const LARGEST: u64 = 1 << 20;

/// The text of a file; `None` when there is none. A project may come from anywhere, so what is not a plain file of
/// moderate size is refused instead of read.
fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let fault = |source| ConfigError::Read { path: path.to_owned(), source };
    let meta = match std::fs::metadata(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(fault(error)),
        Ok(meta) => meta,
    };
    if !meta.is_file() || meta.len() > LARGEST {
        return Err(fault(io::Error::other("not a file of text of at most 1 MiB")));
    }
    let mut text = String::new();
    File::open(path).and_then(|file| file.take(LARGEST).read_to_string(&mut text)).map_err(fault)?;
    Ok(Some(text))
}

/// The chosen profile's roles as a layer, with the origin of the choice.
fn profile(all: &Layer) -> Result<Option<(Origin, Layer)>, ConfigError> {
    let Some(Entry { value: Value::String(name), origin }) = all.get(["profile"]) else { return Ok(None) };
    let known = all.names("profiles");
    if !known.contains(&name.as_str()) {
        let text = match known.is_empty() {
            true => format!(
                "there is no profile `{name}`; [profiles.{name}.roles.planner] with a model would make one"
            ),
            false => format!("there is no profile `{name}`; the profiles are {}", known.join(", ")),
        };
        return Err(ConfigError::one(origin.clone(), text));
    }
    let mut layer = Layer::new(format!("profile {name}"));
    for (key, entry) in all.entries.iter().filter(|(key, _)| key.within(&["profiles", name, "roles"])) {
        layer.entries.insert(KeyPath(key.0.iter().skip(2).cloned().collect()), entry.clone());
    }
    Ok(Some((origin.clone(), layer)))
}

/// What the text of a model is read against.
struct Names<'a> {
    providers: Vec<&'a str>,
    /// The provider of a model that names none.
    fallback: Option<&'a str>,
}

impl Names<'_> {
    /// `provider/name` of a known provider is taken as it stands. Anything else is a model of the provider in use, since
    /// models of some endpoints have a `/` in their names.
    fn bind(&self, layer: &mut Layer, origin: Origin, text: &str, roles: &[&str]) -> Result<(), ConfigError> {
        let text = text.trim();
        let model = match (split(text), self.fallback) {
            (Some((provider, _)), _) if self.providers.contains(&provider) => text.to_owned(),
            (_, Some(provider)) if !text.is_empty() => format!("{provider}/{text}"),
            _ => {
                let text = format!(
                    "\"{text}\" names no provider; write PROVIDER/NAME with one of {}, or set OPENAI_BASE_URL or API_BASE",
                    self.providers.join(", ")
                );
                return Err(ConfigError::one(origin, text));
            }
        };
        for role in roles {
            layer.set(KeyPath::of(["roles", role, "model"]), model.as_str(), origin.clone());
        }
        Ok(())
    }
}

/// The provider that the files bind the planner to, else the executor.
fn in_use(files: &Layer) -> Option<&str> {
    let model = |role| files.text(["roles", role, "model"]).and_then(split).map(|(provider, _)| provider);
    model("planner").or_else(|| model("executor"))
}

fn openai_key(env: &Env) -> Option<&'static str> {
    environment::value(env, "OPENAI_API_KEY").map(|_| "openai")
}

/// Roles that keep a model of their own beside the one that was chosen for this run.
fn elsewhere(merged: &Layer) -> Vec<String> {
    ["thinking", "critique", "compaction"]
        .into_iter()
        .filter_map(|role| {
            let entry = merged.get(["roles", role, "model"])?;
            let model = entry.value.as_str()?;
            let told = matches!(entry.origin, Origin::Default | Origin::File { .. });
            told.then(|| {
                format!("{role} stays on {model} ({}); --set roles.{role}.model=… changes it", entry.origin)
            })
        })
        .collect()
}

fn typed(merged: &Layer) -> Result<Config, ConfigError> {
    let mut table = nested(merged);
    for section in ["roles", "profiles"] {
        table.entry(section).or_insert_with(|| Value::Table(toml::Table::new()));
    }
    Value::Table(table).try_into().map_err(|error: toml::de::Error| {
        let fault = Fault {
            origin: Origin::Default,
            text: format!("the settings do not fit together: {}", error.message()),
        };
        ConfigError::Invalid(vec![fault])
    })
}
