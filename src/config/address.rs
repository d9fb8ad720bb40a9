//! What can be told of an endpoint's address by its text alone.

use std::net::{IpAddr, Ipv6Addr};

/// Whether it begins with http:// or https:// and names a host.
pub fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !rest.contains(char::is_whitespace))
}

/// Whether it has a user part, which holds a password.
pub fn has_password(url: &str) -> bool {
    authority(url).contains('@')
}

/// Whether what is sent there leaves this machine unencrypted. What cannot be told counts as leaving.
pub fn is_plain_and_far(url: &str) -> bool {
    url.starts_with("http://") && !is_loopback(host(url))
}

/// Host and port, as they are written.
pub fn place(url: &str) -> &str {
    let authority = authority(url);
    authority.rsplit_once('@').map_or(authority, |(_, place)| place)
}

fn is_loopback(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let address = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => host.parse::<IpAddr>().ok(),
    };
    match address {
        // A server on all addresses of this machine is often named by the address for all.
        Some(address) => address.is_loopback() || address.is_unspecified(),
        None => host == "localhost" || host.ends_with(".localhost"),
    }
}

fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    // A backslash ends it too, for those who send.
    rest.split(['/', '\\', '?', '#']).next().unwrap_or_default()
}

fn host(url: &str) -> &str {
    let place = place(url);
    match place.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_near() {
        let near = [
            "http://localhost:11434/v1",
            "http://LOCALHOST",
            "http://api.localhost/v1",
            "http://127.0.0.1:8080/v1",
            "http://127.9.9.9",
            "http://[::1]:8000/v1",
            "http://0.0.0.0:8000/v1",
            "http://user@127.0.0.1/v1",
            "https://api.example.com/v1",
        ];
        let far = [
            "http://workstation.lan:8000/v1",
            "http://192.168.0.2/v1",
            "http://127.0.0.1.example.com/v1",
            "http://localhost.example.com/v1",
            "http://127.0.0.1@example.com/v1",
            "http://127.0.0.1:80@example.com/v1",
            "http://example.com\\@127.0.0.1/v1",
            "http://example.com#@127.0.0.1/v1",
            "http://[2001:db8::1]:8000/v1",
        ];
        let wrong = |urls: &[&'static str], expect| {
            urls.iter().copied().filter(|url| is_plain_and_far(url) != expect).collect::<Vec<_>>()
        };
        assert_eq!((wrong(&near, false), wrong(&far, true)), (vec![], vec![]));
    }
}
