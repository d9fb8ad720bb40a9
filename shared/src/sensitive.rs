//! Files that hold secrets by their nature, known by their names.

/// Names of such files, in small letters; `*` is any text without a slash. A pattern that ends in a slash is a folder, and
/// everything in it is one. One with a slash inside is the end of a path.
const NAMES: &[&str] = &[
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    "credentials",
    "credentials.json",
    "service-account*.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    ".aws/",
    ".ssh/",
    ".gnupg/",
    ".kube/config",
    ".docker/config.json",
];

/// Endings of `.env.…` that are shown to everybody: they say what has to be set.
const EXAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults"];

/// Whether the file at `path` holds secrets, by its name.
pub fn is_sensitive(path: &str) -> bool {
    may_be_sensitive(path, false_glob)
}

/// Whether a shell pattern (`.e*`, `conf/*.p?m`) can stand for such a file. One that says nothing of a name (`*`,
/// `src/*`) counts by what stands around it.
pub fn may_match_sensitive(pattern: &str) -> bool {
    may_be_sensitive(pattern, true_glob)
}

/// How a part of a path is held against a pattern of the table.
type Meets = fn(&str, &str) -> bool;

fn false_glob(pattern: &str, part: &str) -> bool {
    meets(pattern.as_bytes(), part.as_bytes())
}

fn true_glob(pattern: &str, part: &str) -> bool {
    // A shell's pattern meets a leading dot only with a dot.
    if pattern.starts_with('.') && !part.starts_with('.') {
        return false;
    }
    // `*.json` and `README*` say nothing of such a name, and `*.pem` all that is to be known.
    let (stem, ending) = part.rsplit_once('.').unwrap_or((part, ""));
    let telling = if pattern.starts_with('*') { ending } else { stem };
    let says = telling.contains(|c: char| c.is_alphanumeric()) || part.starts_with('.');
    says && share(pattern.as_bytes(), part.as_bytes())
}

fn may_be_sensitive(path: &str, meets: Meets) -> bool {
    let path = path.to_lowercase();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let Some((name, folders)) = parts.split_last() else { return false };
    let example =
        name.strip_prefix(".env.").is_some_and(|rest| rest.split('.').any(|part| EXAMPLES.contains(&part)));
    NAMES.iter().any(|pattern| match pattern.split_once('/') {
        Some((folder, "")) => folders.iter().any(|part| meets(folder, part)),
        Some((folder, file)) => folders.last().is_some_and(|part| meets(folder, part)) && meets(file, name),
        None => !example && meets(pattern, name),
    })
}

/// Whether `text` meets `pattern`, in which `*` is any text.
fn meets(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        // Every file of a search is held against some thirty of these.
        (Some((b'*', rest)), _) if !rest.contains(&b'*') => text.ends_with(rest),
        (Some((b'*', rest)), _) => {
            meets(rest, text) || text.split_first().is_some_and(|(_, text)| meets(pattern, text))
        }
        (Some((a, pattern)), Some((b, text))) => a == b && meets(pattern, text),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// Bytes of a shell pattern that are compared: the comparison tries every way to divide it.
const PATTERN_BYTES: usize = 64;

/// Whether some name meets both `ours` and the shell pattern `theirs`. `[…]` counts as any character, and a pattern that is
/// too long to be compared meets everything.
fn share(ours: &[u8], theirs: &[u8]) -> bool {
    if theirs.len() > PATTERN_BYTES {
        return true;
    }
    // Row by row: which ends of `ours` are met by the part of `theirs` read so far.
    let skip = |met: &mut Vec<bool>| {
        for at in (0..ours.len()).filter(|at| ours.get(*at) == Some(&b'*')) {
            if met.get(at) == Some(&true) {
                set(met, at + 1);
            }
        }
    };
    let mut met = vec![false; ours.len() + 1];
    if let Some(first) = met.first_mut() {
        *first = true;
    }
    skip(&mut met);
    let mut rest = theirs;
    while let Some((byte, after)) = rest.split_first() {
        let (step, after) = match byte {
            b'*' => (None, after),
            b'?' => (Some(None), after),
            b'[' => match after.iter().skip(1).position(|byte| *byte == b']') {
                Some(end) => (Some(None), after.get(end + 2..).unwrap_or_default()),
                None => (Some(Some(*byte)), after),
            },
            _ => (Some(Some(*byte)), after),
        };
        rest = after;
        let mut next = vec![false; ours.len() + 1];
        for at in (0..met.len()).filter(|at| met.get(*at) == Some(&true)) {
            match step {
                // Any text: every further end is met.
                None => next.iter_mut().skip(at).for_each(|end| *end = true),
                Some(wanted) => match ours.get(at) {
                    Some(b'*') => set(&mut next, at),
                    Some(own) if wanted.is_none_or(|wanted| wanted == *own) => set(&mut next, at + 1),
                    Some(_) | None => {}
                },
            }
        }
        skip(&mut next);
        met = next;
    }
    met.last() == Some(&true)
}

fn set(ends: &mut [bool], at: usize) {
    if let Some(end) = ends.get_mut(at) {
        *end = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_hold_secrets_are_known_by_name() {
        for path in [
            ".env",
            "a/.env",
            ".ENV.local",
            ".env.production",
            "tls/server.pem",
            "x.key",
            "id_rsa",
            ".ssh/config",
            "home/.aws/a/b",
            ".kube/config",
            ".docker/config.json",
            "credentials",
            "service-account-dev.json",
            "config/secrets.yml",
            ".npmrc",
            "./.env",
        ] {
            assert!(is_sensitive(path), "{path}");
        }
        for path in [
            ".env.example",
            "a/.env.local.sample",
            "env",
            "src/env.rs",
            "id_rsa.pub",
            "key.rs",
            "credentials.rs",
            "kube/config",
            "config.json",
            "pem",
            "secrets.rs",
            "monkey",
            "",
            ".envrc",
        ] {
            assert!(!is_sensitive(path), "{path}");
        }
    }

    #[test]
    fn patterns_that_can_stand_for_one_are_seen() {
        for pattern in [
            ".e*",
            ".en?",
            ".en[uv]",
            "*.p[e]m",
            "tls/*.pem",
            ".*",
            "id_*",
            "secret*.yml",
            ".ss?/x",
            "s*.json",
        ] {
            assert!(may_match_sensitive(pattern), "{pattern}");
        }
        for pattern in ["*.rs", "src/*", "*", "README*", "**/*.toml", "x*.md", "[a-c]*.txt", "Cargo.*"] {
            assert!(!may_match_sensitive(pattern), "{pattern}");
        }
    }
}
