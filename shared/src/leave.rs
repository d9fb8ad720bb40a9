//! The leave that reading a file that holds secrets needs.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::call::{Outcome, ToolCall};
use crate::person::{Answer, Effect, Person, Question};
use crate::sensitive::is_sensitive;

/// Leave to read files that hold secrets. Cheap to clone; the clones share what was said "always" to.
#[derive(Clone, Debug)]
pub enum ReadLeave {
    /// The person is asked for each, and what they said "always" to is remembered for the session.
    Asked(Arc<Mutex<BTreeSet<String>>>),
    /// The person looks themselves.
    OwnAct,
}

impl ReadLeave {
    /// None yet.
    pub fn none() -> ReadLeave {
        ReadLeave::Asked(Arc::default())
    }

    /// Asks for leave to read `path` (relative to the root) by the tool `tool`, if it needs any.
    ///
    /// # Errors
    /// The denial, worded for the model.
    pub async fn ask(&self, tool: &str, path: &str, person: &dyn Person) -> Result<(), Outcome> {
        let ReadLeave::Asked(always) = self else { return Ok(()) };
        if !is_sensitive(path) || always.lock().unwrap_or_else(PoisonError::into_inner).contains(path) {
            return Ok(());
        }
        let arguments = serde_json::json!({ "path": path }).to_string();
        let question = Question::Approve {
            call: ToolCall { id: String::new(), name: tool.to_owned(), arguments },
            effect: Effect::Read { path: path.to_owned() },
            why: format!("{path} may hold secrets, and the model would read it"),
            always: Vec::new(),
        };
        let denied = match person.ask(question).await {
            Some(Answer::Yes) => return Ok(()),
            Some(Answer::Always) => {
                always.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
                return Ok(());
            }
            Some(Answer::No { reason } | Answer::Text { text: reason }) if !reason.trim().is_empty() => {
                format!("The user said no: {}", reason.trim())
            }
            Some(_) => "The user said no.".to_owned(),
            None => format!(
                "{path} may hold secrets, so a person's leave is needed to read it, and there is nobody to ask."
            ),
        };
        Err(Outcome::Denied(format!(
            "{denied} Nothing was read. Do not read it in another way. Go on without it: the names of the settings often \
             stand in an example file, in the documentation or in the code that reads them."
        )))
    }
}
