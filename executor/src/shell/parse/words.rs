//! Words of a command: as they are spelled, and what they may come to when it runs.

use tree_sitter::Node;

use super::{Around, Walk};
use crate::shell::meaning::{GIVEN, PRINTED, ansi, any, braces, joined};
use crate::shell::script::Word;
use crate::shell::word::{bare_word, has_live_dollar, unescape_double};

impl Walk<'_> {
    /// The word at `node`, and the commands inside it.
    pub(super) fn word(&mut self, node: Node<'_>) -> (Word, Vec<usize>) {
        let (mut word, inner) = self.spelled(node);
        if !word.known {
            word.may = self.may(node);
        }
        (word, inner)
    }

    /// What the word at `node` may come to.
    pub(super) fn may(&self, node: Node<'_>) -> Vec<String> {
        let raw = self.text(node);
        match node.kind() {
            "word" | "number" if node.named_child_count() == 0 => braces(&bare_word(raw).text),
            "raw_string" => vec![raw.trim_matches('\'').to_owned()],
            "string_content" => vec![unescape_double(raw)],
            "ansi_c_string" => vec![ansi(raw)],
            "simple_expansion" => self.vars.of(raw.trim_start_matches('$')),
            "expansion" => self.vars.expanded(raw),
            "command_substitution" => vec![PRINTED.to_string()],
            // A place that the shell itself makes.
            "process_substitution" => vec!["/dev/fd/3".to_owned()],
            "arithmetic_expansion" => vec!["0".to_owned()],
            "brace_expression" => braces(raw),
            "string" => self.pieces(node, 1),
            "concatenation" => {
                let whole: Vec<String> = self.pieces(node, 0).iter().flat_map(|text| braces(text)).collect();
                joined(&whole, &[String::new()])
            }
            _ => any(),
        }
    }

    /// What the parts of a word come to together; what the grammar leaves out between them is text. So many bytes at both
    /// ends are quotes.
    pub(super) fn pieces(&self, node: Node<'_>, quotes: usize) -> Vec<String> {
        let mut whole = vec![String::new()];
        let mut at = node.start_byte() + quotes;
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            let between = self.source.get(at..child.start_byte()).unwrap_or_default();
            whole = joined(&joined(&whole, &[between.to_owned()]), &self.may(child));
            at = child.end_byte();
        }
        let rest = self.source.get(at..node.end_byte().saturating_sub(quotes)).unwrap_or_default();
        joined(&whole, &[rest.to_owned()])
    }

    /// Takes in what a variable is set to.
    pub(super) fn assign(&mut self, node: Node<'_>) {
        if node.kind() == "variable_assignments" {
            let mut cursor = node.walk();
            return node.named_children(&mut cursor).for_each(|child| self.assign(child));
        }
        let Some(name) = node.child_by_field_name("name").filter(|_| node.kind() == "variable_assignment")
        else {
            return;
        };
        let name = self.text(name);
        let mut values = match node.child_by_field_name("value") {
            None => vec![String::new()],
            Some(list) if list.kind() == "array" => {
                let mut cursor = list.walk();
                list.named_children(&mut cursor).flat_map(|item| self.may(item)).collect()
            }
            Some(value) => self.may(value),
        };
        let mut cursor = node.walk();
        if node.children(&mut cursor).any(|child| child.kind() == "+=") {
            values.extend(joined(&self.vars.of(name), &values));
        }
        self.vars.add(name.split('[').next().unwrap_or(name), values);
    }

    /// Takes in what the variable of a loop runs through.
    pub(super) fn bind_loop(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("variable") else { return };
        let mut cursor = node.walk();
        let mut values: Vec<String> =
            node.children_by_field_name("value", &mut cursor).flat_map(|value| self.may(value)).collect();
        if values.is_empty() {
            values.push(GIVEN.to_string());
        }
        self.vars.add(self.text(name), values);
    }

    /// The word at `node` as it is spelled, and the commands inside it.
    pub(super) fn spelled(&mut self, node: Node<'_>) -> (Word, Vec<usize>) {
        let raw = self.text(node);
        let unknown = |text: &str| Word { text: text.to_owned(), ..Word::default() };
        match node.kind() {
            "word" | "number" if node.named_child_count() == 0 => (bare_word(raw), Vec::new()),
            "raw_string" => {
                let inside = raw.strip_prefix('\'').and_then(|raw| raw.strip_suffix('\'')).unwrap_or(raw);
                (Word::known(inside), Vec::new())
            }
            "string" => {
                let inside = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(raw);
                let mut cursor = node.walk();
                let expands = node.named_children(&mut cursor).any(|child| child.kind() != "string_content");
                if expands || has_live_dollar(inside) {
                    (unknown(inside), self.scan(node))
                } else {
                    (Word::known(unescape_double(inside)), Vec::new())
                }
            }
            "concatenation" => {
                let mut whole = Word::known("");
                let mut inner = Vec::new();
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    let (part, more) = self.spelled(child);
                    whole.text.push_str(&part.text);
                    whole.known &= part.known;
                    whole.glob |= part.glob;
                    inner.extend(more);
                }
                // Braces are tokens of their own here, and expand in some shells.
                if !raw.contains(['"', '\'']) && raw.contains('{') {
                    whole = unknown(raw);
                }
                (whole, inner)
            }
            _ => (unknown(raw), self.scan(node)),
        }
    }

    /// Walks every substitution below `node`; answers the places of their commands.
    pub(super) fn scan(&mut self, node: Node<'_>) -> Vec<usize> {
        let first = self.script.commands.len();
        if matches!(node.kind(), "command_substitution" | "process_substitution") {
            self.children(node, &Around::default());
            self.script.commands.iter_mut().skip(first).for_each(|simple| simple.captured = true);
        } else {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                self.scan(child);
            }
        }
        (first..self.script.commands.len()).collect()
    }
}
