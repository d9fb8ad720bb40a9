//! Tools in words, for models that cannot call them.

use super::*;

fn in_words(server: &Server) -> Router {
    router(Provider { tool_protocol: ToolProtocol::Schema, ..provider(&server.base) })
}

fn go() -> Vec<Message> {
    vec![Message::User { text: "go".to_owned() }]
}

fn pieces(text: &[&str], finish: &str) -> Answer {
    let mut chunks: Vec<Value> =
        text.iter().map(|text| json!({ "choices": [{ "delta": { "content": text } }] })).collect();
    chunks.push(json!({ "choices": [{ "delta": {}, "finish_reason": finish }] }));
    Answer::stream(&sse(&chunks))
}

#[tokio::test]
async fn tools_are_offered_in_words_and_a_reply_becomes_a_call() {
    let server =
        Server::start(vec![pieces(&["{\"tool\":\"grep\",", "\"arguments\":{\"q\":1}}"], "stop")]).await;
    let call =
        |id: &str| ToolCall { id: id.to_owned(), name: "grep".to_owned(), arguments: "{\"q\":1}".to_owned() };
    let earlier = vec![
        go().remove(0),
        Message::Assistant {
            text: String::new(),
            reasoning: None,
            own: OwnFields::default(),
            origin: None,
            calls: vec![call("c1")],
        },
        Message::Tool { call_id: "c1".to_owned(), text: "found".to_owned() },
    ];
    let (reply, heard) = act_aloud(&in_words(&server), earlier).await;
    let reply = reply.unwrap();
    assert_eq!(heard, []);
    assert!(reply.calls[0].id.starts_with("call_"), "{:?}", reply.calls);
    let expect = Reply {
        text: String::new(),
        reasoning: None,
        own: OwnFields::default(),
        calls: vec![call(&reply.calls[0].id)],
        finish: Finish::Stop,
        usage: None,
    };
    assert_eq!(reply, expect);

    let body = server.seen()[0].json();
    assert_eq!(body.get("tools"), None);
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("look\n\n# How you act"), "{system}");
    assert!(system.ends_with("## grep\n\nfinds\n\nArguments: {\"type\":\"object\"}"), "{system}");
    let rest: Vec<&str> = (1..4).map(|at| body["messages"][at]["content"].as_str().unwrap()).collect();
    assert_eq!(rest, ["go", "{\"tool\":\"grep\",\"arguments\":{\"q\":1}}", "[result of grep]\nfound"]);
    let schema = json!({ "anyOf": [
        {
            "type": "object",
            "properties": { "tool": { "const": "grep" }, "arguments": { "type": "object" } },
            "required": ["tool", "arguments"],
            "additionalProperties": false,
        },
        {
            "type": "object",
            "properties": { "answer": { "type": "string" } },
            "required": ["answer"],
            "additionalProperties": false,
        },
    ] });
    let format = json!({
        "type": "json_schema",
        "json_schema": { "name": "step", "strict": true, "schema": schema },
    });
    assert_eq!(body["response_format"], format);
}

#[tokio::test]
async fn of_an_answer_only_its_words_are_heard() {
    let server =
        Server::start(vec![pieces(&["{\"ans", "wer\": \"a\\", "nb ", "\\\"c\\\"\"}"], "stop")]).await;
    let (reply, heard) = act_aloud(&in_words(&server), go()).await;
    assert_eq!(reply.unwrap().text, "a\nb \"c\"");
    let shown: String = heard
        .iter()
        .map(|delta| match delta {
            Delta::Text(text) => text.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!((shown.as_str(), heard.len()), ("a\nb \"c\"", 3));
}

#[tokio::test]
async fn a_reply_in_another_form_is_a_fault_of_the_protocol() {
    let prose = || pieces(&["Let me look."], "stop");
    let server = Server::start(vec![prose(), pieces(&["{\"answer\":\"so\"}"], "stop")]).await;
    let (reply, heard) = act_aloud(&in_words(&server), go()).await;
    assert_eq!(reply.unwrap().text, "so");
    assert!(matches!(heard.as_slice(), [Delta::Retry { attempt: 1, .. }, Delta::Text(_)]), "{heard:?}");

    let server = Server::start((0..4).map(|_| prose()).collect()).await;
    let error = act(&in_words(&server), go()).await.unwrap_err();
    let expect = "p/m: the server broke the protocol, after 3 tries: the reply is no JSON object, which the request \
                  asked for: expected value at line 1 column 1";
    assert_eq!((error.to_string().as_str(), server.seen().len()), (expect, 3));
}

#[tokio::test]
async fn a_reply_without_its_end_is_completed_unless_the_limit_cut_it_off() {
    let open = ["{\"tool\":\"grep\",\"arguments\":{\"q\":\"a"];
    let server = Server::start(vec![pieces(&open, "stop"), pieces(&open, "length")]).await;
    let router = in_words(&server);
    assert_eq!(act(&router, go()).await.unwrap().calls[0].arguments, "{\"q\":\"a\"}");
    let cut = act(&router, go()).await.unwrap();
    assert_eq!((cut.text.as_str(), cut.calls, cut.finish), (open[0], Vec::new(), Finish::Length));
}

#[tokio::test]
async fn a_call_in_the_api_s_own_way_is_as_good() {
    let call = json!({ "id": "c1", "function": { "name": "grep", "arguments": "{}" } });
    let chunk = json!({ "choices": [{ "delta": { "tool_calls": [call] }, "finish_reason": "tool_calls" }] });
    let server = Server::start(vec![Answer::stream(&sse(&[chunk]))]).await;
    assert_eq!(act(&in_words(&server), go()).await.unwrap().calls[0].id, "c1");
}

#[tokio::test]
async fn words_are_asked_for_as_ever() {
    let server = Server::start(vec![Answer::stream(&word("hi"))]).await;
    assert_eq!(say(&in_words(&server)).await.0.unwrap(), a_reply("hi"));
    assert_eq!(server.seen()[0].json().get("response_format"), None);
}
