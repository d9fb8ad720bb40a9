//! The narrowest useful rules that would let a command run without a question the next time.

use super::allow::{Pattern, is_allowed};
use super::judge::{Judgement, Part, Weighed};
use super::script::{Simple, Word};

/// Programs whose first operand says what they do, and how many further operands say so too.
const WITH_SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("bun", &["run"]),
    ("cargo", &[]),
    ("composer", &["run"]),
    ("deno", &["task"]),
    ("docker", &["compose", "container", "image"]),
    ("dotnet", &[]),
    ("gh", &["pr", "issue", "run", "repo"]),
    ("git", &["stash", "worktree", "submodule", "remote"]),
    ("go", &["mod", "tool"]),
    ("gradle", &[]),
    ("just", &[]),
    ("kubectl", &[]),
    ("make", &[]),
    ("mix", &[]),
    ("mvn", &[]),
    ("npm", &["run"]),
    ("pip", &[]),
    ("pnpm", &["run"]),
    ("poetry", &["run"]),
    ("rake", &[]),
    ("rustup", &["component", "target", "toolchain"]),
    ("swift", &[]),
    ("terraform", &[]),
    ("uv", &["run", "pip"]),
    ("yarn", &["run"]),
    ("zig", &[]),
];

/// Rules that would allow every part of a command that nothing names yet; `None` where none would do: for what is
/// dangerous, not understood, or asked about by a rule.
pub fn proposal(weighed: &Weighed) -> Option<Vec<String>> {
    if weighed.judgement != Judgement::Plain {
        return None;
    }
    let unnamed =
        weighed.script.commands.iter().zip(&weighed.parts).filter(|(_, part)| **part == Part::Plain);
    let mut rules = Vec::new();
    for (simple, _) in unnamed {
        let rule = rule_for(simple)?;
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    (!rules.is_empty()).then_some(rules)
}

fn rule_for(simple: &Simple) -> Option<String> {
    let written = |words: &[Word]| -> Option<Vec<String>> { words.iter().map(written).collect() };
    let words = simple.words.as_slice();
    let row = WITH_SUBCOMMANDS.iter().find(|(name, _)| words.first().is_some_and(|word| word.text == *name));
    let rule = match (row, words) {
        (Some((_, further)), [_, sub, rest @ ..]) if is_operand(sub) => {
            let deeper = further.contains(&sub.text.as_str()) && rest.first().is_some_and(is_operand);
            let head = words.get(..if deeper { 3 } else { 2 }).unwrap_or(words);
            format!("{} *", written(head)?.join(" "))
        }
        _ => written(words)?.join(" "),
    };
    // What the rule would not let through again is not worth keeping.
    let pattern = Pattern::parse(&rule).ok()?;
    is_allowed(simple, &[pattern]).then_some(rule)
}

fn is_operand(word: &Word) -> bool {
    !word.text.starts_with('-') && !word.text.is_empty()
}

/// A word as it is written in a rule; `None` for one that a rule would read as something else.
fn written(word: &Word) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c);
    if !word.known || word.text.contains(['*', '\'', '\n']) {
        return None;
    }
    let bare = !word.text.is_empty() && word.text.chars().all(plain);
    Some(if bare { word.text.clone() } else { format!("'{}'", word.text) })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Place, Rules, weigh};
    use super::*;

    #[test]
    fn a_rule_is_as_narrow_as_is_useful() {
        let check = |command: &str, expect: Option<&[&str]>| {
            let place = Place { root: Path::new("/srv/project") };
            let got = proposal(&weigh(command, &Rules::default(), place));
            let expect = expect.map(|rules| rules.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>());
            assert_eq!(got, expect, "{command}");
        };
        check("cargo test --lib parse", Some(&["cargo test *"]));
        check("cargo --version", Some(&["cargo --version"]));
        check("npm run lint -- --fix", Some(&["npm run lint *"]));
        check("python3 tool.py 'a b'", Some(&["python3 tool.py 'a b'"]));
        check("cd sub && cargo build | tail -n 3 && ls", Some(&["cargo build *"]));
        check("cargo fmt && cargo clippy", Some(&["cargo fmt *", "cargo clippy *"]));
        check("ls", None);
        check("rm -r build", None);
        check("git push", None);
        check("make > out", None);
        check("make $X", None);
        check("make &", None);
        check("touch 'a*'", None);
    }
}
