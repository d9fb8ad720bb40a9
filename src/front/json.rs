//! Output for programs: one object at the end, or one for each event.

use serde_json::json;
use tandem_shared::event::{Envelope, Event, Report};

use super::show::Show;
use super::terminal::say;
use crate::exit::Exit;

/// One object at the end: the report, or the error.
#[derive(Default)]
pub struct Json {
    report: Option<Report>,
    error: Option<String>,
}

impl Show for Json {
    fn event(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::Done { report } => self.report = Some(report.clone()),
            Event::Error { message, .. } => self.error = Some(message.clone()),
            _ => {}
        }
    }

    fn finish(&mut self, exit: Exit) {
        let mut object = match &self.report {
            Some(report) => serde_json::to_value(report).unwrap_or_default(),
            None => json!({}),
        };
        object["exit"] = json!(exit.code());
        if let Some(error) = &self.error {
            object["error"] = json!(error);
        }
        say(&format!("{object}\n"));
    }
}

/// One object a line for each event, as it happens.
pub struct StreamJson;

impl Show for StreamJson {
    fn event(&mut self, envelope: &Envelope) {
        if let Ok(line) = serde_json::to_string(envelope) {
            say(&format!("{line}\n"));
        }
    }

    fn finish(&mut self, _exit: Exit) {}
}

/// The JSON Schema of a line of `stream-json`, embedded as it was generated from the types: that is smaller than the code
/// that generates it.
pub const EVENTS_SCHEMA: &str = include_str!("../../config/events.schema.json");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_schema_file_is_current() {
        let schema = format!("{}\n", schemars::schema_for!(Envelope).to_value());
        if std::env::var_os("TANDEM_BLESS").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/config/events.schema.json");
            std::fs::write(path, &schema).unwrap();
        }
        let how = "run `TANDEM_BLESS=1 cargo test -p tandem schema` and commit it";
        assert!(EVENTS_SCHEMA == schema, "config/events.schema.json is not current: {how}");
    }
}
