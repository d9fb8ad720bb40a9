//! What runs without a question: the user's rules over parsed words, and programs that only look.

use thiserror::Error;

use super::looks::{is_below, only_looks};
use super::parse::parse;
use super::script::{Redirect, Script, Simple, Word};

/// One rule of the allow-list, such as `cargo test *`: its words one by one; `*` inside a word is any text, a last `*`
/// any further words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    words: Vec<String>,
    open: bool,
}

/// A rule that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the allow rule {rule:?} is not one simple command: {why}")]
pub struct PatternError {
    rule: String,
    why: String,
}

impl Pattern {
    /// Parses a rule.
    ///
    /// # Errors
    /// When it is not one simple command with plain words, or would allow every program.
    pub fn parse(rule: &str) -> Result<Pattern, PatternError> {
        let refused = |why: &str| PatternError { rule: rule.to_owned(), why: why.to_owned() };
        let script = parse(rule);
        let [simple] = script.commands.as_slice() else {
            return Err(refused("write one rule for each program"));
        };
        if let Some(odd) = script.odd.first() {
            return Err(refused(odd));
        }
        let plain = simple.redirects.is_empty() && simple.assigns.is_empty() && simple.stdin.is_none();
        if !plain || simple.background || simple.words.iter().any(|word| !word.known) {
            return Err(refused("redirects, assignments and expansions cannot be allowed"));
        }
        let mut words: Vec<String> = simple.words.iter().map(|word| word.text.clone()).collect();
        if words.first().is_none_or(|name| name.contains('*')) {
            return Err(refused("it must begin with the name of a program"));
        }
        let open = words.last().is_some_and(|last| last == "*");
        if open {
            words.pop();
        }
        Ok(Pattern { words, open })
    }

    fn matches(&self, words: &[Word]) -> bool {
        let enough =
            if self.open { words.len() >= self.words.len() } else { words.len() == self.words.len() };
        enough
            && words.iter().all(|word| word.known)
            && self.words.iter().zip(words).all(|(pattern, word)| wild(pattern, &word.text))
    }
}

/// Whether every part of `script` is allowed, so that it may run without a question.
pub fn allows(script: &Script, rules: &[Pattern]) -> bool {
    let understood = script.odd.is_empty() && script.functions.is_empty() && !script.commands.is_empty();
    understood && script.commands.iter().all(|simple| allows_simple(simple, rules))
}

fn allows_simple(simple: &Simple, rules: &[Pattern]) -> bool {
    !simple.background
        && simple.assigns.is_empty()
        && simple.redirects.iter().all(harmless_redirect)
        && (rules.iter().any(|rule| rule.matches(&simple.words)) || only_looks(simple))
}

fn harmless_redirect(redirect: &Redirect) -> bool {
    let to = redirect.target.text.as_str();
    if !redirect.target.known {
        return false;
    }
    match redirect.op.as_str() {
        "<" => is_below(to),
        "<&" => true,
        ">&" | ">&-" => to == "-" || to.bytes().all(|b| b.is_ascii_digit()),
        ">" | ">>" => to == "/dev/null",
        _ => false,
    }
}

/// Whether `text` meets `pattern`, in which `*` is any text.
fn wild(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    let mut rest = rest;
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: &str, command: &str, expect: bool) {
        let rules = [Pattern::parse(rule).unwrap()];
        assert_eq!(allows(&parse(command), &rules), expect, "{rule:?} on {command:?}");
    }

    #[test]
    fn a_rule_holds_word_by_word() {
        check("cargo test *", "cargo test", true);
        check("cargo test *", "cargo test --lib parse", true);
        check("cargo test *", "cargo 'test' a", true);
        check("cargo test *", "cargo testing", false);
        check("cargo test *", "cargo build", false);
        check("cargo test", "cargo test --lib", false);
        check("npm run test:*", "npm run test:unit", true);
        check("npm run test:*", "npm run build", false);
        check("make *", "make 'a b'", true);
    }

    #[test]
    fn every_part_must_be_allowed() {
        check("cargo test *", "cd sub && cargo test 2>&1 | tail -n 3", true);
        check("cargo test *", "timeout 60 cargo test", true);
        check("cargo test *", "timeout 60 cargo build", false);
        check("cargo test *", "cargo test; touch x", false);
        check("cargo test *", "cargo test $(touch x)", false);
        check("cargo test *", "cargo test > out", false);
        check("cargo test *", "cargo test &", false);
        check("cargo test *", "PATH=. cargo test", false);
        check("cargo test *", "f() { ls; }; cargo test", false);
        check("cargo test *", "cargo test $X", false);
    }

    #[test]
    fn a_rule_is_one_plain_command() {
        for bad in ["", "*", "* test", "a; b", "a | b", "a > b", "X=1 a", "a $X", "a &", "a 'b"] {
            assert!(Pattern::parse(bad).is_err(), "{bad:?}");
        }
    }
}
