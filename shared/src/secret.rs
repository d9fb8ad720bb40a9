//! A key that cannot be printed by accident, and texts that are freed of all keys that are known or look like one.

mod masker;
mod shape;
mod tokens;

pub use masker::Masker;
pub use tokens::mask_tokens;

/// Stands for a secret whose kind nothing tells.
pub const MASK: &str = "***";

/// Bytes from which a secret is looked for in texts: a shorter one is too likely to be part of ordinary words, as in
/// the header `x-team: blue`.
pub const SHORTEST_SECRET: usize = 8;

/// Prints as `***`; only [`Secret::expose`] gives the text.
///
/// ```compile_fail
/// let key = tandem_shared::secret::Secret::new("sk-1".into());
/// println!("{key}");
/// ```
///
/// ```
/// let key = tandem_shared::secret::Secret::new("sk-1".into());
/// assert_eq!(format!("{key:?}"), "***");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key.
    pub fn new(text: String) -> Secret {
        Secret(text)
    }

    /// The key itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}
