//! Rust source as words and signs, without comments, and without what only tests see.

/// A word, a sign or a string, and the line it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    /// Of a string: what stands between the quotes, escapes as written.
    pub text: String,
    /// Counted from 1.
    pub line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Word,
    Text,
    Sign,
}

impl Token {
    pub fn is(&self, text: &str) -> bool {
        self.kind != Kind::Text && self.text == text
    }
}

/// Splits source into tokens. Numbers count as words; character literals and lifetimes are left out.
pub fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(&c) = chars.get(at) {
        let next = chars.get(at + 1).copied().unwrap_or_default();
        let start = at;
        if c.is_whitespace() {
            at += 1;
        } else if c == '/' && next == '/' {
            at += chars[at..].iter().take_while(|c| **c != '\n').count();
        } else if c == '/' && next == '*' {
            at = end_of_comment(&chars, at);
        } else if let Some((open, hashes)) = raw_string(&chars, at) {
            let close: String = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
            let end = find(&chars, open, &close);
            tokens.push(Token { kind: Kind::Text, text: chars[open..end].iter().collect(), line });
            at = end + close.len();
        } else if c == '"' || (c == 'b' || c == 'c') && next == '"' {
            let open = if c == '"' { at + 1 } else { at + 2 };
            let end = end_of_string(&chars, open, '"');
            tokens.push(Token { kind: Kind::Text, text: chars[open..end].iter().collect(), line });
            at = end + 1;
        } else if c == '\'' || c == 'b' && next == '\'' {
            let open = if c == '\'' { at + 1 } else { at + 2 };
            let closed = chars.get(open) == Some(&'\\') || chars.get(open + 1) == Some(&'\'');
            // Otherwise it is a lifetime or a label: the sign is passed over, and its name with it.
            at = if closed {
                end_of_string(&chars, open, '\'') + 1
            } else {
                open + chars[open..].iter().take_while(|c| is_word(**c)).count()
            };
        } else if is_word(c) {
            at += chars[at..].iter().take_while(|c| is_word(**c)).count();
            tokens.push(Token { kind: Kind::Word, text: chars[start..at].iter().collect(), line });
        } else {
            let double = c == ':' && next == ':';
            at += if double { 2 } else { 1 };
            tokens.push(Token { kind: Kind::Sign, text: chars[start..at].iter().collect(), line });
        }
        let at_end = at.min(chars.len());
        line += chars[start..at_end].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn end_of_comment(chars: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Where the text of a raw string begins, and with how many hashes.
fn raw_string(chars: &[char], at: usize) -> Option<(usize, usize)> {
    let prefix = match (chars[at], chars.get(at + 1)) {
        ('r', _) => 1,
        ('b' | 'c', Some('r')) => 2,
        _ => return None,
    };
    let hashes = chars[at + prefix..].iter().take_while(|c| **c == '#').count();
    (chars.get(at + prefix + hashes) == Some(&'"')).then_some((at + prefix + hashes + 1, hashes))
}

fn end_of_string(chars: &[char], open: usize, quote: char) -> usize {
    let mut at = open;
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at.min(chars.len())
}

fn find(chars: &[char], from: usize, text: &str) -> usize {
    let text: Vec<char> = text.chars().collect();
    let found = chars[from..].windows(text.len()).position(|window| window == text);
    found.map_or(chars.len(), |at| from + at)
}

/// Takes out every item under `#[cfg(test)]`. The names of modules taken out by `mod name;` come back beside the rest.
pub fn without_tests(tokens: Vec<Token>) -> (Vec<Token>, Vec<String>) {
    let (mut kept, mut modules) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        let Some(mut end) = cfg_test(&tokens, at) else {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        };
        // Further attributes of the same item.
        while tokens.get(end).is_some_and(|token| token.is("#")) {
            end = closing(&tokens, end + 1);
        }
        let item = end;
        while tokens.get(end).is_some_and(|token| !token.is(";") && !token.is("{")) {
            end = if token_opens(&tokens[end]) { closing(&tokens, end) } else { end + 1 };
        }
        if tokens.get(end).is_some_and(|token| token.is("{")) {
            end = closing(&tokens, end);
            if tokens.get(end).is_some_and(|token| token.is(";")) {
                end += 1;
            }
        } else {
            let words: Vec<&str> = tokens[item..end].iter().map(|token| token.text.as_str()).collect();
            if let Some(place) = words.iter().position(|word| *word == "mod") {
                modules.extend(words.get(place + 1).map(|name| (*name).to_owned()));
            }
            end += 1;
        }
        at = end;
    }
    (kept, modules)
}

/// The place after `#[cfg(test)]`, or after a `cfg` that asks for tests among others, if one begins here.
fn cfg_test(tokens: &[Token], at: usize) -> Option<usize> {
    let begins = ["#", "[", "cfg", "("]
        .iter()
        .enumerate()
        .all(|(n, sign)| tokens.get(at + n).is_some_and(|token| token.is(sign)));
    if !begins {
        return None;
    }
    let end = closing(tokens, at + 1);
    let inside = &tokens[at..end];
    let asks = inside.iter().any(|token| token.is("test"));
    let excludes = inside.iter().any(|token| token.is("not") || token.is("any"));
    (asks && !excludes).then_some(end)
}

fn token_opens(token: &Token) -> bool {
    token.is("(") || token.is("[") || token.is("{")
}

/// The place after the bracket that closes the one at `open`.
pub fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token_opens(token) {
            depth += 1;
        } else if token.is(")") || token.is("]") || token.is("}") {
            depth -= 1;
            if depth == 0 {
                return at + 1;
            }
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expect: &[&str]) {
        let found: Vec<String> = tokens(source).into_iter().map(|token| token.text).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn comments_and_literals_are_not_words() {
        check("a // b\n/* c /* d */ e */ f", &["a", "f"]);
        check("let x = \"print \\\" y\"; z", &["let", "x", "=", "print \\\" y", ";", "z"]);
        check("r#\"a \" b\"# c br\"d\" e", &["a \" b", "c", "d", "e"]);
        check("'x' '\\'' b'\\n' &'a str 'l: loop", &["&", "str", ":", "loop"]);
        check("std::env::var", &["std", "::", "env", "::", "var"]);
    }

    #[test]
    fn lines_are_counted_through_everything() {
        let found = tokens("/* \n */ a \"\n\" b\nc");
        let lines: Vec<usize> = found.iter().map(|token| token.line).collect();
        assert_eq!(lines, [2, 2, 3, 4]);
    }

    #[test]
    fn items_for_tests_are_taken_out() {
        let source = "a; #[cfg(test)] #[allow(x)] mod tests { fn f() {} } b; #[cfg(test)] use x::{y, z}; \
                      #[cfg(test)] mod testing; #[cfg(not(test))] c; #[cfg(all(test, unix))] fn g(x: [u8; 2]) {} d";
        let (kept, modules) = without_tests(tokens(source));
        let kept: Vec<&str> = kept.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(kept.join(" "), "a ; b ; # [ cfg ( not ( test ) ) ] c ; d");
        assert_eq!(modules, ["testing"]);
    }
}
