//! The conversation and the facts, folded from the log side by side.

use crate::facts::Facts;
use crate::history::History;
use crate::record::Record;

/// Everything that follows from the log.
#[derive(Clone, Debug, Default)]
pub struct Folded {
    /// The conversation.
    pub history: History,
    /// What is known.
    pub facts: Facts,
}

impl Folded {
    /// Everything that follows from these records.
    pub fn from_records<'a>(records: impl IntoIterator<Item = &'a Record>) -> Folded {
        let mut folded = Folded::default();
        records.into_iter().for_each(|record| folded.apply(record));
        folded
    }

    /// Takes in one record.
    pub fn apply(&mut self, record: &Record) {
        // The facts of an outcome depend on the call, which only the conversation knows.
        let call = match record {
            Record::Stepped { call_id, .. } => self.history.call(call_id).cloned(),
            _ => None,
        };
        self.history.apply(record);
        self.facts.apply(record, call.as_ref());
    }
}
