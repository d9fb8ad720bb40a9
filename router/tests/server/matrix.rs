//! Every way in which an endpoint can fail, with the class of the error, the number of requests and the words for it.

use super::*;

/// What a try meets.
enum Meets {
    /// The same answer to each request.
    Answer(fn() -> Answer),
    /// Nobody listens.
    Nobody,
    /// Somebody listens, and takes no connection.
    BlackHole,
}

struct Row {
    name: &'static str,
    meets: Meets,
    class: &'static str,
    /// Requests that the server saw, with two retries.
    requests: usize,
    /// What the message says after `p/m: `.
    message: &'static str,
}

const EVENT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"hal\"}}]}\n\n";

fn status(line: &str, body: &str) -> Answer {
    // The wait is for another test.
    Answer::status(line, "retry-after-ms: 1\r\n", body)
}

#[rustfmt::skip]
fn rows() -> Vec<Row> {
    let row = |name, meets, class, requests, message| Row { name, meets, class, requests, message };
    let answer = Meets::Answer;
    vec![
        row("401", answer(|| status("401 Unauthorized", "no")), "Authentication", 1,
            "authentication failed: API error (401): no\nThe key comes from the environment variable TEST_KEY."),
        row("403", answer(|| status("403 Forbidden", "no")), "Authentication", 1,
            "authentication failed: API error (403): no\nThe key comes from the environment variable TEST_KEY."),
        row("404", answer(|| status("404 Not Found", "no such model")), "BadRequest", 1,
            "API error (404): no such model"),
        row("400", answer(|| status("400 Bad Request", "bad field")), "BadRequest", 1,
            "API error (400): bad field"),
        row("400 overflow", answer(|| status("400 Bad Request", "maximum context length is 8192")), "ContextOverflow", 1,
            "the request is too long for the model: API error (400): maximum context length is 8192"),
        row("408", answer(|| status("408 Request Timeout", "slow")), "Server", 3,
            "the server failed, after 3 tries: API error (408): slow"),
        row("409", answer(|| status("409 Conflict", "busy")), "Server", 3,
            "the server failed, after 3 tries: API error (409): busy"),
        row("429 with Retry-After", answer(|| status("429 Too Many Requests", "wait")), "RateLimit", 3,
            "rate limit, after 3 tries: API error (429): wait"),
        row("429 without Retry-After", answer(|| Answer::status("429 Too Many Requests", "", "wait")), "RateLimit", 3,
            "rate limit, after 3 tries: API error (429): wait"),
        row("500", answer(|| status("500 Internal Server Error", "oops")), "Server", 3,
            "the server failed, after 3 tries: API error (500): oops"),
        row("503", answer(|| status("503 Service Unavailable", "down")), "Server", 3,
            "the server failed, after 3 tries: API error (503): down"),
        row("refused port", Meets::Nobody, "Network", 0,
            "network fault at {base}, after 3 tries: *refused*"),
        row("black-hole connect", Meets::BlackHole, "Timeout", 0,
            "no answer within 600ms (connecting), after 3 tries"),
        row("stall before the headers", answer(|| Answer::Hold(String::new())), "Timeout", 3,
            "no answer within 600ms (waiting for the first token), after 3 tries"),
        row("stall before the first token", answer(|| Answer::Hold(raw::head())), "Timeout", 3,
            "no answer within 600ms (waiting for the first token), after 3 tries"),
        row("stall in mid-stream", answer(|| Answer::Hold(raw::head() + EVENT)), "Timeout", 3,
            "no answer within 600ms (between tokens), after 3 tries"),
        row("cut in mid-event", answer(|| Answer::stream(&EVENT[..40])), "Protocol", 3,
            "the server broke the protocol, after 3 tries: the stream ended before the reply was complete"),
        row("cut in the second event", answer(|| Answer::stream(&(EVENT.to_owned() + &EVENT[..40]))), "Protocol", 3,
            "the server broke the protocol, after 3 tries: the stream ended before the reply was complete"),
        row("cut between events", answer(|| Answer::stream(EVENT)), "Protocol", 3,
            "the server broke the protocol, after 3 tries: the stream ended before the reply was complete"),
        row("cut of a body with a length", answer(|| Answer::Close(
                "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n".to_owned() + EVENT)), "Network", 3,
            "network fault at {base}, after 3 tries: *"),
        row("reset before the headers", answer(|| Answer::Reset(String::new())), "Network", 3,
            "network fault at {base}, after 3 tries: *reset*"),
        row("reset in mid-stream", answer(|| Answer::Reset(raw::head() + EVENT)), "Network", 3,
            "network fault at {base}, after 3 tries: *reset*"),
        row("truncated gzip", answer(truncated_gzip), "Protocol", 3,
            "the server broke the protocol, after 3 tries: the reply is compressed (gzip), which the request did not \
             allow; a proxy on the way may do that"),
        row("HTML page", answer(|| Answer::status("200 OK", "Content-Type: text/html\r\n", "<html>hi</html>")), "Protocol", 3,
            "the server broke the protocol, after 3 tries: the reply is not an event stream; is base_url right? \
             It begins: <html>hi</html>"),
        row("HTML error page", answer(|| status("502 Bad Gateway", "<html>502</html>")), "Server", 3,
            "the server failed, after 3 tries: API error (502): <html>502</html>"),
        row("empty 200", answer(|| Answer::status("200 OK", "", "")), "Protocol", 3,
            "the server broke the protocol, after 3 tries: the reply is empty; is base_url right?"),
        row("wrong content type, no stream", answer(|| Answer::status("200 OK", "Content-Type: text/event-stream\r\n", "{\"x\":1}")),
            "Protocol", 3,
            "the server broke the protocol, after 3 tries: the reply is not an event stream; is base_url right? \
             It begins: {\"x\":1}"),
    ]
}

fn truncated_gzip() -> Answer {
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n";
    Answer::Bytes([head.as_bytes(), &[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x4B]].concat())
}

fn class(error: &ModelError) -> String {
    format!("{error:?}").split([' ', '(']).next().unwrap().to_owned()
}

/// Whether `text` is `pattern`, in which `*` is any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap()) else { return false };
    let mut open = false;
    for part in parts {
        open = true;
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty() || (open && pattern.ends_with('*'))
}

#[tokio::test]
async fn each_fault_has_its_class_its_number_of_requests_and_its_words() {
    let tries = rows().into_iter().map(|row| async move {
        let mut server = None;
        let mut hole = None;
        let base = match &row.meets {
            Meets::Answer(answer) => {
                server.insert(Server::start((0..9).map(|_| answer()).collect()).await).base.clone()
            }
            Meets::Nobody => Server::nobody().await,
            Meets::BlackHole => hole.insert(raw::BlackHole::open().await).base.clone(),
        };
        let limit = Duration::from_millis(600);
        let impatient = Provider {
            connect_timeout: limit,
            first_token_timeout: if matches!(row.meets, Meets::Answer(_)) { limit } else { Duration::ZERO },
            idle_timeout: limit,
            retry: Retry { times: 2, ..RETRY },
            ..provider(&base)
        };
        let error = say(&router(impatient)).await.0.unwrap_err();
        let requests = server.map_or(0, |server| server.seen().len());
        let expect = format!("p/m: {}", row.message.replace("{base}", &base));
        let message = error.to_string();
        let right = class(&error) == row.class && requests == row.requests && matches(&expect, &message);
        (!right).then(|| format!("{}: {} after {requests} requests: {message}", row.name, class(&error)))
    });
    let wrong: Vec<String> = futures::future::join_all(tries).await.into_iter().flatten().collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[tokio::test]
async fn the_body_decides_and_not_its_content_type() {
    let plain =
        Answer::status("200 OK", "Content-Type: text/plain\r\nContent-Encoding: identity\r\n", &word("hi"));
    let server = Server::start(vec![plain]).await;
    assert_eq!(say(&router(provider(&server.base))).await.0.unwrap(), a_reply("hi"));
}
