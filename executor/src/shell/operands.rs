//! What of a command's arguments are operands, and which of them is no file.

use super::script::{Simple, Word};

/// Options of git that stand before its subcommand and take the next word.
const GIT_VALUED: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"];

/// Programs whose first operand is a pattern, unless an option gives it.
const PATTERN_FIRST: &[&str] = &["grep", "egrep", "fgrep", "rg"];

/// The arguments that are no options.
pub(super) fn operands(simple: &Simple) -> Vec<&Word> {
    let mut found = Vec::new();
    let mut args = simple.args().iter();
    while let Some(arg) = args.next() {
        if simple.name() == "git" && found.is_empty() && GIT_VALUED.contains(&arg.text.as_str()) {
            args.next();
        } else if !arg.text.starts_with('-') && !arg.text.starts_with('+') {
            found.push(arg);
        }
    }
    found
}

/// The place among the arguments of the one that is a pattern and names no file.
pub(super) fn pattern(simple: &Simple) -> Option<usize> {
    let gives = |arg: &Word| {
        let long = arg.text.starts_with("--reg") || arg.text.starts_with("--fil");
        let cluster = arg.text.starts_with('-') && !arg.text.starts_with("--");
        long || (cluster && arg.text.contains(['e', 'f']))
    };
    let first = || simple.args().iter().position(|arg| !arg.text.starts_with('-'));
    (PATTERN_FIRST.contains(&simple.name()) && !simple.args().iter().any(gives)).then(first).flatten()
}
