//! Requests in the form that an endpoint wants: quirks, extra fields, and what is refused before anything is sent.

use super::*;

/// Fields that only the provider knows.
fn own() -> OwnFields {
    let fields = |value: Value| value.as_object().unwrap().clone();
    OwnFields {
        message: fields(json!({ "details": [1, 2] })),
        calls: vec![fields(json!({ "extra_content": { "signature": "s" } }))],
    }
}

/// A call without text, its result, and a note.
fn conversation(origin: &str) -> Vec<Message> {
    vec![
        Message::User { text: "go".to_owned() },
        Message::Assistant {
            text: String::new(),
            reasoning: Some("because".to_owned()),
            own: own(),
            origin: Some(origin.to_owned()),
            calls: vec![ToolCall {
                id: "c1".to_owned(),
                name: "grep".to_owned(),
                arguments: "{}".to_owned(),
            }],
        },
        Message::Tool { call_id: "c1".to_owned(), text: "found".to_owned() },
        Message::User { text: "note".to_owned() },
    ]
}

/// The request that goes out with these quirks.
async fn sent(quirks: &Value, origin: &str) -> Value {
    let server = Server::start(vec![Answer::stream(&word("hi"))]).await;
    let quirks: Quirks = serde_json::from_value(quirks.clone()).unwrap();
    let provider = Provider { quirks, ..provider(&server.base) };
    let binding = Binding { max_tokens: Some(9), ..binding() };
    let router = Router::new(vec![provider], HashMap::from([(Role::Planner, binding)])).unwrap();
    act(&router, conversation(origin)).await.unwrap();
    server.seen()[0].json()
}

#[tokio::test]
async fn each_quirk_changes_its_part_of_the_request_and_nothing_else() {
    let common = sent(&json!({}), "p/m").await;
    let said = |role: &str, content: &str| json!({ "role": role, "content": content });
    let result = json!({ "role": "tool", "tool_call_id": "c1", "content": "found" });
    assert_eq!(common["messages"][0], said("system", "look"));
    assert_eq!(common["messages"][2]["content"], Value::Null);
    assert_eq!(common["messages"][3], result);

    let changed = |change: &dyn Fn(&mut Value)| {
        let mut body = common.clone();
        change(&mut body);
        body
    };
    let without = |body: &mut Value, key: &str| body.as_object_mut().unwrap().remove(key).unwrap();
    let cases: [(Value, Value); 16] = [
        (json!({ "note_after_tool": "user" }), common.clone()),
        (
            json!({ "note_after_tool": "fold" }),
            changed(&|body| {
                body["messages"][3]["content"] = json!("found\n\nnote");
                body["messages"].as_array_mut().unwrap().truncate(4);
            }),
        ),
        (json!({ "content_without_text": "null" }), common.clone()),
        (
            json!({ "content_without_text": "empty" }),
            changed(&|body| body["messages"][2]["content"] = json!("")),
        ),
        (json!({ "reasoning_echo": "none" }), common.clone()),
        (
            json!({ "reasoning_echo": "reasoning_content" }),
            changed(&|body| body["messages"][2]["reasoning_content"] = json!("because")),
        ),
        (
            json!({ "reasoning_echo": "reasoning" }),
            changed(&|body| body["messages"][2]["reasoning"] = json!("because")),
        ),
        (json!({ "unknown_fields": "drop" }), common.clone()),
        (
            json!({ "unknown_fields": "echo" }),
            changed(&|body| {
                body["messages"][2]["details"] = json!([1, 2]);
                body["messages"][2]["tool_calls"][0]["extra_content"] = json!({ "signature": "s" });
            }),
        ),
        (json!({ "parallel_calls": "default" }), common.clone()),
        (json!({ "parallel_calls": "off" }), changed(&|body| body["parallel_tool_calls"] = json!(false))),
        (
            json!({ "system_role": "developer" }),
            changed(&|body| body["messages"][0]["role"] = json!("developer")),
        ),
        (
            json!({ "system_role": "user" }),
            changed(&|body| {
                body["messages"].as_array_mut().unwrap().remove(0);
                body["messages"][0] = said("user", "look\n\ngo");
            }),
        ),
        (
            json!({ "max_tokens_field": "max_completion_tokens" }),
            changed(&|body| {
                let limit = without(body, "max_tokens");
                body["max_completion_tokens"] = limit;
            }),
        ),
        (json!({ "stream_usage": "ask" }), common.clone()),
        (json!({ "stream_usage": "never" }), changed(&|body| drop(without(body, "stream_options")))),
    ];
    for (quirks, expect) in cases {
        assert_eq!(sent(&quirks, "p/m").await, expect, "{quirks}");
    }
}

#[tokio::test]
async fn reasoning_and_own_fields_go_back_only_to_the_provider_they_came_from() {
    let echo = json!({ "reasoning_echo": "reasoning_content", "unknown_fields": "echo" });
    let came_from_here = (json!("because"), json!([1, 2]), json!({ "signature": "s" }));
    let nothing = || (Value::Null, Value::Null, Value::Null);
    for (origin, expect) in [("p/other", came_from_here), ("q/m", nothing()), ("pp/m", nothing())] {
        let message = &sent(&echo, origin).await["messages"][2];
        let call = &message["tool_calls"][0];
        let got = ["reasoning_content", "details"].map(|name| message[name].clone());
        assert_eq!((got[0].clone(), got[1].clone(), call["extra_content"].clone()), expect, "{origin}");
    }
}

#[tokio::test]
async fn fields_that_only_the_provider_knows_are_kept_with_the_reply() {
    let call = |rest: Value| {
        let mut call = json!({ "index": 0, "id": "c1", "function": { "name": "grep", "arguments": "" } });
        call.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        call
    };
    let stream = sse(&[
        json!({ "choices": [{ "delta": { "details": [1], "audio": null, "tool_calls": [call(json!({}))] } }] }),
        json!({ "choices": [{ "delta": { "details": [2], "tool_calls": [
            call(json!({ "extra_content": { "signature": "s" } })),
        ] }, "finish_reason": "tool_calls" }] }),
    ]);
    let server = Server::start(vec![Answer::stream(&stream)]).await;
    let reply = act(&router(provider(&server.base)), Vec::new()).await.unwrap();
    assert_eq!((reply.own, reply.calls.len()), (own(), 1));
}

#[tokio::test]
async fn a_refusal_for_content_is_met_once_with_the_other_form_which_then_stays() {
    let refused = || Answer::status("400 Bad Request", "", "messages.2.content: expected a string, got null");
    let answers =
        vec![refused(), Answer::stream(&word("a")), Answer::stream(&word("b")), refused(), refused()];
    let server = Server::start(answers).await;
    let router = router(provider(&server.base));
    let (reply, heard) = act_aloud(&router, conversation("p/m")).await;
    assert_eq!(reply.unwrap().text, "a");
    assert!(matches!(&heard[0], Delta::Retry { attempt: 1, wait: Duration::ZERO, .. }), "{heard:?}");
    assert_eq!(act(&router, conversation("p/m")).await.unwrap().text, "b");
    let error = act(&router, conversation("p/m")).await.unwrap_err();
    assert!(matches!(error, ModelError::BadRequest { status: 400, .. }), "{error:?}");
    let contents: Vec<Value> =
        server.seen().iter().map(|seen| seen.json()["messages"][2]["content"].clone()).collect();
    assert_eq!(contents, [Value::Null, json!(""), json!(""), json!(""), Value::Null]);
}

#[tokio::test]
async fn a_refusal_that_the_other_form_would_not_change_is_final() {
    let server = Server::start(vec![Answer::status("400 Bad Request", "", "content is not allowed")]).await;
    assert!(say(&router(provider(&server.base))).await.0.is_err());
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn extra_fields_go_in_last_and_replace_nothing_that_matters() {
    let extra = |value: Value| value.as_object().unwrap().clone();
    let server = Server::start(vec![Answer::stream(&word("hi"))]).await;
    let fields = extra(json!({ "top_k": 5, "stream_options": { "include_usage": false } }));
    say(&router(Provider { extra_body: fields, ..provider(&server.base) })).await.0.unwrap();
    let body = server.seen()[0].json();
    assert_eq!((&body["top_k"], &body["stream_options"]["include_usage"]), (&json!(5), &json!(false)));

    for key in ["messages", "model", "stream", "tools"] {
        let provider = Provider { extra_body: extra(json!({ key: 1 })), ..provider("https://h") };
        let error = Router::new(vec![provider], HashMap::from([(Role::Planner, binding())])).unwrap_err();
        let expect =
            format!("the provider p: extra_body may not hold {key:?}, which every request sets itself");
        assert_eq!(error.to_string(), expect);
    }
}

#[test]
fn an_unencrypted_request_to_another_machine_needs_leave() {
    let bind = |base: &str, plaintext: Plaintext| {
        let provider = Provider { plaintext, ..provider(base) };
        error(&Router::new(vec![provider], HashMap::from([(Role::Planner, binding())])))
    };
    let expect = "the provider p: base_url \"http://10.0.0.1/v1\" is not encrypted and leads to another machine; use \
                  https://, or set allow_http = true for this provider";
    assert_eq!(bind("http://10.0.0.1/v1", Plaintext::LoopbackOnly), expect);
    assert_eq!(bind("http://10.0.0.1/v1", Plaintext::Allowed), "");
    assert_eq!(bind("https://10.0.0.1/v1", Plaintext::LoopbackOnly), "");
    assert_eq!(bind("http://localhost:1/v1", Plaintext::LoopbackOnly), "");
}
