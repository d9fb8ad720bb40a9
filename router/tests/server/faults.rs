//! What goes wrong on the way, what is tried again, and what is said in the end.

use super::*;

/// The retries that were heard, as attempt and reason.
fn retries(heard: &[Delta]) -> Vec<(u32, String)> {
    let retries = heard.iter().filter_map(|delta| match delta {
        Delta::Retry { attempt, reason, .. } => Some((*attempt, reason.clone())),
        _ => None,
    });
    retries.collect()
}

#[tokio::test]
async fn a_refused_key_is_not_tried_again_and_read_afresh_next_time() {
    let server = Server::start(vec![
        Answer::status("401 Unauthorized", "", "no such key"),
        Answer::stream(&word("hi")),
    ])
    .await;
    let router = router(provider(&server.base));
    let error = say(&router).await.0.unwrap_err();
    assert!(matches!(error, ModelError::Authentication { status: 401, .. }), "{error:?}");
    let expect = "p/m: authentication failed: API error (401): no such key\n\
                  The key comes from the environment variable TEST_KEY.";
    assert_eq!(error.to_string(), expect);
    assert_eq!(server.seen().len(), 1);

    say(&router).await.0.unwrap();
    assert_eq!(server.seen()[1].header("authorization"), Some(format!("Bearer {KEY}-1").as_str()));
}

#[tokio::test]
async fn a_rate_limit_is_waited_for_as_long_as_the_server_asks() {
    let server = Server::start(vec![
        Answer::status("429 Too Many Requests", "Retry-After: 1\r\n", "slow down"),
        Answer::stream(&word("hi")),
    ])
    .await;
    let (reply, heard) = say(&router(provider(&server.base))).await;
    assert_eq!(reply.unwrap(), a_reply("hi"));
    let Some(Delta::Retry { attempt: 1, wait, reason }) = heard.first() else { panic!("{heard:?}") };
    assert_eq!(reason, "API error (429): slow down");
    assert!((Duration::from_secs(1)..Duration::from_millis(1_200)).contains(wait), "{wait:?}");
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_failing_server_is_tried_as_often_as_configured() {
    let down = || Answer::status("503 Service Unavailable", "retry-after-ms: 10\r\n", "<b>down</b>");
    let server = Server::start((0..5).map(|_| down()).collect()).await;
    let (reply, heard) =
        say(&router(Provider { retry: Retry { times: 2, ..RETRY }, ..provider(&server.base) })).await;
    let error = reply.unwrap_err();
    assert!(matches!(error, ModelError::Server { status: 503, attempts: 3, .. }), "{error:?}");
    let reason = "API error (503): <b>down</b>".to_owned();
    assert_eq!(retries(&heard), [(1, reason.clone()), (2, reason)]);
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_bad_request_or_one_that_is_too_long_is_sent_once() {
    let too_long = "This model's maximum context length is 10 tokens";
    let server = Server::start(vec![
        Answer::status("404 Not Found", "", "no such model"),
        Answer::status("400 Bad Request", "", too_long),
        Answer::status("307 Temporary Redirect", "Location: http://127.0.0.1:9/\r\n", ""),
    ])
    .await;
    let router = router(provider(&server.base));
    assert_eq!(say(&router).await.0.unwrap_err().to_string(), "p/m: API error (404): no such model");
    let error = say(&router).await.0.unwrap_err();
    assert!(matches!(error, ModelError::ContextOverflow { status: 400, .. }), "{error:?}");
    let error = say(&router).await.0.unwrap_err().to_string();
    assert!(error.contains("(307): the server redirects to http://127.0.0.1:9/"), "{error}");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_cut_stream_is_asked_for_again_and_its_text_declared_void() {
    let half = sse(&[json!({ "choices": [{ "delta": { "content": "hal" } }] })]);
    let server = Server::start(vec![Answer::stream(&half), Answer::stream(&word("hi"))]).await;
    let (reply, heard) = say(&router(provider(&server.base))).await;
    assert_eq!(reply.unwrap(), a_reply("hi"));
    assert_eq!(heard.first(), Some(&Delta::Text("hal".to_owned())));
    let reason = "the stream ended before the reply was complete".to_owned();
    assert_eq!(retries(&heard), [(1, reason)]);
    assert_eq!(heard.last(), Some(&Delta::Text("hi".to_owned())));
}

#[tokio::test]
async fn a_connection_that_breaks_half_way_is_a_network_fault() {
    // More is announced than comes.
    let broken = "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\ndata: {}\n\n";
    let server = Server::start(vec![Answer::Close(broken.to_owned())]).await;
    let error = say(&router(Provider { retry: Retry { times: 0, ..RETRY }, ..provider(&server.base) }))
        .await
        .0
        .unwrap_err();
    assert!(matches!(error, ModelError::Network { attempts: 1, .. }), "{error:?}");
}

#[tokio::test]
async fn a_page_instead_of_a_stream_is_given_up_after_three_faults() {
    let page = || Answer::status("200 OK", "Content-Type: text/html\r\n", "<html>Welcome</html>");
    let server = Server::start(vec![page(), Answer::status("200 OK", "", ""), page(), page()]).await;
    let error = say(&router(provider(&server.base))).await.0.unwrap_err();
    let expect = "p/m: the server broke the protocol, after 3 tries: \
                  the reply is not an event stream; is base_url right? It begins: <html>Welcome</html>";
    assert_eq!(error.to_string(), expect);
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn an_error_in_the_stream_is_treated_as_its_status() {
    let late = sse(&[
        json!({ "choices": [{ "delta": { "content": "a" } }] }),
        json!({ "error": { "code": 400, "message": "the context window is exceeded" } }),
    ]);
    let server = Server::start(vec![Answer::stream(&late)]).await;
    let error = say(&router(provider(&server.base))).await.0.unwrap_err();
    assert!(matches!(error, ModelError::ContextOverflow { status: 400, .. }), "{error:?}");
}

#[tokio::test]
async fn silence_runs_into_the_limit_of_its_phase() {
    let limit = Duration::from_millis(150);
    for begun in [String::new(), raw::head()] {
        let silent = Server::start(vec![Answer::Hold(begun)]).await;
        let impatient = Provider {
            first_token_timeout: limit,
            retry: Retry { times: 0, ..RETRY },
            ..provider(&silent.base)
        };
        let error = say(&router(impatient)).await.0.unwrap_err();
        let expect = "p/m: no answer within 150ms (waiting for the first token), after 1 try";
        assert_eq!(error.to_string(), expect);
    }

    let half = sse(&[json!({ "choices": [{ "delta": { "content": "hal" } }] })]);
    let stalled = Server::start(vec![Answer::Hold(raw::head() + &half)]).await;
    let impatient =
        Provider { idle_timeout: limit, retry: Retry { times: 0, ..RETRY }, ..provider(&stalled.base) };
    let error = say(&router(impatient)).await.0.unwrap_err();
    assert_eq!(error.to_string(), "p/m: no answer within 150ms (between tokens), after 1 try");
}

#[tokio::test]
async fn comments_of_the_stream_count_as_life() {
    // Together they last longer than the limit; each comes well before it.
    let mut pieces = vec![raw::head()];
    pieces.extend((0..8).map(|_| ": busy\n\n".to_owned()));
    pieces.push(word("hi"));
    let server = Server::start(vec![Answer::Slow(pieces, Duration::from_millis(200))]).await;
    let limit = Duration::from_millis(1_200);
    let patient = Provider {
        first_token_timeout: limit,
        idle_timeout: limit,
        retry: Retry { times: 0, ..RETRY },
        ..provider(&server.base)
    };
    assert_eq!(say(&router(patient)).await.0.unwrap(), a_reply("hi"));
}

#[tokio::test]
async fn nobody_there_is_a_network_fault_with_the_address() {
    let base = Server::nobody().await;
    let error =
        say(&router(Provider { retry: Retry { times: 0, ..RETRY }, ..provider(&base) })).await.0.unwrap_err();
    let ModelError::Network { url, attempts: 1, reason, .. } = &error else { panic!("{error:?}") };
    assert_eq!(*url, base);
    assert!(reason.to_lowercase().contains("refused"), "{reason}");
}
