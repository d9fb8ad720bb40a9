//! The judge of commands: what a command line is made of, what of it is dangerous, and what may run without a question.

mod allow;
mod asks;
mod danger;
mod find;
mod handed;
mod git_settings;
mod judge;
mod looks;
mod meaning;
mod operands;
mod options;
mod parse;
mod place;
mod propose;
mod reader;
mod readers;
mod rule;
mod rules;
mod script;
mod secret_files;
mod servers;
mod survey;
mod sweep;
mod swept;
mod tracked;
mod unnamed;
mod word;
mod wrap;

pub use allow::{Pattern, PatternError};
pub use asks::{BEFORE_ASKING, asks};
pub use git_settings::names_git_settings;
pub use judge::{Judgement, Part, Rules, Weighed, judge, weigh};
pub use parse::parse;
pub use place::Place;
pub use propose::proposal;
pub use rule::{Met, Rule, Severity};
pub use rules::RULES;
pub use script::{Redirect, Script, Simple, Word};
pub use servers::starts_server;

/// Where a script does not follow the shell's grammar; `None` when it could not be parsed at all.
pub fn faults(source: &[u8]) -> Option<Vec<tandem_planner::ast::Fault>> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let tree = parser.parse(source, None)?;
    Some(tandem_planner::ast::faults_below(tree.root_node(), source))
}

#[cfg(test)]
mod tests;
