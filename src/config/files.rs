//! The files: the defaults, the user's own, and the project's with what is dangerous in it.

use std::path::{Path, PathBuf};

use tandem_shared::digest::Digest;

use super::binding::split;
use super::error::{ConfigError, Origin, ProtectedKey};
use super::input::{Input, project_file};
use super::layer::{Layer, merge};
use super::protect::{protected, providers_of};
use super::read::read;
use super::shape::Shape;
use super::{check, defaults, environment, flags, profile};

/// A project file, for a person to judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// The file.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
    /// Digest of the content; what [`TrustStore::trust`] is given.
    pub digest: Digest,
    /// What it may not set without trust; empty when it needs none.
    pub protected: Vec<ProtectedKey>,
    /// Whether this content is trusted already.
    pub trusted: bool,
}

/// The project's file with what is dangerous in it; `None` when there is none.
///
/// # Errors
/// When a file cannot be read or is not valid, or the list of trusted projects is damaged.
pub fn review(input: &Input) -> Result<Option<Review>, ConfigError> {
    let shape = Shape::of_config();
    let own = own(input, &shape)?;
    Ok(project(input, &shape, &own)?.map(|(review, _)| review))
}

/// What the user alone decides by files: the defaults and the user's own, each a layer.
///
/// # Errors
/// When the user's file cannot be read or is not valid.
pub fn own(input: &Input, shape: &Shape) -> Result<Vec<Layer>, ConfigError> {
    let mut layers = vec![defaults::layer(shape)?];
    if let Some(path) = &input.user_file
        && let Some(text) = read(path)?
    {
        layers.push(check::file("user", &text, shape, &in_file(path))?);
    }
    Ok(layers)
}

/// The project's file and what it sets; `None` when there is none.
///
/// # Errors
/// When it cannot be read or is not valid, or the list of trusted projects is damaged.
pub fn project(input: &Input, shape: &Shape, own: &[Layer]) -> Result<Option<(Review, Layer)>, ConfigError> {
    let path = project_file(&input.root);
    if input.user_file.as_ref() == Some(&path) {
        return Ok(None);
    }
    let Some(text) = read(&path)? else { return Ok(None) };
    let layer = check::file("project", &text, shape, &in_file(&path))?;
    let digest = Digest::of(&text);
    let own = merge(own);
    let used = used(input, &own);
    let protected = protected(&layer, &own, &used);
    let trusted = input.trust.is_trusted(&input.root, &digest)?;
    Ok(Some((Review { path, text, digest, protected, trusted }, layer)))
}

/// The providers to which the user has chosen to send code: by the user's file, the profile in use, the environment and
/// the flags of this run.
fn used(input: &Input, own: &Layer) -> Vec<String> {
    let set = environment::read(&input.env, own);
    let profile = input.flags.profile.as_deref().or_else(|| own.text(["profile"]));
    let profile = profile.map(|name| profile::roles(own, name));
    let models = flags::models(&input.flags).into_iter().map(|(_, text, _)| text);
    let named = models.chain(environment::value(&input.env, "TANDEM_MODEL"));
    [own, &set.fallback, &set.settings]
        .into_iter()
        .chain(&profile)
        .flat_map(providers_of)
        .chain(named.filter_map(split).map(|(provider, _)| provider))
        .chain(set.provider)
        .map(str::to_owned)
        .collect()
}

fn in_file(path: &Path) -> impl Fn(usize) -> Origin {
    move |line| Origin::File { path: path.to_owned(), line }
}
