//! The planner's toolbox: it offers and runs read tools, and there is nothing else that it could hold.

use futures::future::BoxFuture;
use tandem_shared::call::{ErrorKind, Outcome, ToolCall};
use tandem_shared::template::fill;
use tandem_shared::tool::{Access, ReadCx, ReadTools, ToolSpec, Toolbox};

/// What a call of any other tool is answered with.
const UNKNOWN: &str = include_str!("../../prompts/notes/unknown_tool_planner.md");
/// Characters shown of a name that was made up.
const NAME_CHARS: usize = 80;

/// All that the planner can do. A tool that writes cannot be put in, because nothing in this crate can name one:
///
/// ```compile_fail
/// use tandem_planner::PlannerToolbox;
/// use tandem_shared::tool::ReadCx;
/// fn smuggle(tools: tandem_executor::WriteTools, cx: ReadCx) -> PlannerToolbox {
///     PlannerToolbox::new(tools, cx)
/// }
/// ```
///
/// ```
/// use tandem_planner::PlannerToolbox;
/// use tandem_shared::tool::ReadCx;
/// fn look(tools: tandem_shared::tool::ReadTools, cx: ReadCx) -> PlannerToolbox {
///     PlannerToolbox::new(tools, cx)
/// }
/// ```
pub struct PlannerToolbox {
    tools: ReadTools,
    cx: ReadCx,
}

impl PlannerToolbox {
    /// A toolbox of `tools` (usually [`crate::planner_tools`]) that looks through `cx`.
    pub fn new(tools: ReadTools, cx: ReadCx) -> PlannerToolbox {
        PlannerToolbox { tools, cx }
    }
}

impl Toolbox for PlannerToolbox {
    fn specs(&self) -> Vec<ToolSpec> {
        self.tools.specs()
    }

    fn access(&self, _name: &str) -> Access {
        Access::Read
    }

    fn run<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            match self.tools.run(call, self.cx.clone()).await {
                Some(outcome) => outcome,
                None => Outcome::error(ErrorKind::UnknownTool, unknown(&call.name, &self.tools)),
            }
        })
    }
}

fn unknown(name: &str, tools: &ReadTools) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).take(NAME_CHARS).collect();
    let names: Vec<String> = tools.specs().into_iter().map(|spec| spec.name).collect();
    fill(UNKNOWN, &[("name", &name), ("tools", &names.join(", "))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    fn run(name: &str, arguments: &str) -> Outcome {
        let tree = Tree::of(&[("a", "x\n")]);
        let toolbox = PlannerToolbox::new(crate::planner_tools(), tree.cx());
        let call = ToolCall { id: "1".into(), name: name.into(), arguments: arguments.into() };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(toolbox.run(&call))
    }

    #[test]
    fn what_is_offered_is_what_runs() {
        let toolbox = PlannerToolbox::new(crate::planner_tools(), Tree::of(&[]).cx());
        let names: Vec<String> = toolbox.specs().into_iter().map(|spec| spec.name).collect();
        let expect = [
            "ask_user",
            "ast_search",
            "glob",
            "grep",
            "list_dir",
            "outline",
            "read_file",
            "recall",
            "submit_plan",
        ];
        assert_eq!(names, expect);
        for name in names {
            // Every tool has an argument that `{"?": 1}` is not, so each answers for itself.
            let Outcome::Error(error) = run(&name, "{\"?\": 1}") else { panic!("{name}") };
            assert_eq!(error.kind, ErrorKind::InvalidArguments, "{name}");
        }
    }

    #[test]
    fn a_write_that_was_made_up_is_told_what_this_mode_is() {
        for name in ["edit_file", "write_file", "run_command", "Read_File", ""] {
            let Outcome::Error(error) = run(name, "{}") else { panic!("{name}") };
            assert_eq!(error.kind, ErrorKind::UnknownTool, "{name}");
            for part in [name, "plan mode", "submit_plan", "read_file, recall"] {
                assert!(error.text.contains(part), "{name}: {}", error.text);
            }
            assert!(!error.text.contains("{{"), "{}", error.text);
        }
    }

    #[test]
    fn the_executors_share_has_no_submit_plan() {
        assert!(!crate::read_tools().contains("submit_plan"));
        assert!(crate::read_tools().contains("grep"));
    }

    #[test]
    fn every_argument_and_tool_is_described_in_few_words() {
        for spec in crate::planner_tools().specs() {
            let words = spec.description.split_whitespace().count();
            assert!((10..120).contains(&words), "{}: {words} words", spec.name);
            for (name, argument) in spec.parameters["properties"].as_object().unwrap() {
                assert!(argument["description"].is_string(), "{}.{name} has no description", spec.name);
            }
            assert_eq!(spec.parameters["additionalProperties"], false, "{}", spec.name);
        }
    }
}
