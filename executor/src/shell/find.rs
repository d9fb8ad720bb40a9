//! What `find` hands to the programs that it starts.

use super::reader::Sees;
use super::script::Simple;
use super::secret_files::shows_content;
use super::sweep::Sweep;

/// Options by which `find` and its like start a program for what they find.
const STARTING: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];

/// Whether `simple` is a `find` that starts a program which shows what is in files.
pub(super) fn executes(simple: &Simple) -> bool {
    let args = simple.args();
    let name =
        |at: usize| args.get(at + 1).map_or("", |word| word.text.rsplit('/').next().unwrap_or_default());
    simple.name() == "find"
        && args
            .iter()
            .enumerate()
            .any(|(at, arg)| STARTING.contains(&arg.text.as_str()) && shows_content(name(at)))
}

/// The files that a `find` meets.
pub(super) fn sweeps(simple: &Simple) -> Vec<Sweep> {
    let args = simple.args();
    let global = args.iter().take_while(|arg| matches!(arg.text.as_str(), "-H" | "-L" | "-P")).count();
    let rest = args.get(global..).unwrap_or_default();
    let places = rest.iter().take_while(|arg| !arg.text.starts_with(['-', '(', '!', ',']));
    let mut base = Sweep { sees: Sees::All, ..Sweep::here(simple) };
    base.follows = args.iter().any(|arg| matches!(arg.text.as_str(), "-L" | "-follow"));
    let at = args.iter().position(|arg| arg.text == "-maxdepth");
    base.depth = at.and_then(|at| args.get(at + 1)).and_then(|levels| levels.text.parse().ok());
    base.any_case = args.iter().any(|arg| arg.text == "-iname");
    base.globs = names(simple);
    let found: Vec<Sweep> = places.map(|word| base.clone().from(word)).collect();
    if found.is_empty() { vec![base] } else { found }
}

/// The names that a file must have one of; empty where that cannot be told. Every way through the tests has to ask for a
/// name: where each part between two `-o` does, no file without such a name passes, however brackets stand.
fn names(simple: &Simple) -> Vec<String> {
    let mut found = Vec::new();
    let mut named = false;
    let mut denied = false;
    let mut args = simple.args().iter();
    while let Some(arg) = args.next() {
        match arg.text.as_str() {
            "-name" | "-iname" => {
                let Some(pattern) = args.next() else { return Vec::new() };
                if !pattern.known || pattern.text.contains(['/', '!', '{']) {
                    return Vec::new();
                }
                if !denied {
                    named = true;
                    found.push(pattern.text.clone());
                }
                denied = false;
            }
            "-o" | "-or" | "," => {
                if !named {
                    return Vec::new();
                }
                named = false;
            }
            "!" | "-not" => denied = true,
            "(" if denied => return Vec::new(),
            text if STARTING.contains(&text) => {
                let _ = args.by_ref().find(|arg| matches!(arg.text.as_str(), ";" | "+"));
                denied = false;
            }
            _ if arg.text.starts_with('-') => denied = false,
            _ => {}
        }
    }
    if named { found } else { Vec::new() }
}
