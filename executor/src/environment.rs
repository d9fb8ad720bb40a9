//! What commands get of the environment, and what of it must never come back in their output.

use tandem_shared::secret::Masker;

/// The whole environment of a command.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Names and values. Nothing else of the environment reaches commands.
    pub variables: Vec<(String, String)>,
    /// Takes secrets out of outputs: a command can still find them elsewhere, for example in the environment of this very
    /// process.
    pub secrets: Masker,
}

impl Environment {
    /// `text` without secrets.
    pub fn mask(&self, mut text: String) -> String {
        self.secrets.clean(&mut text);
        text
    }
}
