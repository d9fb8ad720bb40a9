//! A person asked straight in the terminal, where no session stands between.

use futures::future::BoxFuture;
use tandem_shared::person::{Answer, Person, Question};

use super::lines::Lines;
use super::signals::Signals;
use super::waiting::ask;

/// Asks on standard error and reads a line from standard input.
#[derive(Clone, Copy, Debug)]
pub struct Asking;

impl Person for Asking {
    fn ask(&self, question: Question) -> BoxFuture<'_, Option<Answer>> {
        Box::pin(async move { ask(&mut Lines::read(), &question, &mut Signals::new()).await })
    }
}
