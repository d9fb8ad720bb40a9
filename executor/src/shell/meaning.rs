//! What a word may come to that is only known when it runs: the values that a script itself gives to its variables, and
//! marks for what it takes from elsewhere.

use std::collections::BTreeMap;

use super::script::Word;

/// Stands for text that nothing in the script tells.
pub(super) const ANY: char = '\u{0}';
/// Stands for text that a command in a substitution prints.
pub(super) const PRINTED: char = '\u{1}';
/// Stands for text that is read from what is piped in.
pub(super) const PIPED: char = '\u{2}';
/// Stands for an argument of the function around it.
pub(super) const GIVEN: char = '\u{3}';

/// Meanings of one word that are told apart; more of them are anything.
const MEANINGS: usize = 64;
/// Length of a text that is followed; longer ones are anything.
const LENGTH: usize = 4096;

/// The variables of a script, each with all the values that it is given anywhere before: which one holds is not followed.
#[derive(Clone, Debug, Default)]
pub(super) struct Vars(BTreeMap<String, Vec<String>>);

impl Vars {
    /// Adds values of `name`; a text with blanks may also fall into its words.
    pub(super) fn add(&mut self, name: &str, values: Vec<String>) {
        let words: Vec<String> = values
            .iter()
            .filter(|value| value.contains(char::is_whitespace))
            .flat_map(|value| value.split_whitespace().map(str::to_owned))
            .collect();
        let known = self.0.entry(name.to_owned()).or_default();
        known.extend(values);
        known.extend(words);
        known.sort_unstable();
        known.dedup();
        *known = bounded(std::mem::take(known));
    }

    /// What `name` may hold.
    pub(super) fn of(&self, name: &str) -> Vec<String> {
        if let Some(values) = self.0.get(name) {
            return values.clone();
        }
        let text = match name {
            "?" | "#" | "$" | "!" | "RANDOM" | "UID" | "PPID" | "LINENO" => "0".to_owned(),
            "PWD" => ".".to_owned(),
            "HOME" => "~".to_owned(),
            "TMPDIR" => "/tmp".to_owned(),
            "@" | "*" => GIVEN.to_string(),
            name if name.chars().all(|c| c.is_ascii_digit()) => GIVEN.to_string(),
            _ => ANY.to_string(),
        };
        vec![text]
    }

    /// What `${…}` may come to.
    pub(super) fn expanded(&self, raw: &str) -> Vec<String> {
        let inside = raw.strip_prefix("${").and_then(|raw| raw.strip_suffix('}')).unwrap_or(raw);
        if inside.starts_with('#') && inside.len() > 1 {
            return vec!["0".to_owned()];
        }
        let named = |c: char| c.is_alphanumeric() || c == '_';
        let end = inside.find(|c| !named(c)).unwrap_or(inside.len());
        let end = if end == 0 { inside.chars().next().map_or(0, char::len_utf8) } else { end };
        let (Some(name), Some(rest)) = (inside.get(..end), inside.get(end..)) else { return any() };
        if name == "!" {
            return any();
        }
        let mut values = self.of(name);
        if rest.is_empty() || rest.starts_with('[') {
            return values;
        }
        let default = [":-", ":=", ":+", "-", "=", "+"].iter().find_map(|mark| rest.strip_prefix(mark));
        match default {
            Some(text) if text.contains(['$', '`']) => any(),
            Some(text) => {
                values.push(text.replace(['"', '\''], ""));
                values
            }
            // A part of a text that is not known is as little known.
            None => values
                .into_iter()
                .map(|value| if is_mark(&value) { value } else { ANY.to_string() })
                .collect(),
        }
    }
}

fn is_mark(text: &str) -> bool {
    let mut chars = text.chars();
    matches!((chars.next(), chars.next()), (Some(ANY..=GIVEN), None))
}

/// The marks in a text.
pub(super) fn marks(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| matches!(*c, ANY..=GIVEN))
}

/// That it may be anything.
pub(super) fn any() -> Vec<String> {
    vec![ANY.to_string()]
}

/// What `word` may come to.
pub(super) fn meanings(word: &Word) -> Vec<String> {
    match (word.known, word.may.is_empty()) {
        (true, _) => vec![word.text.clone()],
        (false, true) => any(),
        (false, false) => word.may.clone(),
    }
}

/// `text` as a word of a shell that is known by now.
pub(super) fn as_word(text: &str) -> Word {
    Word { glob: text.contains(['*', '?', '[']), ..Word::known(text) }
}

/// Every text of `before` followed by every one of `after`.
pub(super) fn joined(before: &[String], after: &[String]) -> Vec<String> {
    if before.len().saturating_mul(after.len()) > MEANINGS {
        return any();
    }
    bounded(before.iter().flat_map(|start| after.iter().map(move |end| format!("{start}{end}"))).collect())
}

fn bounded(texts: Vec<String>) -> Vec<String> {
    let too_much = texts.len() > MEANINGS || texts.iter().any(|text| text.len() > LENGTH);
    if too_much { any() } else { texts }
}

/// What lists in braces make of `text`: `a{b,c}` is `ab` and `ac`.
pub(super) fn braces(text: &str) -> Vec<String> {
    let mut left = MEANINGS;
    let mut found = Vec::new();
    let mut open = vec![(String::new(), text.to_owned())];
    while let Some((done, rest)) = open.pop() {
        if left == 0 {
            return any();
        }
        left -= 1;
        let Some((before, inside, after)) = first_list(&rest) else {
            found.push(format!("{done}{rest}"));
            continue;
        };
        let parts = parts(inside);
        match (parts.as_slice(), inside.contains("..")) {
            ([_], true) if inside.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-')) => {
                open.push((format!("{done}{before}1"), after.to_owned()));
            }
            ([_], true) => open.push((format!("{done}{before}{ANY}"), after.to_owned())),
            ([_], false) => open.push((format!("{done}{before}{{"), format!("{inside}}}{after}"))),
            // A part may hold a list itself.
            (parts, _) => {
                open.extend(parts.iter().map(|part| (format!("{done}{before}"), format!("{part}{after}"))));
            }
        }
    }
    found
}

/// What stands before, in and after the first pair of braces.
fn first_list(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find('{')?;
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < start) {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => {
                return Some((text.get(..start)?, text.get(start + 1..at)?, text.get(at + 1..)?));
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn parts(inside: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let outside = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    inside.split(outside).collect()
}

/// The text of `$'…'`.
pub(super) fn ansi(raw: &str) -> String {
    let inside = raw.strip_prefix("$'").and_then(|raw| raw.strip_suffix('\'')).unwrap_or(raw);
    let mut text = String::new();
    let mut rest = inside;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        let Some(kind) = rest.chars().next().filter(|_| c == '\\') else {
            text.push(c);
            continue;
        };
        let (radix, skip, most) = match kind {
            'x' => (16, 1, 2),
            'u' => (16, 1, 4),
            'U' => (16, 1, 8),
            '0'..='7' => (8, 0, 3),
            _ => (0, 0, 0),
        };
        let digits = rest.get(skip..).unwrap_or_default();
        let end = digits.char_indices().take(most).take_while(|(_, c)| c.is_digit(radix.max(2))).count();
        let code =
            digits.get(..end).filter(|_| radix > 0).and_then(|code| u32::from_str_radix(code, radix).ok());
        match code.and_then(char::from_u32) {
            Some(meant) => {
                text.push(meant);
                rest = digits.get(end..).unwrap_or_default();
            }
            None => {
                text.push(match kind {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                });
                rest = rest.get(kind.len_utf8()..).unwrap_or_default();
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_and_escapes_are_taken_apart() {
        let sorted = |text: &str| {
            let mut found = braces(text);
            found.sort();
            found.join(" ")
        };
        assert_eq!(sorted(".{env,x}"), ".env .x");
        assert_eq!(sorted("a{b,c{d,e}}f"), "abf acdf acef");
        assert_eq!(sorted("a{1..3}"), "a1");
        assert_eq!(sorted("stash@{0}"), "stash@{0}");
        assert_eq!(braces(&"{a,b}".repeat(40)), any());
        assert_eq!(ansi("$'.en\\x76'"), ".env");
        assert_eq!(ansi("$'\\056e\\tn'"), ".e\tn");
    }

    #[test]
    fn texts_that_grow_without_end_are_anything() {
        let mut vars = Vars::default();
        vars.add("x", vec!["ab".to_owned()]);
        for _ in 0..100 {
            let twice = joined(&vars.of("x"), &vars.of("x"));
            vars.add("x", twice);
        }
        assert!(vars.of("x").len() <= 64);
    }
}
