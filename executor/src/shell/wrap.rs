//! Programs that start other commands: what they start is judged like what stands in the text.

use super::script::{Simple, Word};

/// A program whose operands are a command.
struct Wrapper {
    name: &'static str,
    /// Options that take the next word as their value.
    valued: &'static [&'static str],
    /// Operands before the command.
    skip: usize,
}

const fn wrapper(name: &'static str, valued: &'static [&'static str], skip: usize) -> Wrapper {
    Wrapper { name, valued, skip }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper("env", &["-u", "--unset", "-C", "--chdir"], 0),
    wrapper("time", &["-f", "-o"], 0),
    wrapper("timeout", &["-s", "--signal", "-k", "--kill-after"], 1),
    wrapper("nohup", &[], 0),
    wrapper("nice", &["-n"], 0),
    wrapper("ionice", &["-c", "-n"], 0),
    wrapper("stdbuf", &["-i", "-o", "-e"], 0),
    wrapper("setsid", &[], 0),
    wrapper("xargs", &["-n", "-I", "-P", "-L", "-d", "-a", "-s", "-E"], 0),
    wrapper("sudo", &["-u", "-g", "-h", "-p", "-C", "-D", "-r", "-t", "-U"], 0),
    wrapper("doas", &["-u", "-C"], 0),
    wrapper("command", &[], 0),
    wrapper("builtin", &[], 0),
    wrapper("exec", &["-a"], 0),
    wrapper("watch", &["-n", "--interval"], 0),
    wrapper("strace", &["-o", "-e", "-p", "-s", "-u", "-E", "-P", "-a", "-I", "-O", "-S", "-b", "-X"], 0),
    wrapper("ltrace", &["-o", "-e", "-p", "-s", "-n", "-l", "-u", "-a", "-A", "-D", "-F", "-x"], 0),
    wrapper("fakeroot", &["-l", "--lib", "-f", "--faked", "-s", "-i", "-b"], 0),
    wrapper("unbuffer", &[], 0),
    wrapper("prlimit", &["-p", "--pid", "-o", "--output"], 0),
    wrapper("taskset", &[], 1),
    wrapper("chrt", &["-T", "-P", "-D"], 1),
    wrapper("xvfb-run", &["-n", "-s", "-e", "-f", "-w", "-p"], 0),
    // The name of the machine may be left out.
    wrapper("setarch", &[], 0),
    wrapper("setarch", &[], 1),
    wrapper("linux64", &[], 0),
    wrapper("linux32", &[], 0),
    wrapper("flock", &["-w", "-E"], 1),
    wrapper("chroot", &[], 1),
    wrapper("busybox", &[], 0),
    wrapper("parallel", &["-j", "-I"], 0),
    wrapper("unshare", &[], 0),
    wrapper("coproc", &[], 0),
];

/// Programs that read a script from `-c`, from a file or from their input.
pub(super) const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];

/// Something that a command starts.
pub(super) enum Started {
    /// A command, by its words.
    Command(Vec<Word>),
    /// A script, by its text.
    Script(Word),
}

/// What `simple` starts; nothing when it is no wrapper.
pub(super) fn started_by(simple: &Simple) -> Vec<Started> {
    let name = simple.name();
    let args = simple.args();
    if SHELLS.contains(&name) || matches!(name, "su" | "script") {
        return after_c(args).cloned().map(Started::Script).into_iter().collect();
    }
    match name {
        "eval" => vec![Started::Script(joined(args))],
        // `trap "" INT` starts nothing, and `trap - INT` takes back.
        "trap" => args
            .first()
            .filter(|script| !matches!(script.text.as_str(), "" | "-"))
            .cloned()
            .map(Started::Script)
            .into_iter()
            .collect(),
        "find" => found(args),
        "alias" => args.iter().filter_map(after_equals).collect(),
        "env" if args.iter().any(splits) => split_string(args),
        _ => WRAPPERS
            .iter()
            .filter(|wrapper| wrapper.name == name)
            .filter_map(|wrapper| operands(wrapper, args))
            .map(Started::Command)
            .collect(),
    }
}

/// What a shell is fed by a here-document or here-string.
pub(super) fn fed_to_shell(simple: &Simple) -> Option<Started> {
    let stdin = simple.stdin.as_ref()?;
    let reads_input =
        SHELLS.contains(&simple.name()) && simple.args().iter().all(|arg| arg.text.starts_with('-'));
    reads_input.then(|| Started::Script(stdin.clone()))
}

fn operands(wrapper: &Wrapper, args: &[Word]) -> Option<Vec<Word>> {
    let mut skip = wrapper.skip;
    let mut at = 0;
    let mut options = true;
    while let Some(arg) = args.get(at) {
        let text = arg.text.as_str();
        if options && text == "--" {
            options = false;
            at += 1;
        } else if options && wrapper.valued.contains(&text) {
            at += 2;
        } else if options && text.starts_with('-') && text.len() > 1 {
            // `command -v` only looks a name up.
            if wrapper.name == "command" && matches!(text, "-v" | "-V") {
                return None;
            }
            at += 1;
        } else if wrapper.name == "env" && text.contains('=') {
            at += 1;
        } else if skip > 0 {
            skip -= 1;
            at += 1;
        } else {
            break;
        }
    }
    let words = args.get(at..)?;
    (!words.is_empty()).then(|| words.to_vec())
}

/// The word after the option that holds `c`.
fn after_c(args: &[Word]) -> Option<&Word> {
    let at = args.iter().position(|arg| {
        arg.text == "--command"
            || (arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.contains('c'))
    })?;
    args.get(at + 1..)?.iter().find(|arg| !arg.text.starts_with('-'))
}

fn joined(args: &[Word]) -> Word {
    Word {
        text: args.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" "),
        known: args.iter().all(|arg| arg.known && !arg.glob),
        ..Word::default()
    }
}

/// The command that an alias stands for.
fn after_equals(arg: &Word) -> Option<Started> {
    let (_, text) = arg.text.split_once('=')?;
    Some(Started::Script(Word { text: text.to_owned(), ..arg.clone() }))
}

fn splits(arg: &Word) -> bool {
    arg.text.starts_with("-S") || arg.text.starts_with("--split-string")
}

/// `env -S` takes its words from one text, and what follows it.
fn split_string(args: &[Word]) -> Vec<Started> {
    let mut words: Vec<Word> = args.iter().skip_while(|arg| !splits(arg)).cloned().collect();
    if let Some(first) = words.first_mut() {
        let text = first.text.trim_start_matches("--split-string").trim_start_matches("-S");
        first.text = text.trim_start_matches('=').to_owned();
    }
    vec![Started::Script(joined(&words))]
}

/// The commands behind `-exec` and its kin.
fn found(args: &[Word]) -> Vec<Started> {
    let mut started = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if matches!(arg.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            let ends = |word: &&Word| !matches!(word.text.as_str(), ";" | "+");
            started.push(Started::Command(rest.by_ref().take_while(ends).cloned().collect()));
        }
    }
    started
}
