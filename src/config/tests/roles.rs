//! What a role is bound to, and how its provider is reached.

use std::collections::BTreeMap;

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
        "[roles.planner]\nmodel = 'vllm/a/b'\ntemperature = 0.5\nmax_tokens = 10\ncontext_window = 1000\nprice = { input = 1, output = 2 }\n\
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
    };
    assert_eq!(case.load().config.endpoint("vllm"), Some(expect));
    assert_eq!(case.load().config.endpoint("nobody"), None);
}
