//! The gate: the only place that gives leave to act.

mod remembered;

use std::sync::Arc;

use tandem_shared::call::ToolCall;
use tandem_shared::journal::{Granted, GrantedBy};
use tandem_shared::person::{Answer, Effect, Person, Question};
use tandem_shared::plan::ApprovedPlan;
use tandem_shared::secret::Masker;
use tandem_shared::sensitive::is_sensitive;
use tandem_shared::settings::Approval;
use tandem_shared::workspace::Workspace;

use crate::cage::Cage;
use crate::shell::{self, Judgement, Place, Rules};
use crate::stage::Stage;

pub use remembered::Remembered;
use remembered::remembered_as;

/// Leave to do one thing. Only [`Gate::judge`] makes one, and acting uses it up:
///
/// ```compile_fail
/// use tandem_executor::Grant;
/// use tandem_shared::{call::ToolCall, journal::Granted, person::Effect};
/// fn smuggle(call: ToolCall, effect: Effect, granted: Granted) -> Grant {
///     Grant { call, effect, granted }
/// }
/// ```
///
/// ```
/// use tandem_executor::{Gate, Grant};
/// use tandem_shared::{call::ToolCall, person::Effect};
/// async fn ask(gate: &Gate, call: ToolCall, effect: Effect) -> Result<Grant, String> {
///     gate.judge(&call, &effect).await
/// }
/// ```
#[derive(Debug)]
pub struct Grant {
    call: ToolCall,
    effect: Effect,
    granted: Granted,
}

impl Grant {
    /// The call that may act.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// What it may do, and nothing else.
    pub fn effect(&self) -> &Effect {
        &self.effect
    }

    /// Who or what gave leave, and to exactly what: for the log.
    pub fn granted(&self) -> &Granted {
        &self.granted
    }
}

/// Judges every call that would have an effect: the danger list, then the approved plan, then the allow-list, then the
/// mode, then the person. No answer is no.
pub struct Gate {
    workspace: Workspace,
    stance: Stance,
    rules: Rules,
    plan: Option<Arc<ApprovedPlan>>,
    person: Arc<dyn Person>,
    remembered: Remembered,
    ask_over_files: usize,
    looking: Looking,
    settings: GitSettings,
    masker: Masker,
}

/// How far the judgement that a command only looks is relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looking {
    /// It needs no question: the kernel holds such a command to it, or the person has decided to do without.
    NeedsNoLeave,
    /// Nothing would stop a command that was misjudged, so it is asked about like any other.
    NeedsLeave,
}

/// What keeps the hooks and settings of git as they are while a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GitSettings {
    /// The kernel does, or the person has decided to do without.
    Held,
    /// They are compared afterwards and put back, so a command that names them is asked about first.
    PutBack,
}

/// Whose calls are judged.
#[derive(Clone, Copy)]
enum Stance {
    /// A model's, under this mode.
    Mode(Approval),
    /// The person's own.
    OwnAct,
}

/// What becomes of an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Foretold {
    /// It goes ahead without a question.
    Goes,
    /// A person is asked, for this reason.
    Asked(String),
    /// It is refused, for this reason.
    Denied(String),
}

/// What the rules say before a person is asked.
enum Ruling {
    Granted(GrantedBy),
    Denied(String),
    Ask(String),
}

impl Gate {
    /// A gate for a model's calls.
    pub fn new(
        workspace: Workspace,
        approval: Approval,
        rules: Rules,
        plan: Option<ApprovedPlan>,
        person: Arc<dyn Person>,
    ) -> Gate {
        Gate::build(workspace, Stance::Mode(approval), rules, plan.map(Arc::new), person)
    }

    /// A gate for calls that the person makes by hand: approved inside the root, save what the danger list or a rule
    /// denies.
    pub fn own_act(workspace: Workspace, rules: Rules, person: Arc<dyn Person>) -> Gate {
        Gate::build(workspace, Stance::OwnAct, rules, None, person)
    }

    fn build(
        workspace: Workspace,
        stance: Stance,
        rules: Rules,
        plan: Option<Arc<ApprovedPlan>>,
        person: Arc<dyn Person>,
    ) -> Gate {
        let remembered = Remembered::default();
        Gate {
            workspace,
            stance,
            rules,
            plan,
            person,
            remembered,
            ask_over_files: usize::MAX,
            looking: Looking::NeedsNoLeave,
            settings: GitSettings::Held,
            masker: Masker::default(),
        }
    }

    /// The same gate, which asks about every call that changes more files than this.
    #[must_use]
    pub fn asking_over(mut self, files: usize) -> Gate {
        self.ask_over_files = files;
        self
    }

    /// The same gate, for commands that this cage holds.
    #[must_use]
    pub fn in_cage(mut self, cage: &Cage) -> Gate {
        self.looking = if cage.holds_looking() { Looking::NeedsNoLeave } else { Looking::NeedsLeave };
        self.settings = if cage.holds_settings() { GitSettings::Held } else { GitSettings::PutBack };
        self
    }

    /// The same gate, which shows effects without the secrets that are known here.
    #[must_use]
    pub fn masking(mut self, masker: Masker) -> Gate {
        self.masker = masker;
        self
    }

    /// The same gate, with what a person said "always" to before.
    #[must_use]
    pub fn remembering(mut self, remembered: Remembered) -> Gate {
        self.remembered = remembered;
        self
    }

    /// The plan that is carried out.
    pub fn plan(&self) -> Option<&Arc<ApprovedPlan>> {
        self.plan.as_ref()
    }

    /// What would be said of an effect before a person is asked.
    pub fn foretell(&self, effect: &Effect) -> Foretold {
        match self.rule(effect) {
            Ruling::Granted(_) => Foretold::Goes,
            Ruling::Ask(why) => Foretold::Asked(why),
            Ruling::Denied(reason) => Foretold::Denied(reason),
        }
    }

    /// Gives leave to `call`, whose effect is `effect`.
    ///
    /// # Errors
    /// The reason of the denial, worded for the model. That it is a denial, whoever shows the outcome says.
    pub async fn judge(&self, call: &ToolCall, effect: &Effect) -> Result<Grant, String> {
        let mut shown = effect.clone();
        shown.mask(&self.masker);
        if let Effect::Command { command } = &shown {
            Stage::Gates.begins(command);
        }
        let effect_digest = Some(shown.digest());
        let granted = |by| {
            let granted = Granted { by, effect_digest: effect_digest.clone() };
            Ok(Grant { call: call.clone(), effect: effect.clone(), granted })
        };
        let why = match self.rule(effect) {
            Ruling::Granted(by) => return granted(by),
            Ruling::Denied(reason) => return Err(reason),
            Ruling::Ask(why) => why,
        };
        let wanted = remembered_as(effect);
        if self.remembered.holds(&wanted) {
            return granted(GrantedBy::Person);
        }
        let proposed = self.proposed(effect);
        let question = Question::Approve {
            call: call.clone(),
            effect: shown,
            why: why.clone(),
            always: proposed.clone().unwrap_or_default(),
        };
        match self.person.ask(question).await {
            Some(Answer::Yes) => granted(GrantedBy::Person),
            Some(Answer::Always) => {
                match proposed {
                    Some(rules) => self.remembered.keep(&rules),
                    None => self.remembered.add(wanted),
                }
                granted(GrantedBy::Person)
            }
            Some(Answer::No { reason } | Answer::Text { text: reason }) => Err(said_no(&reason)),
            None => Err(nobody_to_ask(&why)),
        }
    }

    fn rule(&self, effect: &Effect) -> Ruling {
        match effect {
            Effect::Nothing => Ruling::Granted(GrantedBy::NoEffect),
            Effect::Write { paths, .. } => self.rule_write(paths, effect),
            Effect::Command { command } => self.rule_command(command),
            // What only looks in the cage is not held to that outside it, so no rule is enough there.
            Effect::Uncaged { command } => match (self.rule_command(command), self.stance) {
                (Ruling::Granted(_), Stance::Mode(Approval::Strict)) => {
                    self.rule_by_mode(Kind::Command, "it runs a command outside the cage")
                }
                (Ruling::Granted(_), _) => Ruling::Ask("it runs a command outside the cage".to_owned()),
                (ruling, _) => ruling,
            },
            Effect::Read { path } => Ruling::Ask(format!("it reads {path}, which may hold secrets")),
            Effect::Remote { service } => {
                self.rule_by_mode(Kind::Remote, &format!("it calls the service {service}"))
            }
        }
    }

    fn rule_write(&self, paths: &[String], effect: &Effect) -> Ruling {
        if let Stance::Mode(Approval::Plan) = self.stance {
            return Ruling::Denied(PLAN_MODE.to_owned());
        }
        if paths.len() > self.ask_over_files && !matches!(self.stance, Stance::OwnAct) {
            let what = format!("in one call {}", effect.summary().unwrap_or_default());
            return match self.stance {
                Stance::Mode(Approval::Strict) => self.rule_by_mode(Kind::Write, &what),
                _ => Ruling::Ask(format!(
                    "{what}, and more than {} files at once are always asked about (edits.ask_over_files)",
                    self.ask_over_files
                )),
            };
        }
        let named = |path: &String| {
            let plan = self.plan.as_deref().map(ApprovedPlan::plan);
            plan.is_some_and(|plan| {
                plan.files().iter().any(|file| {
                    self.workspace.resolve(file).is_ok_and(|resolved| resolved.relative() == path)
                })
            })
        };
        if !paths.is_empty() && paths.iter().all(named) {
            return Ruling::Granted(GrantedBy::Plan);
        }
        let what = format!("it writes {}", paths.join(", "));
        // Moved elsewhere, such a file could be read without a question.
        let sensitive = paths.iter().find(|path| is_sensitive(path));
        match (self.stance, sensitive) {
            (Stance::Mode(Approval::Auto | Approval::AutoEdit), Some(path)) => {
                Ruling::Ask(format!("{what}, and {path} may hold secrets"))
            }
            _ => self.rule_by_mode(Kind::Write, &what),
        }
    }

    /// The rules that "always" would keep for a command; `None` where it is only remembered for this session.
    fn proposed(&self, effect: &Effect) -> Option<Vec<String>> {
        let Effect::Command { command } = effect else { return None };
        shell::proposal(&shell::weigh(command, &self.all_rules(), Place { root: self.workspace.root() }))
    }

    /// Those of the configuration, and those that a person said "always" to.
    fn all_rules(&self) -> Rules {
        let mut rules = self.rules.clone();
        rules.allow.extend(self.remembered.rules());
        rules
    }

    fn rule_command(&self, command: &str) -> Ruling {
        let place = Place { root: self.workspace.root() };
        let shell::Weighed { judgement, named, script, .. } = shell::weigh(command, &self.all_rules(), place);
        if let Judgement::Forbidden(rule) = &judgement {
            return Ruling::Denied(format!(
                "The danger rule {} forbids it: the command {}. It is refused in every mode and nobody can allow it. \
                 Nothing was run. Reach the goal in another way, or say why it cannot be reached.",
                rule.id, rule.why
            ));
        }
        if let Stance::Mode(Approval::Plan) = self.stance {
            return Ruling::Denied(PLAN_MODE.to_owned());
        }
        if let Judgement::Denied(rule) = &judgement {
            return Ruling::Denied(format!(
                "The rule `{rule}` of commands.deny forbids it. Nothing was run. Reach the goal in another way, or say why \
                 it cannot be reached."
            ));
        }
        let strict = matches!(self.stance, Stance::Mode(Approval::Strict));
        match judgement {
            Judgement::Asked(rule) if !strict => {
                Ruling::Ask(format!("the rule `{rule}` of commands.ask names it"))
            }
            // The danger list holds for a plan's checks too.
            Judgement::Risky(rule) if !strict => {
                Ruling::Ask(format!("the command {} (danger rule {})", rule.why, rule.id))
            }
            Judgement::Looks if self.looking == Looking::NeedsLeave && !self.is_check(command) => self
                .rule_by_mode(
                    Kind::Command,
                    "it seems to only look, but this system has no cage that holds it to that",
                ),
            Judgement::Looks | Judgement::Allowed if !strict || named => Ruling::Granted(GrantedBy::Rule),
            Judgement::Unclear(_) | Judgement::Plain | Judgement::Looks | Judgement::Allowed
                if self.is_check(command) =>
            {
                Ruling::Granted(GrantedBy::Plan)
            }
            Judgement::Plain
                if !strict && self.settings == GitSettings::PutBack && shell::names_git_settings(&script) =>
            {
                Ruling::Ask(
                    "it may change what git runs, and this system cannot keep that from it".to_owned(),
                )
            }
            Judgement::Unclear(what) if !strict => {
                Ruling::Ask(format!("the command is not understood in all its parts: {what}"))
            }
            _ => self.rule_by_mode(Kind::Command, "it runs a command that no rule allows"),
        }
    }

    /// Whether the approved plan shows exactly this command as a check.
    fn is_check(&self, command: &str) -> bool {
        let Some(plan) = self.plan.as_deref() else { return false };
        plan.plan().steps().iter().any(|step| step.check.as_deref() == Some(command.trim()))
    }

    fn rule_by_mode(&self, kind: Kind, what: &str) -> Ruling {
        match (self.stance, kind) {
            (Stance::OwnAct, _) => Ruling::Granted(GrantedBy::OwnAct),
            (Stance::Mode(Approval::Plan), _) => Ruling::Denied(PLAN_MODE.to_owned()),
            (Stance::Mode(Approval::Strict), _) => Ruling::Denied(format!(
                "The approval mode is strict, so only what an allow rule or the approved plan names goes \
                 ahead, and {what}. Nothing was changed. Keep to the files and checks of the plan, or say what would \
                 have to be allowed."
            )),
            (Stance::Mode(Approval::Auto), _) => Ruling::Granted(GrantedBy::Mode),
            (Stance::Mode(Approval::AutoEdit), Kind::Write) => Ruling::Granted(GrantedBy::Mode),
            (Stance::Mode(Approval::Ask | Approval::AutoEdit), _) => Ruling::Ask(what.to_owned()),
        }
    }
}

/// What modes tell apart.
#[derive(Clone, Copy)]
enum Kind {
    Write,
    Command,
    Remote,
}

const PLAN_MODE: &str = "The approval mode is plan, in which nothing is written and nothing is run. Nothing was \
                         changed. Look, and describe what should be done.";

fn said_no(reason: &str) -> String {
    match reason.trim() {
        "" => "The user said no. Nothing was changed. Do not try the same again in another form; ask what they want, \
               or go on without it."
            .to_owned(),
        reason => format!("The user said no: {reason}\nNothing was changed. Follow that, or go on without it."),
    }
}

fn nobody_to_ask(why: &str) -> String {
    format!(
        "This needs a person's leave, because {why}, and there is no terminal to ask at. Nothing was changed. \
         Go on without it if you can. The user can allow it beforehand: with --approval, with a rule in \
         [commands] allow, or by approving a plan that names the file or shows exactly this check."
    )
}

#[cfg(test)]
mod tests;
