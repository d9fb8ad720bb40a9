//! The languages: a row each.

use std::borrow::Cow;
use std::path::Path;

use ast_grep_core::Language;
use ast_grep_core::matcher::PatternBuilder;
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc, TSLanguage};

use super::holes::with_holes;

/// What there is to know of a language.
struct Row {
    name: &'static str,
    extensions: &'static [&'static str],
    grammar: fn() -> TSLanguage,
    /// The query that finds what an outline shows: `@item`, and `@body` for what its signature leaves out.
    outline: &'static str,
    /// A letter that the grammar takes in a name and nobody writes: it stands for `$` while a pattern is parsed.
    hole: char,
    /// What a search cannot see in this language, as a sentence for the model; empty when there is nothing to tell.
    unseen: &'static str,
}

const ROWS: &[Row] = &[
    Row {
        name: "rust",
        extensions: &["rs"],
        grammar: || tree_sitter_rust::LANGUAGE.into(),
        outline: include_str!("rust.scm"),
        hole: 'µ',
        unseen: "What stands inside a macro call, such as assert!(…), is not seen; grep sees it.",
    },
    Row {
        name: "python",
        extensions: &["py", "pyi", "pyw"],
        grammar: || tree_sitter_python::LANGUAGE.into(),
        outline: include_str!("python.scm"),
        hole: 'µ',
        unseen: "",
    },
];

/// A language that can be parsed. Cheap to copy.
#[derive(Clone, Copy)]
pub struct Lang(&'static Row);

impl Lang {
    /// All languages, in the order of their rows.
    pub fn all() -> impl Iterator<Item = Lang> {
        ROWS.iter().map(Lang)
    }

    /// The names of all languages, with commas between them.
    pub fn names() -> String {
        Lang::all().map(Lang::name).collect::<Vec<_>>().join(", ")
    }

    /// The language of that name, whatever its case.
    pub fn from_name(name: &str) -> Option<Lang> {
        Lang::all().find(|lang| lang.0.name.eq_ignore_ascii_case(name.trim()))
    }

    /// The language of a file, by its extension.
    pub fn from_path(path: impl AsRef<Path>) -> Option<Lang> {
        let extension = path.as_ref().extension()?.to_str()?;
        Lang::all().find(|lang| lang.0.extensions.contains(&extension))
    }

    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What a search cannot see in this language, as a sentence for the model; empty when there is nothing to tell.
    pub fn unseen(self) -> &'static str {
        self.0.unseen
    }

    pub(super) fn outline_query(self) -> &'static str {
        self.0.outline
    }

    pub(super) fn hole(self) -> char {
        self.0.hole
    }
}

impl PartialEq for Lang {
    fn eq(&self, other: &Lang) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Lang {}

impl std::fmt::Debug for Lang {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lang({})", self.0.name)
    }
}

impl Language for Lang {
    fn pre_process_pattern<'q>(&self, query: &'q str) -> Cow<'q, str> {
        with_holes(query, self.hole())
    }

    fn expando_char(&self) -> char {
        self.hole()
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.get_ts_language().id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.get_ts_language().field_id_for_name(field).map(std::num::NonZero::get)
    }

    fn build_pattern(
        &self,
        builder: &PatternBuilder<'_>,
    ) -> Result<ast_grep_core::Pattern, ast_grep_core::PatternError> {
        builder.build(|source| StrDoc::try_new(source, *self))
    }
}

impl LanguageExt for Lang {
    fn get_ts_language(&self) -> TSLanguage {
        (self.0.grammar)()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_language_of_its_extension() {
        let check = |path: &str, expect: Option<&str>| {
            assert_eq!(Lang::from_path(path).map(Lang::name), expect, "{path}");
        };
        check("src/a.rs", Some("rust"));
        check("a.py", Some("python"));
        check("stubs/a.pyi", Some("python"));
        check("a.txt", None);
        check("rs", None);
        assert_eq!(Lang::from_name(" Rust "), Lang::from_path("x.rs"));
        assert_eq!(Lang::names(), "rust, python");
    }
}
