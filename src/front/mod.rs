//! Front ends: the only code that prints. All of them speak `Op` and `Event`.

pub mod words;
mod terminal;
mod lines;
mod show;
mod text;
mod json;
mod signals;
mod waiting;
mod errand;
mod typed;
mod line_session;
mod asking;

pub use asking::Asking;
pub use errand::{Errand, Leave, conduct};
pub use json::{EVENTS_SCHEMA, Json, StreamJson};
pub use line_session::{Opening, line_session};
pub use lines::Lines;
pub use show::{Show, Teller};
pub use terminal::{is_interactive, lost_output, say, say_bytes, tell};
pub use text::{Answers, Text};
