//! A short table of programs that only look, each within bounds.

use super::operands::{operands, pattern};
use super::script::{Simple, Word};

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
    /// As a printer of lines: `-n` and a script of line numbers and `p`.
    Prints,
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
    without("wc", &["--files0-from"]),
    looks("echo"),
    looks("uname"),
    looks("nl"),
    looks("grep"),
    looks("egrep"),
    looks("fgrep"),
    looks("seq"),
    without("du", &["--files0-from"]),
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
    without("file", &["-C", "--compile", "-f", "--files-from"]),
    Looks { name: "sed", bounds: Bounds::Prints },
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
    // What it is fed decides what it prints.
    without("cat-file", &["--batch", "--batch-command", "--textconv", "--filters"]),
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

/// Whether `simple` changes nothing, by its program and options alone.
pub(super) fn only_looks(simple: &Simple) -> bool {
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
                && stays_inside(simple)
        }
    }
}

/// Programs whose arguments are words and no files.
const WORDS_ONLY: &[&str] = &["echo", "printf", "expr", "seq", "tr", "which", "dirname", "basename"];
/// Whether every file that the arguments name lies below the folder the command runs in, by their text. What lies outside
/// the project (`/proc/1/environ`, `~/.ssh`) may be a secret, so looking there is asked for.
fn stays_inside(simple: &Simple) -> bool {
    let name = simple.name();
    if WORDS_ONLY.contains(&name) {
        return true;
    }
    let pattern = pattern(simple);
    simple.args().iter().enumerate().all(|(at, arg)| Some(at) == pattern || is_below(&arg.text))
}

/// Whether a path, or the value of an option, does not lead up or to an absolute place.
pub(super) fn is_below(text: &str) -> bool {
    let value = match text.strip_prefix('-') {
        // `--file=x`, `-fx`.
        Some(option) => match text.split_once('=') {
            Some((_, value)) => value,
            None => option.char_indices().nth(1).and_then(|(at, _)| option.get(at..)).unwrap_or_default(),
        },
        None => text,
    };
    value == "/dev/null" || !(value.starts_with(['/', '~']) || value.split('/').any(|part| part == ".."))
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
                    .any(|row| row.name == subcommand.text && within(&row.bounds, rest, simple))
                    && (subcommand.text == "grep" || rest.iter().all(|arg| is_below_in_git(&arg.text)));
            }
            [] => return false,
        };
    }
}

/// As [`is_below`], but for git's ranges of commits (`main..work`), which hold dots.
fn is_below_in_git(text: &str) -> bool {
    is_below(text) || (!text.starts_with(['/', '~', '.']) && !text.contains("/../"))
}

fn within(bounds: &Bounds, args: &[Word], simple: &Simple) -> bool {
    match bounds {
        Bounds::Any => true,
        Bounds::Prints => match args {
            [flag, script, files @ ..] => {
                let lines = |c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | 'p' | ';' | ' ');
                flag.text == "-n"
                    && script.text.chars().all(lines)
                    && files.iter().all(|file| !file.glob && !file.text.starts_with('-'))
            }
            _ => false,
        },
        // `time -o` writes a file.
        Bounds::Starts => match simple.name() {
            "time" => args.first().is_some_and(|first| !first.text.starts_with('-')),
            _ => operands(simple).len() > 1,
        },
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
