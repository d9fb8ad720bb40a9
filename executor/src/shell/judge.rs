//! The judgement of a whole command line, and of each of its parts.

use super::allow::{Pattern, PatternError, is_allowed, is_named, understood};
use super::danger;
use super::looks::only_looks;
use super::parse::parse;
use super::place::Place;
use super::rule::{Met, Severity};
use super::script::{Script, Simple};
use super::swept::Sight;

/// The rules of the configuration, as patterns over parsed words. What denies comes first, then what asks, then what
/// allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Never to be run.
    pub deny: Vec<Pattern>,
    /// Always to be asked about.
    pub ask: Vec<Pattern>,
    /// To be run without a question.
    pub allow: Vec<Pattern>,
}

impl Rules {
    /// Reads the rules as they are written.
    ///
    /// # Errors
    /// The first rule that is not one simple command.
    pub fn parse(deny: &[String], ask: &[String], allow: &[String]) -> Result<Rules, PatternError> {
        let all = |rules: &[String]| rules.iter().map(|rule| Pattern::parse(rule)).collect::<Result<_, _>>();
        Ok(Rules { deny: all(deny)?, ask: all(ask)?, allow: all(allow)? })
    }
}

/// What the judge says of a command, before modes and persons are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Never to be run, whoever says yes.
    Forbidden(Met),
    /// Never to be run, by this rule of the configuration.
    Denied(String),
    /// Always to be asked about, by this rule of the configuration.
    Asked(String),
    /// Always to be asked about, because it is dangerous and no rule names it.
    Risky(Met),
    /// Not understood throughout, so it is asked about; the text says what was not understood.
    Unclear(String),
    /// Every part only looks.
    Looks,
    /// Every part only looks or is on the allow-list.
    Allowed,
    /// Understood, and neither allowed nor dangerous: the mode decides.
    Plain,
}

/// What is said of one simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// By this danger rule never to be run.
    Forbidden(Met),
    /// By this rule of the configuration never to be run.
    Denied(String),
    /// By this rule of the configuration always to be asked about.
    Asked(String),
    /// By this danger rule always to be asked about.
    Risky(Met),
    /// It only looks.
    Looks,
    /// By this rule of the configuration to be run without a question.
    Allowed(String),
    /// Nothing names it: the mode decides.
    Plain,
}

/// A judged command line.
pub struct Weighed {
    /// Its parts.
    pub script: Script,
    /// What is said of each part, in the order of [`Script::commands`].
    pub parts: Vec<Part>,
    /// What is said of the whole.
    pub judgement: Judgement,
    /// Whether allow rules name every part, those that only look included.
    pub named: bool,
}

/// Judges `command`, which would run by `sh -c` in the root.
pub fn judge(command: &str, rules: &Rules, place: Place<'_>) -> Judgement {
    weigh(command, rules, place).judgement
}

/// Judges `command` and each of its parts.
pub fn weigh(command: &str, rules: &Rules, place: Place<'_>) -> Weighed {
    let script = parse(command);
    let sight = Sight::new(place);
    let met = danger::met(&script, &sight);
    let parts: Vec<Part> = script.commands.iter().map(|simple| part(simple, rules, &sight)).collect();
    let judgement = whole(&script, &parts, &met, rules, &sight);
    let named = script.commands.iter().all(|simple| is_named(simple, &rules.allow));
    Weighed { script, parts, judgement, named }
}

fn whole(script: &Script, parts: &[Part], met: &[Met], rules: &Rules, sight: &Sight<'_>) -> Judgement {
    if let Some(rule) = met.iter().find(|rule| rule.severity == Severity::Catastrophic) {
        return Judgement::Forbidden(rule.clone());
    }
    let denied = |part: &Part| match part {
        Part::Denied(rule) => Some(Judgement::Denied(rule.clone())),
        _ => None,
    };
    let asked = |part: &Part| match part {
        Part::Asked(rule) => Some(Judgement::Asked(rule.clone())),
        _ => None,
    };
    if let Some(judgement) = parts.iter().find_map(denied).or_else(|| parts.iter().find_map(asked)) {
        return judgement;
    }
    if let Some(rule) = met.iter().find(|rule| !names_danger(rule, script, rules, sight)) {
        return Judgement::Risky(rule.clone());
    }
    if let Some(odd) = script.odd.first() {
        return Judgement::Unclear(odd.clone());
    }
    if !understood(script) || !parts.iter().all(|part| matches!(part, Part::Looks | Part::Allowed(_))) {
        return Judgement::Plain;
    }
    if parts.iter().all(|part| *part == Part::Looks) { Judgement::Looks } else { Judgement::Allowed }
}

/// Whether an allow rule that holds for a part names this danger itself: `git push *` names pushing, `git *` does not.
fn names_danger(danger: &Met, script: &Script, rules: &Rules, sight: &Sight<'_>) -> bool {
    let names = |rule: &&Pattern| {
        let literal = rule.literal();
        danger::met(&literal, sight).iter().any(|met| met.id == danger.id)
    };
    let naming: Vec<&Pattern> = rules.allow.iter().filter(names).collect();
    let meets = |simple: &Simple| danger::met(&alone(simple), sight).iter().any(|met| met.id == danger.id);
    let mut dangerous = script.commands.iter().filter(|simple| meets(simple)).peekable();
    // A danger that lies in how parts work together is named by no rule.
    dangerous.peek().is_some()
        && dangerous.all(|simple| naming.iter().any(|rule| is_allowed(simple, std::slice::from_ref(*rule))))
}

fn alone(simple: &Simple) -> Script {
    // That something is piped into it still holds, and leads nowhere: some programs read that instead of a folder.
    let upstream = simple.upstream.iter().map(|_| usize::MAX).take(1).collect();
    let simple = Simple { upstream, inner: Vec::new(), ..simple.clone() };
    Script { commands: vec![simple], ..Script::default() }
}

fn part(simple: &Simple, rules: &Rules, sight: &Sight<'_>) -> Part {
    let met = danger::met(&alone(simple), sight);
    if let Some(rule) = met.iter().find(|rule| rule.severity == Severity::Catastrophic) {
        return Part::Forbidden(rule.clone());
    }
    if let Some(rule) = rules.deny.iter().find(|rule| rule.may_meet(simple)) {
        return Part::Denied(rule.to_string());
    }
    if let Some(rule) = rules.ask.iter().find(|rule| rule.may_meet(simple)) {
        return Part::Asked(rule.to_string());
    }
    let allowing = rules.allow.iter().find(|rule| is_allowed(simple, std::slice::from_ref(*rule)));
    match (met.first(), allowing) {
        (Some(danger), Some(rule))
            if danger::met(&rule.literal(), sight).iter().any(|r| r.id == danger.id) =>
        {
            Part::Allowed(rule.to_string())
        }
        (Some(danger), _) => Part::Risky(danger.clone()),
        (None, _) if is_allowed(simple, &[]) && only_looks(simple) => Part::Looks,
        (None, Some(rule)) => Part::Allowed(rule.to_string()),
        (None, None) => Part::Plain,
    }
}
