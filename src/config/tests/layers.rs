//! Which layer wins, and how models are named for one run.

use std::path::PathBuf;

use tandem_router::{MaxTokensField, Plaintext, Quirks, StreamUsage};
use tandem_shared::role::Role;

use super::{Case, case};
use crate::config::*;

#[test]
fn later_layers_win_and_say_so() {
    let rounds = |case: &Case| (case.load().config.r#loop.planner_rounds, case.origin("loop.planner_rounds"));
    let case = case();
    assert_eq!(rounds(&case), (40, "default".into()));
    let case = case.user("\n[loop]\nplanner_rounds = 11");
    assert_eq!(rounds(&case), (11, "user.toml:3".into()));
    let case = case.project("loop.planner_rounds = 12");
    assert_eq!(rounds(&case), (12, "project/.tandem/config.toml:1".into()));
    let case = case.set("loop.planner_rounds=13");
    assert_eq!(rounds(&case), (13, "--set loop.planner_rounds".into()));
    let case = case.flags(|flags| flags.max_rounds = Some(14));
    assert_eq!(rounds(&case), (14, "--max-rounds".into()));
}

#[test]
fn budgets_come_from_flags() {
    let case = case().user("loop.max_usd = 3\nloop.max_tokens_total = 7");
    let budgets = |case: &Case| {
        let limits = case.load().config.r#loop;
        (limits.max_usd, limits.max_tokens_total)
    };
    assert_eq!(budgets(&case), (3.0, 7));
    let case = case.flags(|flags| {
        flags.max_budget_usd = Some(0.5);
        flags.max_tokens_total = Some(u64::MAX);
    });
    assert_eq!(budgets(&case), (0.5, u64::try_from(i64::MAX).unwrap()));
    assert_eq!(case.origin("loop.max_usd"), "--max-budget-usd");
    assert_eq!(case.origin("loop.max_tokens_total"), "--max-tokens-total");
}

#[test]
fn models_come_from_files_then_environment_then_flags() {
    let case = case().user("[roles.planner]\nmodel = 'ollama/user'");
    case.binds(Role::Planner, "ollama/user");
    let case = case.project("[roles.planner]\nmodel = 'ollama/project'");
    case.binds(Role::Planner, "ollama/project");
    let case = case.env("API_BASE", "https://host/v1").env("MODEL", "qwen/env");
    case.binds(Role::Planner, "env/qwen/env");
    let case = case.env("TANDEM_MODEL", "vllm/tandem");
    case.binds(Role::Planner, "vllm/tandem");
    let case = case.model("lmstudio/flag");
    case.binds(Role::Planner, "lmstudio/flag");
    let case = case.flags(|flags| flags.planner_model = Some("ollama/own".to_owned()));
    case.binds(Role::Planner, "ollama/own");
    case.binds(Role::Executor, "lmstudio/flag");
}

#[test]
fn a_profile_is_a_named_set_of_roles() {
    let files = "[roles.planner]\nmodel = 'vllm/p'\ntemperature = 0.5\n[roles.executor]\nmodel = 'vllm/e'\n\
                 [profiles.cheap.roles.executor]\nmodel = 'ollama/small'";
    let plain = case().user(files);
    plain.binds(Role::Executor, "vllm/e");
    let chosen = case().user(files).flags(|flags| flags.profile = Some("cheap".to_owned()));
    chosen.binds(Role::Executor, "ollama/small");
    chosen.binds(Role::Planner, "vllm/p");
    assert_eq!(chosen.origin("roles.executor.model"), "user.toml:7");
    let in_file = format!("profile = 'cheap'\n{files}");
    case().user(&in_file).binds(Role::Executor, "ollama/small");
    // Chosen by a file it is a file's setting; chosen by a flag it goes before the environment.
    case().user(&in_file).env("TANDEM_MODEL", "vllm/env").binds(Role::Executor, "vllm/env");
    let flag = case()
        .user(files)
        .env("TANDEM_MODEL", "vllm/env")
        .flags(|flags| flags.profile = Some("cheap".to_owned()));
    flag.binds(Role::Executor, "ollama/small");
    flag.binds(Role::Planner, "vllm/env");
    let wrong = case().user(files).flags(|flags| flags.profile = Some("chaep".to_owned()));
    assert_eq!(wrong.error(), "--profile: there is no profile `chaep`; the profiles are cheap");
}

#[test]
fn three_variables_are_enough_for_any_endpoint() {
    let endpoint = |case: &Case| {
        let endpoint = case.load().config.endpoint("env").unwrap();
        (endpoint.base_url, endpoint.key)
    };
    let ollama = "http://localhost:11434/v1".to_owned();
    let placeholder = KeySource::Placeholder("ollama".into());
    let full = case()
        .env("API_BASE", "https://openrouter.ai/api/v1")
        .env("API_KEY", "sk-1")
        .env("MODEL", "openai/gpt-4o");
    for role in Role::ALL {
        full.binds(role, "env/openai/gpt-4o");
    }
    assert_eq!(
        endpoint(&full),
        ("https://openrouter.ai/api/v1".into(), KeySource::Variable("API_KEY".into()))
    );
    let base = case().env("API_BASE", "https://host/v1");
    base.binds(Role::Executor, "env/qwen2.5-coder:7b");
    assert_eq!(endpoint(&base), ("https://host/v1".into(), placeholder.clone()));
    let model = case().env("MODEL", "llama3");
    model.binds(Role::Planner, "env/llama3");
    assert_eq!(endpoint(&model), (ollama.clone(), placeholder));
    let key = case().env("API_KEY", "k");
    key.binds(Role::Planner, "env/qwen2.5-coder:7b");
    assert_eq!(endpoint(&key), (ollama, KeySource::Variable("API_KEY".into())));
    assert_eq!(case().env("API_BASE", "").env("MODEL", " ").bound(Role::Planner), None);
}

#[test]
fn a_stray_variable_does_not_move_bound_roles() {
    let file = "[roles.planner]\nmodel = 'vllm/p'";
    for name in ["MODEL", "API_KEY", "API_BASE"] {
        let value = if name == "API_BASE" { "https://host/v1" } else { "x" };
        let case = case().user(file).env(name, value);
        case.binds(Role::Planner, "vllm/p");
        let notices: Vec<String> = case.load().notices.iter().map(|text| case.short(text)).collect();
        let expect = format!(
            "{name} is set, but the roles are bound at user.toml:2: set API_BASE and MODEL both to go before it, or use --model env/NAME"
        );
        assert_eq!(notices, [expect]);
    }
    let beside = case().env("OPENAI_API_KEY", "k").env("MODEL", "x");
    assert_eq!(beside.bound(Role::Planner), None);
    assert_eq!(beside.load().notices.len(), 1);
}

#[test]
fn a_model_without_a_known_provider_goes_to_the_endpoint_in_use() {
    let openai = || case().env("OPENAI_API_KEY", "k").env("OPENAI_BASE_URL", "https://openrouter.ai/api/v1");
    openai().model("qwen/qwen3").binds(Role::Planner, "openai/qwen/qwen3");
    openai().model("gpt-5").binds(Role::Executor, "openai/gpt-5");
    openai().model("vllm/x").binds(Role::Planner, "vllm/x");
    openai().env("TANDEM_MODEL", "gpt-5").binds(Role::Planner, "openai/gpt-5");
    assert_eq!(openai().load().config.providers["openai"].base_url, "https://openrouter.ai/api/v1");
    assert_eq!(openai().origin("providers.openai.base_url"), "OPENAI_BASE_URL");
    case().env("OPENAI_API_KEY", "k").model("gpt-5").binds(Role::Planner, "openai/gpt-5");
    openai().env("API_BASE", "https://host/v1").model("gpt-5").binds(Role::Planner, "env/gpt-5");
    // A key that is always exported does not pull a local user's model to a hosted service.
    let local = case().user("[roles.planner]\nmodel = 'ollama/a'").env("OPENAI_API_KEY", "k").model("llama3");
    local.binds(Role::Planner, "ollama/llama3");
    assert_eq!(
        case().model("llama3").error(),
        "--model: \"llama3\" names no provider; write PROVIDER/NAME with one of anthropic, deepseek, gemini, llamacpp, lmstudio, mistral, ollama, openai, openrouter, vllm, or set OPENAI_BASE_URL or API_BASE"
    );
    let ambiguous = openai().model("openai/gpt-4o").load().notices;
    assert_eq!(
        ambiguous,
        [
            "--model openai/gpt-4o: asked of OPENAI_BASE_URL as gpt-4o; if the model's own name there is openai/gpt-4o, write openai/openai/gpt-4o"
        ]
    );
}

#[test]
fn what_a_preset_knows_holds_at_its_own_address() {
    let mistral = |case: Case| {
        let endpoint = case.load().config.endpoint("mistral").unwrap();
        (endpoint.key, endpoint.quirks.stream_usage)
    };
    let known = (KeySource::Variable("MISTRAL_API_KEY".into()), Some(StreamUsage::Never));
    for own in ["https://api.mistral.ai/v1/", "https://API.mistral.ai/v2"] {
        assert_eq!(mistral(case().user(&format!("providers.mistral.base_url = '{own}'"))), known);
    }
    let other = "providers.mistral.base_url = 'https://mistral.example/v1'\n";
    assert_eq!(mistral(case().user(other)), (KeySource::Nothing, None));
    let said =
        "providers.mistral.api_key_env = 'MISTRAL_API_KEY'\nproviders.mistral.quirks.stream_usage = 'never'";
    assert_eq!(mistral(case().user(&format!("{other}{said}"))), known);
}

#[test]
fn openai_is_a_name_for_any_endpoint_and_keeps_its_key() {
    let key = case().env("OPENAI_BASE_URL", "https://host/v1").load().config.endpoint("openai").unwrap().key;
    assert_eq!(key, KeySource::Variable("OPENAI_API_KEY".into()));
    let quirk = |case: &Case| case.load().config.endpoint("openai").unwrap().quirks.max_tokens_field;
    let own = Some(MaxTokensField::MaxCompletionTokens);
    assert_eq!(quirk(&case()), own);
    assert_eq!(quirk(&case().user("providers.openai.base_url = 'https://api.openai.com/v1'")), own);
    let elsewhere = || case().env("OPENAI_BASE_URL", "https://host/v1");
    assert_eq!(quirk(&elsewhere()), None);
    // What the user says of it stays.
    let said = "providers.openai.quirks.max_tokens_field = 'max_completion_tokens'";
    assert_eq!(quirk(&elsewhere().user(said)), own);
}

#[test]
fn what_a_file_says_of_env_waits_for_the_environment() {
    let case =
        case().user("[providers.env]\nallow_http = true\n[providers.env.quirks]\nstream_usage = 'never'");
    assert_eq!(case.load().config.endpoint("env"), None);
    let case = case.env("API_BASE", "http://workstation.lan/v1");
    let endpoint = case.load().config.endpoint("env").unwrap();
    assert_eq!(endpoint.quirks, Quirks { stream_usage: Some(StreamUsage::Never), ..Quirks::default() });
    assert_eq!(endpoint.plaintext, Plaintext::Allowed);
}

#[test]
fn another_model_sets_the_fallback_of_the_one_before_aside() {
    let case = case().user("[roles.planner]\nmodel = 'openai/a'\nfallback = ['openrouter/b/c', 'vllm/d']");
    let next = |case: &Case, role| {
        let bound = case.load().config.binding(role).unwrap();
        bound.fallback.iter().map(|next| format!("{} {}", next.provider, next.model)).collect::<Vec<_>>()
    };
    assert_eq!(next(&case, Role::Planner), ["openrouter b/c", "vllm d"]);
    assert_eq!(next(&case, Role::Critique), ["openrouter b/c", "vllm d"]);
    let local = case.model("ollama/a");
    assert_eq!(next(&local, Role::Planner), Vec::<String>::new());
}

#[test]
fn a_role_that_stays_elsewhere_is_told() {
    let case = case().user("[roles.thinking]\nmodel = 'openai/o4-mini'").model("ollama/a");
    let notices: Vec<String> = case.load().notices.iter().map(|text| case.short(text)).collect();
    assert_eq!(
        notices,
        ["thinking stays on openai/o4-mini (user.toml:2); --set roles.thinking.model=… changes it"]
    );
}

#[test]
fn the_user_file_is_where_the_variables_say() {
    let find = |pairs: &[(&str, &str)]| {
        user_file(&pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    };
    let path = |text| Some(PathBuf::from(text));
    assert_eq!(find(&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")]), path("/x/tandem/config.toml"));
    assert_eq!(
        find(&[("XDG_CONFIG_HOME", "relative"), ("HOME", "/h")]),
        path("/h/.config/tandem/config.toml")
    );
    assert_eq!(find(&[]), None);
}
