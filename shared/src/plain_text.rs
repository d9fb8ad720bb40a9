//! Output of programs that was meant for a terminal, as text.

/// Without escape sequences and control characters; of a line that was overwritten in place, what was left standing.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut line = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut chars),
            '\n' => {
                out.push(c);
                line = out.len();
            }
            '\r' => {
                while chars.peek() == Some(&'\r') {
                    chars.next();
                }
                // A return at the end of everything overwrites nothing.
                if chars.peek().is_some_and(|next| *next != '\n') {
                    out.truncate(line);
                }
            }
            '\t' => out.push(c),
            '\u{8}' if out.len() > line => {
                out.pop();
            }
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

fn skip_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        // CSI: up to a byte from @ to ~.
        Some('[') => {
            for c in chars.by_ref() {
                if ('@'..='~').contains(&c) {
                    break;
                }
            }
        }
        // OSC, DCS and their kin: up to BEL or ESC \.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next() {
                if c == '\u{7}' {
                    break;
                }
                if c == '\u{1b}' {
                    chars.next_if_eq(&'\\');
                    break;
                }
            }
        }
        // Intermediate bytes, then one more.
        Some(' '..='/') => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            chars.next();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_go() {
        let text =
            "\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7}a\u{1b}(Bb\u{7}\r\n10%\r\u{1b}[K100%\nabc\u{8}d\r";
        assert_eq!(plain(text), "red ab\n100%\nabd");
    }
}
