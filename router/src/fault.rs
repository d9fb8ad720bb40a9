//! What went wrong with one try: whether another may help, how long to wait, and the error when it may not.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use tandem_shared::model::ModelError;

use crate::assemble::StreamFault;
use crate::provider::Retry;

/// What hyper says of a connection that ended before any part of the answer.
const CLOSED_UNHEARD: &str = "connection closed before message completed";

/// How servers say that a request does not fit, in lower case. There is no common code for it.
const OVERFLOW_WORDS: [&str; 15] = [
    "context_length",
    "context length",
    "context window",
    "context size",
    "context limit",
    "maximum context",
    "context overflow",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "too many tokens",
    "maximum prompt length",
    "maximum number of tokens",
    "exceeds the available context",
    "reduce the length",
];

/// Error words inside a stream, and the status that the same provider gives them outside.
const WORDS_TO_STATUS: [(&str, u16); 11] = [
    ("invalid_api_key", 401),
    ("authentication_error", 401),
    ("permission_error", 403),
    ("context_length_exceeded", 400),
    ("invalid_request_error", 400),
    ("not_found_error", 404),
    ("rate_limit_exceeded", 429),
    ("rate_limit_error", 429),
    ("server_error", 500),
    ("internal_server_error", 500),
    ("overloaded_error", 503),
];

/// What went wrong with one try.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    /// The server refused.
    Status {
        status: u16,
        /// Cut, and without keys.
        body: String,
        /// What the server asks us to wait.
        retry_after: Option<Duration>,
    },
    /// No connection, or it broke.
    Network(String),
    /// Nothing came for too long.
    Timeout { phase: &'static str, limit: Duration },
    /// The reply was not what the protocol says.
    Protocol(String),
    /// Nothing can be sent as things are set up.
    NotConfigured(String),
    /// A cassette has no answer to this, or could not be written.
    Cassette(String),
}

/// Whom a request went to, for error texts.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// `provider/model`.
    pub(crate) model: String,
    /// The base URL.
    pub(crate) url: String,
    /// Where the key comes from.
    pub(crate) key_source: String,
}

impl Fault {
    /// What a stream's own fault means. `clean` cuts a text and takes keys out of it.
    pub(crate) fn of_stream(fault: StreamFault, clean: impl Fn(&str) -> String) -> Fault {
        match fault {
            StreamFault::Provider { code, message } => {
                let body = clean(&message);
                let known = WORDS_TO_STATUS.iter().find(|(word, _)| *word == code).map(|(_, status)| *status);
                let status = code.parse().ok().filter(|status| (400..600).contains(status)).or(known);
                match status {
                    Some(status) => Fault::Status { status, body, retry_after: None },
                    None if says_overflow(&body) => Fault::Status { status: 400, body, retry_after: None },
                    None => Fault::Protocol(format!("the server reported an error in its reply: {body}")),
                }
            }
            StreamFault::Malformed(event) => {
                Fault::Protocol(format!("an event of the stream is not a JSON object: {}", clean(&event)))
            }
            StreamFault::Cut => Fault::Protocol("the stream ended before the reply was complete".to_owned()),
            StreamFault::NotAStream(body) if body.trim().is_empty() => {
                Fault::Protocol("the reply is empty; is base_url right?".to_owned())
            }
            StreamFault::NotAStream(body) => Fault::Protocol(format!(
                "the reply is not an event stream; is base_url right? It begins: {}",
                clean(&body.chars().take(300).collect::<String>())
            )),
        }
    }

    /// Whether the same request may succeed later.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Fault::Status { status, .. } => matches!(status, 408 | 409 | 429 | 500..),
            Fault::Network(_) | Fault::Timeout { .. } | Fault::Protocol(_) => true,
            Fault::NotConfigured(_) | Fault::Cassette(_) => false,
        }
    }

    /// Whether the server did not accept the key.
    pub(crate) fn is_authentication(&self) -> bool {
        matches!(self, Fault::Status { status: 401 | 403, .. })
    }

    /// Whether the server said when to come back.
    pub(crate) fn asks_to_wait(&self) -> bool {
        matches!(self, Fault::Status { retry_after: Some(wait), .. } if !wait.is_zero())
    }

    /// Whether a connection that was kept open turned out to be closed.
    pub(crate) fn is_stale_connection(&self) -> bool {
        matches!(self, Fault::Network(reason) if reason.contains(CLOSED_UNHEARD))
    }

    /// How long to wait after `failures` failed tries (from 1). `roll` from 0 to 1 spreads many clients out.
    pub(crate) fn wait(&self, failures: u32, retry: &Retry, roll: f64) -> Duration {
        let asked = match self {
            Fault::Status { retry_after: Some(wait), .. } => *wait,
            _ => Duration::ZERO,
        };
        // Zero says nothing about when it is worth trying again.
        let wait = if asked.is_zero() {
            retry.first.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1))).min(retry.longest)
        } else {
            asked
        };
        wait.saturating_add(wait.min(retry.longest).mul_f64(0.1 * roll.clamp(0.0, 1.0)))
    }

    /// One line for the person who waits.
    pub(crate) fn reason(&self) -> String {
        match self {
            Fault::Status { status, body, .. } => {
                let line: String = body.split_whitespace().collect::<Vec<_>>().join(" ");
                let short: String = line.chars().take(200).collect();
                format!("API error ({status}): {short}")
            }
            Fault::Timeout { phase, limit } => format!("no answer within {limit:?} ({phase})"),
            Fault::Network(reason)
            | Fault::Protocol(reason)
            | Fault::NotConfigured(reason)
            | Fault::Cassette(reason) => reason.clone(),
        }
    }

    /// The error to report after `attempts` requests.
    pub(crate) fn into_error(self, target: &Target, attempts: u32) -> ModelError {
        let model = target.model.clone();
        match self {
            Fault::Status { status: status @ (401 | 403), body, .. } => {
                ModelError::Authentication { model, status, body, key_source: target.key_source.clone() }
            }
            Fault::Status { status: 429, body, .. } => {
                ModelError::RateLimit { model, status: 429, body, attempts }
            }
            Fault::Status { status: status @ (408 | 409 | 500..), body, .. } => {
                ModelError::Server { model, status, body, attempts }
            }
            Fault::Status { status: status @ (400 | 413 | 422), body, .. } if says_overflow(&body) => {
                ModelError::ContextOverflow { model, status, body }
            }
            Fault::Status { status, body, .. } => ModelError::BadRequest { model, status, body },
            Fault::Network(reason) => {
                ModelError::Network { model, url: target.url.clone(), reason, attempts }
            }
            Fault::Timeout { phase, limit } => ModelError::Timeout { model, phase, limit, attempts },
            Fault::Protocol(reason) | Fault::Cassette(reason) => {
                ModelError::Protocol { model, reason, attempts }
            }
            Fault::NotConfigured(reason) => ModelError::NotConfigured(format!("{model}: {reason}")),
        }
    }
}

fn says_overflow(body: &str) -> bool {
    let body = body.to_lowercase();
    OVERFLOW_WORDS.iter().any(|words| body.contains(words))
}

/// How long the server asks us to wait, in seconds or until a date. `now` is the clock's time.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    if let Some(millis) = text("retry-after-ms").and_then(number) {
        return Duration::try_from_secs_f64(millis / 1_000.0).ok();
    }
    let asked = text("retry-after")?;
    match number(asked) {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => Some(httpdate::parse_http_date(asked).ok()?.duration_since(now).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY: Retry = Retry {
        times: 3,
        first: Duration::from_millis(500),
        longest: Duration::from_secs(60),
        protocol_faults: 3,
    };

    fn status(status: u16, body: &str) -> Fault {
        Fault::Status { status, body: body.to_owned(), retry_after: None }
    }

    fn error(fault: Fault) -> String {
        let target = Target {
            model: "p/m".to_owned(),
            url: "http://h/v1".to_owned(),
            key_source: "the environment variable K".to_owned(),
        };
        let text = format!("{:?}", fault.into_error(&target, 4));
        text.split([' ', '(']).next().unwrap().to_owned()
    }

    #[test]
    fn each_status_has_its_error_and_its_second_chance() {
        let cases = [
            (400, "bad field", "BadRequest", false),
            (400, "This model's maximum context length is 8192", "ContextOverflow", false),
            (413, "prompt is too long", "ContextOverflow", false),
            (401, "no", "Authentication", false),
            (403, "no", "Authentication", false),
            (404, "no such model", "BadRequest", false),
            (308, "moved", "BadRequest", false),
            (408, "slow", "Server", true),
            (409, "conflict", "Server", true),
            (429, "slow down", "RateLimit", true),
            (500, "oops", "Server", true),
            (529, "overloaded", "Server", true),
        ];
        for (code, body, name, again) in cases {
            assert_eq!(
                (error(status(code, body)).as_str(), status(code, body).may_pass()),
                (name, again),
                "{code}"
            );
        }
    }

    #[test]
    fn an_error_in_the_stream_counts_like_its_status() {
        let fault = |code: &str, message: &str| {
            let fault = StreamFault::Provider { code: code.to_owned(), message: message.to_owned() };
            Fault::of_stream(fault, |text| text.to_owned())
        };
        assert_eq!(fault("429", "slow"), status(429, "slow"));
        assert_eq!(fault("rate_limit_exceeded", "slow"), status(429, "slow"));
        assert_eq!(fault("", "the context size is exceeded"), status(400, "the context size is exceeded"));
        let unknown = "the server reported an error in its reply: gone";
        assert_eq!(fault("E17", "gone"), Fault::Protocol(unknown.to_owned()));
    }

    #[test]
    fn waits_double_up_to_a_minute_unless_the_server_asks_for_its_own() {
        let waits = [1, 2, 3, 8, 40].map(|failures| status(500, "").wait(failures, &RETRY, 0.0).as_millis());
        assert_eq!(waits, [500, 1_000, 2_000, 60_000, 60_000]);
        assert_eq!(status(500, "").wait(1, &RETRY, 1.0), Duration::from_millis(550));
        let asks = |wait| Fault::Status { status: 429, body: String::new(), retry_after: Some(wait) };
        assert_eq!(asks(Duration::from_secs(90)).wait(3, &RETRY, 0.0), Duration::from_secs(90));
        assert_eq!(asks(Duration::ZERO).wait(1, &RETRY, 0.0), Duration::from_millis(500));
        assert!(asks(Duration::MAX).wait(1, &RETRY, 1.0) == Duration::MAX);
    }

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let read = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            retry_after(&headers, now)
        };
        assert_eq!(read("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(read("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(read("retry-after-ms", "20"), Some(Duration::from_millis(20)));
        assert_eq!(read("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"), Some(Duration::from_secs(10)));
        assert_eq!(read("retry-after", "Sun, 06 Nov 1994 08:49:07 GMT"), Some(Duration::ZERO));
        assert_eq!(read("retry-after", "-1"), None);
        assert_eq!(read("retry-after", "soon"), None);
        assert_eq!(read("retry-after", "1e300"), None);
    }
}
