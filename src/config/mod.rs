//! Configuration: what holds, where each value came from, and which model each role is bound to.
//!
//! Nothing here reads the environment, prints, or sends anything: [`Input`] carries all that is looked at, and [`load`]
//! finds every mistake before there is a request.

mod input;
mod load;
mod settings;

mod binding;
mod key;
mod show;

mod files;
mod protect;
mod read;
mod trust;

mod choose;
mod environment;
mod flags;
mod profile;

mod address;
mod check;
mod defaults;
mod layer;
mod nearest;
mod rules;
mod schema;
mod shape;

mod error;

#[cfg(test)]
mod tests;

pub use binding::{ENV_PROVIDER, Endpoint, RoleBinding, chain};
pub use environment::Env;
pub use error::{ConfigError, Fault, Origin, ProtectedKey};
pub use files::{Review, review};
pub use flags::Flags;
pub use input::{Input, project_file, user_file};
pub use key::{KeyError, KeySource};
pub use load::{Loaded, load};
pub use schema::schema;
pub use settings::{
    Config, EnvironmentSettings, NetworkSettings, ProfileSettings, ProviderSettings, RoleSettings, RoleTable,
    SessionSettings,
};
pub use show::{Paths, explain, paths, show};
pub use trust::TrustStore;
