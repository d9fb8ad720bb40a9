//! `ask_user`: a decision that only the person can make.

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_shared::call::{ErrorKind, Outcome};
use tandem_shared::person::{Answer, Question};
use tandem_shared::tool::{ReadCx, ReadTool};

/// What the model is told when nobody is there.
const NOBODY: &str = include_str!("../../prompts/notes/nobody_answers.md");

/// Asks the person.
#[derive(Clone, Copy, Debug)]
pub struct AskUser;

/// Arguments of `ask_user`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskUserArgs {
    /// The question, with what the person needs to know to decide.
    pub question: String,
    /// Possible answers, the recommended one first. The person may also answer freely.
    pub options: Option<Vec<String>>,
}

impl ReadTool for AskUser {
    type Args = AskUserArgs;
    const NAME: &'static str = "ask_user";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/ask_user.md");

    async fn call(&self, args: AskUserArgs, cx: ReadCx) -> Outcome {
        let text = args.question.trim();
        if text.is_empty() {
            return Outcome::error(ErrorKind::InvalidArguments, "The question is blank. Nobody was asked.");
        }
        let question = Question::Choose { text: text.to_owned(), options: args.options.unwrap_or_default() };
        let answer = tokio::select! {
            answer = cx.person.ask(question) => answer,
            () = cx.interrupt.raised() => {
                return Outcome::Interrupted("The run was stopped before the person answered.".to_owned());
            }
        };
        Outcome::text(match answer {
            Some(Answer::Text { text }) => format!("The user answers: {text}"),
            Some(Answer::Yes | Answer::Always) => "The user answers: yes".to_owned(),
            Some(Answer::No { reason }) if reason.trim().is_empty() => "The user answers: no".to_owned(),
            Some(Answer::No { reason }) => format!("The user answers: no. {reason}"),
            None => NOBODY.trim().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::testing::{Answering, Tree, run};
    use serde_json::json;

    fn check(answer: Answer, expect: &str) {
        let person = Arc::new(Answering { answer, asked: Mutex::default() });
        let cx = ReadCx { person: person.clone(), ..Tree::of(&[]).cx() };
        let got = run(&cx, "ask_user", json!({"question": " Which? ", "options": ["a", "b"]}));
        assert_eq!(got, Outcome::text(expect));
        let asked = Question::Choose { text: "Which?".into(), options: vec!["a".into(), "b".into()] };
        assert_eq!(*person.asked.lock().unwrap(), [asked]);
    }

    #[test]
    fn the_answer_reaches_the_model_in_the_persons_words() {
        check(Answer::Text { text: "b, but quickly".into() }, "The user answers: b, but quickly");
        check(Answer::Yes, "The user answers: yes");
        check(Answer::No { reason: String::new() }, "The user answers: no");
        check(Answer::No { reason: "too early".into() }, "The user answers: no. too early");
    }

    #[test]
    fn when_nobody_answers_the_model_decides_and_says_so() {
        let got = run(&Tree::of(&[]).cx(), "ask_user", json!({"question": "Which?"}));
        assert_eq!(got, Outcome::text(NOBODY.trim()));
        assert!(NOBODY.contains("assum"));
    }

    #[test]
    fn a_blank_question_is_not_asked() {
        let got = run(&Tree::of(&[]).cx(), "ask_user", json!({"question": " "}));
        assert_eq!(
            got,
            Outcome::error(ErrorKind::InvalidArguments, "The question is blank. Nobody was asked.")
        );
    }
}
