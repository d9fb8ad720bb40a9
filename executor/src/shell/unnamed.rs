//! What a command reads without naming it: folders that it goes through, patterns, and names that another command prints.
//! Worked out from the text alone; [`super::swept`] then looks what lies there.

use super::find;
use super::handed::handed;
use super::meaning::{as_word, marks};
use super::options::{Told, tell};
use super::reader::{Narrows, Operands, Reader, Sees};
use super::readers::{FEEDERS, LISTERS, READERS};
use super::script::{Script, Simple, Word};
use super::secret_files::{read, shows};
use super::sweep::Sweep;

/// Everything that the command at `at` reads so.
pub(super) fn sweeps(script: &Script, at: usize) -> Vec<Sweep> {
    let Some(simple) = script.commands.get(at) else { return Vec::new() };
    if !shows(simple) {
        return Vec::new();
    }
    let fed = simple.redirects.iter().filter(|from| from.op == "<").map(|from| &from.target);
    let named = read(simple).chain(fed).filter(|word| word.known && !word.text.starts_with('-'));
    let alone = Sweep { depth: Some(0), ..Sweep::here(simple) };
    let mut found: Vec<Sweep> = named.map(|word| alone.clone().from(word)).collect();
    found.extend(handed(script, at, &alone));
    let read = by_table(simple, READERS);
    let deep = read.iter().any(|sweep| sweep.depth.is_none()) || simple.name() == "rg";
    found.extend(read);
    found.extend(find::executes(simple).then(|| find::sweeps(simple)).into_iter().flatten());
    found.extend(listers(script, at).into_iter().flat_map(listed).map(|sweep| match sweep.depth {
        Some(_) if deep => Sweep { depth: None, ..sweep },
        _ => sweep,
    }));
    found
}

/// The commands whose output may name the files that the command at `at` reads: those inside its words, those piped into
/// its `xargs`, and, where a word of it is a variable, all that are piped into it or stand in a substitution before it.
fn listers(script: &Script, at: usize) -> Vec<&Simple> {
    let Some(simple) = script.commands.get(at) else { return Vec::new() };
    let mut places = simple.inner.clone();
    let unknown = simple.args().iter().any(|word| !word.known);
    if unknown || simple.via.as_deref().is_some_and(|via| FEEDERS.contains(&via)) {
        places.extend(&simple.upstream);
    }
    if unknown {
        places.extend((0..at).filter(|at| script.commands.get(*at).is_some_and(|simple| simple.captured)));
    }
    places.sort_unstable();
    places.dedup();
    places.into_iter().filter_map(|at| script.commands.get(at)).collect()
}

fn listed(simple: &Simple) -> Vec<Sweep> {
    match simple.name() {
        "find" => find::sweeps(simple),
        _ => by_table(simple, LISTERS),
    }
}

/// What a program of the table reads.
fn by_table(simple: &Simple, table: &[Reader]) -> Vec<Sweep> {
    let (name, args, inside) = match simple.name() {
        "git" => of_git(simple),
        name => (name.to_owned(), simple.args(), None),
    };
    let Some(row) = table.iter().find(|row| row.name == name) else { return Vec::new() };
    let valued: Vec<&str> = row.valued.split_whitespace().collect();
    let told = tell(args, &valued);
    let Some(depth) = row.goes(&told) else { return Vec::new() };
    let mut base = Sweep { depth, sees: row.sees, ..Sweep::here(simple) };
    if let Some(inside) = inside {
        base.dir = base.dir.map(|dir| format!("{dir}/{inside}").trim_start_matches('/').to_owned());
    }
    let narrowed = narrow(row, &told, base);
    let given = told.options.iter().any(|(name, _)| narrows(row, name) == Some(Narrows::Pattern));
    let pattern =
        matches!(row.operands, Operands::Pattern | Operands::PatternOrInput | Operands::PatternInGit);
    let mut places: Vec<&Word> = told.operands.iter().copied().skip(usize::from(pattern && !given)).collect();
    if row.operands == Operands::Sources && places.len() > 1 && !told.has_any(&["-t", "--target-directory"]) {
        places.pop();
    }
    let mut places = places.into_iter().peekable();
    let within = told.options.iter().filter(|(name, _)| narrows(row, name) == Some(Narrows::In));
    let mut found: Vec<Sweep> = within
        .filter_map(|(_, value)| value.as_deref())
        .map(|to| narrowed.clone().from(&Word::known(to)))
        .collect();
    if matches!(row.operands, Operands::PatternInGit | Operands::InGit) {
        found.extend(in_git(places, &narrowed));
        return found;
    }
    let piped = !simple.upstream.is_empty()
        || simple.stdin.is_some()
        || simple.redirects.iter().any(|from| from.op == "<");
    let here = match row.operands {
        Operands::PatternOrInput => !piped,
        Operands::Places | Operands::Sources => false,
        _ => true,
    };
    if places.peek().is_none() && here && found.is_empty() {
        found.push(narrowed.clone());
    }
    // What a variable holds may be known; where it is not, everything may be meant.
    for word in places {
        let told = |text: &String| marks(text).next().is_none();
        match word.may.iter().all(told) && !word.known && !word.may.is_empty() {
            true => found.extend(word.may.iter().map(|text| narrowed.clone().from(&as_word(text)))),
            false => found.push(narrowed.clone().from(word)),
        }
    }
    found
}

fn narrows(row: &Reader, option: &str) -> Option<Narrows> {
    let exact = row.narrows.iter().find(|(name, _)| *name == option);
    // An option may be shortened. One that leaves out may then stand for another, so only what widens counts.
    let shortened = || {
        let long = option.len() > 3 && option.starts_with("--");
        row.narrows.iter().find(|(name, narrows)| long && narrows.widens() && name.starts_with(option))
    };
    exact.or_else(shortened).map(|(_, narrows)| *narrows)
}

/// What the options leave of `sweep`. What cannot be told for certain leaves all.
fn narrow(row: &Reader, told: &Told<'_>, mut sweep: Sweep) -> Sweep {
    let mut certain = true;
    let mut types = true;
    for (name, value) in &told.options {
        let Some(narrows) = narrows(row, name) else { continue };
        let value = value.clone().unwrap_or_default();
        match narrows {
            // A pattern with a slash is held against a path, each program in its own way. And where what is left out comes
            // first, grep takes what nothing names.
            Narrows::Only
                if value.contains(['/', '!']) || sweep.globs.iter().any(|glob| glob.starts_with('!')) =>
            {
                certain = false;
            }
            Narrows::Only | Narrows::Glob => sweep.globs.push(value),
            Narrows::GlobAnyCase => {
                sweep.any_case = true;
                sweep.globs.push(value);
            }
            Narrows::Not | Narrows::NotFolder if value.contains('/') => {}
            Narrows::Not => sweep.globs.push(format!("!{value}")),
            Narrows::NotFolder => sweep.globs.push(format!("!{value}/")),
            Narrows::Type => sweep.types.push(value),
            Narrows::NotType => sweep.types.push(format!("!{value}")),
            Narrows::OtherTypes => types = false,
            Narrows::Depth => sweep.depth = value.parse().ok().or(sweep.depth),
            Narrows::Everything => sweep.sees = Sees::All,
            Narrows::Follows => sweep.follows = true,
            Narrows::Hidden | Narrows::Ignored | Narrows::Unrestricted => {
                sweep.sees = widened(sweep.sees, narrows);
            }
            Narrows::Pattern | Narrows::In => {}
        }
    }
    if !certain {
        sweep.globs.retain(|glob| glob.starts_with('!'));
    }
    if !types {
        sweep.types.clear();
    }
    sweep
}

fn widened(sees: Sees, by: Narrows) -> Sees {
    match (sees, by) {
        (Sees::Chosen { ignored, .. }, Narrows::Hidden) => Sees::Chosen { hidden: true, ignored },
        (Sees::Chosen { hidden, .. }, Narrows::Ignored) => Sees::Chosen { hidden, ignored: true },
        (Sees::Chosen { hidden, ignored }, Narrows::Unrestricted) => {
            Sees::Chosen { hidden: hidden || ignored, ignored: true }
        }
        (sees, _) => sees,
    }
}

/// Git's command (`git grep`), its arguments, and the folder that `-C` names.
fn of_git(simple: &Simple) -> (String, &[Word], Option<String>) {
    let mut inside = None;
    let mut args = simple.args();
    loop {
        args = match args {
            [flag, to, rest @ ..] if flag.text == "-C" => {
                inside = Some(to.text.clone());
                rest
            }
            [flag, _, rest @ ..]
                if matches!(flag.text.as_str(), "-c" | "--git-dir" | "--work-tree" | "--namespace") =>
            {
                rest
            }
            [flag, rest @ ..] if flag.text.starts_with('-') => rest,
            [command, rest @ ..] => return (format!("git {}", command.text), rest, inside),
            [] => return (String::new(), &[], None),
        };
    }
}

/// What git's patterns of paths leave. A word that is no path in the folder may name a commit: it narrows nothing.
fn in_git<'a>(places: impl Iterator<Item = &'a Word>, base: &Sweep) -> Vec<Sweep> {
    let mut left_out = Vec::new();
    let mut found = Vec::new();
    for word in places {
        let text = word.text.as_str();
        let without = [":!", ":^", ":(exclude)"].iter().find_map(|mark| text.strip_prefix(mark));
        if let Some(path) = without {
            left_out.push(format!("!{path}"));
        } else if text.contains(['*', '?', '[']) && !text.starts_with(':') && word.known {
            // In git a star also stands for slashes, as in a glob that begins with one here.
            let globs = vec![text.rsplit('/').next().unwrap_or(text).to_owned()];
            found.push(Sweep { globs, ..base.clone() });
        } else {
            found.push(base.clone().from(word));
        }
    }
    if found.is_empty() {
        found.push(base.clone());
    }
    // As an override, globs that only leave out let all others through.
    for sweep in &mut found {
        sweep.globs.extend(left_out.iter().cloned());
    }
    found
}
