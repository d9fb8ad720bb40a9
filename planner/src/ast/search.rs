//! Structural search: where a pattern matches in one source.

use std::collections::{BTreeMap, HashSet};

use ast_grep_core::matcher::{Matcher, MatcherExt};
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::tree_sitter::LanguageExt;

use super::lang::Lang;
use super::pattern::{Pattern, PatternFault};

/// Levels of nesting below a node up to which two texts are compared. The matcher recurses, and a hostile file nested
/// ten thousand deep would exhaust the stack and end the whole program; code that people write stays below fifty.
const COMPARED_LEVELS: usize = 500;

/// One place where a pattern matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Line of the first character, counted from 1.
    pub start_line: usize,
    /// Line of the last character, counted from 1.
    pub end_line: usize,
    /// First byte, counted from 0.
    pub start_byte: usize,
    /// The byte after the last.
    pub end_byte: usize,
    /// The text.
    pub text: String,
    /// What each `$X` stands for.
    pub captures: BTreeMap<String, String>,
    /// What each `$$$X` stands for, without the punctuation between.
    pub multi: BTreeMap<String, Vec<String>>,
}

/// Every match of `pattern` in `source`, in order of place, also inside one another.
///
/// # Errors
/// [`PatternFault`] when the pattern is not a piece of code of that language.
pub fn search(lang: Lang, source: &str, pattern: &str) -> Result<Vec<Match>, PatternFault> {
    Ok(Pattern::new(lang, pattern)?.search(source, usize::MAX).0)
}

impl Pattern {
    /// The first `limit` matches in `source`, in order of place, also inside one another, and how many there are in
    /// all. The limit bounds memory: matches that lie inside one another repeat their text. When a hole stands twice in
    /// the pattern, code that is nested more than 500 deep is passed over.
    pub fn search(&self, source: &str, limit: usize) -> (Vec<Match>, usize) {
        if !self.may_match(source) {
            return (Vec::new(), 0);
        }
        let tree = self.lang().ast_grep(source);
        let mut matches = Vec::new();
        let mut total = 0;
        let kinds = self.matcher().potential_kinds();
        let root = tree.root();
        let too_tall = if self.repeats_hole() { tall(root.get_inner_node()) } else { HashSet::new() };
        for node in root.dfs() {
            let is_possible = kinds.as_ref().is_none_or(|kinds| kinds.contains(node.kind_id().into()));
            if !is_possible || too_tall.contains(&node.node_id()) {
                continue;
            }
            let Some(found) = self.matcher().match_node(node) else { continue };
            total += 1;
            if total > limit {
                continue;
            }
            let mut captures = BTreeMap::new();
            let mut multi = BTreeMap::new();
            for variable in found.get_env().get_matched_variables() {
                match variable {
                    MetaVariable::Capture(name, _) => {
                        if let Some(node) = found.get_env().get_match(&name) {
                            captures.insert(name, node.text().into_owned());
                        }
                    }
                    MetaVariable::MultiCapture(name) => {
                        let nodes = found.get_env().get_multiple_matches(&name);
                        let named = nodes.iter().filter(|node| node.is_named());
                        multi.insert(name, named.map(|node| node.text().into_owned()).collect());
                    }
                    MetaVariable::Dropped(_) | MetaVariable::Multiple => {}
                }
            }
            let range = found.range();
            matches.push(Match {
                start_line: found.start_pos().line() + 1,
                end_line: found.end_pos().line() + 1,
                start_byte: range.start,
                end_byte: range.end,
                text: found.text().into_owned(),
                captures,
                multi,
            });
        }
        (matches, total)
    }
}

/// The ids of all nodes with more than [`COMPARED_LEVELS`] levels below them.
fn tall(root: tree_sitter::Node<'_>) -> HashSet<usize> {
    let mut ids = HashSet::new();
    let mut cursor = root.walk();
    let mut way = vec![root.id()];
    loop {
        // Of every node that high, some descendant is exactly so far below it.
        if let Some(id) = way.len().checked_sub(COMPARED_LEVELS + 1).and_then(|above| way.get(above)) {
            ids.insert(*id);
        }
        if cursor.goto_first_child() {
            way.push(cursor.node().id());
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return ids;
            }
            way.pop();
        }
        way.pop();
        way.push(cursor.node().id());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::testing::list_failures;
    use serde_json::{Value, json};

    /// A match as the cases write it; blanks inside texts are not compared.
    fn plain(found: &Match) -> Value {
        let bare = |text: &String| text.split_whitespace().collect::<String>();
        let captures: BTreeMap<_, _> = found.captures.iter().map(|(name, text)| (name, bare(text))).collect();
        let multi: BTreeMap<_, Vec<_>> =
            found.multi.iter().map(|(name, texts)| (name, texts.iter().map(bare).collect())).collect();
        json!({
            "start_line": found.start_line, "end_line": found.end_line,
            "start_byte": found.start_byte, "end_byte": found.end_byte,
            "text": bare(&found.text), "captures": captures, "multi": multi,
        })
    }

    fn from_case(value: &Value) -> Match {
        let text = |key: &str| value[key].as_str().unwrap().to_owned();
        let number = |key: &str| value[key].as_u64().unwrap() as usize;
        Match {
            start_line: number("start_line"),
            end_line: number("end_line"),
            start_byte: number("start_byte"),
            end_byte: number("end_byte"),
            text: text("text"),
            captures: serde_json::from_value(value["captures"].clone()).unwrap(),
            multi: serde_json::from_value(value["multi"].clone()).unwrap(),
        }
    }

    fn is_right(case: &Value, answer: &Value) -> bool {
        let lang = Lang::from_name(case["lang"].as_str().unwrap()).unwrap();
        let got = search(lang, case["source"].as_str().unwrap(), case["pattern"].as_str().unwrap());
        match (&answer["expect_error"], &answer["matches"], got) {
            (Value::String(kind), _, got) => kind == "invalid_pattern" && got.is_err(),
            (_, Value::Array(matches), Ok(got)) => {
                let expect: Vec<_> = matches.iter().map(from_case).map(|found| plain(&found)).collect();
                got.iter().map(plain).collect::<Vec<_>>() == expect
            }
            _ => false,
        }
    }

    #[test]
    fn cases_ast() {
        let mut failures = Vec::new();
        for case in cases::load("ast") {
            let others = case["also_accept"].as_array().cloned().unwrap_or_default();
            let others = others.into_iter().map(|other| match other {
                Value::Array(matches) => json!({ "matches": matches }),
                other => other,
            });
            if !std::iter::once(case.clone()).chain(others).any(|answer| is_right(&case, &answer)) {
                let lang = Lang::from_name(case["lang"].as_str().unwrap()).unwrap();
                let got = search(lang, case["source"].as_str().unwrap(), case["pattern"].as_str().unwrap());
                failures.push(format!("{} {}: {got:?}", case["id"], case["pattern"]));
            }
        }
        list_failures(failures);
    }

    #[test]
    fn a_source_with_faults_is_searched_where_it_can_be_read() {
        let rust = Lang::from_name("rust").unwrap();
        let found = search(rust, "fn broken( {\nfn ok() { a.unwrap(); }\n", "$X.unwrap()").unwrap();
        assert_eq!(
            found.iter().map(|m| (m.start_line, m.text.as_str())).collect::<Vec<_>>(),
            [(2, "a.unwrap()")]
        );
    }

    #[test]
    fn hostile_nesting_is_passed_over_and_the_rest_is_found() {
        let chain = vec!["a"; 50_000].join(" + ");
        let source = format!("fn f() {{ q == q; ({chain}) == ({chain}); r == r; }}");
        let rust = Lang::from_name("rust").unwrap();
        let found = search(rust, &source, "$A == $A").unwrap();
        assert_eq!(found.iter().map(|m| m.text.as_str()).collect::<Vec<_>>(), ["q == q", "r == r"]);
    }

    #[test]
    fn characters_of_several_bytes_do_not_shift_places() {
        let rust = Lang::from_name("rust").unwrap();
        let source = "fn f() { let é = \"日本🦀\"; é.unwrap(); }";
        let found = search(rust, source, "$X.unwrap()").unwrap();
        assert_eq!(
            found.iter().map(|m| &source[m.start_byte..m.end_byte]).collect::<Vec<_>>(),
            ["é.unwrap()"]
        );
    }
}
