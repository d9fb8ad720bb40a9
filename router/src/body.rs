//! A whole response body read apart from any connection.

use std::collections::HashSet;

use tandem_shared::model::{Delta, Reply};

use crate::decode::{Decoder, Progress};
use crate::fault::Fault;

/// Reads the body of one streamed reply, in whatever pieces it comes, as it is read from a connection. `sink` hears what
/// each piece adds. The same bytes give the same words and the same reply however they are cut; ids of calls that came
/// without are counted.
///
/// This is the way in for what has a body and no server, such as the fuzz target of the stream path.
///
/// # Errors
/// What is wrong with the body, for a person.
///
/// ```
/// let body = "data: {\"choices\":[{\"delta\":{\"content\":\"caf\u{e9}\"},\"finish_reason\":\"stop\"}]}\n\n";
/// let whole = tandem_router::read_stream([body.as_bytes()], &|_| {})?;
/// assert_eq!(whole.text, "caf\u{e9}");
/// assert_eq!(tandem_router::read_stream(body.as_bytes().chunks(1), &|_| {})?, whole);
/// # Ok::<(), String>(())
/// ```
pub fn read_stream<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    sink: &dyn Fn(Delta),
) -> Result<Reply, String> {
    let broken = |fault| Fault::of_stream(fault, str::to_owned).reason();
    let mut decoder = Decoder::default();
    for piece in pieces {
        if decoder.feed(piece, sink).map_err(broken)? == Progress::Done {
            break;
        }
    }
    decoder.end(sink).map_err(broken)?;
    let draft = decoder.into_draft();
    let finish = draft.finish();
    let mut made = 0;
    let make_id = || {
        made += 1;
        format!("call_{made}")
    };
    Ok(draft.into_reply(finish, &HashSet::new(), make_id, |_| false))
}
