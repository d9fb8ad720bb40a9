//! What commands get of the environment, and what of it must never come back in their output.

use tandem_shared::secret::{SHORTEST_SECRET, Secret};

/// Stands for a secret.
const MASK: &str = "***";

/// The whole environment of a command.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Names and values. Nothing else of the environment reaches commands.
    pub variables: Vec<(String, String)>,
    /// Values that are masked in outputs: a command can still find them elsewhere, for example in the environment of this
    /// very process.
    pub secrets: Vec<Secret>,
}

impl Environment {
    /// `text` without secrets.
    pub fn mask(&self, text: String) -> String {
        let long = self.secrets.iter().map(Secret::expose).filter(|secret| secret.len() >= SHORTEST_SECRET);
        long.fold(text, |text, secret| if text.contains(secret) { text.replace(secret, MASK) } else { text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        let secrets = ["sk-12345678", "short"].map(|text| Secret::new(text.to_owned())).to_vec();
        let environment = Environment { variables: Vec::new(), secrets };
        assert_eq!(environment.mask("a=sk-12345678;sk-12345678 short".to_owned()), "a=***;*** short");
    }
}
