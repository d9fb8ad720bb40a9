//! What is sent, what is answered, and what is never shown.

use super::*;

#[tokio::test]
async fn a_plain_request_carries_the_key_and_no_tools() {
    let server = Server::start(vec![Answer::stream(&word("hi"))]).await;
    // The slash at the end is what people paste.
    let router = router(provider(&format!("{}/", server.base)));
    let (reply, heard) = say(&router).await;
    assert_eq!(reply.unwrap(), a_reply("hi"));
    assert_eq!(heard, [Delta::Text("hi".to_owned())]);

    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(seen[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(seen[0].header("content-type"), Some("application/json"));
    assert_eq!(seen[0].header("x-team"), Some("blue"));
    let expect = json!({
        "model": "m",
        "messages": [
            { "role": "system", "content": "be brief" },
            { "role": "user", "content": "hello" },
        ],
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    assert_eq!(seen[0].json(), expect);
}

#[tokio::test]
async fn an_acting_model_offers_tools_and_calls_them() {
    let call =
        |id: &str| json!({ "index": 0, "id": id, "function": { "name": "grep", "arguments": "{\"q\":1}" } });
    let stream = sse(&[
        json!({ "choices": [{ "delta": { "reasoning_content": "hm", "tool_calls": [call("c1")] } }] }),
        json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }),
    ]);
    let server = Server::start(vec![Answer::stream(&stream), Answer::stream(&stream)]).await;
    let router = router(provider(&server.base));
    let first = act(&router, vec![Message::User { text: "go".to_owned() }]).await.unwrap();
    let expect = Reply {
        text: String::new(),
        reasoning: Some("hm".to_owned()),
        own: OwnFields::default(),
        calls: vec![ToolCall {
            id: "c1".to_owned(),
            name: "grep".to_owned(),
            arguments: "{\"q\":1}".to_owned(),
        }],
        finish: Finish::Stop,
        usage: None,
    };
    assert_eq!(first, expect);
    assert_eq!(server.seen()[0].json()["tools"][0]["function"]["name"], "grep");

    // The server uses the id again; in one conversation ids must differ.
    let earlier = Message::Assistant {
        text: String::new(),
        reasoning: None,
        own: OwnFields::default(),
        origin: None,
        calls: first.calls,
    };
    let second = act(&router, vec![earlier]).await.unwrap();
    assert_eq!(second.calls.len(), 1);
    assert!(second.calls[0].id.starts_with("call_"), "{:?}", second.calls);
}

#[tokio::test]
async fn the_next_request_finds_the_connection_open() {
    let server = Server::start(vec![Answer::chunked(&word("a")), Answer::chunked(&word("b"))]).await;
    let router = router(provider(&server.base));
    assert_eq!(say(&router).await.0.unwrap(), a_reply("a"));
    assert_eq!(say(&router).await.0.unwrap(), a_reply("b"));
    let connections: Vec<usize> = server.seen().iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [1, 1]);
}

#[tokio::test]
async fn an_endpoint_without_a_key_gets_no_authorization() {
    let server = Server::start(vec![Answer::stream(&word("hi"))]).await;
    let router = router(Provider { key: Arc::new(NoKey), ..provider(&server.base) });
    say(&router).await.0.unwrap();
    assert_eq!(server.seen()[0].header("authorization"), None);
}

#[tokio::test]
async fn a_missing_key_is_an_error_only_when_the_role_is_asked() {
    let router = router(Provider { key: Arc::new(Missing), ..provider("http://127.0.0.1:9") });
    assert_eq!(router.info(Role::Thinking).name, "p/m");
    assert_eq!(router.info(Role::Thinking).context_window, Some(8_192));
    let error = say(&router).await.0.unwrap_err().to_string();
    assert_eq!(error, "p/m: set the environment variable TEST_KEY");
}

#[tokio::test]
async fn the_key_is_in_no_debug_output_and_in_no_error() {
    let echo = format!("{{\"error\":{{\"message\":\"bad key {KEY} sk-abcdefghijkl\"}}}}");
    let server = Server::start(vec![Answer::status("400 Bad Request", "", &echo)]).await;
    let provider = Provider {
        headers: vec![("x-key".to_owned(), "header-secret".to_owned())],
        ..provider(&server.base)
    };
    let router = router(provider.clone());
    let error = say(&router).await.0.unwrap_err();
    assert_eq!(error.to_string(), "p/m: API error (400): {\"error\":{\"message\":\"bad key *** sk-***\"}}");
    let shown = format!("{provider:?} {router:?} {error:?}");
    assert!(!shown.contains(KEY) && !shown.contains("header-secret"), "{shown}");
    assert!(shown.contains("the environment variable TEST_KEY"), "{shown}");
}

#[tokio::test]
async fn dropping_the_request_closes_the_connection() {
    let half = sse(&[json!({ "choices": [{ "delta": { "content": "hal" } }] })]);
    for begun in [String::new(), raw::head() + &half] {
        let server = Server::start(vec![Answer::Hold(begun)]).await;
        let router = router(provider(&server.base));
        tokio::select! {
            done = say(&router) => panic!("{done:?}"),
            () = server.holding() => {}
        }
        // The future is dropped; the server waits for the connection to close.
        server.closed().await;
    }
}

#[tokio::test]
async fn a_probe_lists_the_provider_s_models() {
    let list = r#"{"object":"list","data":[{"id":"a"},{"id":"m"}]}"#;
    let server =
        Server::start(vec![Answer::status("200 OK", "", list), Answer::status("403 Forbidden", "", "no")])
            .await;
    let router = router(provider(&server.base));
    assert_eq!(router.probe(Role::Planner).await.unwrap(), ["a", "m"]);
    assert_eq!(server.seen()[0].line, "GET /v1/models HTTP/1.1");
    assert_eq!(server.seen()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let error = router.probe(Role::Planner).await.unwrap_err();
    assert!(matches!(error, ModelError::Authentication { status: 403, .. }), "{error:?}");
}

#[tokio::test]
async fn local_servers_are_found_without_a_key_and_in_order() {
    let models =
        Server::start(vec![Answer::status("200 OK", "", r#"{"object":"list","data":[{"id":"a"}]}"#)]).await;
    let other = Server::start(vec![Answer::status("200 OK", "", "<html>a printer</html>")]).await;
    let silent = Server::start(vec![Answer::Hold(String::new())]).await;
    let bases = [Server::nobody().await, silent.base.clone(), other.base.clone(), models.base.clone()];
    let found = find_local(&bases, Duration::from_millis(500)).await;
    assert_eq!(found, [(models.base.clone(), vec!["a".to_owned()])]);
    assert_eq!(models.seen()[0].header("authorization"), None);
}

#[tokio::test]
async fn a_script_streams_replies_by_role_until_it_is_over() {
    let planner = json!({
        "role": "planner", "text": "Ich sehe später nach – 😀 in aller Ruhe.", "reasoning": "hm",
        "calls": [{ "name": "grep", "arguments": { "q": "é" } }, { "name": "odd", "arguments": "{not json" }],
    });
    let thinking = json!({ "role": "thinking", "text": "words" });
    let script = Arc::new(Cassette::parse(&format!("{planner}\n{thinking}\n")).unwrap());
    let router = router(Provider {
        key: Arc::new(Missing),
        transport: Transport::Replayed(script),
        ..provider("not looked at")
    });

    let heard = Mutex::new(Vec::new());
    let request = ActionRequest { system: String::new(), messages: Vec::new(), tools: Vec::new() };
    let planner = router.acting(ActingRole::Planner);
    let reply = planner.act(request.clone(), &|delta| heard.lock().unwrap().push(delta)).await.unwrap();
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    assert_eq!(reply.text, "Ich sehe später nach – 😀 in aller Ruhe.");
    assert_eq!(reply.reasoning.as_deref(), Some("hm"));
    assert_eq!(
        reply.calls,
        [call("call_1_1", "grep", "{\"q\":\"é\"}"), call("call_1_2", "odd", "{not json")]
    );
    assert!(reply.usage.is_some_and(|usage| usage.prompt > 0 && usage.completion > 0));
    assert!(heard.into_inner().unwrap().len() > 3, "it comes in several pieces");

    assert_eq!(say(&router).await.0.unwrap().text, "words");
    assert_eq!(router.probe(Role::Executor).await.unwrap(), ["m"]);
    let error = planner.act(request, &|_| {}).await.unwrap_err();
    let expect = "p/m: the server broke the protocol, after 1 try: \
                  the cassette has no answer left for the role planner";
    assert_eq!(error.to_string(), expect);
}

#[test]
fn what_can_be_known_to_be_wrong_is_said_at_once() {
    let binding = Binding {
        provider: "q".to_owned(),
        model: "m".to_owned(),
        temperature: None,
        max_tokens: None,
        context_window: None,
        price: None,
        fallback: Vec::new(),
    };
    let bind = |providers: Vec<Provider>| {
        Router::new(providers, HashMap::from([(Role::Planner, binding.clone())])).unwrap_err().to_string()
    };
    let expect = "the role planner uses the provider \"q\", which is not configured; there are: p";
    assert_eq!(bind(vec![provider("http://h")]), expect);
    let named = |base: &str| Provider { name: "q".to_owned(), ..provider(base) };
    let expect = "the provider q: base_url \"h/v1\" is not usable: relative URL without a base";
    assert_eq!(bind(vec![named("h/v1")]), expect);
    let bad = Provider { headers: vec![("x y".to_owned(), "z".to_owned())], ..named("https://h") };
    let expect = "the provider q: the header \"x y\" has a name or value that HTTP does not allow";
    assert_eq!(bind(vec![bad]), expect);
}

#[tokio::test]
async fn an_unbound_role_says_which_key_to_set() {
    let router = Router::new(Vec::new(), HashMap::new()).unwrap();
    let expect = "no model is bound to the role thinking; set roles.thinking.model";
    assert_eq!(say(&router).await.0.unwrap_err().to_string(), expect);
    assert_eq!(error(&router.probe(Role::Thinking).await), expect);
    assert_eq!(Value::from(router.info(Role::Thinking).name), "none");
}
