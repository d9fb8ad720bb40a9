//! The flags that set something, as a layer above everything else.

use std::time::Duration;

use super::check;
use super::error::{ConfigError, Origin};
use super::layer::{KeyPath, Layer};
use super::shape::Shape;

/// What the command line sets. Models are not in the layer: their provider is known only when all layers are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flags {
    /// Each `--set key=value`, in order.
    pub set: Vec<String>,
    /// `--model`: planner and executor.
    pub model: Option<String>,
    /// `--planner-model`.
    pub planner_model: Option<String>,
    /// `--thinking-model`.
    pub thinking_model: Option<String>,
    /// `--executor-model`.
    pub executor_model: Option<String>,
    /// `--profile`.
    pub profile: Option<String>,
    /// `--approval`, as it was typed.
    pub approval: Option<String>,
    /// `--max-rounds`: of planner and executor each.
    pub max_rounds: Option<u32>,
    /// `--timeout`: for the whole task.
    pub timeout: Option<Duration>,
    /// `--max-budget-usd`: what the whole task may cost, in US dollars.
    pub max_budget_usd: Option<f64>,
    /// `--max-tokens-total`: tokens of prompts and answers for the whole task.
    pub max_tokens_total: Option<u64>,
}

/// The layer of the flags. A flag of its own goes before `--set`.
///
/// # Errors
/// A `--set` that names no key or has the wrong kind of value, or an approval that does not exist.
pub fn layer(flags: &Flags, shape: &Shape) -> Result<Layer, ConfigError> {
    let mut layer = Layer::new("flags");
    for text in &flags.set {
        check::assignment(text, shape, &Origin::Flag(format!("--set {}", shown(text))), &mut layer)?;
    }
    if let Some(approval) = &flags.approval {
        check::assignment(&format!("session.approval={approval}"), shape, &flag("--approval"), &mut layer)?;
    }
    if let Some(profile) = &flags.profile {
        layer.set(KeyPath::of(["profile"]), profile.as_str(), flag("--profile"));
    }
    if let Some(rounds) = flags.max_rounds {
        for key in ["planner_rounds", "executor_rounds"] {
            layer.set(KeyPath::of(["loop", key]), i64::from(rounds), flag("--max-rounds"));
        }
    }
    if let Some(timeout) = flags.timeout {
        // Rounded up, since 0 is no limit.
        let seconds = timeout.as_secs() + u64::from(timeout.subsec_nanos() > 0);
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        layer.set(KeyPath::of(["loop", "time_budget_s"]), seconds, flag("--timeout"));
    }
    if let Some(usd) = flags.max_budget_usd {
        layer.set(KeyPath::of(["loop", "max_usd"]), usd, flag("--max-budget-usd"));
    }
    if let Some(tokens) = flags.max_tokens_total {
        let tokens = i64::try_from(tokens).unwrap_or(i64::MAX);
        layer.set(KeyPath::of(["loop", "max_tokens_total"]), tokens, flag("--max-tokens-total"));
    }
    Ok(layer)
}

/// The flags that name a model, with the roles they bind; later ones go before earlier ones.
pub fn models(flags: &Flags) -> Vec<(&'static str, &str, &'static [&'static str])> {
    let rows: [(&'static str, &Option<String>, &'static [&'static str]); 4] = [
        ("--model", &flags.model, &["planner", "executor"]),
        ("--planner-model", &flags.planner_model, &["planner"]),
        ("--thinking-model", &flags.thinking_model, &["thinking"]),
        ("--executor-model", &flags.executor_model, &["executor"]),
    ];
    rows.into_iter().filter_map(|(flag, text, roles)| Some((flag, text.as_deref()?, roles))).collect()
}

fn flag(name: &str) -> Origin {
    Origin::Flag(name.to_owned())
}

/// The key alone, since the value of a mistaken key may be a secret.
fn shown(text: &str) -> &str {
    text.split_once('=').map_or(text, |(key, _)| key.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(texts: &[&str]) -> Result<Vec<(String, String)>, String> {
        let flags = Flags { set: texts.iter().map(|text| (*text).to_owned()).collect(), ..Flags::default() };
        let layer = layer(&flags, &Shape::of_config()).map_err(|error| error.to_string())?;
        Ok(layer.entries.into_iter().map(|(key, entry)| (key.to_string(), entry.value.to_string())).collect())
    }

    fn one(text: &str, key: &str, value: &str) {
        assert_eq!(set(&[text]), Ok(vec![(key.to_owned(), value.to_owned())]), "{text}");
    }

    #[test]
    fn a_value_is_toml_and_a_bare_word_is_a_text() {
        one("loop.planner_rounds=20", "loop.planner_rounds", "20");
        one("session.approval = auto-edit", "session.approval", "\"auto-edit\"");
        one("session.approval=\"strict\"", "session.approval", "\"strict\"");
        one("thinking.critique=true", "thinking.critique", "true");
        one("context.warn=1", "context.warn", "1.0");
        one("roles.planner.model=local/qwen3:7b", "roles.planner.model", "\"local/qwen3:7b\"");
        one("profile=7", "profile", "\"7\"");
        one("commands.allow=[\"cargo test *\"]", "commands.allow", "[\"cargo test *\"]");
        one("providers.x.headers.X-Title=a=b", "providers.x.headers.X-Title", "\"a=b\"");
        assert_eq!(
            set(&["roles.planner.price={input=1,output=2.5}"]),
            Ok(vec![
                ("roles.planner.price.input".into(), "1.0".into()),
                ("roles.planner.price.output".into(), "2.5".into())
            ])
        );
        assert_eq!(
            set(&["loop.failing_rounds=1", "loop.failing_rounds=2"]).unwrap(),
            [("loop.failing_rounds".into(), "2".into())]
        );
    }

    #[test]
    fn a_mistake_says_what_is_expected() {
        let fails = |text: &str, expect: &str| assert_eq!(set(&[text]), Err(expect.to_owned()));
        fails(
            "loop.planner_rounds",
            "--set loop.planner_rounds: expected KEY=VALUE, as in loop.planner_rounds=20",
        );
        fails(
            "loop.planner_rounds=4O",
            "--set loop.planner_rounds: `loop.planner_rounds` is the text \"4O\", but takes a whole number from 0 to 4294967295",
        );
        fails(
            "session.approval=yolo",
            "--set session.approval: `session.approval` is the text \"yolo\", but takes \"ask\", \"auto-edit\", \"auto\", \"strict\" or \"plan\"",
        );
        fails(
            "loop.planer_rounds=4",
            "--set loop.planer_rounds: unknown key `loop.planer_rounds`; did you mean `loop.planner_rounds`?",
        );
        fails(
            "max_tokens=4",
            "--set max_tokens: unknown key `max_tokens`; `max_tokens` belongs in [roles.planner]",
        );
        fails("a b=1", "--set a b: `a b` is not a dotted key, as in loop.planner_rounds");
        fails("loop=1", "--set loop: `loop` is the number 1, but takes a table");
        fails(
            "providers.x.api_key=sk-secret",
            "--set providers.x.api_key: `providers.x.api_key`: a key never stands on a command line or in a file; name the variable that holds it in api_key_env, or a command that prints it in api_key_command",
        );
    }

    #[test]
    fn a_part_of_a_second_is_a_second() {
        let seconds = |timeout| {
            let flags = Flags { timeout: Some(timeout), ..Flags::default() };
            layer(&flags, &Shape::of_config())
                .unwrap()
                .get(["loop", "time_budget_s"])
                .cloned()
                .map(|entry| entry.value)
        };
        assert_eq!(seconds(Duration::from_millis(200)), Some(1.into()));
        assert_eq!(seconds(Duration::from_secs(90)), Some(90.into()));
        assert_eq!(seconds(Duration::ZERO), Some(0.into()));
    }
}
