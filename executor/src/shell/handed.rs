//! Files that a program prints whose names are not in its own words: they come from variables, from a pipe, from another
//! command, or from the arguments of a function.

use super::meaning::{ANY, GIVEN, PIPED, PRINTED, as_word, marks, meanings};
use super::readers::{FEEDERS, LISTERS};
use super::script::{Script, Simple, Word};
use super::secret_files::read;
use super::sweep::Sweep;

/// Programs that print what is in the files they are given, or give it another name.
const PRINTS: &[&str] = &[
    "cat", "head", "tail", "less", "more", "bat", "batcat", "nl", "tac", "rev", "sort", "uniq", "cut",
    "paste", "comm", "diff", "cmp", "grep", "egrep", "fgrep", "rg", "sed", "awk", "gawk", "mawk", "jq", "yq",
    "xxd", "od", "hexdump", "strings", "base64", "base32", "cp", "mv", "ln", "install", "tar", "zip", "gzip",
    "zcat", "fold", "fmt", "column", "pr", "source", ".",
];

/// Programs whose first operand is a program of their own.
const SCRIPT_FIRST: &[&str] = &["sed", "awk", "gawk", "mawk", "jq", "yq"];

/// Options with a value that is no file.
const VALUES: &[(&[&str], &[&str])] = &[
    (&["head", "tail"], &["-n", "-c", "--lines", "--bytes"]),
    (&["cut"], &["-d", "-f", "-c", "-b"]),
    (&["grep", "egrep", "fgrep", "rg"], &["-A", "-B", "-C", "-m", "-e", "--regexp"]),
    (&["sort"], &["-k", "-t"]),
    (&["sed"], &["-e", "--expression"]),
    (&["awk", "gawk", "mawk"], &["-v", "-F"]),
    (&["jq"], &["--arg", "--argjson"]),
];

/// Programs that begin a pipe with names or plain values, and are looked at where they stand.
const TELLS: &[&str] = &[
    "dirname", "basename", "pwd", "seq", "date", "wc", "nproc", "mktemp", "which", "realpath", "readlink",
    "uname", "id", "whoami", "expr", "hostname", "grep", "egrep", "fgrep", "rg",
];

/// The same of git's commands.
const GIT_TELLS: &[&str] = &["rev-parse", "merge-base", "grep", "branch", "describe"];

/// Programs that let through what is piped into them.
const FILTERS: &[&str] = &[
    "grep", "egrep", "fgrep", "rg", "sort", "uniq", "head", "tail", "sed", "awk", "gawk", "tr", "cut", "rev",
    "tac", "shuf", "xargs", "cat", "tee", "read", "true", "wc", "[", "test", "echo", "printf",
];

/// Where the text behind a mark comes from.
enum Origin {
    /// From these words.
    Names(Vec<String>),
    /// From programs that list files, which are looked at themselves.
    Listed,
    /// From anywhere.
    Open,
}

/// What the command at `at` prints without naming it. `alone` is the form of a sweep for a single file.
pub(super) fn handed(script: &Script, at: usize, alone: &Sweep) -> Vec<Sweep> {
    let Some(simple) = script.commands.get(at) else { return Vec::new() };
    let prints = PRINTS.contains(&simple.name());
    let mut found = Vec::new();
    for meaning in operands(simple) {
        let marks: Vec<char> = marks(&meaning).collect();
        if marks.is_empty() {
            found.push(alone.clone().from(&as_word(&meaning)));
            continue;
        }
        if !prints {
            continue;
        }
        let origins: Vec<Origin> = marks.iter().map(|mark| origin(script, at, *mark)).collect();
        match origins.as_slice() {
            [Origin::Names(names)] => found.extend(names.iter().map(|name| {
                let text = meaning.replace([ANY, PRINTED, PIPED, GIVEN], name);
                alone.clone().from(&as_word(&text))
            })),
            origins if origins.iter().all(|origin| matches!(origin, Origin::Listed)) => {}
            _ => found.push(open(&meaning, alone)),
        }
    }
    found
}

/// What the operands that are only known when it runs may come to, with what is piped into a program that starts this one.
fn operands(simple: &Simple) -> Vec<String> {
    let name = simple.name();
    let args = simple.args();
    let valued = VALUES.iter().filter(|(names, _)| names.contains(&name)).flat_map(|(_, options)| *options);
    let valued: Vec<&str> = valued.copied().collect();
    let is_value = |word: &Word| {
        let at = args.iter().position(|arg| std::ptr::eq(arg, word));
        let before = at.and_then(|at| at.checked_sub(1)).and_then(|at| args.get(at));
        before.is_some_and(|before| valued.contains(&before.text.as_str()))
    };
    let gives_script =
        || args.iter().any(|arg| matches!(arg.text.as_str(), "-e" | "-f" | "--expression" | "--file"));
    let script = (SCRIPT_FIRST.contains(&name) && !gives_script())
        .then(|| args.iter().find(|arg| !arg.text.starts_with('-')))
        .flatten();
    let unknown = read(simple)
        .filter(|word| !word.known && !word.text.starts_with('-') && !is_value(word))
        .filter(|word| script.is_none_or(|script| !std::ptr::eq(script, *word)));
    let mut found: Vec<String> = unknown.flat_map(meanings).collect();
    let fed = simple.via.as_deref().is_some_and(|via| FEEDERS.contains(&via));
    let place_holder = !simple.upstream.is_empty() && args.iter().any(|arg| arg.text.contains("{}"));
    if fed || place_holder {
        found.push(PIPED.to_string());
    }
    found
}

fn origin(script: &Script, at: usize, mark: char) -> Origin {
    let Some(simple) = script.commands.get(at) else { return Origin::Open };
    let before = || (0..at).filter(|at| script.commands.get(*at).is_some_and(|simple| simple.captured));
    let mut places = simple.inner.clone();
    match mark {
        PRINTED => places.extend(before()),
        PIPED => {
            let file = |from: &super::script::Redirect| from.op == "<" && from.target.known;
            match &simple.stdin {
                Some(text) if text.known => {
                    return Origin::Names(text.text.split_whitespace().map(str::to_owned).collect());
                }
                None if !simple.redirects.iter().any(file) => places.extend(&simple.upstream),
                _ => return Origin::Open,
            }
        }
        GIVEN => return arguments(script, simple),
        _ => return Origin::Open,
    }
    places.sort_unstable();
    places.dedup();
    let sources: Vec<&Simple> = places.into_iter().filter_map(|at| script.commands.get(at)).collect();
    told_by(&sources)
}

/// What commands print together. Without one that lists or names files, their names may come from anywhere.
fn told_by(sources: &[&Simple]) -> Origin {
    let mut names = Vec::new();
    let mut listed = false;
    for source in sources {
        let piped = !source.upstream.is_empty();
        match source.name() {
            "echo" | "printf" if !source.args().is_empty() => {
                let said = source.args().iter().flat_map(meanings);
                for text in said {
                    if marks(&text).next().is_some() {
                        return Origin::Open;
                    }
                    names.extend(text.split_whitespace().map(str::to_owned));
                }
            }
            name if lists(source) || (TELLS.contains(&name) && !piped) => listed = true,
            name if FILTERS.contains(&name) => {}
            _ => return Origin::Open,
        }
    }
    match (names.is_empty(), listed) {
        (false, _) => Origin::Names(names),
        (true, true) => Origin::Listed,
        (true, false) => Origin::Open,
    }
}

fn lists(simple: &Simple) -> bool {
    let name = simple.name();
    if name == "git" {
        let command =
            super::operands::operands(simple).first().map(|word| word.text.clone()).unwrap_or_default();
        let row = format!("git {command}");
        return GIT_TELLS.contains(&command.as_str()) || LISTERS.iter().any(|lister| lister.name == row);
    }
    name == "find" || LISTERS.iter().any(|lister| lister.name == name)
}

/// What the function around `simple` is called with.
fn arguments(script: &Script, simple: &Simple) -> Origin {
    let Some(function) = simple.function.as_deref() else { return Origin::Open };
    let calls = script.commands.iter().filter(|call| call.name() == function);
    let given: Vec<String> = calls.flat_map(Simple::args).flat_map(meanings).collect();
    match given.iter().any(|text| marks(text).next().is_some()) {
        true => Origin::Open,
        false => Origin::Names(given),
    }
}

/// Everything below a folder whose path fits `meaning`.
fn open(meaning: &str, alone: &Sweep) -> Sweep {
    let first = meaning.find([ANY, PRINTED, PIPED, GIVEN, '*', '?', '[']).unwrap_or(meaning.len());
    let fixed = meaning.get(..first).unwrap_or_default();
    let (folder, rest) = match fixed.rfind('/') {
        Some(at) => (meaning.get(..=at).unwrap_or("."), meaning.get(at + 1..).unwrap_or_default()),
        None => (".", meaning),
    };
    // Where it leads up, only what comes behind that is sure.
    let rest = rest.rsplit_once("../").map_or(rest.to_owned(), |(_, behind)| format!("{ANY}{behind}"));
    let mut fits = String::new();
    let mut set = false;
    for c in rest.chars() {
        match c {
            ']' if set => set = false,
            _ if set => {}
            ANY..=GIVEN | '*' | '?' => fits.push('*'),
            '[' => {
                set = rest.contains(']');
                fits.push('*');
            }
            c => fits.push(c),
        }
    }
    let here = Sweep { depth: None, fits: Some(fits), ..alone.clone() };
    here.from(&Word::known(folder))
}
