//! Cassettes: model traffic as lines of JSON, recorded from any endpoint and played back without one.
//!
//! A line is one exchange. What was recorded holds the request, and is played only to that very request. A line without a
//! request is a planned reply for a role, to whatever it asks: a script is a cassette that somebody wrote by hand.

mod entry;
mod differ;
mod play;
mod record;

pub use entry::Head;
pub use play::Cassette;
pub use record::Recorder;
