//! Holes in patterns: what `$X` is written as while a grammar reads it.

use std::borrow::Cow;

/// Writes `hole` for every `$` that opens a hole, since no grammar takes `$` in a name: `$X`, `$_`, `$$X`, `$$$`, `$$$X`.
pub(super) fn with_holes(pattern: &str, hole: char) -> Cow<'_, str> {
    if !pattern.contains('$') {
        return Cow::Borrowed(pattern);
    }
    let mut text = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern;
    while let Some(at) = rest.find('$') {
        let (head, tail) = rest.split_at(at);
        text.push_str(head);
        let after = tail.trim_start_matches('$');
        let dollars = tail.len() - after.len();
        let opens = dollars == 3
            || (dollars < 3 && after.starts_with(|first: char| first.is_ascii_uppercase() || first == '_'));
        text.extend(std::iter::repeat_n(if opens { hole } else { '$' }, dollars));
        rest = after;
    }
    text.push_str(rest);
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_that_open_a_hole_are_replaced() {
        let check = |pattern: &str, expect: &str| assert_eq!(with_holes(pattern, 'µ'), expect);
        check("$X.unwrap()", "µX.unwrap()");
        check("f($$$)", "f(µµµ)");
        check("f($$$ARGS, $_)", "f(µµµARGS, µ_)");
        check("$lower $1 $", "$lower $1 $");
        check("plain", "plain");
    }
}
