//! Binds a model to each role. The only code of tandem that speaks HTTP.
//!
//! This crate never prints, never reads an environment variable and never decides what to say: it sends one request,
//! reads the reply as it arrives, tries again where that can help, and reports what went wrong where it cannot.

mod router;
mod doctor;
mod bound;
mod candidate;
mod provider;
mod quirks;
mod error;
mod local;
mod cassette;

mod ask;
mod endpoint;
mod transport;
mod fault;
mod clean;
mod wire;
mod schema;
mod answer;
mod quote;
mod script;

mod body;
mod decode;
mod assemble;
mod calls;
mod repair;
mod own;
mod think;
mod sse;

#[cfg(test)]
#[path = "../../tests/support/cases.rs"]
mod case_files;
#[cfg(test)]
mod cases;

pub use body::read_stream;
pub use cassette::{Cassette, Head, Recorder};
pub use doctor::{Examination, Finding, Scope, Verdict, WindowPlan};
pub use error::RouterError;
pub use local::find_local;
pub use provider::{Binding, FallbackModel, KeySource, Plaintext, Provider, Retry, ToolProtocol, Transport};
pub use quirks::{
    ContentWithoutText, MaxTokensField, NoteAfterTool, ParallelCalls, Quirks, ReasoningEcho, StreamUsage,
    SystemRole, UnknownFields,
};
pub use router::Router;
