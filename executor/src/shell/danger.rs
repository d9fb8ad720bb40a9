//! Holds the danger list against a parsed command.

use std::path::Path;

use super::operands::operands;
use super::place::Place;
use super::rule::{Call, Matcher, Met, Rule, Target};
use super::rules::RULES;
use super::script::{Script, Simple, Word};
use super::secret_files::reads_secrets;
use super::swept::Sight;
use super::wrap::SHELLS;

/// The rules that `script` meets, in the order of the table.
pub(super) fn met(script: &Script, sight: &Sight<'_>) -> Vec<Met> {
    let met = |rule: &'static Rule| match rule.matcher {
        Matcher::SweepsSecrets => {
            let why = (0..script.commands.len()).find_map(|at| sight.of(script, at).why());
            why.map(|why| Met { why: why.into(), ..Met::from(rule) })
        }
        _ => meets(&rule.matcher, script, sight.place).then(|| Met::from(rule)),
    };
    RULES.iter().filter_map(met).collect()
}

fn meets(matcher: &Matcher, script: &Script, place: Place<'_>) -> bool {
    match matcher {
        Matcher::Call(call) => script.commands.iter().any(|simple| meets_call(call, simple, place)),
        Matcher::WritesTo(target) => script.commands.iter().any(|simple| {
            let writes = |op: &str| op.contains('>');
            simple.redirects.iter().any(|to| writes(&to.op) && is_target(*target, &to.target, simple, place))
        }),
        Matcher::ShellRuns(sources) => {
            script.commands.iter().any(|simple| shell_runs(simple, script, sources))
        }
        Matcher::ReadsSecrets => script.commands.iter().any(reads_secrets),
        // That is not in the text: [`met`] looks for it.
        Matcher::SweepsSecrets => false,
        Matcher::Bare(names) => script.commands.iter().any(|simple| is_bare(names, simple)),
        Matcher::ChecksOutFiles => script.commands.iter().any(checks_out_files),
        Matcher::SelfStarting => script.commands.iter().any(|simple| {
            let itself = simple.function.as_deref() == Some(simple.name()) && !simple.words.is_empty();
            itself && (simple.background || !simple.upstream.is_empty())
        }),
    }
}

fn meets_call(call: &Call, simple: &Simple, place: Place<'_>) -> bool {
    let name = simple.name();
    let named = call.names.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == *pattern,
    });
    if !named || simple.words.is_empty() {
        return false;
    }
    let operands = operands(simple);
    let operands_meet = call.operands.iter().enumerate().all(|(at, alternatives)| {
        operands.get(at).is_some_and(|word| alternatives.contains(&word.text.as_str()))
            // Further alternatives may also stand as options (`git config --global`).
            || (at > 0 && simple.args().iter().any(|word| alternatives.contains(&word.text.as_str())))
    });
    operands_meet
        && !is_excepted(call, simple)
        && call.options.iter().all(|group| group.iter().any(|option| has_option(simple.args(), option)))
        && (call.target == Target::Any
            || simple.args().iter().any(|word| is_target(call.target, word, simple, place)))
}

/// Whether the first argument behind the verb makes the call harmless. Only there is it certain to be an option: further
/// on it may be the value of another one.
fn is_excepted(call: &Call, simple: &Simple) -> bool {
    let verb = operands(simple)
        .first()
        .and_then(|verb| simple.args().iter().position(|arg| std::ptr::eq(arg, *verb)));
    let first = verb.and_then(|at| simple.args().get(at + 1));
    first.is_some_and(|word| word.known && call.unless.contains(&word.text.as_str()))
}

/// Whether one of the programs `names` is called without an operand, and not for its help.
fn is_bare(names: &[&str], simple: &Simple) -> bool {
    const TELLS: &[&str] = &["-v", "--version", "-h", "--help"];
    names.contains(&simple.name())
        && operands(simple).is_empty()
        && !simple.args().iter().any(|arg| TELLS.contains(&arg.text.as_str()))
}

/// Whether `git checkout` takes files: two operands are a commit and a file, unless a branch is made, and one that ends like
/// the name of a file is one.
fn checks_out_files(simple: &Simple) -> bool {
    const MAKES: &[&str] = &["-b", "-B", "--orphan", "-t", "--track"];
    let operands = operands(simple);
    let makes = || simple.args().iter().any(|arg| MAKES.contains(&arg.text.as_str()));
    let is_file = |text: &str| {
        let name = text.rsplit('/').next().unwrap_or(text);
        name.rsplit_once('.').is_some_and(|(_, ending)| ending.starts_with(|c: char| c.is_ascii_alphabetic()))
    };
    match operands.as_slice() {
        [verb, files @ ..] if simple.name() == "git" && verb.text == "checkout" && !makes() => {
            files.len() > 1 || files.iter().any(|word| is_file(&word.text))
        }
        _ => false,
    }
}

/// Tests of find that take the next word.
const FIND_TESTS: &[&str] = &["-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-lname", "-ilname"];

/// `-x` is met alone or in a cluster, `--long` whole, shortened or with a value, `=word` and others as they stand;
/// `+*` is a word that begins so.
fn has_option(args: &[Word], option: &str) -> bool {
    args.iter().enumerate().any(|(at, arg)| {
        let text = arg.text.as_str();
        if let Some(exact) = option.strip_prefix('=') {
            // `find -name -delete` looks for a file of that name.
            let before = at.checked_sub(1).and_then(|at| args.get(at)).map_or("", |arg| arg.text.as_str());
            return text == exact && !FIND_TESTS.contains(&before);
        }
        if let Some(prefix) = option.strip_suffix('*') {
            return text.len() > prefix.len() && text.starts_with(prefix);
        }
        if option.starts_with("--") {
            let stem = text.split('=').next().unwrap_or(text);
            return stem.len() > 3 && option.starts_with(stem);
        }
        match option.strip_prefix('-') {
            Some(letter) => text.starts_with('-') && !text.starts_with("--") && text.contains(letter),
            None => text == option,
        }
    })
}

fn shell_runs(simple: &Simple, script: &Script, sources: &[&str]) -> bool {
    let name = simple.name();
    let is_source = |at: &usize| {
        let named = script.commands.get(*at).map(Simple::name).unwrap_or_default();
        if sources.is_empty() { !named.is_empty() } else { sources.contains(&named) }
    };
    let evaluates = SHELLS.contains(&name) || matches!(name, "eval" | "source" | ".");
    // An interpreter with no operand reads its program from its input, and so it does when it is told to.
    let is_shell = SHELLS.contains(&name);
    let reads_input = is_shell || matches!(name, "python" | "python3" | "perl" | "ruby" | "node");
    let bare = simple.args().iter().all(|arg| arg.text.starts_with('-') && !arg.text.starts_with("-c"));
    let told = simple.args().iter().any(|arg| arg.text == "-" || arg.text == "/dev/stdin")
        || (is_shell && has_option(simple.args(), "-s"));
    (evaluates && simple.inner.iter().any(is_source))
        || (reads_input && (bare || told) && simple.upstream.iter().any(is_source))
}

/// Devices that are no harm to write to.
const HARMLESS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd", "/dev/shm"];
const RULING: &[&str] = &[
    "/etc/sudoers",
    "/etc/passwd",
    "/etc/shadow",
    "/etc/group",
    "/etc/ld.so.preload",
    "/etc/pam.d",
    "/etc/sudoers.d",
];

fn is_target(target: Target, word: &Word, simple: &Simple, place: Place<'_>) -> bool {
    // `of=/dev/sda`, `--output=/etc/x`: the value counts.
    let text = match word.text.split_once('=') {
        Some((key, value))
            if !matches!(target, Target::Vital | Target::System)
                && key.chars().all(|c| c.is_ascii_lowercase() || c == '-') =>
        {
            if key == "if" {
                return false;
            }
            value
        }
        _ => word.text.as_str(),
    };
    if text.starts_with('-') || text.is_empty() {
        return false;
    }
    let Some(path) = place.absolute(text, simple.dir.as_deref()) else { return false };
    let below = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    match target {
        Target::Any => true,
        Target::Vital => place.is_vital(&path),
        Target::System => place.is_vital(&path) && place.is_outside(&path),
        Target::Device => {
            (path.starts_with("/dev") && path != Path::new("/dev") && !below(HARMLESS))
                || below(&["/proc/sysrq-trigger", "/proc/sys", "/sys"])
        }
        Target::SystemFile => below(RULING),
        Target::Protected => place.is_protected(&path),
        Target::Outside => place.is_outside(&path) && !below(HARMLESS) && !below(&["/tmp", "/var/tmp"]),
    }
}
