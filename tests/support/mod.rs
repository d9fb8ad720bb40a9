//! What the end-to-end tests stand on: a scripted model server, a place to run the binary in, and scenarios as folders.
//!
//! Only the two edges are played here, the model server and the person. Everything between them is the real binary.

pub mod scenario;
pub mod sheet;
pub mod world;
pub mod run;
pub mod server;
pub mod script;
pub mod reply;
pub mod request;
pub mod invariants;
pub mod black_hole;
pub mod peak;
pub mod processes;
pub mod plain;
mod http;
