//! Where things come in to a session: what the front end says, and what tools ask of the person meanwhile.

use std::collections::{BTreeMap, VecDeque};

use tandem_shared::digest::Digest;
use tandem_shared::event::Op;
use tandem_shared::person::{Answer, Question};
use tokio::sync::{mpsc, oneshot};

use super::asking::Asked;

/// What comes in, and the questions that wait for an answer.
pub(super) struct Doors {
    pub(super) inbox: mpsc::UnboundedReceiver<Op>,
    pub(super) asks: mpsc::UnboundedReceiver<Asked>,
    /// Said while a turn ran; done when it has ended.
    pub(super) later: VecDeque<Op>,
    pub(super) closed: bool,
    /// Whether a person broke off the newest work.
    pub(super) cancelled: bool,
    waiting: BTreeMap<u64, Waiting>,
    /// Ids are never given twice, so an answer that comes late finds no question.
    last: u64,
}

/// A question that was shown.
struct Waiting {
    digest: Digest,
    reply: oneshot::Sender<Option<Answer>>,
}

/// What became of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    /// It reached whoever asked.
    InTime,
    /// The question is void or answered.
    Late,
    /// It was given to something else than what this question shows; the question stays open.
    ForAnother,
}

impl Doors {
    pub(super) fn new(inbox: mpsc::UnboundedReceiver<Op>, asks: mpsc::UnboundedReceiver<Asked>) -> Doors {
        Doors {
            inbox,
            asks,
            later: VecDeque::new(),
            closed: false,
            cancelled: false,
            waiting: BTreeMap::new(),
            last: 0,
        }
    }

    /// The next op; `None` when the session is to close.
    pub(super) async fn next_op(&mut self) -> Option<Op> {
        if self.closed {
            return None;
        }
        let op = match self.later.pop_front() {
            Some(op) => Some(op),
            None => self.inbox.recv().await,
        };
        op.filter(|op| *op != Op::Close)
    }

    /// Lets a question wait, as it is shown; answers its id.
    pub(super) fn open(&mut self, shown: &Question, reply: oneshot::Sender<Option<Answer>>) -> u64 {
        self.last += 1;
        self.waiting.insert(self.last, Waiting { digest: shown.digest(), reply });
        self.last
    }

    /// Takes an answer to the question of that id, if it was given to what the question shows.
    pub(super) fn answer(&mut self, id: u64, digest: &Digest, answer: Option<Answer>) -> Answered {
        match self.waiting.remove(&id) {
            None => Answered::Late,
            Some(waiting) if waiting.digest == *digest => {
                // The asker may be gone after an interrupt; then the answer has nowhere to go.
                let _ = waiting.reply.send(answer);
                Answered::InTime
            }
            Some(waiting) => {
                self.waiting.insert(id, waiting);
                Answered::ForAnother
            }
        }
    }

    /// No question waits any more; each is unanswered.
    pub(super) fn void(&mut self) {
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tandem_shared::call::ToolCall;
    use tandem_shared::person::Effect;

    fn question(command: &str) -> Question {
        Question::Approve {
            call: ToolCall { id: "1".into(), name: "run_command".into(), arguments: "{}".into() },
            effect: Effect::Command { command: command.into() },
            why: String::new(),
            always: Vec::new(),
        }
    }

    fn doors() -> Doors {
        Doors::new(mpsc::unbounded_channel().1, mpsc::unbounded_channel().1)
    }

    #[test]
    fn an_answer_counts_for_the_question_that_it_was_given_to_and_for_no_other() {
        let mut doors = doors();
        let (first, second) = (question("touch a"), question("rm -r b"));
        let (reply, mut heard) = oneshot::channel();
        let id = doors.open(&second, reply);
        assert_eq!(doors.answer(id, &first.digest(), Some(Answer::Yes)), Answered::ForAnother);
        assert!(heard.try_recv().is_err(), "it still waits");
        let no = Answer::No { reason: String::new() };
        assert_eq!(doors.answer(id, &second.digest(), Some(no.clone())), Answered::InTime);
        assert_eq!(heard.try_recv(), Ok(Some(no)));
    }

    #[test]
    fn a_stale_answer_finds_no_question_not_even_the_same_one_asked_again() {
        let mut doors = doors();
        let asked = question("touch a");
        let (reply, void) = oneshot::channel();
        let stale = doors.open(&asked, reply);
        doors.void();
        assert!(void.blocking_recv().is_err());
        let (reply, mut heard) = oneshot::channel();
        let id = doors.open(&asked, reply);
        assert_ne!(id, stale);
        assert_eq!(doors.answer(stale, &asked.digest(), Some(Answer::Yes)), Answered::Late);
        assert!(heard.try_recv().is_err(), "it still waits");
        assert_eq!(doors.answer(id, &asked.digest(), Some(Answer::Yes)), Answered::InTime);
        assert_eq!(heard.try_recv(), Ok(Some(Answer::Yes)));
        assert_eq!(doors.answer(id, &asked.digest(), Some(Answer::Yes)), Answered::Late, "once is enough");
    }
}
