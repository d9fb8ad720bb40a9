//! What the model is shown: the wire form of the history, how full the window is, and the stages that make room.

mod fence;
mod wire;
mod measure;
mod alarms;
mod offload;
mod cut;
mod summary;

pub use alarms::Alarms;
pub use cut::{CUTTING, due_calls, freed_by};
pub use fence::fence;
pub use measure::{BYTES_PER_TOKEN, Window, estimate, request_tokens};
pub use offload::{Preview, preview};
pub use summary::{compaction_request, fallback, fold_point, parse, transcript};
pub use wire::{Preamble, quoted, wire};
