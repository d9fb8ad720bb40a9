//! The form of a danger rule: a severity, a matcher over parsed words, and why.

use std::borrow::Cow;

/// How a danger is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A person is asked, whatever the mode.
    Risky,
    /// Refused, whoever says yes.
    Catastrophic,
}

/// A row of the danger list.
#[derive(Debug)]
pub struct Rule {
    /// Names the rule in questions, denials and tests.
    pub id: &'static str,
    /// How it is met.
    pub severity: Severity,
    /// What it meets.
    pub(super) matcher: Matcher,
    /// Why, as the end of a sentence that begins with "it".
    pub why: &'static str,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}

/// A rule that a command meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// The rule's name.
    pub id: &'static str,
    /// How it is met.
    pub severity: Severity,
    /// Why, as the end of a sentence that begins with "it"; with what was found in this case.
    pub why: Cow<'static, str>,
}

impl From<&'static Rule> for Met {
    fn from(rule: &'static Rule) -> Met {
        Met { id: rule.id, severity: rule.severity, why: Cow::Borrowed(rule.why) }
    }
}

/// What a rule meets, over parsed words.
#[derive(Debug)]
pub(super) enum Matcher {
    /// A program with such operands and options.
    Call(Call),
    /// A redirect that writes to such a place.
    WritesTo(Target),
    /// A shell that runs what such a program prints; no names: any program.
    ShellRuns(&'static [&'static str]),
    /// A program that reads a file which holds secrets by its nature.
    ReadsSecrets,
    /// A program that reads such a file without naming it.
    SweepsSecrets,
    /// One of these programs without an operand, which is then a command of its own.
    Bare(&'static [&'static str]),
    /// A `git checkout` that takes files, not a branch.
    ChecksOutFiles,
    /// A function that starts itself in a pipe or in the background.
    SelfStarting,
}

/// A call of one of `names` (a trailing `*` is a prefix) whose first operands are `operands` (alternatives by place),
/// with an option of every group of `options`, and with a path of `target`; not one whose first argument behind those
/// operands is a word of `unless`.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) names: &'static [&'static str],
    pub(super) operands: &'static [&'static [&'static str]],
    pub(super) options: &'static [&'static [&'static str]],
    pub(super) target: Target,
    pub(super) unless: &'static [&'static str],
}

/// Kinds of path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// No path is needed.
    Any,
    /// The file system's root, a system folder, a home, the project root, or a folder above it.
    Vital,
    /// The same without the project and what is in it.
    System,
    /// A disk or another device that holds data, or a switch of the kernel.
    Device,
    /// A file that rules the whole system.
    SystemFile,
    /// What belongs to git or to tandem, inside the project.
    Protected,
    /// A file outside the project in the home or in the system.
    Outside,
}

pub(super) const fn call(names: &'static [&'static str]) -> Call {
    Call { names, operands: &[], options: &[], target: Target::Any, unless: &[] }
}

pub(super) const fn sub(
    names: &'static [&'static str],
    operands: &'static [&'static [&'static str]],
) -> Call {
    Call { operands, ..call(names) }
}

pub(super) const fn row(id: &'static str, severity: Severity, call: Call, why: &'static str) -> Rule {
    Rule { id, severity, matcher: Matcher::Call(call), why }
}
