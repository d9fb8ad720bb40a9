//! Tools: whether calls come, in which form, and which histories of calls are taken.

use serde_json::{Value, json};

use super::exchange::{Answer, Call};
use super::finding::Verdict;
use super::patient::{Patient, Taken, short};
use super::texts;
use crate::fault::Fault;
use crate::quirks::{ContentWithoutText, NoteAfterTool, ParallelCalls, ReasoningEcho};

/// All of it. Where no call comes, made-up ones show which histories are taken.
pub(super) async fn examine(patient: &mut Patient<'_>) -> Result<(), Fault> {
    let body = patient.tool_body(vec![texts::user(texts::CALL_ONCE)]);
    let answer = match patient.ask(body).await? {
        Taken::Answered(answer) => answer,
        Taken::Refused(said) => {
            let means =
                if patient.keeps_schema { "use tool_protocol = \"schema\"" } else { "no role can act here" };
            let verdict = if patient.keeps_schema { Verdict::Odd } else { Verdict::Bad };
            patient.note("tool calls", verdict, format!("refused: {said}"), means);
            return Ok(());
        }
    };
    let called = one_call(patient, &answer);
    if called.is_some() {
        parallel(patient).await?;
        empty_arguments(patient).await?;
    }
    let call = called.clone().unwrap_or_else(|| Call {
        id: "call_1".to_owned(),
        name: "note_word".to_owned(),
        arguments: json!({ "word": "ready" }).to_string(),
        index: None,
    });
    let reasoning = answer.reasoning.as_ref().map(|(_, text)| text.as_str());
    let Some(history) = history(patient, &call, reasoning).await? else { return Ok(()) };
    patient.calls_natively = called.is_some();
    without_tools(patient, &history).await?;
    note_after_tool(patient, history).await
}

fn one_call(patient: &mut Patient<'_>, answer: &Answer) -> Option<Call> {
    let calls = answer.calls();
    let Some(call) = calls.first() else {
        let means = match patient.keeps_schema {
            true => "use tool_protocol = \"schema\"",
            false => "this model may not be able to call tools",
        };
        let verdict = if patient.keeps_schema { Verdict::Odd } else { Verdict::Bad };
        let said = if answer.text.trim().is_empty() { "nothing".to_owned() } else { short(&answer.text) };
        patient.note("tool calls", verdict, format!("none; it said: {said}"), means);
        return None;
    };
    let is_object = serde_json::from_str::<Value>(&call.arguments).is_ok_and(|value| value.is_object());
    match (call.name.as_str(), is_object) {
        ("note_word", true) => patient.note("tool calls", Verdict::Good, "called as asked", "roles can act"),
        (name, _) => patient.note(
            "tool calls",
            Verdict::Odd,
            format!("called {} with {}", short(name), short(&call.arguments)),
            "calls come, but the model is not exact",
        ),
    }
    form(patient, answer);
    let id = if call.id.is_empty() { "call_1".to_owned() } else { call.id.clone() };
    Some(Call { id, ..call.clone() })
}

/// How calls are labelled.
fn form(patient: &mut Patient<'_>, answer: &Answer) {
    let all = |has: &dyn Fn(&Value) -> bool| answer.fragments.iter().all(has);
    let mut odd = Vec::new();
    if !answer.whole && !all(&|fragment| fragment["index"].is_u64()) {
        odd.push("no index");
    }
    if answer.calls().iter().any(|call| call.id.is_empty()) {
        odd.push("no id");
    }
    if answer.fragments.iter().any(|fragment| fragment["function"]["arguments"].is_object()) {
        odd.push("arguments as an object");
    }
    if answer.finish.as_deref() != Some("tool_calls") {
        odd.push("finish_reason is not tool_calls");
    }
    match odd.is_empty() {
        true => patient.note("call form", Verdict::Good, "index, id and text arguments", "as the API has it"),
        false => patient.note(
            "call form",
            Verdict::Odd,
            odd.join(", "),
            "tandem joins and labels the calls itself",
        ),
    }
}

async fn parallel(patient: &mut Patient<'_>) -> Result<(), Fault> {
    let body = patient.tool_body(vec![texts::user(texts::CALL_TWICE)]);
    let answer = match patient.ask(body.clone()).await? {
        Taken::Answered(answer) => answer,
        Taken::Refused(said) => {
            patient.note("parallel calls", Verdict::Odd, said, "nothing is known of them");
            return Ok(());
        }
    };
    let calls = answer.calls();
    let whole = |call: &Call| serde_json::from_str::<Value>(&call.arguments).is_ok();
    match calls.len() {
        2.. if calls.iter().all(whole) => {
            patient.quirks.parallel_calls = Some(ParallelCalls::Default);
            let found = format!("{} in one reply", calls.len());
            patient.note("parallel calls", Verdict::Good, found, "reads can run side by side");
        }
        0 | 1 if calls.iter().all(whole) => {
            patient.note("parallel calls", Verdict::Good, "one at a time", "each call takes a round");
        }
        _ => {
            let off = off_is_taken(patient, body).await?;
            patient.quirks.parallel_calls = off.then_some(ParallelCalls::Off);
            let means =
                if off { "they are switched off" } else { "they may fail, and cannot be switched off" };
            patient.note("parallel calls", Verdict::Odd, "mixed up with each other", means);
        }
    }
    Ok(())
}

async fn off_is_taken(
    patient: &mut Patient<'_>,
    mut body: serde_json::Map<String, Value>,
) -> Result<bool, Fault> {
    body.insert("parallel_tool_calls".to_owned(), json!(false));
    Ok(matches!(patient.ask(body).await?, Taken::Answered(_)))
}

async fn empty_arguments(patient: &mut Patient<'_>) -> Result<(), Fault> {
    let body = patient.tool_body(vec![texts::user(texts::CALL_EMPTY)]);
    let Taken::Answered(answer) = patient.ask(body).await? else { return Ok(()) };
    match answer.calls().first().map(|call| call.arguments.trim().to_owned()).as_deref() {
        None => {
            patient.note("empty arguments", Verdict::Good, "not seen: nothing was called", "nothing to do")
        }
        Some("{}") => patient.note("empty arguments", Verdict::Good, "{}", "as the API has it"),
        Some("") => patient.note("empty arguments", Verdict::Odd, "no text at all", "taken for {}"),
        Some(other) => {
            patient.note("empty arguments", Verdict::Odd, short(other), "the tool checks what it is given")
        }
    }
    Ok(())
}

/// The messages of a call and its result in the first form that is taken, and `None` when none is.
async fn history(
    patient: &mut Patient<'_>,
    call: &Call,
    reasoning: Option<&str>,
) -> Result<Option<Vec<Value>>, Fault> {
    let reasoning = reasoning.unwrap_or(texts::RESULT).trim();
    let forms = [
        (ContentWithoutText::Null, ReasoningEcho::None),
        (ContentWithoutText::Empty, ReasoningEcho::None),
        (ContentWithoutText::Null, ReasoningEcho::ReasoningContent),
        (ContentWithoutText::Null, ReasoningEcho::Reasoning),
        (ContentWithoutText::Empty, ReasoningEcho::ReasoningContent),
    ];
    let mut refusals = Vec::new();
    // In the common form; the quirks turn it into the form that is tried.
    let assistant = json!({
        "role": "assistant", "content": null, "reasoning_content": reasoning,
        "tool_calls": [{
            "id": call.id, "type": "function",
            "function": { "name": call.name, "arguments": call.arguments },
        }],
    });
    let result = json!({ "role": "tool", "tool_call_id": call.id, "content": texts::RESULT.trim() });
    let messages = vec![texts::user(texts::CALL_ONCE), assistant, result];
    for (content, echo) in forms {
        patient.quirks.content_without_text = Some(content);
        patient.quirks.reasoning_echo = Some(echo);
        match patient.ask(patient.tool_body(messages.clone())).await? {
            Taken::Answered(_) => {
                told(patient, content, echo, refusals.first());
                return Ok(Some(messages));
            }
            Taken::Refused(said) => refusals.push(said),
        }
    }
    patient.quirks.content_without_text = None;
    patient.quirks.reasoning_echo = None;
    let found = format!("refused in every form: {}", refusals.first().map_or("", String::as_str));
    let means = if patient.keeps_schema { "use tool_protocol = \"schema\"" } else { "no role can act here" };
    let verdict = if patient.keeps_schema { Verdict::Odd } else { Verdict::Bad };
    patient.note("call in history", verdict, found, means);
    Ok(None)
}

fn told(
    patient: &mut Patient<'_>,
    content: ContentWithoutText,
    echo: ReasoningEcho,
    refusal: Option<&String>,
) {
    let content = match content {
        ContentWithoutText::Null => "content null",
        ContentWithoutText::Empty => "content empty",
    };
    let echo = match echo {
        ReasoningEcho::None => "",
        ReasoningEcho::ReasoningContent => " and reasoning_content",
        ReasoningEcho::Reasoning => " and reasoning",
    };
    match refusal {
        None => patient.note(
            "call in history",
            Verdict::Good,
            format!("taken with {content}{echo}"),
            "as the API has it",
        ),
        Some(refusal) => patient.note(
            "call in history",
            Verdict::Odd,
            format!("taken with {content}{echo} only; else: {refusal}"),
            "earlier calls are sent in that form",
        ),
    }
}

async fn without_tools(patient: &mut Patient<'_>, history: &[Value]) -> Result<(), Fault> {
    let mut body = patient.tool_body(history.to_vec());
    body.remove("tools");
    match patient.ask(body).await? {
        Taken::Answered(_) => {
            patient.note(
                "calls without tools",
                Verdict::Good,
                "taken",
                "tandem quotes earlier calls as text anyway",
            );
        }
        Taken::Refused(said) => patient.note(
            "calls without tools",
            Verdict::Odd,
            format!("refused: {said}"),
            "no matter: tandem quotes earlier calls as text",
        ),
    }
    Ok(())
}

async fn note_after_tool(patient: &mut Patient<'_>, mut history: Vec<Value>) -> Result<(), Fault> {
    history.push(texts::user(texts::NOTE));
    match patient.ask(patient.tool_body(history)).await? {
        Taken::Answered(_) => {
            patient.quirks.note_after_tool = Some(NoteAfterTool::User);
            patient.note("note after a tool", Verdict::Good, "taken", "reminders stand by themselves");
        }
        Taken::Refused(said) => {
            patient.quirks.note_after_tool = Some(NoteAfterTool::Fold);
            let found = format!("refused: {said}");
            patient.note(
                "note after a tool",
                Verdict::Odd,
                found,
                "reminders go to the end of the last result",
            );
        }
    }
    Ok(())
}
