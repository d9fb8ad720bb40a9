//! What is wrong is told with its place, all at once, and without repeating a key.

use super::case;
use crate::config::{load, project_file};

#[test]
fn every_mistake_has_file_line_and_a_way_out() {
    let case = case().user(
        "[session]\naproval = 'ask'\nmax_tokens = 5\nplan = 'sometimes'\n\n[loop]\nplanner_rounds = '40'\nfailing_rounds = -1\n\
         [thinking]\ncritique = 1\n[tools]\nread_lines = 1.5\n[commands]\nallow = 'git status'\n[context]\nwarn = 'x'\n\
         [providers.local]\napi_key = 'sk-secret'\nheaders = { Authorization = 'sk-secret' }\nbase_url = 'http://me:sk-secret@host/v1'\n[providers.'a/b']\n",
    );
    assert_eq!(
        case.error(),
        "user.toml:2: unknown key `session.aproval`; did you mean `session.approval`?\n\
         user.toml:3: unknown key `session.max_tokens`; `max_tokens` belongs in [roles.planner]\n\
         user.toml:4: `session.plan` is the text \"sometimes\", but takes \"auto\", \"always\" or \"never\"\n\
         user.toml:7: `loop.planner_rounds` is the text \"40\", but takes a whole number from 0 to 4294967295\n\
         user.toml:8: `loop.failing_rounds` is the number -1, but takes a whole number from 0 to 4294967295\n\
         user.toml:10: `thinking.critique` is the number 1, but takes true or false\n\
         user.toml:12: `tools.read_lines` is the number 1.5, but takes a whole number, 0 or more\n\
         user.toml:14: `commands.allow` is the text \"git status\", but takes a list of texts, as in [\"one\", \"two\"]\n\
         user.toml:16: `context.warn` is the text \"x\", but takes a number\n\
         user.toml:18: `providers.local.api_key`: a key never stands on a command line or in a file; name the variable that holds it in api_key_env, or a command that prints it in api_key_command\n\
         user.toml:19: `providers.local.headers.Authorization` would hold a key, and a key never stands on a command line or in a file; name the variable that holds it in api_key_env, or a command that prints it in api_key_command\n\
         user.toml:20: `providers.local.base_url` holds a password, and a key never stands on a command line or in a file; name the variable that holds it in api_key_env, or a command that prints it in api_key_command\n\
         user.toml:21: `providers.\"a/b\"`: a name has letters, digits, `-` and `_` only"
    );
    assert!(super::case().user("[loop]\na = = 1").error().starts_with("user.toml:2: this is not TOML: "));
}

#[test]
fn settings_that_do_not_fit_together_are_told_where_they_were_set() {
    let fails = |text: &str, expect: &str| assert_eq!(case().user(text).error(), expect);
    fails(
        "[roles.planner]\nmodel = 'olama/x'",
        "user.toml:2: `roles.planner.model` is \"olama/x\", but there is no provider `olama`; did you mean `ollama`?",
    );
    fails(
        "[roles.planner]\nmodel = 'qwen3'",
        "user.toml:2: `roles.planner.model` is \"qwen3\", but takes \"provider/name\", with one of the providers anthropic, deepseek, gemini, llamacpp, lmstudio, mistral, ollama, openai, openrouter, vllm",
    );
    fails(
        "profiles.x.roles.planner.model = 'env/a'",
        "user.toml:1: `profiles.x.roles.planner.model` is \"env/a\", but the provider `env` is there only while API_BASE, API_KEY or MODEL is set",
    );
    fails(
        "providers.x.retries = 1",
        "user.toml:1: [providers.x] has no base_url, as in \"http://localhost:11434/v1\"",
    );
    fails(
        "providers.x.base_url = 'host:1'",
        "user.toml:1: `providers.x.base_url` must begin with http:// or https:// and name a host",
    );
    fails(
        "[providers.x]\nbase_url = 'https://h'\napi_key_env = 'A'\napi_key_command = ['a']",
        "user.toml:4: [providers.x] has both api_key_env and api_key_command: keep one",
    );
    fails(
        "[roles.planner]\nmodel = 'vllm/a'\nfallback = ['ollama/b', 'olama/c', 'd']",
        "user.toml:3: `roles.planner.fallback` names \"olama/c\", but there is no provider `olama`; did you mean `ollama`?\n\
         user.toml:3: `roles.planner.fallback` names \"d\", but takes \"provider/name\", with one of the providers anthropic, deepseek, gemini, llamacpp, lmstudio, mistral, ollama, openai, openrouter, vllm",
    );
    fails(
        "roles.planner.price.input = 1",
        "user.toml:1: `roles.planner.price` has no `output`: a price needs input and output",
    );
    fails(
        "roles.planner.price = {}",
        "user.toml:1: `roles.planner.price` has no `input`: a price needs input and output",
    );
    fails(
        "providers.vllm.headers = { 'X A' = 'b' }",
        "user.toml:1: `providers.vllm.headers.\"X A\"` cannot be sent as a header: printable ASCII only, and no spaces in its name",
    );
    fails(
        "roles.planner.temperature = 3",
        "user.toml:1: `roles.planner.temperature` is 3.0, which is out of range",
    );
    fails("loop.max_usd = -1", "user.toml:1: `loop.max_usd` is -1.0, which is out of range");
    fails("loop.planner_rounds = 0", "user.toml:1: `loop.planner_rounds` is 0, but must be 1 or more");
    fails(
        "context.warn = 70",
        "user.toml:1: `context.warn` is 70, but a share lies above 0 and up to 1\nuser.toml:1: `context.warn` is 70 and `context.mask` is 0.8: a later stage cannot come first (order: warn, mask, prune, aggressive, compact)",
    );
    fails(
        "profile = 'x'",
        "user.toml:1: there is no profile `x`; [profiles.x.roles.planner] with a model would make one",
    );
}

#[test]
fn what_is_said_of_a_provider_must_hold() {
    let fails = |text: &str, expect: &str| assert_eq!(case().user(text).error(), expect);
    let open = |name: &str| {
        format!(
            "`providers.{name}.base_url` leads to another machine by http://, where anybody on the way can read your code and your key: use https://, or allow it with providers.{name}.allow_http = true"
        )
    };
    let far = "[providers.x]\nbase_url = 'http://workstation.lan:8000/v1'\n";
    fails(far, &format!("user.toml:2: {}", open("x")));
    fails(&format!("{far}allow_http = false"), &format!("user.toml:2: {}", open("x")));
    case().user(&format!("{far}allow_http = true")).load();
    let by_variable = case().env("API_BASE", "http://workstation.lan/v1");
    assert_eq!(by_variable.error(), format!("API_BASE: {}", open("env")));
    by_variable.set("providers.env.allow_http=true").load();
    fails(
        "providers.vllm.ca_file = 'ca.pem'",
        "user.toml:1: `providers.vllm.ca_file` is \"ca.pem\", but takes an absolute path: what it would be relative to is not the same for every file",
    );
    fails(
        "[providers.vllm.extra_body]\ntop_k = 5\ntools = []",
        "user.toml:3: `providers.vllm.extra_body.tools` cannot be set: tools is what tandem itself sends",
    );
    fails(
        "[providers.vllm.extra_body]\nday = 1979-05-27\nmost = inf\nall = [{ most = nan }]",
        "user.toml:2: `providers.vllm.extra_body.day` is the date 1979-05-27, but takes a value that JSON has too: no date, no nan, no inf\n\
         user.toml:3: `providers.vllm.extra_body.most` is the number inf, but takes a value that JSON has too: no date, no nan, no inf\n\
         user.toml:4: `providers.vllm.extra_body.all` is a list, but takes a value that JSON has too: no date, no nan, no inf",
    );
    fails(
        "providers.vllm.quirks.note_after_tool = 'merge'\nproviders.vllm.quirks.reasoning_ecoh = 'none'\nproviders.vllm.tool_protocol = 'json'",
        "user.toml:1: `providers.vllm.quirks.note_after_tool` is the text \"merge\", but takes \"user\" or \"fold\"\n\
         user.toml:2: unknown key `providers.vllm.quirks.reasoning_ecoh`; did you mean `providers.vllm.quirks.reasoning_echo`?\n\
         user.toml:3: `providers.vllm.tool_protocol` is the text \"json\", but takes \"native\" or \"schema\"",
    );
    fails(
        "reasoning_echo = 'none'",
        "user.toml:1: unknown key `reasoning_echo`; `reasoning_echo` belongs in [providers.NAME.quirks]",
    );
}

#[test]
fn what_may_be_a_key_is_never_repeated() {
    let case = case().user(
        "providers.a.api_key_env = 'sk-secret'\nproviders.b.api_key_command = 'sk-secret'\nproviders.c.api_key = 'sk-secret'\n\
         providers.c.extra_body.api_key = 'sk-secret'\nproviders.c.extra_body.deep = { deeper = { api_key = 'sk-secret' } }",
    );
    assert_eq!(case.error().matches("user.toml:").count(), 5, "{}", case.error());
    assert!(!case.error().contains("sk-secret"), "{}", case.error());
}

#[test]
fn an_approval_that_does_not_exist_lists_those_that_do() {
    let case = case().flags(|flags| flags.approval = Some("yolo".to_owned()));
    assert_eq!(
        case.error(),
        "--approval: `session.approval` is the text \"yolo\", but takes \"ask\", \"auto-edit\", \"auto\", \"strict\" or \"plan\""
    );
}

#[test]
fn what_is_not_a_plain_file_is_refused() {
    let case = case();
    std::os::unix::fs::symlink("/dev/zero", project_file(&case.input.root)).unwrap();
    assert_eq!(
        case.error(),
        "project/.tandem/config.toml: cannot be read: not a file of text of at most 1 MiB"
    );
}

proptest::proptest! {
    // Each case loads three configurations; 64 take about a second.
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]

    /// Half of the texts are made of pieces that mean something, so that they get past the parser.
    #[test]
    fn any_text_is_a_configuration_or_a_told_mistake(text in ".{0,60}", lines in proptest::collection::vec(LINE, 0..8)) {
        for text in [text.clone(), lines.join("\n")] {
            if let Err(error) = load(&case().user(&text).input) {
                proptest::prop_assert!(!error.to_string().is_empty());
            }
        }
        let set = lines.first().unwrap_or(&text);
        if let Err(error) = load(&case().set(set).input) {
            proptest::prop_assert!(error.to_string().starts_with("--set "), "{error}");
        }
    }
}

const LINE: &str = "(\\[(loop|providers\\.[a-c]\\.extra_body|roles|roles\\.planner|providers\\.[a-c]|profiles\\.x\\.roles|context|x)\\])|\
    ((model|price|price\\.input|headers|headers\\.A|base_url|warn|profile|planner|roles\\.planner\\.price) = \
    (1|-1|0\\.5|nan|true|'x'|'ollama/x'|'http://h'|\\{\\}|\\[\\]|\\{ input = 1 \\}|\\{ model = 'vllm/x' \\}|1979-05-27))";
