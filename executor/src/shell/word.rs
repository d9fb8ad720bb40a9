//! Quote removal: from the source of a word to the text that a program gets.

use super::script::Word;

/// Control characters and marks that change how a line looks without changing what runs.
pub(super) fn is_deceptive(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{a0}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{3000}' | '\u{feff}')
}

/// An unquoted word: backslashes go, patterns are noticed, brace lists are unknown.
pub(super) fn bare_word(raw: &str) -> Word {
    let mut word = Word::known("");
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(escaped) => word.text.push(escaped),
            },
            '*' | '?' | '[' => {
                word.glob = true;
                word.text.push(c);
            }
            '{' | '$' | '`' => {
                // `{}` alone is a plain word, the place-holder of find and xargs.
                word.known &= c == '{' && raw == "{}";
                word.text.push(c);
            }
            _ => word.text.push(c),
        }
    }
    word
}

pub(super) fn has_live_dollar(inside: &str) -> bool {
    let mut escaped = false;
    let mut chars = inside.chars().peekable();
    while let Some(c) = chars.next() {
        let starts_name = |c: &char| c.is_ascii_alphanumeric() || "_({@*#?!-$".contains(*c);
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '`' => return true,
            '$' if chars.peek().is_some_and(starts_name) => return true,
            _ => {}
        }
    }
    false
}

pub(super) fn unescape_double(inside: &str) -> String {
    let mut text = String::with_capacity(inside.len());
    let mut chars = inside.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\n')) => {
                chars.next();
            }
            ('\\', Some(&next @ ('"' | '\\' | '$' | '`'))) => {
                text.push(next);
                chars.next();
            }
            _ => text.push(c),
        }
    }
    text
}

/// Whether a shell may find a substitution in `text`, although the grammar saw plain text.
pub(super) fn hides_substitution(text: &str) -> bool {
    let mut escaped = false;
    let mut before = ' ';
    for c in text.chars() {
        let starts = c == '`' || (c == '(' && matches!(before, '$' | '<' | '>'));
        if starts && !escaped {
            return true;
        }
        escaped = c == '\\' && !escaped;
        before = c;
    }
    false
}
