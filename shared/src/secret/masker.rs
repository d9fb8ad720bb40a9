//! Frees texts of the secrets that this process knows, and of whatever looks like one.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

use super::{MASK, SHORTEST_SECRET, Secret, mask_tokens};

/// Letters from which a value of nothing but small letters, or nothing but capitals, is no ordinary word any more.
const LONGEST_WORD: usize = 16;

/// Values that are known to be secret. Cheap to clone; the clones share what is learnt later.
#[derive(Clone, Debug, Default)]
pub struct Masker {
    /// The longest first: one may be a part of another.
    known: Arc<RwLock<Vec<Secret>>>,
}

impl Masker {
    /// With the secrets that are known from the start.
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Masker {
        let masker = Masker::default();
        secrets.into_iter().for_each(|secret| masker.learn(&secret));
        masker
    }

    /// Masks this one too from now on. One that is too short to be told from ordinary text is left aside.
    pub fn learn(&self, secret: &Secret) {
        let secret = Secret::new(secret.expose().trim().to_owned());
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if secret.expose().len() >= SHORTEST_SECRET && !known.contains(&secret) {
            known.push(secret);
            known.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
        }
    }

    /// `text` without known secrets and without tokens of a known form; as it is when it holds none.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut masked = Cow::Borrowed(text);
        for secret in self.known.read().unwrap_or_else(PoisonError::into_inner).iter().map(Secret::expose) {
            if masked.contains(secret) {
                masked = Cow::Owned(without(&masked, secret));
            }
        }
        match masked {
            Cow::Borrowed(text) => mask_tokens(text),
            Cow::Owned(text) => Cow::Owned(mask_tokens(&text).into_owned()),
        }
    }

    /// The same of bytes of which not all are text: those that are not stay as they are.
    pub fn mask_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut masked = Vec::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            masked.extend_from_slice(self.mask(chunk.valid()).as_bytes());
            masked.extend_from_slice(chunk.invalid());
        }
        masked
    }

    /// Masks in place.
    pub fn clean(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.mask(text) {
            *text = masked;
        }
    }
}

/// `text` without `secret`. A secret that could be a word (`DB_PASSWORD=postgres`) would black out half of a project's
/// files, so it is taken out only where it stands as a value: whole, and right behind `=` or `:`.
fn without(text: &str, secret: &str) -> String {
    if !is_word(secret) {
        return text.replace(secret, MASK);
    }
    let mut parts = text.split(secret);
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let ends = !part.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        masked.push_str(if ends && masked.ends_with(['=', ':']) { MASK } else { secret });
        masked.push_str(part);
    }
    masked
}

fn is_word(secret: &str) -> bool {
    let joins = |byte: &u8| matches!(byte, b'-' | b'_');
    let all = |kind: fn(&u8) -> bool| secret.bytes().all(|byte| kind(&byte) || joins(&byte));
    secret.len() < LONGEST_WORD && (all(u8::is_ascii_lowercase) || all(u8::is_ascii_uppercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(secrets: &[&str], text: &str, expect: &str) {
        let masker = Masker::new(secrets.iter().map(|text| Secret::new((*text).to_owned())));
        assert_eq!(masker.mask(text), expect);
    }

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        check(&["sk-12345678", "short"], "a=sk-12345678;xsk-12345678 short", "a=***;x*** short");
        check(&["12345678", "x12345678y"], "x12345678y 12345678", "*** ***");
        check(&[" spaced-1234\n"], "spaced-1234", "***");
    }

    #[test]
    fn a_secret_that_is_a_word_is_masked_where_it_is_a_value() {
        let text = "import postgres; PASSWORD=postgres u:postgres@h my_postgres=postgresql";
        check(&["postgres"], text, "import postgres; PASSWORD=*** u:***@h my_postgres=postgresql");
        check(&["abcdefghijklmnop"], "an abcdefghijklmnop", "an ***");
    }

    #[test]
    fn bytes_that_are_no_text_stay() {
        let masker = Masker::new([Secret::new("known-12345".to_owned())]);
        assert_eq!(masker.mask_bytes(b"\xff a known-12345\xfe\0b"), b"\xff a ***\xfe\0b");
    }

    #[test]
    fn what_is_learnt_later_is_masked_by_every_clone() {
        let masker = Masker::default();
        let clone = masker.clone();
        masker.learn(&Secret::new("late-12345".to_owned()));
        assert_eq!(clone.mask("a late-12345"), "a ***");
        assert!(matches!(clone.mask("nothing here"), Cow::Borrowed(_)));
    }
}
