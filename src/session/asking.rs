//! Carries questions from tools and the gate to the session, and answers back.

use futures::future::BoxFuture;
use tandem_shared::person::{Answer, Person, Question};
use tokio::sync::{mpsc, oneshot};

/// A question on its way, with the place for its answer.
pub struct Asked {
    /// The question.
    pub question: Question,
    /// Where the answer goes; dropping it is no answer.
    pub reply: oneshot::Sender<Option<Answer>>,
}

/// The person as tools see them: somebody behind the session's front end.
pub struct BehindFrontEnd {
    asks: mpsc::UnboundedSender<Asked>,
}

impl BehindFrontEnd {
    /// Questions go to `asks`.
    pub fn new(asks: mpsc::UnboundedSender<Asked>) -> BehindFrontEnd {
        BehindFrontEnd { asks }
    }
}

impl Person for BehindFrontEnd {
    fn ask(&self, question: Question) -> BoxFuture<'_, Option<Answer>> {
        let (reply, answer) = oneshot::channel();
        let sent = self.asks.send(Asked { question, reply });
        Box::pin(async move {
            sent.ok()?;
            answer.await.ok().flatten()
        })
    }
}
