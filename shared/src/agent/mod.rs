//! The loop: ask, run the calls, remind, until the model is done or a limit is. The same at every size, for planner and
//! executor alike; what differs is handed in.

mod loop_of_rounds;
mod masked;
mod round;
mod room;
mod thoughts;
mod shown;
mod request;

pub use loop_of_rounds::run;
pub use masked::outcome as mask_outcome;
pub use request::{Agent, End, Hear, Overseer, Settings, SystemTexts, Unwatched};
