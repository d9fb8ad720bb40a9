//! Where a source does not follow its grammar.

use ast_grep_core::tree_sitter::LanguageExt;
use tree_sitter::{Node, Parser};

use super::lang::Lang;

/// A place that the grammar cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Counted from 1.
    pub line: usize,
    /// The line's text without blanks at both ends: two faults of one text count as the same fault, moved.
    pub text: String,
}

/// Faults that are looked for; who has more has no use for the rest.
const MOST: usize = 200;

/// The faults of `source`, in order of place; `None` when it could not be parsed at all.
pub fn faults(lang: Lang, source: &[u8]) -> Option<Vec<Fault>> {
    let mut parser = Parser::new();
    parser.set_language(&lang.get_ts_language()).ok()?;
    let tree = parser.parse(source, None)?;
    Some(faults_below(tree.root_node(), source))
}

/// The faults of a tree that was parsed from `source`.
pub fn faults_below(root: Node<'_>, source: &[u8]) -> Vec<Fault> {
    let mut found = Vec::new();
    let mut cursor = root.walk();
    let mut deeper = true;
    loop {
        let node = cursor.node();
        let at_fault = node.is_error() || node.is_missing();
        if deeper && at_fault {
            found.push(fault_at(node, source));
        }
        // Only what holds a fault is gone into, and what is one is told as a whole.
        let goes_in = deeper && !at_fault && node.has_error() && found.len() < MOST;
        if goes_in && cursor.goto_first_child() {
            continue;
        }
        deeper = cursor.goto_next_sibling();
        if !deeper && !cursor.goto_parent() {
            return found;
        }
    }
}

fn fault_at(node: Node<'_>, source: &[u8]) -> Fault {
    // What is missing at the end is looked for on the last line that says something.
    let upto = source.get(..node.end_byte().max(node.start_byte())).unwrap_or(source);
    let start = node.start_byte().min(upto.trim_ascii_end().len());
    let before = source.get(..start).unwrap_or_default();
    let begin = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let line =
        source.get(begin..).unwrap_or_default().split(|&byte| byte == b'\n').next().unwrap_or_default();
    Fault {
        line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(),
        text: String::from_utf8_lossy(line).trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lang: &str, source: &str, lines: &[usize]) {
        let found = faults(Lang::from_name(lang).unwrap(), source.as_bytes()).unwrap();
        assert_eq!(found.iter().map(|fault| fault.line).collect::<Vec<_>>(), lines, "{source:?} {found:?}");
    }

    #[test]
    fn faults_have_lines() {
        check("rust", "fn a() {}\n", &[]);
        check("rust", "fn a() {}\nfn b( {}\nfn c() {}\n", &[2]);
        check("rust", "fn a() {\n    let x = ;\n}\n", &[2]);
        check("python", "def a():\n    return 1\n", &[]);
        check("python", "x = 1\nx = (1 +\n", &[2]);
        check("rust", "fn a() {\n\n\n", &[1]);
        check("rust", "", &[]);
    }
}
