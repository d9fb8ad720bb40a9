//! Trees in temporary folders and a call to one tool, for the tests of this crate.

#![expect(clippy::disallowed_methods, reason = "tests build what the tools then look at")]

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use tandem_shared::call::{Outcome, ToolCall};
use tandem_shared::interrupt::Interrupt;
use tandem_shared::leave::ReadLeave;
use tandem_shared::person::{Answer, Nobody, Person, Question};
use tandem_shared::tool::{Archive, ReadCx, ReadLimits};
use tandem_shared::workspace::Workspace;

/// A project in a temporary folder.
pub(crate) struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let tree = Tree { dir: tempfile::tempdir().unwrap() };
        for (path, text) in files {
            tree.bytes(path, text.as_bytes());
        }
        tree
    }

    pub(crate) fn bytes(&self, path: &str, bytes: &[u8]) {
        let path = self.dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        std::os::unix::fs::symlink(target, self.dir.path().join(path)).unwrap();
    }

    pub(crate) fn hard_link(&self, path: &str, target: &str) {
        std::fs::hard_link(self.dir.path().join(target), self.dir.path().join(path)).unwrap();
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.dir.path()
    }

    pub(crate) fn cx(&self) -> ReadCx {
        ReadCx {
            workspace: Workspace::open(self.dir.path()).unwrap(),
            archive: Arc::new(Outputs(Vec::new())),
            person: Arc::new(Nobody),
            interrupt: Interrupt::new(),
            leave: ReadLeave::none(),
            limits: Arc::new(ReadLimits {
                read_lines: 2000,
                read_bytes: 50 * 1024,
                line_chars: 2000,
                file_bytes: 10 * 1024 * 1024,
                matches: 200,
                match_chars: 10_000,
            }),
        }
    }
}

/// Earlier outputs by id.
pub(crate) struct Outputs(pub(crate) Vec<(&'static str, String)>);

impl Archive for Outputs {
    fn recall<'a>(&'a self, id: &str) -> Option<Box<dyn std::io::Read + 'a>> {
        let (_, text) = self.0.iter().find(|(known, _)| *known == id)?;
        Some(Box::new(text.as_bytes()))
    }
}

/// A person who gives one answer and remembers what was asked.
pub(crate) struct Answering {
    pub(crate) answer: Answer,
    pub(crate) asked: Mutex<Vec<Question>>,
}

impl Person for Answering {
    fn ask(&self, question: Question) -> BoxFuture<'_, Option<Answer>> {
        self.asked.lock().unwrap().push(question);
        let answer = self.answer.clone();
        Box::pin(async move { Some(answer) })
    }
}

/// One call by name, as the loop would make it.
pub(crate) fn run(cx: &ReadCx, name: &str, args: serde_json::Value) -> Outcome {
    let call = ToolCall { id: "1".into(), name: name.into(), arguments: args.to_string() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(crate::planner_tools().run(&call, cx.clone())).unwrap()
}

/// Names every case that failed, not only the first.
pub(crate) fn list_failures(failures: Vec<String>) {
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}
