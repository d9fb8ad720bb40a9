//! `recall`: an earlier output of this session, whole again, a page at a time.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{ErrorKind, Outcome, ToolError, ToolOutput};
use tandem_shared::plain_text::plain;
use tandem_shared::tool::{ReadCx, ReadTool};

use crate::off_thread::off_thread;
use crate::page::{self, Bounds, Content};
use crate::wrapped::Wrapped;

/// Reads an earlier output back.
#[derive(Clone, Copy, Debug)]
pub struct Recall;

/// Arguments of `recall`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecallArgs {
    /// The id that stands where the output was cut or cleared.
    pub id: String,
    /// First line to read, counted from 1. Default: 1.
    pub start_line: Option<usize>,
    /// Last line to read, inclusive. Default: as far as one read goes.
    pub end_line: Option<usize>,
}

impl ReadTool for Recall {
    type Args = RecallArgs;
    const NAME: &'static str = "recall";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/recall.md");

    async fn call(&self, args: RecallArgs, cx: ReadCx) -> Outcome {
        off_thread(move || recall(&args, &cx)).await
    }
}

fn recall(args: &RecallArgs, cx: &ReadCx) -> Result<Outcome, ToolError> {
    let id = args.id.trim();
    let (first, last) = page::line_range(args.start_line, args.end_line)?;
    let Some(output) = cx.archive.recall(id) else {
        return Err(ToolError::new(
            ErrorKind::PathNotFound,
            format!(
                "No output of this session has the id {id:?}. Use an id exactly as it stands in a cut or cleared \
                 result, or run the tool again."
            ),
        ));
    };
    let limits = &cx.limits;
    let bounds = Bounds { lines: limits.read_lines, bytes: limits.read_bytes, line_chars: limits.read_bytes };
    let scanned = page::scan(Wrapped::new(output), first..=last, bounds)
        .map_err(|error| ToolError::new(ErrorKind::Io, format!("{id} cannot be read: {error}.")))?;
    let page = match scanned {
        Content::Text(page) => page,
        Content::Binary => {
            let text = format!("The output {id} is not text and cannot be shown.");
            return Err(ToolError::new(ErrorKind::Binary, text));
        }
    };
    if first > page.total.max(1) {
        let text =
            format!("The output {id} has {} lines; start_line {first} lies beyond its end.", page.total);
        return Err(ToolError::new(ErrorKind::InvalidArguments, text));
    }
    let reached = first + page.lines.len().saturating_sub(1);
    let lines: Vec<String> = page.lines.iter().map(|line| plain(line)).collect();
    let mut text = lines.join("\n");
    if reached < page.total || first > 1 {
        let advice = match reached < page.total.min(last) {
            true => format!("; go on with start_line {}", reached + 1),
            false => String::new(),
        };
        text.push_str(&format!("\n[lines {first}-{reached} of {}{advice}]", page.total));
    }
    Ok(Outcome::Ok(ToolOutput::text(text).from_source(format!("earlier output {id}")).as_page()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::{Outputs, Tree, run};
    use serde_json::json;

    fn check(args: serde_json::Value, expect: Outcome) {
        let long: String = (1..=2500).map(|n| format!("{n}\n")).collect();
        let outputs = vec![("short", "a\nb\n".to_owned()), ("long", long), ("wide", "x".repeat(60_000))];
        let cx = ReadCx { archive: Arc::new(Outputs(outputs)), ..Tree::of(&[]).cx() };
        assert_eq!(run(&cx, "recall", args), expect);
    }

    fn page(id: &str, text: &str) -> Outcome {
        Outcome::Ok(ToolOutput::text(text).from_source(format!("earlier output {id}")).as_page())
    }

    #[test]
    fn an_output_comes_back_whole_or_page_by_page() {
        check(json!({"id": "short"}), page("short", "a\nb"));
        check(json!({"id": "short", "start_line": 2}), page("short", "b\n[lines 2-2 of 2]"));
        let first: Vec<String> = (1..=2000).map(|n| n.to_string()).collect();
        let expect = format!("{}\n[lines 1-2000 of 2500; go on with start_line 2001]", first.join("\n"));
        check(json!({"id": "long"}), page("long", &expect));
        check(
            json!({"id": "long", "start_line": 7, "end_line": 8}),
            page("long", "7\n8\n[lines 7-8 of 2500]"),
        );
    }

    #[test]
    fn one_enormous_line_is_wrapped() {
        let lines = vec!["x".repeat(4_000); 12].join("\n");
        let expect = format!("{lines}\n[lines 1-12 of 15; go on with start_line 13]");
        check(json!({"id": "wide"}), page("wide", &expect));
        let rest = vec!["x".repeat(4_000); 3].join("\n");
        let expect = format!("{rest}\n[lines 13-15 of 15]");
        check(json!({"id": "wide", "start_line": 13}), page("wide", &expect));
    }

    #[test]
    fn an_unknown_id_is_not_found() {
        check(
            json!({"id": "gone"}),
            Outcome::error(
                ErrorKind::PathNotFound,
                "No output of this session has the id \"gone\". Use an id exactly as it stands in a cut or cleared \
                 result, or run the tool again.",
            ),
        );
    }
}
