//! SHA-256 digests: the name of a file's content, of a plan, of a stored output.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest as 64 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: impl AsRef<[u8]>) -> Digest {
        Digest::from_bytes(&Sha256::digest(bytes.as_ref()))
    }

    /// The digest of a value as JSON without blanks and with sorted keys, so that whoever is told the value in JSON comes
    /// to the same.
    pub fn of_json(value: Value) -> Digest {
        Digest::of(canonical(value))
    }

    fn from_bytes(bytes: &[u8]) -> Digest {
        let mut hex = String::with_capacity(64);
        for byte in bytes {
            hex.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
            hex.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
        }
        Digest(hex)
    }

    /// Takes a digest that somebody wrote down; `None` unless it is 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Digest> {
        let well_formed = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        well_formed.then(|| Digest(text.to_ascii_lowercase()))
    }

    /// All 64 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 12 digits: enough to name one thing within a session.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

/// A value as JSON without blanks and with sorted keys: what is equal reads equal.
pub fn canonical(value: Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.into_iter().map(|(name, value)| (name, sorted(value))).collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(pairs.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// Digests bytes that arrive in pieces, so that a file of any size needs no memory of its own size.
#[derive(Clone, Debug, Default)]
pub struct Digester(Sha256);

impl Digester {
    /// Takes the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all pieces as one.
    pub fn finish(self) -> Digest {
        Digest::from_bytes(&self.0.finalize())
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_published_vector() {
        // FIPS 180-4, the one-block message "abc".
        let expect = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of("abc").as_str(), expect);
        assert_eq!(Digest::parse(expect), Some(Digest::of("abc")));
        assert_eq!(Digest::parse("abc"), None);
    }

    #[test]
    fn json_digests_alike_however_it_is_written() {
        let value = serde_json::from_str(r#"{ "b": [{"y":1,"x":"ä\u0000"}], "a": null }"#).unwrap();
        let expect = Digest::of(r#"{"a":null,"b":[{"x":"ä\u0000","y":1}]}"#);
        assert_eq!(Digest::of_json(value), expect);
    }

    #[test]
    fn pieces_digest_like_the_whole() {
        let mut digester = Digester::default();
        digester.update(b"a");
        digester.update(b"bc");
        let whole = Digest::of("abc");
        assert_eq!(digester.finish(), whole);
    }
}
