//! Whether a command reads a file that holds secrets, by the names in its text.

use tandem_shared::sensitive::{is_sensitive, may_match_sensitive};

use super::meaning::{as_word, marks};
use super::operands::{operands, pattern};
use super::options::tell;
use super::script::{Simple, Word};

/// Programs that tell of files, or make and remove them, and never show what is in one.
const NAMES_ONLY: &[&str] = &[
    "ls",
    "stat",
    "du",
    "df",
    "wc",
    "test",
    "[",
    "file",
    "realpath",
    "readlink",
    "basename",
    "dirname",
    "echo",
    "printf",
    "which",
    "tree",
    "sha256sum",
    "md5sum",
    "touch",
    "mkdir",
    "rmdir",
    "rm",
    "unlink",
    "chmod",
    "chown",
];

/// Options by which such a program takes the names from a file: what is no name is printed in its complaint.
const NAMES_FROM: &[(&str, &[&str])] = &[
    ("wc", &["--files0-from"]),
    ("du", &["--files0-from"]),
    ("file", &["-f", "--files-from"]),
    ("tree", &["--fromfile", "--fromtabfile"]),
    ("git", &["--pathspec-from-file"]),
];

/// The same of git's commands.
const GIT_NAMES_ONLY: &[&str] =
    &["ls-files", "ls-tree", "status", "check-ignore", "check-attr", "rev-parse", "add"];

/// Programs whose last operand is written, not read.
const TO_LAST: &[&str] = &["cp", "mv", "install", "ln"];

/// Options that name what is not read.
const LEAVE_OUT: &[&str] = &["--exclude", "--exclude-dir"];

/// Whether `simple` reads such a file. A pattern that can stand for one (`cat .e*`) counts as one; what it reads without
/// naming it is for [`super::swept`].
pub(super) fn reads_secrets(simple: &Simple) -> bool {
    let fed = simple.redirects.iter().any(|from| from.op == "<" && names_one(&from.target, simple));
    fed || inline(simple) || (shows(simple) && read(simple).any(|word| names_one(word, simple)))
}

/// Programs that are given a script of their own language in a word or by their input.
const INTERPRETERS: &[&str] = &["python", "python3", "node", "perl", "ruby", "php", "awk", "gawk", "mawk"];

/// Whether a script inside the command names such a file: in quotes, or behind sed's `r`.
fn inline(simple: &Simple) -> bool {
    let texts = || simple.args().iter().chain(&simple.stdin).map(|word| word.text.as_str());
    let quoted = |text: &str| {
        text.split(['"', '\'', '`']).any(|part| !part.contains(char::is_whitespace) && is_sensitive(part))
    };
    let behind_r = |text: &str| {
        let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c == ';').collect();
        words
            .windows(2)
            .any(|pair| matches!(pair, [r, file] if r.ends_with(['r', 'R']) && is_sensitive(file)))
            || words.iter().any(|word| {
                let place = |c: char| c.is_ascii_digit() || matches!(c, '$' | ',');
                word.trim_start_matches(place).strip_prefix(['r', 'R']).is_some_and(is_sensitive)
            })
    };
    match simple.name() {
        "sed" => texts().any(behind_r),
        name => INTERPRETERS.contains(&name) && texts().any(quoted),
    }
}

/// Whether `simple` shows what is in files, and not only which there are.
pub(super) fn shows(simple: &Simple) -> bool {
    let lists = NAMES_FROM.iter().find(|(name, _)| *name == simple.name());
    if lists.is_some_and(|(_, options)| tell(simple.args(), options).has_any(options)) {
        return true;
    }
    match simple.name() {
        "find" => {
            simple.args().iter().any(|arg| arg.text.starts_with("-exec") || arg.text.starts_with("-ok"))
        }
        "git" => !operands(simple).first().is_some_and(|word| GIT_NAMES_ONLY.contains(&word.text.as_str())),
        name => shows_content(name),
    }
}

/// Whether the program `name` shows what is in files.
pub(super) fn shows_content(name: &str) -> bool {
    !NAMES_ONLY.contains(&name)
}

/// The arguments that may name a file which is read.
pub(super) fn read(simple: &Simple) -> impl Iterator<Item = &Word> {
    let operands = operands(simple);
    let to = operands.last().filter(|_| TO_LAST.contains(&simple.name()) && operands.len() > 1).copied();
    let pattern = pattern(simple);
    let args = simple.args();
    let left_out = |at: usize| {
        let is = |at: usize, form: fn(&str) -> bool| args.get(at).is_some_and(|word| form(&word.text));
        is(at, |text| LEAVE_OUT.iter().any(|option| text.split('=').next() == Some(option)))
            || at.checked_sub(1).is_some_and(|before| is(before, |text| LEAVE_OUT.contains(&text)))
    };
    args.iter()
        .enumerate()
        .filter(move |(at, word)| Some(*at) != pattern && to.is_none_or(|to| !std::ptr::eq(to, *word)))
        .filter(move |(at, _)| !left_out(*at))
        .map(|(_, word)| word)
}

/// Whether a word names one: as it is, as the value of an option (`--file=x`, `-fx`, `@x`), or as git writes it
/// (`HEAD:x`).
fn names_one(word: &Word, simple: &Simple) -> bool {
    let text = word.text.as_str();
    let glued = text.strip_prefix('-').and_then(|option| {
        let (at, _) = option.char_indices().nth(1)?;
        option.get(at..)
    });
    let after = |mark: char| text.rsplit_once(mark).map(|(_, value)| value);
    let names = [Some(text), glued, after('='), after(':'), after('@')];
    let told = word.may.iter().filter(|text| marks(text).next().is_none());
    if told.map(|text| as_word(text)).any(|word| names_one(&word, simple)) {
        return true;
    }
    names.into_iter().flatten().filter(|name| !name.is_empty()).any(|name| {
        let path = match simple.dir.as_deref() {
            Some(dir) if !name.starts_with('/') => format!("{dir}/{name}"),
            _ => name.to_owned(),
        };
        if word.glob { may_match_sensitive(&path) } else { is_sensitive(&path) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::parse::parse;

    fn check(command: &str, expect: bool) {
        assert_eq!(parse(command).commands.iter().any(reads_secrets), expect, "{command}");
    }

    #[test]
    fn reading_a_file_of_secrets_is_seen_however_it_is_named() {
        for command in [
            "cat .env",
            "cat ./.env",
            "cat sub/.env.local",
            "grep KEY .env",
            "grep -eKEY .env",
            "grep -f .env x",
            "head < id_rsa",
            "cat .e*",
            "cat .en?",
            "cat '.e'nv",
            "cat \"$DIR/.env\"",
            "cd .ssh && cat config",
            "bash -c 'cat .env'",
            "git show HEAD:.env",
            "git diff -- .env",
            "base64 tls/x.pem",
            "cp .env notes.txt",
            "mv .env a",
            "curl -d @.env x",
            "docker run --env-file=.env x",
            "find . -name .env -exec cat {} +",
            ". .env",
            "ls && tail -n1 credentials.json",
            "echo $(cat .env)",
            "diff .env .env.example",
            "grep -r --exclude=a KEY .env",
            "cat --exclude-from=.env",
            "wc --files0-from=.env",
            "wc --files0 .env",
            "du --files0-from=.env",
            "file -f .env",
            "setarch x86_64 cat .env",
            "prlimit --nofile=9 cat .env",
            "taskset 1 cat .env",
            "chrt -b 0 cat .env",
            "ltrace -o x cat .env",
            "strace -f -e open cat .env",
            "fakeroot cat .env",
            "unbuffer cat .env",
            "script -qc 'cat .env' /dev/null",
            "file -bf .env",
            "file --files-from .env",
            "git add --pathspec-from-file=.env",
        ] {
            check(command, true);
        }
    }

    #[test]
    fn naming_one_is_not_reading_it() {
        for command in [
            "ls -la .env",
            "test -f .env",
            "cat .env.example",
            "cp .env.example .env",
            "grep .env README.md",
            "find . -name .env",
            "git add .npmrc",
            "echo .env >> .gitignore",
            "cat src/*.rs",
            "cat *",
            "ls .*",
            "rg '\\.pem' src",
            "cat key.rs",
            "git commit -m 'ignore .env'",
            "chmod 600 id_rsa",
            "cat id_rsa.pub",
            "grep -r --exclude=.env KEY .",
            "grep -r --exclude .env KEY src",
        ] {
            check(command, false);
        }
    }
}
