//! Whether a change leaves a syntax error that the file did not have before.

use std::path::Path;

use tandem_planner::ast::{self, Fault, Lang};
use tandem_shared::image::Image;

use crate::change::Change;
use crate::shell;

/// Bytes of a file up to which it is parsed: a larger one is data or made by a program.
const MOST_BYTES: usize = 1 << 20;

/// The line (counted from 1) of the first syntax error that `change` brings into a file of a language in this program.
pub fn new_error(change: &Change) -> Option<usize> {
    let Image::File { content, .. } = &change.then else { return None };
    let path = change.path.relative();
    let after = faults(path, content)?;
    let before = match change.found.content() {
        Some(content) => faults(path, content)?,
        None => Vec::new(),
    };
    first_new(before, &after)
}

fn first_new(mut before: Vec<Fault>, after: &[Fault]) -> Option<usize> {
    let new = |fault: &&Fault| match before.iter().position(|old| old.text == fault.text) {
        Some(known) => {
            before.swap_remove(known);
            false
        }
        None => true,
    };
    after.iter().find(new).map(|fault| fault.line)
}

fn faults(path: &str, content: &[u8]) -> Option<Vec<Fault>> {
    if content.len() > MOST_BYTES {
        return None;
    }
    match Lang::from_path(path) {
        Some(lang) => ast::faults(lang, content),
        None if is_shell(path, content) => shell::faults(content),
        None => None,
    }
}

fn is_shell(path: &str, content: &[u8]) -> bool {
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
    let first = content.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let shebang = || first.starts_with(b"#!") && (first.ends_with(b"/sh") || first.ends_with(b"bash"));
    matches!(extension, Some("sh" | "bash")) || (extension.is_none() && shebang())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_faults_count() {
        let check = |path: &str, before: &str, after: &str, expect: Option<usize>| {
            let faults = |text: &str| faults(path, text.as_bytes());
            let got = faults(before).zip(faults(after)).and_then(|(before, after)| first_new(before, &after));
            assert_eq!(got, expect, "{path}: {before:?} -> {after:?}");
        };
        check("a.rs", "fn a() {}\n", "fn a( {}\n", Some(1));
        check("a.rs", "fn a( {}\n", "// one more line\nfn a( {}\n", None);
        check("a.rs", "fn a( {}\nfn b() {}\n", "fn a( {}\nfn b( {}\n", Some(2));
        check("a.rs", "fn a( {}\n", "fn a() {}\n", None);
        check("a.py", "x = 1\n", "x = (1\n", Some(1));
        check("run.sh", "echo a\n", "if true; then echo a\n", Some(1));
        check("run", "#!/bin/sh\necho a\n", "#!/bin/sh\necho 'a\n", Some(2));
        check("a.txt", "", "fn a( {}", None);
    }
}
