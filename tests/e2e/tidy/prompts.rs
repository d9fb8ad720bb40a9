//! What source embeds of `prompts/`, and which names prompts may quote.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::lexer::{Kind, Token, closing};
use super::tree::{Source, relative, repository};

/// The files under `prompts/` that a source file embeds, relative to the repository. A name that a macro puts in is one
/// of the strings of the same source file.
pub fn embedded(source: &Source) -> Vec<String> {
    let tokens = &source.shipped;
    let folder = repository().join(&source.path);
    let folder = folder.parent().unwrap_or(repository());
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if !tokens[at].is("include_str") || !tokens.get(at + 1).is_some_and(|token| token.is("!")) {
            continue;
        }
        let inside = &tokens[at + 2..closing(tokens, at + 2)];
        let texts: Vec<&str> = texts(inside).collect();
        let names: Vec<&str> =
            if inside.iter().any(|token| token.is("$")) { self::texts(tokens).collect() } else { vec![""] };
        for name in names {
            let (first, rest) = texts.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
            found.push(relative(&plain(&folder.join([first, name, &rest.concat()].concat()))));
        }
    }
    found
}

fn texts(tokens: &[Token]) -> impl Iterator<Item = &str> {
    tokens.iter().filter(|token| token.kind == Kind::Text).map(|token| token.text.as_str())
}

/// `a/../b` as `b`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
    }
    plain
}

/// The `NAME` of every tool.
pub fn tool_names(sources: &[Source]) -> BTreeSet<String> {
    let name = |window: &[Token]| {
        let named = window[0].is("const") && window[1].is("NAME") && window[2].is(":");
        let value = window
            .iter()
            .skip(3)
            .take_while(|token| !token.is(";"))
            .find(|token| token.kind == Kind::Text)?;
        named.then(|| value.text.clone())
    };
    let rooms = sources
        .iter()
        .filter(|source| source.path.starts_with("planner/src/") || source.path.starts_with("executor/src/"));
    rooms.flat_map(|source| source.shipped.windows(9).filter_map(name)).collect()
}

/// The names that a prompt may quote: tools, and the words of the files in which tools and their arguments are.
pub fn known_names(sources: &[Source]) -> BTreeSet<String> {
    let mut known = tool_names(sources);
    let holds_a_tool =
        |source: &&Source| source.shipped.windows(2).any(|pair| pair[0].is("const") && pair[1].is("NAME"));
    for source in sources.iter().filter(holds_a_tool) {
        known.extend(
            source.shipped.iter().filter(|token| token.kind == Kind::Word).map(|token| token.text.clone()),
        );
    }
    known
}

/// Names in backticks with an underscore, such as tools and arguments have.
pub fn quoted_names(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    let words = quoted.flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| {
        let mut parts = word.split('_');
        word.contains('_')
            && parts.all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_backticks_are_found() {
        let line = "Use `read_file` or `edit_file(path, old)`, not read_all; `git`, `a b_c`, `X_Y`, `_x`.";
        assert_eq!(quoted_names(line).collect::<Vec<_>>(), ["read_file", "edit_file", "b_c"]);
    }
}
