//! Changes of files, by leave: all or none, each as a whole.

use tandem_shared::call::{ErrorKind, Receipt, ToolError};
use tandem_shared::person::Effect;

use super::WriteCx;
use crate::change::Change;
use crate::file::{self, Found};

impl WriteCx {
    /// Makes the changes, all or none, each as a whole or not at all, after what stands there is in the journal. Blocks.
    ///
    /// # Errors
    /// When the grant does not name a path, when what stands there could not be kept, or when the system says no. What
    /// was changed before is then put back; if even that fails, no call of the session may act any more.
    pub fn change(&self, changes: &[Change]) -> Result<Vec<Receipt>, ToolError> {
        let leave = |path: &str| match self.grant.effect() {
            Effect::Write { paths, .. } => paths.iter().any(|granted| granted == path),
            Effect::Nothing
            | Effect::Command { .. }
            | Effect::Uncaged { .. }
            | Effect::Read { .. }
            | Effect::Remote { .. } => false,
        };
        if let Some(change) = changes.iter().find(|change| !leave(change.path.relative())) {
            return Err(ToolError::new(
                ErrorKind::Permission,
                format!("Leave was not given to write {}. Nothing was changed.", change.path.relative()),
            ));
        }
        let act = &self.grant.call().id;
        let turnovers: Vec<_> = changes.iter().map(Change::turnover).collect();
        self.cx.journal().turning(act, &turnovers)?;
        let workspace = &self.cx.read().workspace;
        for (at, change) in changes.iter().enumerate() {
            if let Err(fault) = file::put(workspace, &change.path, &change.found, &change.then, act) {
                return Err(self.put_back(changes.get(..at).unwrap_or_default(), fault));
            }
        }
        Ok(changes.iter().map(Change::receipt).collect())
    }

    fn put_back(&self, done: &[Change], mut fault: ToolError) -> ToolError {
        let workspace = &self.cx.read().workspace;
        for change in done.iter().rev() {
            let now = Found { image: change.then.clone(), ..change.found.clone() };
            let put = file::put(workspace, &change.path, &now, &change.found.image, &self.grant.call().id);
            if let Err(second) = put {
                let why = format!(
                    "a change of several files failed half way ({}), and {} could not be put back: {}",
                    fault.text,
                    change.path.relative(),
                    second.text
                );
                // The alert reaches the person in any case; without the log it only lasts as long as this run.
                _ = self.cx.journal().halt(&why);
                fault.text = format!(
                    "{why} Nothing more is written in this session, so that the user can look at it. Say what happened."
                );
                return fault;
            }
            if let Some(top) = &change.new_folder {
                file::remove_new_folders(workspace, change.path.relative(), top);
            }
        }
        if !done.is_empty() {
            fault.text.push_str(" The files that this call changed before are as they were, too.");
        }
        fault
    }
}
