//! What is printed and published: show, explain, the schema and the examples.

use std::path::PathBuf;

use tandem_shared::role::Role;

use super::case;
use crate::config::*;

#[test]
fn show_tells_every_value_and_its_origin() {
    let case = case()
        .user("[roles.planner]\nmodel = 'vllm/p'\nprice = { input = 1, output = 2 }\nfallback = ['ollama/q']\n[providers.vllm.extra_body]\na = { b = [1] }\nc = {}")
        .env("OPENAI_BASE_URL", "https://me:secret@host/v1")
        .set("session.approval=strict");
    let text = case.short(&show(&case.load()));
    let line = |start: &str| {
        text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {text}"))
    };
    let words = |start: &str| line(start).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words("session.approval"), "session.approval = \"strict\" # --set session.approval");
    assert_eq!(words("loop.planner_rounds"), "loop.planner_rounds = 40 # default");
    assert_eq!(words("roles.planner.price.input"), "roles.planner.price.input = 1.0 # user.toml:3");
    assert_eq!(
        words("providers.openai.base_url"),
        "providers.openai.base_url = \"https://***@host/v1\" # OPENAI_BASE_URL"
    );
    assert_eq!(
        line("# critique"),
        "# critique: vllm/p, as planner, then ollama/q; key from nowhere (no key is configured)"
    );
    let settings = text.lines().filter(|line| line.contains(" = ")).count();
    assert_eq!(settings, case.load().origins.len());
    // What is shown can be loaded again.
    let again = super::case().user(&text.replace("***@", ""));
    let expect = Config { providers: again.load().config.providers, ..case.load().config };
    assert_eq!(again.load().config, expect);
}

#[test]
fn explain_tells_layers_reason_and_chain() {
    let case = case()
        .user("[roles.planner]\nmodel = 'vllm/p'\ncontext_window = 9")
        .project("roles.planner.model = 'vllm/q'");
    let explain = |key: &str| {
        explain(&case.load(), key).map(|text| case.short(&text)).map_err(|error| error.to_string())
    };
    assert_eq!(
        explain("roles.planner.model").unwrap(),
        "roles.planner.model = \"vllm/q\"\n  from project/.tandem/config.toml:1\n  takes a text in quotes\n\
         \x20 why: `provider/name`, split at the first `/`; none by default, because nobody but you knows which model you have.\n\
         \x20 user: \"vllm/p\" (user.toml:2)\n  project: \"vllm/q\" (project/.tandem/config.toml:1)  ← holds\n\
         \x20 chain: planner → executor\n  bound: vllm/q; key from nowhere (no key is configured)\n"
    );
    let set_aside = explain("roles.planner.context_window").unwrap();
    assert!(set_aside.starts_with("roles.planner.context_window is not set\n"), "{set_aside}");
    assert!(set_aside.contains("user: 9 (user.toml:3)  (set aside: a higher layer"), "{set_aside}");
    let thinking = explain("roles.thinking.model").unwrap();
    assert!(
        thinking.contains("chain: thinking → planner → executor\n  bound: vllm/q, as planner;"),
        "{thinking}"
    );
    assert_eq!(
        explain("session").unwrap(),
        "session.approval = \"ask\"\n  from default\nsession.plan = \"auto\"\n  from default\n"
    );
    assert_eq!(
        explain("session.aproval"),
        Err("unknown key `session.aproval`; did you mean `session.approval`?".into())
    );
}

#[test]
fn the_schema_file_is_current() {
    let path = in_repository("schema.json");
    if std::env::var_os("TANDEM_BLESS").is_some() {
        std::fs::write(&path, schema()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == schema(),
        "config/schema.json is not current: run `TANDEM_BLESS=1 cargo test -p tandem schema` and commit it"
    );
}

#[test]
fn the_examples_load_and_bind_every_role() {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(in_repository("examples")).unwrap() {
        let path = entry.unwrap().path();
        let case = case().user(&std::fs::read_to_string(&path).unwrap());
        let loaded = case.load();
        for role in Role::ALL {
            let binding = loaded.config.binding(role).unwrap();
            assert!(loaded.config.endpoint(&binding.provider).is_some(), "{path:?} {role}");
        }
        for profile in loaded.config.profiles.keys() {
            super::case()
                .user(&std::fs::read_to_string(&path).unwrap())
                .flags(|flags| flags.profile = Some(profile.clone()))
                .load();
        }
        names.push(path.file_name().unwrap().to_string_lossy().into_owned());
    }
    names.sort();
    assert_eq!(names, ["hosted.toml", "local.toml", "three-models.toml"]);
}

fn in_repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("config").join(path)
}
