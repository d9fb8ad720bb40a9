//! What is wrong with what the router was told.

use tandem_shared::role::Role;
use thiserror::Error;

/// Why no router could be made.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RouterError {
    /// A role names a provider that is not there.
    #[error("the role {role} uses the provider {provider:?}, which is not configured; there are: {known}")]
    UnknownProvider {
        /// Whose binding.
        role: Role,
        /// The name it uses.
        provider: String,
        /// The names that are there.
        known: String,
    },
    /// A base URL that no request can be sent to.
    #[error("the provider {provider}: base_url {base_url:?} is not usable: {reason}")]
    BaseUrl {
        /// The provider.
        provider: String,
        /// As it was given.
        base_url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A header that HTTP does not allow. Its value is not shown, since it may be a key.
    #[error("the provider {provider}: the header {header:?} has a name or value that HTTP does not allow")]
    Header {
        /// The provider.
        provider: String,
        /// The header's name.
        header: String,
    },
    /// Keys and code would travel unencrypted over a network.
    #[error(
        "the provider {provider}: base_url {base_url:?} is not encrypted and leads to another machine; use https://, \
         or set allow_http = true for this provider"
    )]
    Plaintext {
        /// The provider.
        provider: String,
        /// As it was given.
        base_url: String,
    },
    /// An extra field that would replace one of the router's own.
    #[error("the provider {provider}: extra_body may not hold {key:?}, which every request sets itself")]
    ExtraBody {
        /// The provider.
        provider: String,
        /// The field.
        key: &'static str,
    },
    /// A cassette that cannot be read.
    #[error("the cassette is not valid at line {line}: {reason}")]
    Cassette {
        /// Counted from 1.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
}
