//! One request and its tries: sends, reads the reply as it arrives, and waits before it tries again.

use std::time::{Duration, Instant, SystemTime};

use http::header::CONTENT_ENCODING;
use reqwest::Response;
use serde_json::Value;
use tandem_shared::model::{Delta, DeltaSink, ModelError};
use tandem_shared::role::Role;
use tandem_shared::secret::Secret;

use crate::assemble::{Draft, StreamFault};
use crate::clean::clean;
use crate::decode::{Decoder, Progress};
use crate::endpoint::Endpoint;
use crate::fault::{Fault, Target, retry_after};
use crate::provider::PATIENCE;

/// Bytes of an error's body that are read.
const ERROR_BYTES: usize = 64 * 1024;

/// How long the body of an error may take; its status alone says enough.
const ERROR_TIME: Duration = Duration::from_secs(5);

/// How long the end of a body may take after the end of the reply: it usually comes at once, though in a packet of its own.
const DRAIN_TIME: Duration = Duration::from_millis(50);

/// Says what is wrong with a whole reply, if anything is.
pub(crate) type Judge<'a> = &'a (dyn Fn(&Draft) -> Result<(), String> + Send + Sync);

/// Asks until there is a whole reply, or until trying again is pointless. Nothing runs on when the future is dropped.
pub(crate) async fn ask(
    endpoint: &Endpoint,
    target: &Target,
    role: Role,
    body: &Value,
    sink: DeltaSink<'_>,
    judge: Judge<'_>,
) -> Result<Draft, ModelError> {
    let mut attempt = 0;
    let mut protocol_faults = 0;
    let mut resent = false;
    let retry = endpoint.provider.retry;
    loop {
        attempt += 1;
        let started = Instant::now();
        let fault = match try_once(endpoint, role, body, sink, judge).await {
            Ok(draft) => {
                let millis = started.elapsed().as_millis();
                tracing::debug!(model = target.model, %role, attempt, millis, usage = ?draft.usage, "reply");
                return Ok(draft);
            }
            Err(fault) => fault,
        };
        tracing::debug!(model = target.model, %role, attempt, reason = fault.reason(), "failed try");
        if fault.is_authentication() {
            endpoint.forget_key();
        }
        if fault.is_stale_connection() && !resent {
            // The server had closed a kept connection while the request was on its way: a fresh one does at once.
            resent = true;
            attempt -= 1;
            continue;
        }
        if matches!(fault, Fault::Protocol(_)) {
            protocol_faults += 1;
        }
        let spent = attempt > retry.times || protocol_faults >= retry.protocol_faults;
        if spent || !fault.may_pass() {
            return Err(fault.into_error(target, attempt));
        }
        let wait = fault.wait(attempt, &retry, fastrand::f64());
        if fault.asks_to_wait() && wait > retry.longest.saturating_mul(PATIENCE) {
            return Err(fault.into_error(target, attempt));
        }
        sink(Delta::Retry { attempt, wait, reason: fault.reason() });
        tokio::time::sleep(wait).await;
    }
}

async fn try_once(
    endpoint: &Endpoint,
    role: Role,
    body: &Value,
    sink: DeltaSink<'_>,
    judge: Judge<'_>,
) -> Result<Draft, Fault> {
    let provider = &endpoint.provider;
    let key = endpoint.key().await?;
    let first = Patience { limit: provider.first_token_timeout, phase: "waiting for the first token" };
    let idle = Patience { limit: provider.idle_timeout, phase: "between tokens" };

    let mut response = first.wait_for(endpoint.send(role, body, key.as_ref())).await??;
    if !response.status().is_success() {
        return Err(refusal(response, key.as_ref()).await);
    }
    let packed = response.headers().get(CONTENT_ENCODING).and_then(|name| name.to_str().ok());
    if let Some(name) = packed.filter(|name| !name.trim().eq_ignore_ascii_case("identity")) {
        return Err(Fault::Protocol(format!(
            "the reply is compressed ({}), which the request did not allow; a proxy on the way may do that",
            clean(name, key.as_ref())
        )));
    }
    let broken = |fault: StreamFault| Fault::of_stream(fault, |text| clean(text, key.as_ref()));
    let mut decoder = Decoder::default();
    loop {
        let patience = if decoder.has_begun() { &idle } else { &first };
        let arrived = patience.wait_for(response.chunk()).await?;
        match arrived.map_err(|error| endpoint.fault_of(error))? {
            None => break,
            Some(bytes) => match decoder.feed(&bytes, sink).map_err(broken)? {
                Progress::More => {}
                Progress::Done => {
                    drain(&mut response).await;
                    break;
                }
            },
        }
    }
    decoder.end(sink).map_err(broken)?;
    let draft = decoder.into_draft();
    judge(&draft).map_err(|reason| Fault::Protocol(clean(&reason, key.as_ref())))?;
    Ok(draft)
}

/// How long to wait, and what for.
struct Patience {
    /// Zero is for ever.
    limit: Duration,
    phase: &'static str,
}

impl Patience {
    async fn wait_for<T>(&self, future: impl Future<Output = T>) -> Result<T, Fault> {
        if self.limit.is_zero() {
            return Ok(future.await);
        }
        let timeout = Fault::Timeout { phase: self.phase, limit: self.limit };
        tokio::time::timeout(self.limit, future).await.map_err(|_| timeout)
    }
}

/// Reads what follows the end of the reply, which is nothing but the end of the body, so that the next request finds the
/// connection open.
async fn drain(response: &mut Response) {
    let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
    // A server that keeps the body open loses its connection.
    let _ = tokio::time::timeout(DRAIN_TIME, rest).await;
}

/// What a response with a bad status says.
pub(crate) async fn refusal(mut response: Response, key: Option<&Secret>) -> Fault {
    let status = response.status().as_u16();
    let retry_after = retry_after(response.headers(), SystemTime::now());
    let location = response.headers().get(http::header::LOCATION).and_then(|value| value.to_str().ok());
    let redirected = location.map(|to| format!("the server redirects to {to}; set base_url accordingly. "));
    let read = read_body(&mut response, ERROR_BYTES);
    let bytes = tokio::time::timeout(ERROR_TIME, read).await.ok().and_then(Result::ok).unwrap_or_default();
    let said = match String::from_utf8_lossy(&bytes).trim() {
        "" => response.status().canonical_reason().unwrap_or("without a word").to_owned(),
        text => text.to_owned(),
    };
    let said = redirected.unwrap_or_default() + &said;
    Fault::Status { status, body: clean(&said, key), retry_after }
}

/// The first `limit` bytes of a body.
pub(crate) async fn read_body(response: &mut Response, limit: usize) -> Result<Vec<u8>, reqwest::Error> {
    let mut bytes = Vec::new();
    while bytes.len() < limit {
        match response.chunk().await? {
            Some(more) => bytes.extend_from_slice(&more),
            None => break,
        }
    }
    bytes.truncate(limit);
    Ok(bytes)
}
