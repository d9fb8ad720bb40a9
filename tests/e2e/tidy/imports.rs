//! Which file of a crate uses which other, and whether a way leads back.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer::{Kind, Token};

/// Files by module path: `plan::markdown` is `["plan", "markdown"]`, the crate's root is empty.
pub type Modules<'a> = BTreeMap<Vec<String>, (&'a str, &'a [Token])>;

/// One use of another file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    pub from: String,
    pub line: usize,
    pub to: String,
}

/// The module path of a file, given relative to the crate's `src`.
pub fn module_path(file: &str) -> Vec<String> {
    let mut parts: Vec<String> = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

/// Every use of one file by another. Handing a child's items on with `pub use` is not a use.
pub fn imports(modules: &Modules) -> BTreeSet<Import> {
    let mut found = BTreeSet::new();
    for (module, (file, tokens)) in modules {
        for (path, line, handed_on) in paths(tokens) {
            let Some(target) = resolve(modules, module, &path) else { continue };
            let Some((to, _)) = modules.get(&target) else { continue };
            let is_child = target.len() > module.len() && target.starts_with(module);
            if to != file && !(handed_on && is_child) {
                found.insert(Import { from: (*file).to_owned(), line, to: (*to).to_owned() });
            }
        }
    }
    found
}

/// The file that a path leads to: the longest beginning that is a module.
fn resolve(modules: &Modules, module: &[String], path: &[String]) -> Option<Vec<String>> {
    let mut base = module.to_vec();
    let mut rest = path;
    match rest.first().map(String::as_str) {
        Some("crate") => {
            base.clear();
            rest = &rest[1..];
        }
        Some("self") => rest = &rest[1..],
        Some("super") => {
            while rest.first().is_some_and(|part| part == "super") {
                base.pop()?;
                rest = &rest[1..];
            }
        }
        Some(child) => {
            let mut target = module.to_vec();
            target.push(child.to_owned());
            if !modules.contains_key(&target) {
                return None;
            }
        }
        None => return None,
    }
    for part in rest {
        base.push(part.clone());
        if !modules.contains_key(&base) {
            base.pop();
            break;
        }
    }
    Some(base)
}

/// Every path in the tokens, groups unfolded, with its line and whether it stands in a `pub use`.
fn paths(tokens: &[Token]) -> Vec<(Vec<String>, usize, bool)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].is("use") {
            let public =
                tokens[..at].iter().rev().take(5).take_while(|token| !token.is(";") && !token.is("}"));
            let handed_on = public.into_iter().any(|token| token.is("pub"));
            at = tree(tokens, at + 1, &[], handed_on, &mut found);
        } else if tokens[at].kind == Kind::Word && tokens.get(at + 1).is_some_and(|next| next.is("::")) {
            let line = tokens[at].line;
            let mut path = vec![tokens[at].text.clone()];
            while tokens.get(at + 1).is_some_and(|token| token.is("::"))
                && tokens.get(at + 2).is_some_and(|token| token.kind == Kind::Word)
            {
                at += 2;
                path.push(tokens[at].text.clone());
            }
            found.push((path, line, false));
            // Past the last word, so that `a::b` is not read again as `b`.
            at += 1;
        } else {
            at += 1;
        }
    }
    found
}

/// Reads one branch of a `use`, and returns the place after it.
fn tree(
    tokens: &[Token],
    start: usize,
    prefix: &[String],
    handed_on: bool,
    found: &mut Vec<(Vec<String>, usize, bool)>,
) -> usize {
    let mut path = prefix.to_vec();
    let mut at = start;
    let line = tokens.get(at).map_or(0, |token| token.line);
    while let Some(token) = tokens.get(at) {
        if token.is("{") {
            at += 1;
            while tokens.get(at).is_some_and(|token| !token.is("}")) {
                at = tree(tokens, at, &path, handed_on, found);
                if tokens.get(at).is_some_and(|token| token.is(",")) {
                    at += 1;
                }
            }
            return at + 1;
        }
        if token.is(";") || token.is(",") || token.is("}") {
            break;
        }
        if token.is("as") {
            at += 2;
            continue;
        }
        if token.kind == Kind::Word {
            path.push(token.text.clone());
        }
        at += 1;
    }
    found.push((path, line, handed_on));
    at
}

/// Groups of files that lead to each other, each with the uses that tie it together.
pub fn cycles(imports: &BTreeSet<Import>) -> Vec<Vec<Import>> {
    let mut reach: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for import in imports {
        reach.entry(&import.from).or_default().insert(&import.to);
    }
    loop {
        let before: usize = reach.values().map(BTreeSet::len).sum();
        for file in reach.keys().copied().collect::<Vec<_>>() {
            let further: BTreeSet<&str> =
                reach[file].iter().filter_map(|next| reach.get(next)).flatten().copied().collect();
            reach.entry(file).or_default().extend(further);
        }
        if reach.values().map(BTreeSet::len).sum::<usize>() == before {
            break;
        }
    }
    let leads = |from: &str, to: &str| reach.get(from).is_some_and(|all| all.contains(to));
    let mut groups: BTreeMap<Vec<&str>, Vec<Import>> = BTreeMap::new();
    for import in imports.iter().filter(|import| leads(&import.to, &import.from)) {
        let group =
            reach.keys().copied().filter(|file| leads(&import.from, file) && leads(file, &import.from));
        groups.entry(group.collect()).or_default().push(import.clone());
    }
    groups.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lexer::tokens;

    fn check(files: &[(&str, &str)], expect: &[&str]) {
        let tokens: Vec<(&str, Vec<Token>)> =
            files.iter().map(|(file, source)| (*file, tokens(source))).collect();
        let modules: Modules =
            tokens.iter().map(|(file, tokens)| (module_path(file), (*file, tokens.as_slice()))).collect();
        let shown = |import: Import| format!("{}:{} {}", import.from, import.line, import.to);
        let found: Vec<String> = cycles(&imports(&modules)).concat().into_iter().map(shown).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn two_files_that_use_each_other_are_found() {
        check(
            &[
                ("a.rs", "use crate::b::B;"),
                ("b.rs", "\nfn f(a: crate::a::A) {}"),
                ("lib.rs", "mod a; mod b;"),
            ],
            &["a.rs:1 b.rs", "b.rs:2 a.rs"],
        );
    }

    #[test]
    fn a_way_back_through_a_third_file_is_found() {
        check(
            &[
                ("a.rs", "use crate::{b::B, x};"),
                ("b.rs", "use super::c::{self, C};"),
                ("c.rs", "use crate::a::f as g;"),
            ],
            &["a.rs:1 b.rs", "b.rs:1 c.rs", "c.rs:1 a.rs"],
        );
    }

    #[test]
    fn a_parent_that_calls_its_child_which_uses_the_parent_is_found() {
        check(
            &[("a/mod.rs", "mod b; fn f() { b::go() }"), ("a/b.rs", "use super::A;")],
            &["a/b.rs:1 a/mod.rs", "a/mod.rs:1 a/b.rs"],
        );
    }

    #[test]
    fn handing_a_childs_item_on_is_no_use_of_it() {
        check(&[("a/mod.rs", "mod b; pub use b::B; pub(crate) use b::C;"), ("a/b.rs", "use super::A;")], &[]);
    }

    #[test]
    fn one_way_is_no_cycle() {
        check(
            &[
                ("a.rs", "use crate::b::B; use std::b::C;"),
                ("b.rs", "use serde::a;"),
                ("lib.rs", "pub use a::A;"),
            ],
            &[],
        );
    }
}
