//! Looks for model servers, and reads the lists of models that servers give.

use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;

use crate::ask::read_body;
use crate::transport::{http_client, trim_base};

/// Bytes of a list of models at most; the longest public one is about a tenth of it.
pub(crate) const LIST_BYTES: usize = 8 * 1024 * 1024;

/// Asks each of `base_urls` for its models, all at the same time and without a key, and waits for `limit` at most.
/// Gives the URLs in their order, with model ids, of those that answer with a list as the OpenAI API has it. The list may
/// be empty where a server runs without a model.
pub async fn find_local(base_urls: &[String], limit: Duration) -> Vec<(String, Vec<String>)> {
    let asked = base_urls.iter().map(|base| async move {
        let models = tokio::time::timeout(limit, list(base)).await.ok().flatten()?;
        Some((base.clone(), models))
    });
    join_all(asked).await.into_iter().flatten().collect()
}

async fn list(base: &str) -> Option<Vec<String>> {
    let base = trim_base(base);
    let client = http_client(base, Duration::ZERO, None).ok()?;
    let mut response = client.get(format!("{base}/models")).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    model_ids(&read_body(&mut response, LIST_BYTES).await.ok()?)
}

/// The ids of a list of models, or `None` when it is something else. Other programs use the same ports.
pub(crate) fn model_ids(body: &[u8]) -> Option<Vec<String>> {
    let list: Value = serde_json::from_slice(body).ok()?;
    if list.get("object").is_some_and(|object| object != "list") {
        return None;
    }
    let models = match list.get("data")? {
        Value::Array(models) => models.as_slice(),
        // Ollama's way of saying that there are none.
        Value::Null if list["object"] == "list" => &[],
        _ => return None,
    };
    models.iter().map(|model| model["id"].as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_of_models_is_one() {
        let check = |body: &str, expect: Option<&[&str]>| {
            let expect: Option<Vec<String>> =
                expect.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect());
            assert_eq!(model_ids(body.as_bytes()), expect, "{body}");
        };
        check(r#"{"object":"list","data":[{"id":"a"},{"id":"b/c"}]}"#, Some(&["a", "b/c"]));
        check(r#"{"data":[{"id":"a"}]}"#, Some(&["a"]));
        check(r#"{"object":"list","data":null}"#, Some(&[]));
        check(r#"{"object":"list","data":[]}"#, Some(&[]));
        check(r#"{"data":null}"#, None);
        check(r#"{"data":[{"name":"a"}]}"#, None);
        check(r#"{"object":"error","data":[]}"#, None);
        check(r#"{"data":"x"}"#, None);
        check("[]", None);
        check("<html>", None);
    }
}
