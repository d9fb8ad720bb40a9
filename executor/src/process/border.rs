//! Where an output can be cut without cutting a secret in two: half of one would not be known for what it is.

use memchr::memchr;
use memchr::memmem::{find, rfind};
use memchr::memrchr;
use tandem_shared::secret::Masker;

/// Bytes that a secret has at most: a key block with what stands around its lines.
pub const LONGEST_SECRET: usize = 20 * 1024;
/// Places that are tried.
const TRIES: usize = 32;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";

/// Whether a byte can stand within a token.
fn in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~+/=%".contains(&byte)
}

/// Where a piece of an output ends: a place at which both sides are masked as the whole would be, behind a line if there is
/// one. What follows the place is long enough to hold any secret that begins before it.
pub fn piece_end(bytes: &[u8], secrets: &Masker) -> usize {
    let high = bytes.len().saturating_sub(LONGEST_SECRET);
    let low = high.saturating_sub(LONGEST_SECRET);
    let from = low.saturating_sub(LONGEST_SECRET);
    let window = bytes.get(from..).unwrap_or_default();
    let whole = secrets.mask_bytes(window);
    let cuts_nothing = |cut: &usize| {
        let (before, after) = window.split_at((cut - from).min(window.len()));
        [secrets.mask_bytes(before), secrets.mask_bytes(after)].concat() == whole
    };
    let ends = |is_end: fn(u8) -> bool| {
        let late = bytes.get(low..high).unwrap_or_default().iter().enumerate().rev();
        late.filter(move |(_, byte)| is_end(**byte)).map(move |(at, _)| low + at + 1).take(TRIES)
    };
    let found = ends(|byte| byte == b'\n').chain(ends(|byte| !in_token(byte))).find(cuts_nothing);
    found.unwrap_or(high).max(1)
}

/// Where the last bytes of an output begin to be whole: behind what may be the rest of a line, a token or a key.
pub fn clean_start(bytes: &[u8]) -> usize {
    if let Some(end) =
        find(bytes, END).filter(|end| find(bytes.get(..*end).unwrap_or_default(), BEGIN).is_none())
    {
        return after_line(bytes, end);
    }
    match memchr(b'\n', bytes) {
        Some(newline) => newline + 1,
        None => bytes.iter().position(|byte| !in_token(*byte)).map_or(bytes.len(), |at| at + 1),
    }
}

fn after_line(bytes: &[u8], at: usize) -> usize {
    memchr(b'\n', bytes.get(at..).unwrap_or_default()).map_or(bytes.len(), |newline| at + newline + 1)
}

/// How many of the bytes can be told before the rest has come: whole lines, but none of a key that has not ended. A line
/// that gets longer than `line` is told up to a place where no token can go on.
pub fn tellable(bytes: &[u8], line: usize) -> usize {
    let end = match memrchr(b'\n', bytes) {
        Some(newline) => newline + 1,
        None if bytes.len() < line => 0,
        None => match bytes.iter().rposition(|byte| !in_token(*byte)) {
            Some(at) => at + 1,
            None if bytes.len() < LONGEST_SECRET => 0,
            None => bytes.len(),
        },
    };
    let told = bytes.get(..end).unwrap_or_default();
    match rfind(told, BEGIN) {
        Some(begin)
            if find(told.get(begin..).unwrap_or_default(), END).is_none() && end - begin < LONGEST_SECRET =>
        {
            memrchr(b'\n', told.get(..begin).unwrap_or_default()).map_or(0, |newline| newline + 1)
        }
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ0123456";

    #[test]
    fn a_piece_of_one_line_ends_between_tokens() {
        let all = format!("[{}]", format!("{{\"token\": \"{TOKEN}\"}}, ").repeat(2_000));
        let secrets = Masker::default();
        for less in 0..60 {
            let bytes = all.as_bytes().get(..all.len() - less).unwrap();
            let (before, after) = bytes.split_at(piece_end(bytes, &secrets));
            let masked = [secrets.mask_bytes(before), secrets.mask_bytes(after)].concat();
            assert!(masked == secrets.mask_bytes(bytes), "{less}");
        }
    }

    #[test]
    fn the_rest_of_a_key_or_a_token_is_no_start() {
        let check =
            |text: &str, expect: &str| assert_eq!(text.get(clean_start(text.as_bytes())..), Some(expect));
        check("half of a line\nwhole\n", "whole\n");
        check("abc\ndef\n-----END PRIVATE KEY-----\nwhole", "whole");
        check("abc\n-----BEGIN X-----\nd\n-----END X-----\n", "-----BEGIN X-----\nd\n-----END X-----\n");
        check("half_token,{\"x\"", "{\"x\"");
        check("half_token", "");
    }

    #[test]
    fn what_may_go_on_is_not_told_yet() {
        let check = |text: &str, expect: usize| assert_eq!(tellable(text.as_bytes(), 10), expect, "{text:?}");
        check("one\ntw", 4);
        check("short", 0);
        check("a long line", 7);
        check("averylongtoken", 0);
        check("x\n-----BEGIN PRIVATE KEY-----\nabc\n", 2);
        check("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n", 58);
        check(&format!("-----BEGIN X\n{}\n", "no end\n".repeat(4_000)), 13 + 28_000 + 1);
    }
}
