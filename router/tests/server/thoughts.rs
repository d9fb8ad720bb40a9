//! What stands in a reply beside its words: thoughts, calls without an end, and counts that cannot be right.

use super::*;

/// A reply in these pieces that ends so.
fn reply(deltas: &[Value], finish: &str, usage: &Value) -> Answer {
    let mut chunks: Vec<Value> =
        deltas.iter().map(|delta| json!({ "choices": [{ "delta": delta }] })).collect();
    chunks.push(json!({ "choices": [{ "delta": {}, "finish_reason": finish }], "usage": usage }));
    Answer::stream(&(sse(&chunks) + "data: [DONE]\n\n"))
}

fn text(deltas: &[&str]) -> Vec<Value> {
    deltas.iter().map(|text| json!({ "content": text })).collect()
}

#[tokio::test]
async fn thoughts_are_shown_apart_and_kept_in_the_turn_but_not_in_mere_words() {
    let thinks =
        || reply(&text(&["<thi", "nk>a <", " b</think>", "\n\nyes", " <think>"]), "stop", &Value::Null);
    let server = Server::start(vec![thinks(), thinks()]).await;
    let router = router(provider(&server.base));
    let (acted, heard) = act_aloud(&router, vec![Message::User { text: "go".to_owned() }]).await;
    assert_eq!(acted.unwrap().text, "<think>a < b</think>\n\nyes <think>");
    let reasoning = |text: &str| Delta::Reasoning(text.to_owned());
    let words = |text: &str| Delta::Text(text.to_owned());
    assert_eq!(heard, [reasoning("a "), reasoning("< b"), words("yes"), words(" <think>")]);
    assert_eq!(say(&router).await.0.unwrap().text, "yes <think>");
}

#[tokio::test]
async fn unknown_fields_of_a_stream_do_no_harm() {
    let odd = [json!({ "content": "hi", "audio": { "x": 1 }, "tool_calls": null, "annotations": [] })];
    let server = Server::start(vec![reply(
        &odd,
        "stop",
        &json!({ "prompt_tokens": 5, "completion_tokens": 1, "z": [] }),
    )])
    .await;
    assert_eq!(say(&router(provider(&server.base))).await.0.unwrap(), a_reply("hi"));
}

#[tokio::test]
async fn a_call_without_an_end_is_completed_unless_a_limit_cut_it_off() {
    let call = [
        json!({ "tool_calls": [{ "id": "c1", "function": { "name": "grep", "arguments": "{\"q\":[\"a" } }] }),
    ];
    let used = |completion: u64| json!({ "prompt_tokens": 5, "completion_tokens": completion });
    let cases = [
        ("tool_calls", used(8), "{\"q\":[\"a\"]}", Finish::Stop),
        ("length", used(8), "{\"q\":[\"a", Finish::Length),
        // The server says that the model was done, and counts as many tokens as the limit allows.
        ("tool_calls", used(9), "{\"q\":[\"a", Finish::Length),
        // The window is full.
        ("stop", json!({ "prompt_tokens": 8_190, "completion_tokens": 2 }), "{\"q\":[\"a", Finish::Length),
    ];
    for (finish, usage, arguments, expect) in cases {
        let server = Server::start(vec![reply(&call, finish, &usage)]).await;
        let binding = Binding { max_tokens: Some(9), ..binding() };
        let router =
            Router::new(vec![provider(&server.base)], HashMap::from([(Role::Planner, binding)])).unwrap();
        let reply = act(&router, Vec::new()).await.unwrap();
        assert_eq!(
            (reply.calls[0].arguments.as_str(), reply.finish),
            (arguments, expect),
            "{finish} {usage}"
        );
    }
}

#[tokio::test]
async fn a_server_that_seems_to_cut_requests_is_named_once_and_its_count_doubted() {
    let long = || vec![Message::User { text: "word ".repeat(2_000) }];
    let counts = |prompt: u64| {
        reply(&text(&["hi"]), "stop", &json!({ "prompt_tokens": prompt, "completion_tokens": 1 }))
    };
    let server = Server::start([1_000, 1_000, 2_000].map(counts).into()).await;
    let router = router(provider(&server.base));
    let doubted = Some(Usage { prompt: 1_000, cached: 0, completion: 1, doubtful: true });
    let (reply, heard) = act_aloud(&router, long()).await;
    assert_eq!(reply.unwrap().usage, doubted);
    let expect = "p/m counted 1000 prompt tokens where about 2525 were sent: the server seems to cut long requests \
                  without a word. Raise its context length (num_ctx, -c, --max-model-len), or set context_window to \
                  what it really has.";
    assert_eq!(heard, [Delta::Text("hi".to_owned()), Delta::Alarm { text: expect.to_owned() }]);
    let (reply, heard) = act_aloud(&router, long()).await;
    assert_eq!((reply.unwrap().usage, heard), (doubted, vec![Delta::Text("hi".to_owned())]));
    let (reply, heard) = act_aloud(&router, long()).await;
    assert_eq!(
        reply.unwrap().usage,
        Some(Usage { prompt: 2_000, cached: 0, completion: 1, doubtful: false })
    );
    assert_eq!(heard, [Delta::Text("hi".to_owned())]);
}

#[tokio::test]
async fn a_short_request_raises_no_alarm() {
    let server = Server::start(vec![Answer::stream(&word("hi"))]).await;
    let (reply, heard) =
        act_aloud(&router(provider(&server.base)), vec![Message::User { text: "a ".repeat(2_000) }]).await;
    assert_eq!(reply.unwrap().usage, Some(Usage { prompt: 5, cached: 0, completion: 1, doubtful: false }));
    assert_eq!(heard, [Delta::Text("hi".to_owned())]);
}
