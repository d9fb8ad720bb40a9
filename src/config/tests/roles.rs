//! What a role is bound to, and how its provider is reached.

use std::collections::BTreeMap;

use serde_json::{Map, json};
use tandem_router::{
    FallbackModel, NoteAfterTool, Plaintext, Quirks, ReasoningEcho, StreamUsage, ToolProtocol,
};
use tandem_shared::role::Role;

use super::case;
use crate::config::*;

#[test]
fn a_role_without_a_model_follows_its_chain() {
    let bound = |text: &str| {
        Role::ALL.map(|role| case().user(text).bound(role).map(|name| name.replace("vllm/", "")))
    };
    let all = |names: [&str; 5]| names.map(|name| Some(name.to_owned()));
    assert_eq!(bound(""), [const { None }; 5]);
    assert_eq!(bound("roles.planner.model = 'vllm/p'"), all(["p"; 5]));
    assert_eq!(bound("roles.executor.model = 'vllm/e'"), all(["e"; 5]));
    assert_eq!(
        bound("roles.planner.model = 'vllm/p'\nroles.executor.model = 'vllm/e'"),
        // planner, thinking, executor, critique, compaction
        all(["p", "p", "e", "p", "e"])
    );
    assert_eq!(
        bound("roles.planner.model = 'vllm/p'\nroles.thinking.model = 'vllm/t'"),
        all(["p", "t", "p", "t", "p"])
    );
    let alone = bound("roles.critique.model = 'vllm/c'\nroles.compaction.model = 'vllm/k'");
    assert_eq!(alone, [None, None, None, Some("c".into()), Some("k".into())]);
}

#[test]
fn a_follower_keeps_what_it_sets_itself() {
    let case = case().user(
        "[roles.planner]\nmodel = 'vllm/a/b'\ntemperature = 0.5\nmax_tokens = 10\ncontext_window = 1000\nprice = { input = 1, output = 2 }\nfallback = ['ollama/z']\n\
         [roles.critique]\ntemperature = 0",
    );
    let got = case.load().config.binding(Role::Critique).unwrap();
    let price = tandem_shared::model::Price { input: 1.0, cached: None, output: 2.0 };
    let expect = RoleBinding {
        named_by: Role::Planner,
        provider: "vllm".into(),
        model: "a/b".into(),
        temperature: Some(0.0),
        max_tokens: Some(10),
        context_window: Some(1000),
        price: Some(price),
        fallback: vec![FallbackModel { provider: "ollama".into(), model: "z".into() }],
    };
    assert_eq!(got, expect);
}

#[test]
fn another_model_does_not_inherit_window_and_price() {
    let case = case()
        .user("[roles.planner]\nmodel = 'vllm/a'\ntemperature = 0.5\ncontext_window = 1000")
        .model("vllm/b");
    let got = case.load().config.binding(Role::Planner).unwrap();
    assert_eq!((got.model.as_str(), got.temperature, got.context_window), ("b", Some(0.5), None));
}

#[test]
fn a_provider_falls_back_to_the_network_section() {
    let case = case().user("[network]\nretries = 1\nidle_timeout_s = 0\n[providers.vllm]\nfirst_token_timeout_s = 600\napi_key_command = ['pass', 'vllm']");
    let seconds = |seconds| Some(std::time::Duration::from_secs(seconds));
    let expect = Endpoint {
        name: "vllm".into(),
        base_url: "http://localhost:8000/v1".into(),
        key: KeySource::Command(vec!["pass".into(), "vllm".into()]),
        headers: BTreeMap::new(),
        connect_timeout: seconds(10),
        first_token_timeout: seconds(600),
        idle_timeout: None,
        retries: 1,
        retry_first: std::time::Duration::from_millis(500),
        retry_max: std::time::Duration::from_secs(60),
        protocol_faults: 3,
        tool_protocol: ToolProtocol::Native,
        quirks: Quirks::default(),
        extra_body: Map::new(),
        ca_file: None,
        plaintext: Plaintext::LoopbackOnly,
    };
    assert_eq!(case.load().config.endpoint("vllm"), Some(expect));
    assert_eq!(case.load().config.endpoint("nobody"), None);
}

#[test]
fn a_provider_is_reached_as_its_table_says() {
    let case = case()
        .user(
            "[providers.work]\nbase_url = 'http://work.lan/v1'\nallow_http = true\nca_file = '/etc/work.pem'\ntool_protocol = 'schema'\n\
             [providers.work.quirks]\nnote_after_tool = 'fold'\n[providers.work.extra_body]\ntop_k = 5\n\
             chat_template_kwargs = { enable_thinking = false, stops = ['a', 1.5] }",
        )
        .set("providers.work.extra_body.top_k=7")
        .set("providers.work.extra_body.note=word");
    let endpoint = case.load().config.endpoint("work").unwrap();
    let body = json!({
        "chat_template_kwargs": { "enable_thinking": false, "stops": ["a", 1.5] },
        "note": "word",
        "top_k": 7,
    });
    assert_eq!(serde_json::Value::Object(endpoint.extra_body), body);
    assert_eq!(endpoint.quirks, Quirks { note_after_tool: Some(NoteAfterTool::Fold), ..Quirks::default() });
    assert_eq!(endpoint.ca_file, Some("/etc/work.pem".into()));
    assert_eq!((endpoint.plaintext, endpoint.tool_protocol), (Plaintext::Allowed, ToolProtocol::Schema));
}

#[test]
fn a_known_provider_needs_its_key_and_nothing_else() {
    let reach = |model: &str| {
        let loaded = case().model(model).load();
        let bound = loaded.config.binding(Role::Planner).unwrap();
        let endpoint = loaded.config.endpoint(&bound.provider).unwrap();
        (bound.model, endpoint.base_url, endpoint.key, endpoint.quirks)
    };
    let key = |name: &str| KeySource::Variable(name.to_owned());
    let row = |model: &str, url: &str, key, quirks| (model.to_owned(), url.to_owned(), key, quirks);
    let plain = Quirks::default();
    assert_eq!(
        reach("anthropic/claude-opus-4-6"),
        row("claude-opus-4-6", "https://api.anthropic.com/v1", key("ANTHROPIC_API_KEY"), plain.clone())
    );
    assert_eq!(
        reach("gemini/gemini-3-pro"),
        row(
            "gemini-3-pro",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            key("GEMINI_API_KEY"),
            plain.clone()
        )
    );
    let reasoning = Quirks { reasoning_echo: Some(ReasoningEcho::Reasoning), ..plain.clone() };
    assert_eq!(
        reach("openrouter/qwen/qwen3-coder"),
        row("qwen/qwen3-coder", "https://openrouter.ai/api/v1", key("OPENROUTER_API_KEY"), reasoning)
    );
    let content = Quirks { reasoning_echo: Some(ReasoningEcho::ReasoningContent), ..plain.clone() };
    assert_eq!(
        reach("deepseek/deepseek-v4-pro"),
        row("deepseek-v4-pro", "https://api.deepseek.com", key("DEEPSEEK_API_KEY"), content)
    );
    let strict = Quirks {
        note_after_tool: Some(NoteAfterTool::Fold),
        stream_usage: Some(StreamUsage::Never),
        ..plain.clone()
    };
    assert_eq!(
        reach("mistral/devstral-medium-latest"),
        row("devstral-medium-latest", "https://api.mistral.ai/v1", key("MISTRAL_API_KEY"), strict)
    );
    for local in ["ollama", "llamacpp", "lmstudio", "vllm"] {
        let (model, url, key, quirks) = reach(&format!("{local}/a"));
        assert!(url.starts_with("http://localhost:"), "{url}");
        assert_eq!((model.as_str(), key, quirks), ("a", KeySource::Nothing, plain.clone()));
    }
}
