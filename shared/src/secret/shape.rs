//! The forms of secrets that are more than a prefix with a body: web tokens, key blocks, URLs, named values.

use std::ops::Range;

use super::MASK;

/// What is to be taken out of a text, and what is left in its place.
#[derive(Debug)]
pub(super) struct Found {
    /// Bytes of the text.
    pub(super) range: Range<usize>,
    /// Stands there instead.
    pub(super) mask: &'static str,
}

/// Bytes of each part of a web token that are looked at. The first one is short, and looked for at every `eyJ`.
const PART_BYTES: [usize; 3] = [1024, 8 * 1024, 8 * 1024];
/// Bytes of each part from which it can be one.
const LEAST_PART: usize = 10;

pub(super) fn is_url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// How many bytes from `at` on are of a kind, looking at no more than `most`.
pub(super) fn run(bytes: &[u8], at: usize, most: usize, kind: fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take(most).take_while(|byte| kind(**byte)).count()
}

/// A JSON Web Token (RFC 7519, section 3): three parts in base64url, of which the first two are JSON objects.
pub(super) fn web_token(bytes: &[u8], at: usize) -> Option<Found> {
    let mut end = at;
    for (part, most) in PART_BYTES.into_iter().enumerate() {
        if part > 0 {
            (bytes.get(end) == Some(&b'.')).then_some(())?;
            end += 1;
        }
        let object = bytes.get(end..).is_some_and(|rest| rest.starts_with(b"eyJ"));
        let length = run(bytes, end, most, is_url_safe);
        (length >= LEAST_PART && (object || part == 2)).then_some(())?;
        end += length;
    }
    Some(Found { range: at..end, mask: "eyJ***" })
}

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const PRIVATE: &[u8] = b"PRIVATE KEY";
/// Bytes that a key block has at most: an RSA key of 16 Kbit in numbered lines.
const BLOCK_BYTES: usize = 16 * 1024;
/// What may stand around the lines of a block: numbers, paths, marks of a diff, quotes of a string.
const AROUND_LINES: &[u8] = b" \t\r\n\\\"',:.-_@";
/// Base64 in a row that a key has at least; words of a program that reads keys have less.
const KEY_RUN: usize = 40;

/// The body of a private key in PEM (RFC 7468, section 10 and 11; OpenSSL's and OpenSSH's older forms). One that is cut
/// off ends where its lines stop looking like one.
pub(super) fn key_block(bytes: &[u8], at: usize) -> Option<Found> {
    let rest = bytes.get(at..)?;
    let label = rest.strip_prefix(BEGIN)?;
    let label = label.get(..label.len().min(60))?;
    let dashes = find(label, b"-----")?;
    find(label.get(..dashes)?, PRIVATE)?;
    let from = at + BEGIN.len() + dashes + 5;
    let body = bytes.get(from..(from + BLOCK_BYTES).min(bytes.len()))?;
    let length = find(body, END).unwrap_or_else(|| looks_like_key(body));
    let body = body.get(..length)?;
    let longest = body.split(|byte| !is_base64(*byte)).map(<[u8]>::len).max();
    // What does not belong in a key, such as `$(…)`, must not be hidden from one who is asked about it.
    (longest >= Some(KEY_RUN) && body.iter().all(|byte| is_base64(*byte) || AROUND_LINES.contains(byte)))
        .then_some(Found { range: from..from + length, mask: MASK })
}

/// How far lines go on that are base64 for the most part, or too short to say otherwise.
fn looks_like_key(body: &[u8]) -> usize {
    let mut length = 0;
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let longest = line.split(|byte| !is_base64(*byte)).map(<[u8]>::len).max().unwrap_or_default();
        let ours = line.len() < 20 || longest * 2 >= line.len() || find(line, b"ENCRYPTED").is_some();
        if !ours && find(line, b"DEK-Info").is_none() {
            break;
        }
        length += line.len();
    }
    length
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, part)
}

/// The password of `scheme://user:password@host` (RFC 3986, section 3.2.1), where `at` is the place of the colon. What a
/// shell or a template would put in there is none.
pub(super) fn url_password(bytes: &[u8], at: usize) -> Option<Found> {
    let is_user = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%+!,".contains(&byte);
    let is_password = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%+!,=^".contains(&byte);
    bytes.get(at..)?.strip_prefix(b"://")?;
    bytes.get(at.checked_sub(2)?..at)?.iter().all(u8::is_ascii_alphanumeric).then_some(())?;
    let colon = at + 3 + run(bytes, at + 3, 256, is_user);
    (bytes.get(colon) == Some(&b':')).then_some(())?;
    let end = colon + 1 + run(bytes, colon + 1, 512, is_password);
    let host = bytes.get(end + 1).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'[');
    let is_one = bytes.get(end) == Some(&b'@') && host && end - colon > 4;
    is_one.then_some(Found { range: colon + 1..end, mask: MASK })
}

/// The value behind a name, whatever of `: = " '` and blanks stands between them: all of it, from `least` bytes on. What is
/// longer is no less of a secret there, and a byte of base64 that happens to follow must not save the key before it.
pub(super) fn named(bytes: &[u8], at: usize, name: &[u8], least: usize) -> Option<Found> {
    let found = bytes.get(at..at + name.len())?;
    found.eq_ignore_ascii_case(name).then_some(())?;
    let between = at + name.len();
    let gap = run(bytes, between, 8, |byte| b":=\"'\\ \t>".contains(&byte));
    let from = between + gap;
    // No padding: 30 bytes in base64 have none, and a line of `=` is a line.
    let length = run(bytes, from, usize::MAX, |byte| is_base64(byte) && byte != b'=');
    (gap > 0 && length >= least).then_some(Found { range: from..from + length, mask: MASK })
}
