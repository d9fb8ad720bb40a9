//! Looks over a whole syntax tree, of any depth, for what the walk could not take or would not see.

use tree_sitter::Node;

use super::word::hides_substitution;

/// The levels below `root`, and a leaf that may hide a substitution; found without recursion.
pub(super) fn survey<'t>(root: Node<'t>, source: &str) -> (usize, Option<Node<'t>>) {
    let mut cursor = root.walk();
    let (mut depth, mut deepest, mut hiding) = (0_usize, 0, None);
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            deepest = deepest.max(depth);
            continue;
        }
        let leaf = cursor.node();
        let text = source.get(leaf.byte_range()).unwrap_or_default();
        let literal = matches!(leaf.kind(), "raw_string" | "comment") || is_quoted_heredoc(leaf, source);
        if leaf.is_named() && !literal && hides_substitution(text) {
            hiding = Some(leaf);
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return (deepest, hiding);
            }
            depth = depth.saturating_sub(1);
        }
    }
}

/// Whether `node` is in the body of a here-document whose mark is quoted, so that nothing in it is expanded.
pub(super) fn is_quoted_heredoc(node: Node<'_>, source: &str) -> bool {
    let mut above = Some(node);
    while let Some(current) = above.filter(|current| current.kind().starts_with("heredoc_")) {
        let mut cursor = current.walk();
        let start = current.named_children(&mut cursor).find(|child| child.kind() == "heredoc_start");
        if let Some(start) = start {
            return source.get(start.byte_range()).is_some_and(|mark| mark.contains(['\'', '"', '\\']));
        }
        above = current.parent();
    }
    false
}
