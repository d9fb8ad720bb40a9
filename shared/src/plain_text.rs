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
            // What divides names for programs divides them for readers too.
            '\0' if out.len() > line => {
                out.push('\n');
                line = out.len();
            }
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
        // CSI: numbers and their kin, then one character from @ to ~.
        Some('[') => {
            while chars.next_if(|c| (' '..='?').contains(c)).is_some() {}
            chars.next_if(|c| ('@'..='~').contains(c));
        }
        // OSC, DCS and their kin: up to BEL or ESC \. One that does not end before its line does hides nothing but its
        // beginning: what follows could be an error that has to be seen.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let mut ahead = chars.clone();
            while let Some(c) = ahead.next_if(|c| *c != '\n') {
                if c == '\u{7}' || c == '\u{1b}' {
                    if c == '\u{1b}' {
                        ahead.next_if_eq(&'\\');
                    }
                    *chars = ahead;
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

    #[test]
    fn nuls_divide_lines() {
        assert_eq!(plain("a\0b\0\0\0c\0"), "a\nb\nc\n");
    }

    #[test]
    fn a_sequence_that_does_not_end_swallows_nothing() {
        assert_eq!(plain("start\n\u{1b}]0;x\nTraceback\n"), "start\n0;x\nTraceback\n");
        assert_eq!(plain("\u{1b}Pq#0\nerror"), "q#0\nerror");
        assert_eq!(plain("\u{1b}[\nerror \u{1b}[31mred"), "\nerror red");
    }
}
