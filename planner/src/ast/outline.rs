//! What a source defines: signatures with their lines, nested as they stand.

use std::collections::BTreeMap;

use ast_grep_core::tree_sitter::LanguageExt;
use thiserror::Error;
use tree_sitter::{Parser, Query, QueryCursor, StreamingIterator};

use super::lang::Lang;

/// Characters shown of a signature: two lines of a terminal.
const SIGNATURE_CHARS: usize = 160;

/// Something that a source defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// First line, counted from 1.
    pub start_line: usize,
    /// Last line, counted from 1.
    pub end_line: usize,
    /// How many items it stands in.
    pub depth: usize,
    /// Its text up to its body, on one line.
    pub signature: String,
}

/// Why there is no outline. Both are faults of this program and not of the source.
#[derive(Debug, Error)]
pub enum OutlineError {
    /// The grammar and the parser do not fit together.
    #[error("the {0} grammar cannot be used")]
    Grammar(&'static str),
    /// The query of the language cannot be read.
    #[error("the outline query of {lang} is not valid: {source}")]
    Query {
        /// The language.
        lang: &'static str,
        /// What the parser says.
        source: tree_sitter::QueryError,
    },
}

/// What `source` defines, in order of place. What cannot be parsed is passed over.
///
/// # Errors
/// [`OutlineError`] when a language's row is not right.
pub fn outline(lang: Lang, source: &str) -> Result<Vec<Item>, OutlineError> {
    let grammar = lang.get_ts_language();
    let mut parser = Parser::new();
    parser.set_language(&grammar).map_err(|_| OutlineError::Grammar(lang.name()))?;
    let tree = parser.parse(source, None).ok_or(OutlineError::Grammar(lang.name()))?;
    let query = Query::new(&grammar, lang.outline_query())
        .map_err(|error| OutlineError::Query { lang: lang.name(), source: error })?;
    let (item_index, body_index) =
        (query.capture_index_for_name("item"), query.capture_index_for_name("body"));

    // By place, the outer before the inner: start, then the later end first. Value: end, lines, where the body begins.
    let mut found: BTreeMap<(usize, std::cmp::Reverse<usize>), Found> = BTreeMap::new();
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(&query, tree.root_node(), source.as_bytes());
    while let Some(one) = matches.next() {
        let node_of = |index: Option<u32>| {
            one.captures().iter().find(|capture| Some(capture.index) == index).map(|capture| capture.node)
        };
        let Some(item) = node_of(item_index) else { continue };
        let body = node_of(body_index).map_or(item.end_byte(), |body| body.start_byte());
        let entry = found.entry((item.start_byte(), std::cmp::Reverse(item.end_byte()))).or_insert(Found {
            start_line: item.start_position().row + 1,
            end_line: item.end_position().row + 1,
            body,
        });
        // An optional body matches with and without it, and a macro once a rule: the shortest signature is the one.
        entry.body = entry.body.min(body);
    }

    let mut open: Vec<usize> = Vec::new();
    let mut items = Vec::new();
    for ((start, std::cmp::Reverse(end)), one) in found {
        while open.last().is_some_and(|outer_end| *outer_end < end) {
            open.pop();
        }
        items.push(Item {
            start_line: one.start_line,
            end_line: one.end_line,
            depth: open.len(),
            signature: signature(source.get(start..one.body).unwrap_or_default()),
        });
        open.push(end);
    }
    Ok(items)
}

struct Found {
    start_line: usize,
    end_line: usize,
    /// Byte at which the body begins.
    body: usize,
}

fn signature(head: &str) -> String {
    let line = head.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches([' ', '{', ';', ':', '(']);
    match line.char_indices().nth(SIGNATURE_CHARS) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lang: &str, source: &str, expect: &[&str]) {
        let items = outline(Lang::from_name(lang).unwrap(), source).unwrap();
        let got: Vec<String> = items
            .iter()
            .map(|item| {
                format!("{}{}-{} {}", "  ".repeat(item.depth), item.start_line, item.end_line, item.signature)
            })
            .collect();
        assert_eq!(got, expect);
    }

    #[test]
    fn every_language_has_a_query_that_can_be_read() {
        for lang in Lang::all() {
            assert_eq!(outline(lang, "").unwrap(), []);
        }
    }

    #[test]
    fn rust_items_are_nested_with_their_lines() {
        let source = "\
pub const MAX: usize = 3;
#[derive(Debug)]
pub struct Point<T> {
    x: T,
}
struct Unit;
struct Pair(u32, u32);
enum Kind { A, B }
trait Draw {
    fn draw(&self);
    fn twice(&self) { }
}
impl<T> Draw for Point<T>
where
    T: Copy,
{
    fn draw(&self) {
        fn inner() {}
    }
}
type Pairs = Vec<Pair>;
macro_rules! twice {
    ($x:expr) => { $x + $x };
    () => {};
}
mod out_of_line;
mod tests {
    async fn works(a: u32,
        b: u32) -> u32 { a + b }
}
";
        check(
            "rust",
            source,
            &[
                "1-1 pub const MAX: usize = 3",
                "3-5 pub struct Point<T>",
                "6-6 struct Unit",
                "7-7 struct Pair(u32, u32)",
                "8-8 enum Kind",
                "9-12 trait Draw",
                "  10-10 fn draw(&self)",
                "  11-11 fn twice(&self)",
                "13-20 impl<T> Draw for Point<T> where T: Copy,",
                "  17-19 fn draw(&self)",
                "    18-18 fn inner()",
                "21-21 type Pairs = Vec<Pair>",
                "22-25 macro_rules! twice",
                "26-26 mod out_of_line",
                "27-30 mod tests",
                "  28-29 async fn works(a: u32, b: u32) -> u32",
            ],
        );
    }

    #[test]
    fn python_classes_hold_their_methods() {
        let source = "\
LIMIT = 3
class Shape(Base):
    sides = 4

    @property
    def area(self) -> float:
        def helper(): pass
        return 1.0

async def main(argv=None):
    x = 1
";
        check(
            "python",
            source,
            &[
                "1-1 LIMIT = 3",
                "2-8 class Shape(Base)",
                "  6-8 def area(self) -> float",
                "    7-7 def helper()",
                "10-11 async def main(argv=None)",
            ],
        );
    }

    #[test]
    fn a_source_with_faults_is_outlined_where_it_can_be_read() {
        check("rust", "fn a() {}\n)))\nfn b() {}\n", &["1-1 fn a()", "3-3 fn b()"]);
    }
}
