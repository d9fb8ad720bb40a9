//! Words: whether the endpoint answers, streams and counts, and what it calls things.

use serde_json::json;

use super::exchange::Answer;
use super::finding::Verdict;
use super::patient::{LIMITS, Patient, SYSTEM_ROLES, Taken, bare, short};
use super::texts;
use crate::fault::Fault;
use crate::quirks::StreamUsage;

/// Tokens of an answer while the name of the limit is looked for.
const FEW_TOKENS: u64 = 64;

/// All of it, in the order in which each builds on the one before.
pub(super) async fn examine(patient: &mut Patient<'_>) -> Result<(), Fault> {
    models(patient).await?;
    answer(patient).await?;
    usage(patient).await?;
    limit(patient).await?;
    system(patient).await?;
    schema(patient).await
}

async fn models(patient: &mut Patient<'_>) -> Result<(), Fault> {
    let model = patient.candidate.binding.model.clone();
    match patient.list().await {
        None => {}
        Some(Ok(models)) if models.contains(&model) => {
            patient.note(
                "models",
                Verdict::Good,
                format!("{}, this one among them", models.len()),
                "the name is right",
            );
        }
        Some(Ok(models)) => {
            let near: Vec<&str> = models.iter().take(3).map(String::as_str).collect();
            let found = format!("{} without this one: {}", models.len(), short(&near.join(", ")));
            patient.note("models", Verdict::Odd, found, "the name may be wrong, or the list not complete");
        }
        Some(Err(fault @ (Fault::Network(_) | Fault::NotConfigured(_) | Fault::Timeout { .. }))) => {
            return Err(fault);
        }
        Some(Err(fault)) if fault.is_authentication() => return Err(fault),
        Some(Err(fault)) => {
            patient.note(
                "models",
                Verdict::Odd,
                short(&fault.reason()),
                "no list of models; nothing needs it",
            );
        }
    }
    Ok(())
}

async fn answer(patient: &mut Patient<'_>) -> Result<(), Fault> {
    let body = bare(&patient.candidate.binding.model, vec![texts::user(texts::READY)]);
    let answer = match patient.ask(body).await? {
        Taken::Answered(answer) => answer,
        Taken::Refused(said) => {
            return Err(Fault::Protocol(format!("the plainest request is refused: {said}")));
        }
    };
    let kind = answer.content_type.split(';').next().unwrap_or_default().trim().to_owned();
    match (answer.events, answer.is_complete()) {
        (0, _) if answer.whole => {
            patient.note("streaming", Verdict::Odd, "one whole answer", "text appears when it is complete");
        }
        (0, _) => {
            return Err(Fault::Protocol(format!(
                "the answer ({kind}) is neither a stream of events nor JSON"
            )));
        }
        (_, false) => {
            return Err(Fault::Protocol("the stream ended without [DONE] or a finish_reason".to_owned()));
        }
        (events, true) => {
            let end = if answer.done { "[DONE]" } else { "a finish_reason, no [DONE]" };
            let verdict = if kind == "text/event-stream" { Verdict::Good } else { Verdict::Odd };
            let kind = if kind.is_empty() { "no content type" } else { &kind };
            patient.note(
                "streaming",
                verdict,
                format!("{events} events, {kind}, {end}"),
                "text appears as it comes",
            );
        }
    }
    reasoning(patient, &answer);
    Ok(())
}

fn reasoning(patient: &mut Patient<'_>, answer: &Answer) {
    match &answer.reasoning {
        Some((name, _)) => {
            patient.note(
                "reasoning",
                Verdict::Good,
                format!("in the field {name}"),
                "shown apart from the answer",
            );
        }
        None if answer.text.contains("<think>") => {
            patient.note("reasoning", Verdict::Odd, "as <think> in the text", "shown apart, kept as it came");
        }
        None => patient.note("reasoning", Verdict::Good, "none seen", "nothing to do"),
    }
}

async fn usage(patient: &mut Patient<'_>) -> Result<(), Fault> {
    let body = patient.body(vec![texts::user(texts::READY)]);
    let mut asked = patient.ask(body).await?;
    if let Taken::Refused(said) = &asked {
        let found = format!("stream_options refused: {said}");
        patient.quirks.stream_usage = Some(StreamUsage::Never);
        patient.note("usage", Verdict::Odd, found, "the stream is not asked to report tokens");
        let body = patient.body(vec![texts::user(texts::READY)]);
        asked = patient.ask(body).await?;
    } else {
        patient.quirks.stream_usage = Some(StreamUsage::Ask);
    }
    let Taken::Answered(answer) = asked else { return Ok(()) };
    match (answer.prompt_tokens(), answer.cached_tokens()) {
        (Some(tokens), Some(cached)) => patient.note(
            "usage",
            Verdict::Good,
            format!("{tokens} prompt tokens, {cached} of them cached"),
            "tokens and cost are exact",
        ),
        (Some(tokens), None) => patient.note(
            "usage",
            Verdict::Good,
            format!("{tokens} prompt tokens, no word of a cache"),
            "tokens are exact; what a cache saves is not seen",
        ),
        (None, _) => {
            patient.note("usage", Verdict::Odd, "not reported", "tokens are estimated and marked `about`")
        }
    }
    Ok(())
}

async fn limit(patient: &mut Patient<'_>) -> Result<(), Fault> {
    let mut refusals = String::new();
    for (field, name) in LIMITS {
        let mut body = patient.body(vec![texts::user(texts::READY)]);
        body.insert(name.to_owned(), json!(FEW_TOKENS));
        match patient.ask(body).await? {
            Taken::Answered(_) => {
                patient.quirks.max_tokens_field = Some(field);
                patient.unlimited = false;
                let verdict = if refusals.is_empty() { Verdict::Good } else { Verdict::Odd };
                patient.note("limit", verdict, format!("{name} is taken"), "answers can be limited");
                return Ok(());
            }
            Taken::Refused(said) => refusals = said,
        }
    }
    patient.note("limit", Verdict::Odd, refusals, "leave max_tokens unset, and thinking without a limit");
    Ok(())
}

async fn system(patient: &mut Patient<'_>) -> Result<(), Fault> {
    let mut refusals = String::new();
    for (role, name) in SYSTEM_ROLES {
        patient.quirks.system_role = Some(role);
        let system = json!({ "role": "system", "content": texts::SYSTEM.trim() });
        let body = patient.body(vec![system, texts::user(texts::READY)]);
        match patient.ask(body).await? {
            Taken::Answered(_) => {
                let verdict = if refusals.is_empty() { Verdict::Good } else { Verdict::Odd };
                patient.note(
                    "system",
                    verdict,
                    format!("the role {name} is taken"),
                    "the rules go under that role",
                );
                return Ok(());
            }
            Taken::Refused(said) => refusals = said,
        }
    }
    Err(Fault::Protocol(format!("no role for the system text is taken: {refusals}")))
}

async fn schema(patient: &mut Patient<'_>) -> Result<(), Fault> {
    let mut body = patient.body(vec![texts::user(texts::COLOUR)]);
    body.insert("response_format".to_owned(), texts::response_format());
    match patient.ask(body).await? {
        Taken::Refused(said) => {
            patient.note(
                "json schema",
                Verdict::Odd,
                format!("refused: {said}"),
                "tool_protocol = \"schema\" will not do",
            );
        }
        Taken::Answered(answer) => {
            let reply: Option<serde_json::Value> = serde_json::from_str(answer.text.trim()).ok();
            let colour = reply.and_then(|reply| reply["colour"].as_str().map(str::to_owned));
            patient.keeps_schema = colour.is_some_and(|colour| texts::COLOURS.contains(&colour.as_str()));
            match patient.keeps_schema {
                true => patient.note(
                    "json schema",
                    Verdict::Good,
                    "kept to",
                    "tool_protocol = \"schema\" would do",
                ),
                false => patient.note(
                    "json schema",
                    Verdict::Odd,
                    format!("taken and not kept to: {}", short(&answer.text)),
                    "tool_protocol = \"schema\" will not do",
                ),
            }
        }
    }
    Ok(())
}
