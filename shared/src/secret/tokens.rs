//! Tokens that are known by their form, whoever they belong to.

use std::borrow::Cow;

use super::shape::{self, Found, is_url_safe, run};

/// A kind of token: a prefix that its maker chose so that it can be found, and a body.
struct Row {
    prefix: &'static str,
    body: fn(u8) -> bool,
    /// Bytes of the body.
    length: Length,
    /// What a body holds that a word would not.
    proof: Proof,
    /// Stands in its place.
    mask: &'static str,
}

#[derive(Clone, Copy)]
enum Length {
    Exactly(usize),
    AtLeast(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// Prefix and length are enough.
    None,
    /// A digit.
    Digit,
    /// A run of 16 letters and digits, of which one is a digit: `sk-` also begins names of style classes.
    Run,
}

fn alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn capital(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn dashed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn header(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

const fn row(prefix: &'static str, body: fn(u8) -> bool, length: Length, mask: &'static str) -> Row {
    Row { prefix, body, length, proof: Proof::None, mask }
}

const fn proven(row: Row, proof: Proof) -> Row {
    Row { proof, ..row }
}

use Length::{AtLeast, Exactly};

/// Every kind. Of two prefixes of which one begins the other, the longer stands first.
const ROWS: &[Row] = &[
    // Anthropic: docs.anthropic.com, "API keys"; detected as `sk-ant-…` by github.com/gitleaks/gitleaks.
    proven(row("sk-ant-", is_url_safe, AtLeast(20), "sk-ant-***"), Proof::Digit),
    // OpenAI: platform.openai.com/docs/api-reference/authentication, project, service and admin keys, and the older form
    // that most compatible services took over.
    proven(row("sk-proj-", is_url_safe, AtLeast(20), "sk-proj-***"), Proof::Digit),
    proven(row("sk-svcacct-", is_url_safe, AtLeast(20), "sk-svcacct-***"), Proof::Digit),
    proven(row("sk-admin-", is_url_safe, AtLeast(20), "sk-admin-***"), Proof::Digit),
    proven(row("sk-", is_url_safe, AtLeast(20), "sk-***"), Proof::Run),
    // GitHub: docs.github.com, "About authentication to GitHub", "GitHub's token formats".
    row("ghp_", alnum, AtLeast(36), "ghp_***"),
    row("gho_", alnum, AtLeast(36), "gho_***"),
    row("ghu_", alnum, AtLeast(36), "ghu_***"),
    row("ghs_", alnum, AtLeast(36), "ghs_***"),
    row("ghr_", alnum, AtLeast(36), "ghr_***"),
    row("github_pat_", word, AtLeast(36), "github_pat_***"),
    // GitLab: docs.gitlab.com/security/tokens, "Token prefixes".
    row("glpat-", is_url_safe, AtLeast(20), "glpat-***"),
    // AWS: docs.aws.amazon.com/IAM, "IAM identifiers", "Understanding unique ID prefixes".
    row("AKIA", capital, Exactly(16), "AKIA***"),
    row("ASIA", capital, Exactly(16), "ASIA***"),
    // Google: cloud.google.com/docs/authentication/api-keys; 39 characters in all.
    row("AIza", is_url_safe, Exactly(35), "AIza***"),
    // Slack: docs.slack.dev/authentication/tokens.
    proven(row("xoxa-", dashed, AtLeast(16), "xoxa-***"), Proof::Digit),
    proven(row("xoxb-", dashed, AtLeast(16), "xoxb-***"), Proof::Digit),
    proven(row("xoxp-", dashed, AtLeast(16), "xoxp-***"), Proof::Digit),
    proven(row("xoxr-", dashed, AtLeast(16), "xoxr-***"), Proof::Digit),
    proven(row("xoxs-", dashed, AtLeast(16), "xoxs-***"), Proof::Digit),
    // Stripe: docs.stripe.com/keys, secret and restricted keys of live mode.
    row("sk_live_", alnum, AtLeast(16), "sk_live_***"),
    row("rk_live_", alnum, AtLeast(16), "rk_live_***"),
    // npm: github.blog, "Announcing npm's new access token format".
    row("npm_", alnum, Exactly(36), "npm_***"),
    // PyPI: pypi.org/help/#apitoken; a macaroon in base64, whose first bytes are the same for all.
    row("pypi-AgE", is_url_safe, AtLeast(40), "pypi-***"),
    // Hugging Face: huggingface.co/docs/hub/security-tokens.
    row("hf_", alnum, AtLeast(34), "hf_***"),
    // RFC 6750, section 2.1: the header of a bearer token.
    proven(row("Bearer ", header, AtLeast(16), "Bearer ***"), Proof::Digit),
    proven(row("bearer ", header, AtLeast(16), "bearer ***"), Proof::Digit),
];

/// Names before an AWS secret key: docs.aws.amazon.com/cli, "Configuration and credential file settings", and the answer of
/// `aws sts`. Its form, 40 characters of base64, is that of github.com/awslabs/git-secrets, which asks for no end behind a
/// name either; stores that speak S3 give longer keys the same name.
const SECRET_NAMES: &[&[u8]] = &[b"secret_access_key", b"secretaccesskey"];
const SECRET_LENGTH: usize = 40;

/// Bytes of a body that are looked at to tell whether it is one. More belong to it, but no text makes the search slow.
const LOOKED_AT: usize = 512;

/// `text` with every token of a known form masked; as it is when it holds none. One pass.
pub fn mask_tokens(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut masked = String::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        let starts = STARTS.get(usize::from(*byte)).is_some_and(|starts| *starts);
        match starts.then(|| found(bytes, at)).flatten() {
            Some(Found { range, mask }) => {
                masked.push_str(text.get(copied..range.start).unwrap_or_default());
                masked.push_str(mask);
                (at, copied) = (range.end, range.end);
            }
            None => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    masked.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(masked)
}

/// The bytes with which something begins that is looked for.
const STARTS: [bool; 256] = {
    let mut starts = [false; 256];
    let mut at = 0;
    while at < ROWS.len() {
        starts[ROWS[at].prefix.as_bytes()[0] as usize] = true;
        at += 1;
    }
    let mut at = 0;
    while at < b"e-:sS".len() {
        starts[b"e-:sS"[at] as usize] = true;
        at += 1;
    }
    starts
};

/// What begins at `at`.
fn found(bytes: &[u8], at: usize) -> Option<Found> {
    match bytes.get(at)? {
        b':' => return shape::url_password(bytes, at),
        b'-' => return shape::key_block(bytes, at),
        _ => {}
    }
    let named = || SECRET_NAMES.iter().find_map(|name| shape::named(bytes, at, name, SECRET_LENGTH));
    if !begins_word(bytes, at) {
        return named();
    }
    let rest = bytes.get(at..)?;
    if rest.starts_with(b"eyJ") {
        return shape::web_token(bytes, at);
    }
    let row = ROWS.iter().filter(|row| rest.starts_with(row.prefix.as_bytes()));
    row.into_iter().find_map(|row| token(row, bytes, at)).or_else(named)
}

/// Whether no word goes on here. The `n` of `\n`, as JSON writes a line's end, is none.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let back = |by: usize| at.checked_sub(by).and_then(|at| bytes.get(at)).copied();
    match back(1) {
        Some(b'n' | b't' | b'r') => back(2) == Some(b'\\'),
        Some(before) => !word(before),
        None => true,
    }
}

fn token(row: &Row, bytes: &[u8], at: usize) -> Option<Found> {
    let from = at + row.prefix.len();
    let (most, wanted) = match row.length {
        Exactly(wanted) => (wanted, wanted),
        AtLeast(wanted) => (LOOKED_AT, wanted),
    };
    let length = run(bytes, from, most, row.body);
    let goes_on = || bytes.get(from + length).is_some_and(|next| word(*next));
    let fits = length >= wanted && (most > wanted || !goes_on());
    let body = bytes.get(from..from + length)?;
    let has_digit = |part: &[u8]| part.iter().any(u8::is_ascii_digit);
    let proven = match row.proof {
        Proof::None => true,
        Proof::Digit => has_digit(body),
        Proof::Run => {
            body.split(|byte| !byte.is_ascii_alphanumeric()).any(|part| part.len() >= 16 && has_digit(part))
        }
    };
    (fits && proven).then(|| {
        let end = from + if length < LOOKED_AT { length } else { run(bytes, from, usize::MAX, row.body) };
        // A web token reaches over dots, at which other bodies end.
        let inside = memchr::memmem::find_iter(bytes.get(from..end).unwrap_or_default(), b"eyJ");
        let ends =
            inside.filter_map(|start| shape::web_token(bytes, from + start)).map(|found| found.range.end);
        Found { range: at..ends.fold(end, usize::max), mask: row.mask }
    })
}

#[cfg(test)]
mod tests;
