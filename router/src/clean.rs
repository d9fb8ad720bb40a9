//! Makes a server's words fit to be shown: without keys, and not without end.

use tandem_shared::secret::{Secret, mask_tokens};

/// Characters of a server's words that are kept.
const BODY_CHARS: usize = 2_000;

/// `text` without `key`, without anything else that looks like a key, and not longer than a screenful.
pub(crate) fn clean(text: &str, key: Option<&Secret>) -> String {
    let mut clean = text.trim().to_owned();
    if let Some(key) = key.map(|key| key.expose().trim()).filter(|key| !key.is_empty()) {
        clean = clean.replace(key, "***");
    }
    clean = mask_tokens(&clean).into_owned();
    for mark in ["sk-", "Bearer "] {
        clean = mask_after(&clean, mark);
    }
    match clean.char_indices().nth(BODY_CHARS) {
        Some((at, _)) => format!("{} … (cut)", clean.get(..at).unwrap_or_default()),
        None => clean,
    }
}

/// Hides the word after each `mark` when it is long enough for a key.
fn mask_after(text: &str, mark: &str) -> String {
    let mut parts = text.split(mark);
    let mut masked = parts.next().unwrap_or_default().to_owned();
    // A mark inside a word (`task-…`) is no key.
    let mut in_word = masked.ends_with(|last: char| last.is_alphanumeric());
    for part in parts {
        let is_key_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*');
        let word = part.find(|c| !is_key_char(c)).unwrap_or(part.len());
        let (word, rest) = part.split_at(word);
        let shown = if word.len() >= 8 && !in_word { "***" } else { word };
        masked.push_str(mark);
        masked.push_str(shown);
        masked.push_str(rest);
        in_word = part.ends_with(|last: char| last.is_alphanumeric());
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_masked_and_long_bodies_cut() {
        let key = Secret::new("topsecret".to_owned());
        assert_eq!(clean("bad topsecret!", Some(&key)), "bad ***!");
        assert_eq!(clean("Incorrect key: sk-proj-abcdef123.", None), "Incorrect key: sk-***");
        assert_eq!(clean("Authorization: Bearer abcdefghij x", None), "Authorization: Bearer *** x");
        assert_eq!(clean("the task-management disk-x", None), "the task-management disk-x");
        assert_eq!(clean(&"é".repeat(3_000), None), format!("{} … (cut)", "é".repeat(2_000)));
    }
}
