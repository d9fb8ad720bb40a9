//! The cage in which every command runs: what it may write, read and reach, held by the kernel.
//!
//! A command is started by the binary itself, twice over: once as its keeper, which stays outside and ends what the
//! command leaves behind, and once to go into the cage and then become the command: namespaces with read-only mounts and
//! masks, a Landlock fence, a filter of system calls. What this kernel does not allow is left out and said. What mounts
//! cannot hold is compared and put back afterwards: hooks and settings of repositories, and the project's own files that
//! these name.

mod errand;
mod policy;
mod repos;
mod gitconfig;
mod reached;
mod hooks;
mod hindrance;
mod places;
mod session;
mod channel;
#[cfg(target_os = "linux")]
mod holder;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod fence;
#[cfg(target_os = "linux")]
mod syscalls;
#[cfg(target_os = "linux")]
mod survey;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod launch;

pub(crate) use channel::hear;
pub use errand::{Answer, Errand, LAUNCH, Start};
pub use hindrance::Hindrance;
pub(crate) use hooks::{Span, Watch};
#[cfg(target_os = "linux")]
pub use launch::launch;
pub use policy::{Found, Part, Policy, ResourceLimits};
pub(crate) use repos::Repositories;
pub use session::{Cage, CagePlaces, survey};
