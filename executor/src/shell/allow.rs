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
    /// As it is written.
    text: String,
}

/// A rule that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the rule {rule:?} is not one simple command: {why}")]
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
        Ok(Pattern { words, open, text: rule.trim().to_owned() })
    }

    /// Its words up to the first that is not literal, as a command of their own.
    pub(super) fn literal(&self) -> Script {
        let words = self.words.iter().take_while(|word| !word.contains('*'));
        let simple = Simple { words: words.map(Word::known).collect(), ..Simple::default() };
        Script { commands: vec![simple], ..Script::default() }
    }

    /// Whether it holds for `simple`, or for what that may turn out to be: for rules that forbid or ask. Further words never
    /// lead out of such a rule, and a word that is only known when it runs may be any.
    pub(super) fn may_meet(&self, simple: &Simple) -> bool {
        let words = &simple.words;
        let Some((first, rest)) = self.words.split_first() else { return false };
        let program = words
            .first()
            .is_some_and(|word| !word.known || wild(first, &word.text) || wild(first, simple.name()));
        program
            && words.len() >= self.words.len()
            && rest
                .iter()
                .zip(words.iter().skip(1))
                .all(|(pattern, word)| !word.known || wild(pattern, &word.text))
    }

    fn matches(&self, words: &[Word]) -> bool {
        let enough =
            if self.open { words.len() >= self.words.len() } else { words.len() == self.words.len() };
        enough
            && words.iter().all(|word| word.known)
            && self.words.iter().zip(words).all(|(pattern, word)| wild(pattern, &word.text))
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether nothing of `script` is hidden from one who looks at its parts.
pub fn understood(script: &Script) -> bool {
    script.odd.is_empty() && script.functions.is_empty() && !script.commands.is_empty()
}

/// Whether a part only looks or is allowed by one of `rules`, so that it may run without a question.
pub fn is_allowed(simple: &Simple, rules: &[Pattern]) -> bool {
    stands_alone(simple) && (matches_one(simple, rules) || only_looks(simple))
}

/// Whether one of `rules` allows a part, whatever it does.
pub fn is_named(simple: &Simple, rules: &[Pattern]) -> bool {
    stands_alone(simple) && matches_one(simple, rules)
}

fn matches_one(simple: &Simple, rules: &[Pattern]) -> bool {
    rules.iter().any(|rule| rule.matches(&simple.words))
}

/// Nothing around the words changes what they do.
fn stands_alone(simple: &Simple) -> bool {
    !simple.background && simple.assigns.is_empty() && simple.redirects.iter().all(harmless_redirect)
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
pub(super) fn wild(pattern: &str, text: &str) -> bool {
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
        let script = parse(command);
        let got = understood(&script) && script.commands.iter().all(|simple| is_allowed(simple, &rules));
        assert_eq!(got, expect, "{rule:?} on {command:?}");
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
    fn a_rule_that_forbids_cannot_be_got_around() {
        let check = |rule: &str, command: &str, expect: bool| {
            let rule = Pattern::parse(rule).unwrap();
            let script = parse(command);
            assert_eq!(
                script.commands.iter().any(|simple| rule.may_meet(simple)),
                expect,
                "{rule} on {command}"
            );
        };
        check("touch", "touch a b", true);
        check("touch *", "/usr/bin/touch a", true);
        check("git push", "git push --force", true);
        check("git push", "git $X", true);
        check("git push", "$X", false);
        check("git push", "$X push", true);
        check("git push", "$X y", false);
        check("git push", "git pull", false);
        check("curl", "echo $(curl x)", true);
        check("rm *", "env rm a", true);
    }

    #[test]
    fn a_rule_is_one_plain_command() {
        for bad in ["", "*", "* test", "a; b", "a | b", "a > b", "X=1 a", "a $X", "a &", "a 'b"] {
            assert!(Pattern::parse(bad).is_err(), "{bad:?}");
        }
    }
}
