//! What of a command's arguments are operands, and which of them is no file.

use super::script::{Simple, Word};

/// Options that stand before a program's subcommand and take the next word.
const VALUED: &[(&str, &[&str])] = &[
    ("git", &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"]),
    ("npm", NODE_VALUED),
    ("pnpm", NODE_VALUED),
    ("yarn", NODE_VALUED),
    ("bun", NODE_VALUED),
    ("cargo", &["-C", "-Z", "--config", "--color"]),
    ("uv", &["--directory", "--project", "--config-file", "--cache-dir", "--color"]),
    ("poetry", &["-C", "--directory", "-P", "--project"]),
    ("pip", &["--python", "--log", "--proxy", "--timeout", "--retries", "--cache-dir"]),
    ("composer", &["-d", "--working-dir"]),
    ("go", &["-C"]),
];

const NODE_VALUED: &[&str] =
    &["-C", "--prefix", "--dir", "--cwd", "-w", "--workspace", "--filter", "-F", "--loglevel", "--registry"];

/// Programs whose first operand is a pattern, unless an option gives it.
const PATTERN_FIRST: &[&str] = &["grep", "egrep", "fgrep", "rg"];

/// The arguments that are no options.
pub(super) fn operands(simple: &Simple) -> Vec<&Word> {
    let mut found = Vec::new();
    let mut args = simple.args().iter();
    let name = simple.name();
    let valued = VALUED.iter().find(|(program, _)| {
        // `pip3.11` is pip.
        *program == name || (*program == "pip" && name.starts_with("pip3"))
    });
    let valued = valued.map_or(&[][..], |(_, options)| *options);
    while let Some(arg) = args.next() {
        if found.is_empty() && valued.contains(&arg.text.as_str()) {
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
