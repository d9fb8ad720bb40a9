//! The shape of the house, checked on the source itself. A violation is named by file and line.

mod imports;
mod lexer;
mod prompts;
mod tree;

use std::collections::BTreeSet;

use imports::Modules;
use lexer::Token;
use tree::{ROOMS, Source, manifests, relative, repository, sources};

/// The crates that a crate may depend on: strictly downward.
const MAY_DEPEND_ON: [(&str, &[&str]); 5] = [
    ("shared", &[]),
    ("router", &["tandem-shared"]),
    ("planner", &["tandem-shared"]),
    ("executor", &["tandem-shared", "tandem-planner"]),
    ("", &["tandem-shared", "tandem-router", "tandem-planner", "tandem-executor"]),
];

/// Packages that have one place: names as code writes them, and the beginnings of the paths that may.
const ONE_PLACE: [(&[&str], &[&str]); 4] = [
    (&["async_openai", "reqwest", "eventsource_stream"], &["router/"]),
    (&["redb"], &["shared/src/store/"]),
    (
        &["tree_sitter", "tree_sitter_rust", "tree_sitter_python", "tree_sitter_bash"],
        &["planner/src/ast/", "executor/src/shell/"],
    ),
    (&["ast_grep_core"], &["planner/src/ast/"]),
];

/// What no crate below the root does: it prints, or asks the system for what should be handed in.
const NOT_BELOW_THE_ROOT: [&[&str]; 9] = [
    &["println", "!"],
    &["eprintln", "!"],
    &["print", "!"],
    &["eprint", "!"],
    &["std", "::", "env"],
    &["env", "::", "current_dir"],
    &["io", "::", "stdout"],
    &["io", "::", "stderr"],
    &["io", "::", "stdin"],
];

/// Rooms of `shared` that are the loop: what it asks, remembers, shows and keeps. They need nobody else to name them.
const THE_LOOP: [&str; 11] = [
    "agent",
    "context",
    "doom_loop",
    "facts",
    "folded",
    "history",
    "prompt",
    "record",
    "reminders",
    "store",
    "template",
];

/// A file of more lines than this has a second noun in it.
const MOST_LINES: usize = 500;

fn assert_none(violations: Vec<String>, rule: &str) {
    assert!(violations.is_empty(), "{rule}:\n{}", violations.join("\n"));
}

fn begins(tokens: &[Token], words: &[&str]) -> bool {
    tokens.len() >= words.len() && words.iter().zip(tokens).all(|(word, token)| token.is(word))
}

#[test]
fn crates_depend_downward_only() {
    let manifests = manifests();
    let mut violations = Vec::new();
    for (folder, allowed) in MAY_DEPEND_ON {
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let names = manifests[folder].get(table).and_then(toml::Value::as_table);
            let ours =
                names.into_iter().flat_map(toml::Table::keys).filter(|name| name.starts_with("tandem"));
            violations.extend(
                ours.filter(|name| !allowed.contains(&name.as_str()))
                    .map(|name| format!("{folder}/Cargo.toml: [{table}] {name}")),
            );
        }
    }
    assert_none(violations, "a crate depends on one above or beside it");
}

#[test]
fn packages_with_one_place_are_named_nowhere_else() {
    let mut violations = Vec::new();
    for source in sources() {
        for (names, places) in ONE_PLACE {
            if places.iter().any(|place| source.path.starts_with(place)) {
                continue;
            }
            let named = source.tokens.iter().filter(|token| names.iter().any(|name| token.is(name)));
            violations.extend(named.map(|token| format!("{}:{}: {}", source.path, token.line, token.text)));
        }
    }
    assert_none(violations, "a package is used outside its place");
}

#[test]
fn nothing_below_the_root_prints_or_asks_the_environment() {
    let mut violations = Vec::new();
    for source in sources().iter().filter(|source| ROOMS.iter().any(|room| source.path.starts_with(room))) {
        for at in 0..source.shipped.len() {
            for words in NOT_BELOW_THE_ROOT {
                if begins(&source.shipped[at..], words) {
                    violations.push(format!(
                        "{}:{}: {}",
                        source.path,
                        source.shipped[at].line,
                        words.concat()
                    ));
                }
            }
            violations.extend(env_in_group(source, at));
        }
    }
    assert_none(violations, "a crate below the root prints or asks the environment");
}

/// `use std::{env, …}` says `std::env` too.
fn env_in_group(source: &Source, at: usize) -> Option<String> {
    let tokens = &source.shipped[at..];
    if !begins(tokens, &["std", "::", "{"]) {
        return None;
    }
    let group = &tokens[..lexer::closing(tokens, 2)];
    let env = group.windows(2).find(|pair| pair[1].is("env") && (pair[0].is("{") || pair[0].is(",")))?;
    Some(format!("{}:{}: std::env", source.path, env[1].line))
}

#[test]
fn no_two_files_import_each_other() {
    let sources = sources();
    let mut violations = Vec::new();
    for folder in ["src", "shared/src", "router/src", "planner/src", "executor/src"] {
        let prefix = format!("{folder}/");
        let modules: Modules = sources
            .iter()
            .filter(|source| !source.shipped.is_empty())
            .filter_map(|source| Some((source, source.path.strip_prefix(&prefix)?)))
            // The binary's own root is another crate beside the library.
            .filter(|(_, file)| *file != "main.rs")
            .map(|(source, file)| {
                (imports::module_path(file), (source.path.as_str(), source.shipped.as_slice()))
            })
            .collect();
        for cycle in imports::cycles(&imports::imports(&modules)) {
            let lines =
                cycle.iter().map(|import| format!("  {}:{} uses {}", import.from, import.line, import.to));
            violations.push(format!("a cycle:\n{}", lines.collect::<Vec<_>>().join("\n")));
        }
    }
    assert_none(violations, "files import each other");
}

#[test]
fn every_file_opens_with_a_sentence_and_stays_short() {
    let mut violations = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        if lines > MOST_LINES {
            violations.push(format!("{}:{lines}: more than {MOST_LINES} lines", source.path));
        }
        if !source.text.starts_with("//! ") {
            violations.push(format!("{}:1: does not open with a `//!` sentence", source.path));
        }
    }
    assert_none(violations, "a file is out of shape");
}

#[test]
fn every_prompt_file_is_embedded() {
    let embedded: BTreeSet<String> = sources().iter().flat_map(prompts::embedded).collect();
    let mut files = Vec::new();
    tree::files(&repository().join("prompts"), &mut files);
    assert!(!files.is_empty(), "there are no prompts");
    let unsent = files.iter().map(|file| relative(file)).filter(|file| !embedded.contains(file));
    assert_none(unsent.collect(), "a prompt file is never sent");
}

#[test]
fn every_tool_that_a_prompt_names_exists() {
    let sources = sources();
    let known = prompts::known_names(&sources);
    let mut files = Vec::new();
    tree::files(&repository().join("prompts"), &mut files);
    let mut violations = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for (index, line) in text.lines().enumerate() {
            let unknown = prompts::quoted_names(line).filter(|name| !known.contains(*name));
            violations.extend(unknown.map(|name| format!("{}:{}: `{name}`", relative(&file), index + 1)));
        }
    }
    assert_none(violations, "a prompt names a tool or an argument that does not exist");
}

#[test]
fn every_tool_prompt_is_that_of_a_tool() {
    let tools = prompts::tool_names(&sources());
    let mut files = Vec::new();
    tree::files(&repository().join("prompts/tools"), &mut files);
    let names = files.iter().filter_map(|file| file.file_stem()?.to_str().map(str::to_owned));
    let prompts: BTreeSet<String> = names.collect();
    assert_eq!(prompts, tools);
}

#[test]
fn what_is_shared_is_named_by_two_other_crates_or_is_the_loop() {
    let sources = sources();
    let modules = sources.iter().filter_map(|source| {
        let rest = source.path.strip_prefix("shared/src/")?;
        let name = rest.split('/').next()?.trim_end_matches(".rs");
        (name != "lib").then_some(name)
    });
    let mut violations = Vec::new();
    for module in modules.collect::<BTreeSet<_>>() {
        let names = |source: &&Source| {
            let tokens = &source.tokens;
            (0..tokens.len()).any(|at| {
                begins(&tokens[at..], &["tandem_shared", "::", module])
                    || (begins(&tokens[at..], &["tandem_shared", "::", "{"])
                        && tokens[at..]
                            .iter()
                            .take_while(|token| !token.is("}"))
                            .any(|token| token.is(module)))
            })
        };
        let crates: BTreeSet<&str> = sources
            .iter()
            .filter(|source| !source.path.starts_with("shared/"))
            .filter(names)
            .map(|source| source.path.split('/').next().unwrap_or_default())
            .collect();
        if crates.len() < 2 && !THE_LOOP.contains(&module) {
            violations.push(format!("shared/src/{module}: named only by {crates:?}"));
        }
    }
    assert_none(violations, "a file in shared belongs elsewhere");
}
