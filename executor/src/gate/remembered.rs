//! What a person said "always" to.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tandem_shared::person::Effect;

use crate::shell::Pattern;

/// Keeps rules for later sessions.
pub type Keeper = Arc<dyn Fn(&[String]) + Send + Sync>;

/// What a person said "always" to in a session. Cheap to clone; the clones share it.
#[derive(Clone, Default)]
pub struct Remembered {
    always: Arc<Mutex<BTreeSet<Always>>>,
    rules: Arc<Mutex<Vec<Pattern>>>,
    keeper: Option<Keeper>,
}

impl Remembered {
    /// With allow rules that were kept before, and a place where new ones are kept for later sessions.
    pub fn kept(rules: Vec<Pattern>, keeper: Keeper) -> Remembered {
        Remembered { rules: Arc::new(Mutex::new(rules)), keeper: Some(keeper), ..Remembered::default() }
    }

    pub(super) fn holds(&self, wanted: &[Always]) -> bool {
        let always = self.always.lock().unwrap_or_else(PoisonError::into_inner);
        !wanted.is_empty() && wanted.iter().all(|one| always.contains(one))
    }

    pub(super) fn add(&self, wanted: Vec<Always>) {
        self.always.lock().unwrap_or_else(PoisonError::into_inner).extend(wanted);
    }

    pub(super) fn keep(&self, rules: &[String]) {
        let parsed = rules.iter().filter_map(|rule| Pattern::parse(rule).ok());
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).extend(parsed);
        if let Some(keeper) = &self.keeper {
            keeper(rules);
        }
    }

    pub(super) fn rules(&self) -> Vec<Pattern> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One thing that was said "always" to, for the session.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Always {
    Command(String),
    Edit(String),
    Service(String),
}

/// What "always" to an effect would remember; nothing where each is asked about anew.
pub(super) fn remembered_as(effect: &Effect) -> Vec<Always> {
    match effect {
        Effect::Nothing | Effect::Read { .. } | Effect::Uncaged { .. } => Vec::new(),
        Effect::Write { paths, .. } => paths.iter().cloned().map(Always::Edit).collect(),
        Effect::Command { command } => vec![Always::Command(command.clone())],
        Effect::Remote { service } => vec![Always::Service(service.clone())],
    }
}
