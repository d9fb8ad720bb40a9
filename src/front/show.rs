//! What a front end shows of a session.

use tandem_shared::event::{Envelope, Event};
use tandem_shared::store::Clock;

use crate::exit::Exit;

/// Shows events.
pub trait Show: Send {
    /// An event, in order.
    fn event(&mut self, envelope: &Envelope);
    /// The run is over.
    fn finish(&mut self, exit: Exit);
}

/// Puts events into envelopes: numbered, with the session and the time.
pub struct Teller {
    id: String,
    next: u64,
    clock: Clock,
}

impl Teller {
    /// For one session.
    pub fn new(id: &str, clock: Clock) -> Teller {
        Teller { id: id.to_owned(), next: 0, clock }
    }

    /// The event's envelope.
    pub fn wrap(&mut self, event: Event) -> Envelope {
        let seq = self.next;
        self.next += 1;
        Envelope { id: self.id.clone(), seq, ts: (self.clock)(), event }
    }
}
