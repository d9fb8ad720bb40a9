//! The HTTP client and the way through async-openai: what is sent, and how its response gets out unread.

use std::net::IpAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Certificate, Response, Url};

/// Takes the real response aside for our own decoder, and gives the client an empty one: its own stream path hides cut
/// streams and breaks down on some. There is no retry in here.
#[derive(Clone)]
pub(crate) struct Handover {
    pub(crate) http: reqwest::Client,
    pub(crate) authorization: Option<HeaderValue>,
    /// Further headers, which go before the client's.
    pub(crate) headers: HeaderMap,
    /// Where the response is left.
    pub(crate) response: Arc<Mutex<Option<Response>>>,
}

impl tower::Service<HttpRequestFactory> for Handover {
    type Response = Response;
    type Error = OpenAIError;
    type Future = Pin<Box<dyn Future<Output = Result<Response, OpenAIError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let mut request = factory.build().await?;
            let headers = request.headers_mut();
            headers.remove(AUTHORIZATION);
            if let Some(authorization) = this.authorization {
                headers.insert(AUTHORIZATION, authorization);
            }
            // A configured header replaces ours, `Authorization` included.
            for name in this.headers.keys() {
                headers.remove(name);
            }
            headers.extend(this.headers);
            let response = this.http.execute(request).await?;
            *this.response.lock().unwrap_or_else(PoisonError::into_inner) = Some(response);
            Ok(http::Response::new(reqwest::Body::from("null")).into())
        })
    }
}

/// A client for one base URL. It neither follows redirects, which would carry the key elsewhere, nor tries again.
/// `ca_file` holds further certificates to trust, as PEM.
pub(crate) fn http_client(
    base: &str,
    connect_timeout: Duration,
    ca_file: Option<&Path>,
) -> Result<reqwest::Client, String> {
    // The first client installs the provider; later calls find it there.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = parse_base(base)?;
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("tandem/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never());
    if !connect_timeout.is_zero() {
        builder = builder.connect_timeout(connect_timeout);
    }
    if is_loopback(&url) {
        builder = builder.no_proxy();
        if url.scheme() == "http" {
            // Nothing will be encrypted, so a machine without certificates, or with a slow store of them, is no matter.
            builder = builder.tls_certs_only([]);
        }
    }
    if let Some(path) = ca_file {
        builder = builder.tls_certs_merge(certificates(path)?);
    }
    builder.build().map_err(|error| format!("the HTTP client could not be made: {}", reason_of(&error)))
}

fn certificates(path: &Path) -> Result<Vec<Certificate>, String> {
    let shown = path.display();
    let pem = std::fs::read(path).map_err(|error| format!("ca_file {shown} cannot be read: {error}"))?;
    match Certificate::from_pem_bundle(&pem) {
        Ok(found) if found.is_empty() => Err(format!("ca_file {shown} holds no certificate in PEM form")),
        Ok(found) => Ok(found),
        Err(error) => Err(format!("ca_file {shown} is not valid PEM: {}", reason_of(&error))),
    }
}

/// The base without what people paste along with it.
pub(crate) fn trim_base(base: &str) -> &str {
    let base = base.trim().trim_end_matches('/');
    base.strip_suffix("/chat/completions").unwrap_or(base).trim_end_matches('/')
}

pub(crate) fn parse_base(base: &str) -> Result<Url, String> {
    let url = Url::parse(base).map_err(|error| error.to_string())?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(format!("it begins with {other}:, and must begin with http:// or https://")),
    }
}

/// Whether the host is this machine, by its name or address alone.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => address.is_loopback() || address.is_unspecified(),
        Err(_) => bare == "localhost" || bare.ends_with(".localhost"),
    }
}

/// The error and its causes in one line; the outer texts alone say little.
pub(crate) fn reason_of(error: &reqwest::Error) -> String {
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let text = cause.to_string();
        if !reason.contains(&text) {
            reason = format!("{reason}: {text}");
        }
        source = cause.source();
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_trimmed_to_one_form() {
        for base in ["http://h/v1", "http://h/v1/", " http://h/v1// ", "http://h/v1/chat/completions/"] {
            assert_eq!(trim_base(base), "http://h/v1");
        }
    }

    #[test]
    fn loopback_is_known_by_name_and_by_address() {
        let check = |base: &str| is_loopback(&Url::parse(base).unwrap());
        for base in [
            "http://localhost:1",
            "http://127.0.0.1",
            "http://127.8.0.1/v1",
            "http://[::1]:8",
            "http://a.localhost",
        ] {
            assert!(check(base), "{base}");
        }
        for base in ["http://localhost.example.com", "https://10.0.0.1", "http://128.0.0.1", "http://[::2]"] {
            assert!(!check(base), "{base}");
        }
    }
}
