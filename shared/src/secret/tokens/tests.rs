//! Every kind of token in every place, and what only looks like one.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;

/// A body of `length` bytes of a kind, with a digit in every run.
fn body(length: usize) -> String {
    "aB3dE5gH1jK2mN4p".chars().cycle().take(length).collect()
}

/// A token of each row, what stands in its place, and what must be gone.
fn tokens() -> Vec<(String, String, String)> {
    let of_row = |row: &Row| {
        let (Exactly(length) | AtLeast(length)) = row.length;
        let body: String = if row.prefix.starts_with(['A']) && length == 16 {
            body(length).to_uppercase()
        } else {
            body(length)
        };
        (format!("{}{body}", row.prefix), row.mask.to_owned(), body)
    };
    let mut tokens: Vec<_> = ROWS.iter().map(of_row).collect();
    let jwt = format!("eyJ{}.eyJ{}.{}", body(20), body(30), body(43));
    tokens.push((jwt, "eyJ***".into(), body(43)));
    let key = format!("{}\n{}\nx3Q==", body(64), body(64));
    let block = |body: &str| format!("-----BEGIN RSA PRIVATE KEY-----{body}-----END RSA PRIVATE KEY-----");
    tokens.push((block(&format!("\n{key}\n")), block("***"), "x3Q==".into()));
    tokens.push((
        "postgres://me:s3cret-word@db.lan/x".into(),
        "postgres://me:***@db.lan/x".into(),
        "s3cret-word".into(),
    ));
    let aws = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYzzzzzzzKEY";
    tokens.push((format!("aws_secret_access_key = {aws}"), "aws_secret_access_key = ***".into(), aws.into()));
    tokens
}

#[test]
fn every_kind_is_masked_and_its_kind_still_seen() {
    for (token, mask, _) in tokens() {
        assert_eq!(mask_tokens(&token), mask);
        assert_eq!(mask_tokens(&format!("a=\"{token}\", b")), format!("a=\"{mask}\", b"));
        let json = serde_json::to_string(&format!("é\n{token}\n")).unwrap();
        assert!(serde_json::from_str::<String>(&mask_tokens(&json)).unwrap().contains("***"), "{json}");
    }
}

#[test]
fn a_key_block_is_masked_in_numbered_lines_in_a_diff_and_where_it_is_cut_off() {
    let line = body(64);
    let check = |text: &str, expect: &str| assert_eq!(mask_tokens(text), expect);
    check(
        &format!("1\t-----BEGIN PRIVATE KEY-----\n2\t{line}\n3\tx3Q==\n4\t-----END PRIVATE KEY-----\n5\tend"),
        "1\t-----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----\n5\tend",
    );
    check(
        &format!("+-----BEGIN EC PRIVATE KEY-----\n+{line}\n+{line}\n this is what follows the block\n"),
        "+-----BEGIN EC PRIVATE KEY-----*** this is what follows the block\n",
    );
    check(
        &format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{line}\n{line}"),
        "-----BEGIN OPENSSH PRIVATE KEY-----***",
    );
}

#[test]
fn a_key_behind_its_name_is_masked_whatever_follows() {
    let key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYzzzzzzzKEY";
    for (after, left) in [
        ("+", ""),
        ("/", ""),
        ("=", "="),
        ("++ then", " then"),
        ("\n+", "\n+"),
        ("\\n", "\\n"),
        ("aB3dE5gH1jK2mN4paB3dE5gH", ""),
    ] {
        let text = format!("aws_secret_access_key = {key}{after}");
        assert_eq!(mask_tokens(&text), format!("aws_secret_access_key = ***{left}"), "{after:?}");
    }
}

#[test]
fn ordinary_code_stays() {
    for text in [
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit 18fb146a0b1c2d3e4f5061728394a5b6c7d8e9f0",
        "123e4567-e89b-12d3-a456-426614174000",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "class=\"sk-folding-cube sk-fading-circle-container sk-circle1\"",
        "the task-management-of-2024-01-01-and-more disk-x",
        "Authorization: Bearer ${TOKEN}; Bearer authentication-is-required",
        "if line.starts_with(\"-----BEGIN PRIVATE KEY-----\") { self.read_a_private_key_from_lines(); }",
        "https://example.org:8080/a@b git@github.com:a/b.git http://u:${PASS}@h ssh://git@h:22/x",
        "npm_config_registry npm_package_version ghp_short hf_hub_download(repo_id) AKIA",
        "aws_secret_access_key = os.environ['X']  # secret_access_key",
        "secret_access_key: ==================================================",
        "secret_access_key: short/of+40",
        "eyJhbGciOiJIUzI1NiJ9 is half of one",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    ] {
        assert!(matches!(mask_tokens(text), Cow::Borrowed(same) if same == text), "{}", mask_tokens(text));
    }
}

#[test]
fn the_search_stays_fast_on_what_nearly_fits() {
    for part in ["sk-", "eyJ-", "://a:", "-----BEGIN PRIVATE KEY-----\n", "Bearer ", "secretaccesskey="] {
        let text = part.repeat(100_000 / part.len());
        let started = std::time::Instant::now();
        assert!(matches!(mask_tokens(&text), Cow::Borrowed(_)));
        assert!(started.elapsed().as_secs() < 5, "{part}: {:?}", started.elapsed());
    }
}

proptest! {
    #[test]
    fn no_token_gets_through_whatever_surrounds_it(
        before in "(.|\n|sk-|://u:|eyJ|-----BEGIN |AKIA|=|\\\\n){0,12}",
        after in "(.|\n|@h|-----END |\\.|-|\\*){0,12}",
        nth in 0_usize..64,
    ) {
        let tokens = tokens();
        let (token, _, secret) = &tokens[nth % tokens.len()];
        let joins = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let gap = |next: bool| if next { " " } else { "" };
        let text = format!(
            "{before}{}{token}{}{after}", gap(before.ends_with(joins)), gap(after.starts_with(joins))
        );
        let masked = mask_tokens(&text);
        prop_assert!(!masked.contains(secret.as_str()), "{text:?} became {masked:?}");
        prop_assert_eq!(mask_tokens(&masked), masked.as_ref());
    }

    #[test]
    fn any_text_is_masked_once_and_for_all(
        text in "(.|\n|sk-ant-|sk-|ghp_|AKIA|eyJ|\\.eyJ|://|:|@|-----BEGIN |PRIVATE KEY-----|-----END |[A-Za-z0-9+/=_-]{16,60}){0,20}"
    ) {
        let once = mask_tokens(&text).into_owned();
        prop_assert_eq!(mask_tokens(&once), once.as_str());
    }
}
