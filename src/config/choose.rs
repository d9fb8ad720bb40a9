//! Models that are named for one run, by flag or variable: which provider each belongs to.

use super::binding::split;
use super::environment::{self, Env};
use super::error::{ConfigError, Origin};
use super::flags::{self, Flags};
use super::layer::{KeyPath, Layer};

/// What the text of a model is read against.
pub struct Names<'a> {
    providers: Vec<&'a str>,
    /// The provider of a model that names none.
    fallback: Option<&'a str>,
}

impl<'a> Names<'a> {
    /// The known providers are those of `all` layers. A model that names none belongs to the endpoint that the environment
    /// names, else to the one that `below` binds the planner to, else to OpenAI when there is a key for it.
    pub fn new(all: &'a Layer, named: Option<&'a str>, below: &'a Layer, env: &Env) -> Names<'a> {
        let with_key = || environment::value(env, "OPENAI_API_KEY").map(|_| "openai");
        Names {
            providers: all.names("providers"),
            fallback: named.or_else(|| in_use(below)).or_else(with_key),
        }
    }

    /// Puts the models of `TANDEM_MODEL` and of the flags into their layers. Answers whether planner and executor were
    /// given one model for this run.
    ///
    /// # Errors
    /// When a model names no known provider and none is in use.
    pub fn choose(
        &self,
        env: &Env,
        env_layer: &mut Layer,
        flags: &Flags,
        flag_layer: &mut Layer,
        notices: &mut Vec<String>,
    ) -> Result<bool, ConfigError> {
        let mut both = false;
        if let Some(text) = environment::value(env, "TANDEM_MODEL") {
            self.bind(env_layer, Origin::Env("TANDEM_MODEL"), text, &["planner", "executor"])?;
            both = true;
        }
        for (flag, text, roles) in flags::models(flags) {
            self.bind(flag_layer, Origin::Flag(flag.to_owned()), text, roles)?;
            both |= roles.len() > 1;
            if let (Some(rest), Some(_)) =
                (text.strip_prefix("openai/"), environment::value(env, "OPENAI_BASE_URL"))
            {
                notices.push(format!(
                    "{flag} {text}: asked of OPENAI_BASE_URL as {rest}; if the model's own name there is {text}, write openai/{text}"
                ));
            }
        }
        Ok(both)
    }

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

/// Roles that keep a model of their own beside the one that was chosen for this run.
pub fn elsewhere(merged: &Layer) -> Vec<String> {
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
