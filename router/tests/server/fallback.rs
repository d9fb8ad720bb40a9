//! Models that stand in for one that cannot be reached.

use super::*;

fn other(server: &Server) -> Provider {
    Provider { name: "q".to_owned(), retry: Retry { times: 0, ..RETRY }, ..provider(&server.base) }
}

#[tokio::test]
async fn another_model_is_asked_when_the_retries_are_spent() {
    let down = || Answer::status("503 Service Unavailable", "retry-after-ms: 1\r\n", "down");
    let half = sse(&[json!({ "choices": [{ "delta": { "content": "hal" } }] })]);
    let first = Server::start(vec![down(), Answer::stream(&half)]).await;
    let second = Server::start(vec![Answer::stream(&word("hi")), Answer::stream(&word("again"))]).await;
    let router = router_of(
        Provider { retry: Retry { times: 1, ..RETRY }, ..provider(&first.base) },
        vec![other(&second)],
    );
    let (reply, heard) = say(&router).await;
    assert_eq!(reply.unwrap(), a_reply("hi"));
    let reason = "p/m: the server broke the protocol, after 2 tries: \
                  the stream ended before the reply was complete";
    let fallback = Delta::Fallback { to: "q/n".to_owned(), reason: reason.to_owned() };
    let [Delta::Retry { .. }, Delta::Text(_), told, Delta::Text(text)] = heard.as_slice() else {
        panic!("{heard:?}")
    };
    assert_eq!((told, text.as_str()), (&fallback, "hi"));
    assert_eq!(first.seen().len(), 2);
    assert_eq!(second.seen()[0].json()["model"], "n");
    assert_eq!(router.info(Role::Planner).name, "p/m");
}

#[tokio::test]
async fn what_another_model_would_not_mend_is_reported_at_once() {
    for (status, body) in [
        ("401 Unauthorized", "no"),
        ("404 Not Found", "no such model"),
        ("400 Bad Request", "the context length is exceeded"),
    ] {
        let first = Server::start(vec![Answer::status(status, "", body)]).await;
        let second = Server::start(vec![Answer::stream(&word("hi"))]).await;
        let (reply, heard) = say(&router_of(provider(&first.base), vec![other(&second)])).await;
        assert!(reply.is_err(), "{status}");
        assert_eq!((heard, second.seen().len()), (Vec::new(), 0), "{status}");
    }
}

#[tokio::test]
async fn the_last_model_s_error_is_the_one_reported() {
    let refused = |body: &str| Answer::status("429 Too Many Requests", "", body);
    let first = Provider { retry: Retry { times: 0, ..RETRY }, ..provider(&Server::nobody().await) };
    let second = Server::start(vec![refused("two")]).await;
    let third = Server::start(vec![refused("three")]).await;
    let third_provider = Provider { name: "r".to_owned(), ..other(&third) };
    let (reply, heard) = say(&router_of(first, vec![other(&second), third_provider])).await;
    assert_eq!(reply.unwrap_err().to_string(), "r/n: rate limit, after 1 try: API error (429): three");
    let to: Vec<&str> = heard
        .iter()
        .filter_map(|delta| match delta {
            Delta::Fallback { to, .. } => Some(to.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(to, ["q/n", "r/n"]);
}

#[tokio::test]
async fn a_model_that_could_not_be_reached_is_asked_last_for_a_while() {
    let down = || Answer::status("503 Service Unavailable", "", "down");
    let first = Server::start(vec![down(), Answer::stream(&word("back"))]).await;
    let second = Server::start(vec![Answer::stream(&word("a")), Answer::stream(&word("b")), down()]).await;
    let router = router_of(
        Provider { retry: Retry { times: 0, ..RETRY }, ..provider(&first.base) },
        vec![other(&second)],
    );
    say(&router).await.0.unwrap();
    let (reply, heard) = say(&router).await;
    assert_eq!(reply.unwrap(), a_reply("b"));
    let reason = "p/m could not be reached a moment ago".to_owned();
    assert_eq!(heard[0], Delta::Fallback { to: "q/n".to_owned(), reason });
    assert_eq!((first.seen().len(), second.seen().len()), (1, 2));

    let (reply, heard) = say(&router).await;
    assert_eq!(reply.unwrap(), a_reply("back"));
    assert!(matches!(&heard[1], Delta::Fallback { to, .. } if to == "p/m"), "{heard:?}");
}

#[test]
fn a_fallback_needs_a_provider() {
    let fallback = vec![FallbackModel { provider: "gone".to_owned(), model: "n".to_owned() }];
    let bound = HashMap::from([(Role::Executor, Binding { fallback, ..binding() })]);
    let error = Router::new(vec![provider("https://h")], bound).unwrap_err().to_string();
    let expect = "the role executor uses the provider \"gone\", which is not configured; there are: p";
    assert_eq!(error, expect);
}
