//! What the scripted models say, request by request.

use std::collections::{BTreeMap, VecDeque};

use super::reply::Reply;
use super::request::Request;

/// What the model says, by the name it is asked under. A name is a role, or a role and a suffix: `executor-cheap`.
#[derive(Default)]
pub struct Script {
    replies: BTreeMap<String, VecDeque<Reply>>,
    minds: BTreeMap<String, Mind>,
}

/// A model that goes by what it is told, not by how often it was asked.
type Mind = Box<dyn Fn(&Request) -> Reply + Send + Sync>;

impl Script {
    pub fn new() -> Script {
        Script::default()
    }

    /// The next answers of `model`, in order. When they run out, it says `done`.
    pub fn say(mut self, model: &str, replies: impl IntoIterator<Item = Reply>) -> Script {
        self.replies.entry(model.to_owned()).or_default().extend(replies);
        self
    }

    /// The answer of `model` to any request.
    pub fn think(mut self, model: &str, mind: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Script {
        self.minds.insert(model.to_owned(), Box::new(mind));
        self
    }

    /// The answer to `request`, taken from the list of its model.
    pub fn next(&mut self, request: &Request) -> Reply {
        if let Some(mind) = self.minds.get(&request.model) {
            return mind(request);
        }
        let Some(queue) = self.replies.get_mut(&request.model) else { return Reply::text("done") };
        match queue.front_mut() {
            Some(reply) if reply.repeat > 1 => {
                reply.repeat -= 1;
                reply.clone()
            }
            Some(_) => queue.pop_front().unwrap_or_default(),
            None => Reply::text("done"),
        }
    }
}
