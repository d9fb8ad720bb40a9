//! What runs without a question: the user's rules over parsed words, and a short table of programs that only look.

use thiserror::Error;

use super::danger::operands;
use super::parse::{Redirect, Script, Simple, Word, parse};

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
        "<" | "<&" => true,
        ">&" | ">&-" => to == "-" || to.bytes().all(|b| b.is_ascii_digit()),
        ">" | ">>" => to == "/dev/null",
        _ => false,
    }
}

/// A program that only looks, however it is called within the bounds of its row.
struct Looks {
    name: &'static str,
    bounds: Bounds,
}

enum Bounds {
    /// Any arguments.
    Any,
    /// Any but these options: `-x` alone or in a cluster, `--long` in any shortened form, or a word that begins so.
    Without(&'static [&'static str]),
    /// At most so many operands, and no options but these.
    Only(usize, &'static [&'static str]),
    /// A program that starts another, which is judged by itself.
    Starts,
}

const fn looks(name: &'static str) -> Looks {
    Looks { name, bounds: Bounds::Any }
}

const fn without(name: &'static str, options: &'static [&'static str]) -> Looks {
    Looks { name, bounds: Bounds::Without(options) }
}

const LOOKS: &[Looks] = &[
    looks("ls"),
    looks("pwd"),
    looks("cat"),
    looks("head"),
    looks("tail"),
    looks("wc"),
    looks("echo"),
    looks("uname"),
    looks("nl"),
    looks("grep"),
    looks("egrep"),
    looks("fgrep"),
    looks("seq"),
    looks("du"),
    looks("df"),
    looks("dirname"),
    looks("basename"),
    looks("tac"),
    looks("rev"),
    looks("paste"),
    looks("expr"),
    looks("base64"),
    looks("cut"),
    looks("tr"),
    looks("cmp"),
    looks("comm"),
    looks("diff"),
    looks("stat"),
    looks("realpath"),
    looks("readlink"),
    looks("which"),
    looks("id"),
    looks("whoami"),
    looks("true"),
    looks("false"),
    looks("test"),
    looks("["),
    looks("sha256sum"),
    looks("md5sum"),
    without("printf", &["-v"]),
    without("file", &["-C", "--compile"]),
    without(
        "sort",
        &["-o", "--output", "--compress-program", "-T", "--temporary-directory", "-S", "--files0-from"],
    ),
    without("rg", &["--pre", "--hostname-bin", "-z", "--search-zip"]),
    without("find", &["=-exec", "=-ok", "=-delete", "=-fprint", "=-fls"]),
    Looks {
        name: "uniq",
        bounds: Bounds::Only(1, &["-c", "-d", "-u", "-i", "--count", "--repeated", "--unique"]),
    },
    Looks { name: "date", bounds: Bounds::Only(0, &["-u", "-I", "--utc"]) },
    Looks { name: "tree", bounds: Bounds::Only(1, &["-a", "-d", "-L1", "-L2", "-L3"]) },
    Looks { name: "time", bounds: Bounds::Starts },
    Looks { name: "timeout", bounds: Bounds::Starts },
];

/// Options of git's looking commands that write, or that run a program.
const GIT_ACTS: &[&str] = &[
    "--output",
    "--ext-diff",
    "--textconv",
    "-O",
    "--open-files-in-pager",
    "--show-signature",
    "--contents",
    "--upload-pack",
    "--exec",
    "--output-directory",
];

const GIT_LOOKS: &[Looks] = &[
    without("status", GIT_ACTS),
    without("diff", GIT_ACTS),
    without("log", GIT_ACTS),
    without("show", GIT_ACTS),
    without("blame", GIT_ACTS),
    without("grep", GIT_ACTS),
    without("ls-files", GIT_ACTS),
    without("ls-tree", GIT_ACTS),
    without("cat-file", GIT_ACTS),
    without("rev-list", GIT_ACTS),
    without("shortlog", GIT_ACTS),
    without("describe", GIT_ACTS),
    without("merge-base", GIT_ACTS),
    Looks { name: "rev-parse", bounds: Bounds::Any },
    Looks {
        name: "branch",
        bounds: Bounds::Only(0, &["--show-current", "-a", "-r", "-v", "-vv", "--list", "--all"]),
    },
    Looks { name: "tag", bounds: Bounds::Only(0, &["-l", "--list"]) },
    Looks { name: "remote", bounds: Bounds::Only(0, &["-v", "--verbose"]) },
    Looks { name: "reflog", bounds: Bounds::Only(0, &[]) },
];

fn only_looks(simple: &Simple) -> bool {
    let Some(name) = simple.words.first() else { return false };
    if !simple.words.iter().all(|word| word.known) {
        // What an expansion yields may be an option; only a program without options can take it.
        return name.known && name.text == "echo";
    }
    match name.text.as_str() {
        // Where later commands run is no harm, as long as it stays below.
        "cd" => {
            matches!(simple.args(), [to] if !to.text.starts_with(['/', '-', '~']) && !to.text.contains(".."))
        }
        "git" => git_looks(simple),
        text => {
            LOOKS.iter().any(|row| is_program(text, row.name) && within(&row.bounds, simple.args(), simple))
        }
    }
}

fn is_program(text: &str, name: &str) -> bool {
    text == name
        || ["/bin/", "/usr/bin/"]
            .iter()
            .any(|folder| text.strip_prefix(folder).is_some_and(|rest| rest == name))
}

fn git_looks(simple: &Simple) -> bool {
    let mut args = simple.args();
    loop {
        args = match args {
            [flag, rest @ ..] if flag.text == "--no-pager" => rest,
            [flag, to, rest @ ..]
                if flag.text == "-C" && !to.text.starts_with('/') && !to.text.contains("..") =>
            {
                rest
            }
            [subcommand, rest @ ..] => {
                return GIT_LOOKS
                    .iter()
                    .any(|row| row.name == subcommand.text && within(&row.bounds, rest, simple));
            }
            [] => return false,
        };
    }
}

fn within(bounds: &Bounds, args: &[Word], simple: &Simple) -> bool {
    match bounds {
        Bounds::Any => true,
        Bounds::Starts => operands(simple).len() > 1 || simple.name() == "time",
        Bounds::Without(refused) => {
            // A pattern may match a file that is named like an option.
            args.iter().all(|arg| !arg.glob || !arg.text.starts_with(['*', '?', '[', '-']))
                && !args.iter().any(|arg| refused.iter().any(|option| is_option(&arg.text, option)))
        }
        Bounds::Only(operands, allowed) => {
            let plain = args.iter().filter(|arg| !arg.text.starts_with('-')).count();
            plain <= *operands
                && args.iter().all(|arg| {
                    !arg.glob
                        && (!arg.text.starts_with(['-', '+'])
                            || allowed.contains(&arg.text.as_str())
                            || arg.text.starts_with("+%"))
                })
        }
    }
}

/// Errs on the side of seeing an option: long ones may be shortened, short ones may stand in a cluster.
fn is_option(text: &str, option: &str) -> bool {
    if let Some(prefix) = option.strip_prefix('=') {
        return text.starts_with(prefix);
    }
    if option.starts_with("--") {
        let stem = text.split('=').next().unwrap_or(text);
        return stem.len() > 2 && stem.starts_with("--") && option.starts_with(stem);
    }
    match option.strip_prefix('-') {
        Some(letter) => text.starts_with('-') && !text.starts_with("--") && text.contains(letter),
        None => text == option,
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
