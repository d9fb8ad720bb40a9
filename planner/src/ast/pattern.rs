//! A structural pattern: code with holes, read once and then held against many sources.

use ast_grep_core::matcher::PatternNode;
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::tree_sitter::LanguageExt;
use ast_grep_core::{Language, Pattern as Matcher};
use thiserror::Error;

use super::lang::Lang;

/// Characters that a pattern may have. Patterns are a line or a few; the matcher recurses over them, and a text nested
/// thousands deep would exhaust the stack.
const PATTERN_CHARS: usize = 2_000;
/// Characters shown of what could not be parsed.
const NEAR_CHARS: usize = 40;

/// A pattern of one language.
#[derive(Clone)]
pub struct Pattern {
    lang: Lang,
    matcher: Matcher,
    /// Words that stand in every match, the longest first.
    words: Vec<String>,
    repeats_hole: bool,
}

/// Why a text is no pattern of a language.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatternFault {
    /// Blank, or nothing but a comment mark.
    #[error("the pattern is empty")]
    Empty,
    /// Longer than a pattern may be.
    #[error("the pattern is longer than {PATTERN_CHARS} characters")]
    TooLong,
    /// Not a piece of code of that language.
    #[error("it is not a whole piece of {lang} code ({at})")]
    Syntax {
        /// The language.
        lang: &'static str,
        /// What could not be parsed, or what is missing.
        at: String,
    },
    /// Several pieces of code beside each other.
    #[error("it is more than one piece of {lang} code; search for one of them, or put both in a block")]
    Several {
        /// The language.
        lang: &'static str,
    },
    /// `$$$X` by itself, which would match everything.
    #[error("a lone $$$ matches everything; use $X, or put it inside a larger pattern")]
    LoneEllipsis,
}

impl Pattern {
    /// Reads a pattern in ast-grep's syntax: code of the language in which `$X` stands for one node, `$$$X` for any
    /// number of them, and `$_` for one that is not kept.
    ///
    /// # Errors
    /// [`PatternFault`] when the text is not exactly one piece of code of that language.
    pub fn new(lang: Lang, pattern: &str) -> Result<Pattern, PatternFault> {
        let text = pattern.trim();
        if text.is_empty() {
            return Err(PatternFault::Empty);
        }
        if text.chars().nth(PATTERN_CHARS).is_some() {
            return Err(PatternFault::TooLong);
        }
        if let Some(at) = unparsed(lang, text) {
            return Err(PatternFault::Syntax { lang: lang.name(), at });
        }
        let matcher = Matcher::try_new(text, lang).map_err(|error| fault(lang, &error))?;
        let (mut words, mut holes) = (Vec::new(), Vec::new());
        collect(&matcher.node, &mut words, &mut holes);
        let repeats_hole =
            (1..holes.len()).any(|at| holes.iter().take(at).any(|hole| Some(hole) == holes.get(at)));
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.dedup();
        Ok(Pattern { lang, matcher, words, repeats_hole })
    }

    /// The language it is a pattern of.
    pub fn lang(&self) -> Lang {
        self.lang
    }

    /// Whether `source` can hold a match at all: every word of the pattern stands in it. Cheap beside parsing.
    pub fn may_match(&self, source: &str) -> bool {
        self.words.iter().all(|word| source.contains(word.as_str()))
    }

    /// Whether some `$X` or `$$$X` stands in it more than once, so that texts are compared.
    pub(super) fn repeats_hole(&self) -> bool {
        self.repeats_hole
    }

    pub(super) fn matcher(&self) -> &Matcher {
        &self.matcher
    }
}

fn fault(lang: Lang, error: &ast_grep_core::PatternError) -> PatternFault {
    use ast_grep_core::PatternError as E;
    match error {
        E::NoContent(_) => PatternFault::Empty,
        E::MultipleNode(_) => PatternFault::Several { lang: lang.name() },
        E::RootMultiMetaVar(_) => PatternFault::LoneEllipsis,
        E::Parse(_) | E::InvalidKind(_) | E::NoSelectorInContext { .. } => {
            PatternFault::Syntax { lang: lang.name(), at: error.to_string() }
        }
    }
}

/// The first part that could not be parsed. Not counted is what lies around a single piece of code: an expression by
/// itself is not a whole file, so the parser calls its surroundings an error. A hole where the grammar has no place for a name counts as parsed, and so
/// does a missing `;`, since a statement may be meant without it; a bracket or quote that the parser had to make up
/// does not: the pattern breaks off.
fn unparsed(lang: Lang, text: &str) -> Option<String> {
    let tree = lang.ast_grep(lang.pre_process_pattern(text));
    let mut piece = tree.root();
    let mut is_misplaced = piece.is_error();
    while piece.children().len() == 1 {
        is_misplaced = piece.is_error();
        piece = piece.child(0)?;
    }
    // A lone bracket is a token and no piece of code, but a lone `pass` is a statement.
    if !piece.is_named() && is_misplaced {
        return Some(format!("near {:?}", piece.text()));
    }
    let bad = piece.dfs().find(|node| {
        let is_made_up = node.is_missing() && node.kind() != ";";
        let is_error = node.is_error() && lang.extract_meta_var(&node.text()).is_none();
        is_made_up || is_error
    })?;
    Some(if bad.is_missing() {
        format!("missing {}", bad.kind())
    } else {
        let near: String = bad.text().chars().take(NEAR_CHARS).collect();
        format!("near {:?}", near.replace(lang.hole(), "$"))
    })
}

/// The words that every match holds, and the names of holes. Single signs are in nearly every source and left aside;
/// so are keywords after `$$$`, which the matcher may pass over together with the commas there.
fn collect(node: &PatternNode, words: &mut Vec<String>, holes: &mut Vec<String>) {
    match node {
        PatternNode::MetaVar { meta_var } => match meta_var {
            MetaVariable::Capture(name, _) | MetaVariable::MultiCapture(name) => holes.push(name.clone()),
            MetaVariable::Dropped(_) | MetaVariable::Multiple => {}
        },
        PatternNode::Terminal { text, is_named, .. } => {
            if !text.is_empty() && (*is_named || text.len() > 1) {
                words.push(text.clone());
            }
        }
        PatternNode::Internal { children, .. } => {
            let mut after_ellipsis = false;
            for child in children {
                if !(after_ellipsis && child.is_trivial()) {
                    collect(child, words, holes);
                }
                let is_ellipsis = matches!(
                    child,
                    PatternNode::MetaVar { meta_var: MetaVariable::MultiCapture(_) | MetaVariable::Multiple }
                );
                after_ellipsis = is_ellipsis || (after_ellipsis && child.is_trivial());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(lang: &str, pattern: &str) -> Option<PatternFault> {
        Pattern::new(Lang::from_name(lang).unwrap(), pattern).err()
    }

    #[test]
    fn a_whole_piece_of_code_is_a_pattern() {
        for pattern in [
            "fn $N($$$P) -> $R { $$$B }",
            "let $X = $Y",
            "$X?",
            "pub struct $S { $$$F }",
            "return $X;",
            "break;",
        ] {
            assert_eq!(fault_of("rust", pattern), None, "{pattern}");
        }
        for pattern in [
            "class $N: $$$B",
            "class $N($$$P): $$$B",
            "@$D\ndef $F($$$): $$$B",
            "import $M",
            "x = $Y",
            "pass",
        ] {
            assert_eq!(fault_of("python", pattern), None, "{pattern}");
        }
    }

    #[test]
    fn what_is_no_code_is_refused() {
        let check = |lang, patterns: &[&str]| {
            let accepted: Vec<_> = patterns
                .iter()
                .filter(|pattern| !matches!(fault_of(lang, pattern), Some(PatternFault::Syntax { .. })))
                .collect();
            assert!(accepted.is_empty(), "{accepted:?}");
        };
        check(
            "rust",
            &["foo(", "$A => $B", "fn {", ")", "if $C {", "let = ;", "\"abc", "impl for", "a +", "vec![1"],
        );
        check(
            "python",
            &["def (", "print(", "class", "if $C", "x ==", "[1, 2", ")", "'abc", "fn $N() { $$$B }"],
        );
        assert_eq!(fault_of("rust", "  "), Some(PatternFault::Empty));
        assert_eq!(fault_of("rust", "$$$A"), Some(PatternFault::LoneEllipsis));
        assert_eq!(fault_of("rust", "a(); b();"), Some(PatternFault::Several { lang: "rust" }));
        assert_eq!(fault_of("rust", &"(".repeat(5000)), Some(PatternFault::TooLong));
    }

    #[test]
    fn words_rule_sources_out_and_never_a_match() {
        let pattern = Pattern::new(Lang::from_name("rust").unwrap(), "find($A, $$$REST)").unwrap();
        assert!(pattern.may_match("fn f() { find(1) }"));
        assert!(!pattern.may_match("fn f() { search(1, 2) }"));
        let block = Pattern::new(Lang::from_name("rust").unwrap(), "unsafe { $$$B }").unwrap();
        assert!(!block.may_match("fn f() { g() }"));
    }
}
