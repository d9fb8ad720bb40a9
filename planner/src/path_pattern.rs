//! Glob patterns over paths, with one meaning for every tool that takes one.

use globset::{GlobBuilder, GlobMatcher};
use tandem_shared::call::{ErrorKind, ToolError};

/// A glob. One without a slash matches the file name at any depth; one with a slash matches the path from the folder
/// that is searched, or from the project root. `!` in front turns it round.
#[derive(Clone, Debug)]
pub(crate) struct PathPattern {
    matcher: GlobMatcher,
    is_negated: bool,
}

impl PathPattern {
    /// Reads a glob.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidPattern`] with the parser's words.
    pub(crate) fn new(pattern: &str) -> Result<PathPattern, ToolError> {
        let (is_negated, body) = match pattern.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let full = match body.strip_prefix("./").map(|rest| format!("/{rest}")).as_deref().unwrap_or(body) {
            "" | "/" => return Err(invalid("the pattern is empty", pattern)),
            name if !name.contains('/') => format!("**/{name}"),
            folder if folder.ends_with('/') => format!("{}**", folder.trim_start_matches('/')),
            path => path.trim_start_matches('/').to_owned(),
        };
        let glob = GlobBuilder::new(&full)
            .literal_separator(true)
            .build()
            .map_err(|error| invalid(&error.kind().to_string(), pattern))?;
        Ok(PathPattern { matcher: glob.compile_matcher(), is_negated })
    }

    /// Whether a file matches whose path from the root is `relative`, when the folder searched is `base` (`.` for the
    /// root itself).
    pub(crate) fn is_match(&self, relative: &str, base: &str) -> bool {
        let below = relative.strip_prefix(base).and_then(|rest| rest.strip_prefix('/')).unwrap_or(relative);
        let matches = self.matcher.is_match(below) || self.matcher.is_match(relative);
        matches != self.is_negated
    }
}

fn invalid(problem: &str, pattern: &str) -> ToolError {
    ToolError::new(
        ErrorKind::InvalidPattern,
        format!(
            "{pattern:?} is not a glob: {problem}. Examples: *.rs, src/**/*.py, {{lib,main}}.rs, [a-c]*.txt."
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, base: &str, matching: &[&str], other: &[&str]) {
        let glob = PathPattern::new(pattern).unwrap();
        for path in matching {
            assert!(glob.is_match(path, base), "{pattern} in {base} must match {path}");
        }
        for path in other {
            assert!(!glob.is_match(path, base), "{pattern} in {base} must not match {path}");
        }
    }

    #[test]
    fn a_name_matches_at_any_depth_and_a_path_from_the_folder() {
        check("*.rs", ".", &["a.rs", "x/y/a.rs", ".h.rs"], &["a.rsx", "a.rs/b"]);
        check("src/*.rs", ".", &["src/a.rs"], &["src/x/a.rs", "x/src/a.rs"]);
        check("src/**/*.rs", ".", &["src/a.rs", "src/x/y/a.rs"], &["a.rs"]);
        check("**/x/*", ".", &["x/a", "q/x/a"], &["x/a/b"]);
        check("./a", ".", &["a"], &["x/a"]);
        check("/a", ".", &["a"], &["x/a"]);
        check("src/", ".", &["src/a", "src/x/a"], &["x/src/a"]);
        check("{lib,main}.rs", ".", &["src/lib.rs", "main.rs"], &["mod.rs"]);
        check("[a-c]?.t", ".", &["b1.t"], &["d1.t", "b.t"]);
        check("*", "src", &["src/a", "src/x/b"], &[]);
    }

    #[test]
    fn a_path_may_be_meant_from_the_folder_or_from_the_root() {
        check("ast/*.rs", "src", &["src/ast/a.rs"], &["src/a.rs"]);
        check("src/ast/*.rs", "src", &["src/ast/a.rs"], &["src/a.rs"]);
    }

    #[test]
    fn an_exclamation_mark_turns_it_round() {
        check("!*.rs", ".", &["a.py"], &["a.rs", "x/a.rs"]);
    }

    #[test]
    fn what_is_no_glob_is_refused_with_the_parsers_words() {
        let error = PathPattern::new("src/[a").unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidPattern);
        assert!(
            error.text.starts_with("\"src/[a\" is not a glob: unclosed character class"),
            "{}",
            error.text
        );
        assert!(PathPattern::new("").is_err());
    }
}
