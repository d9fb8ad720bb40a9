//! The judge of commands: what a command line is made of, what of it is dangerous, and what may run without a question.

mod allow;
mod danger;
mod looks;
mod parse;
mod place;
mod rule;
mod rules;
mod script;
mod survey;
mod word;
mod wrap;

pub use allow::{Pattern, PatternError};
pub use parse::parse;
pub use place::Place;
pub use rule::{Rule, Severity};
pub use rules::RULES;
pub use script::{Redirect, Script, Simple, Word};

/// Where a script does not follow the shell's grammar; `None` when it could not be parsed at all.
pub fn faults(source: &[u8]) -> Option<Vec<tandem_planner::ast::Fault>> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let tree = parser.parse(source, None)?;
    Some(tandem_planner::ast::faults_below(tree.root_node(), source))
}

/// What the judge says of a command, before modes and persons are asked.
pub enum Judgement {
    /// Never to be run.
    Forbidden(&'static Rule),
    /// Always to be asked about.
    Risky(&'static Rule),
    /// Not understood throughout, so it is asked about; the text says what was not understood.
    Unclear(String),
    /// Every part is on the allow-list or only looks.
    Allowed,
    /// Understood, and neither allowed nor dangerous: the mode decides.
    Plain,
}

/// Judges `command`, which would run by `sh -c` in the root.
pub fn judge(command: &str, rules: &[Pattern], place: Place<'_>) -> Judgement {
    let script = parse(command);
    let danger = danger::worst(&script, place);
    match danger {
        Some(rule) if rule.severity == Severity::Catastrophic => return Judgement::Forbidden(rule),
        Some(rule) => return Judgement::Risky(rule),
        None => {}
    }
    if let Some(odd) = script.odd.first() {
        return Judgement::Unclear(odd.clone());
    }
    if allow::allows(&script, rules) { Judgement::Allowed } else { Judgement::Plain }
}

#[cfg(test)]
mod tests;
