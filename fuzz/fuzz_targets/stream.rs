//! Any bytes in any pieces: reading them never panics, and how they are cut does not change what is read.
//!
//! The first byte says how many of the next ones are lengths of pieces; the rest is the body.

#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use tandem_shared::model::{Delta, Reply};

/// What a body comes to: the reply or its fault, and the words heard on the way.
#[derive(Debug, PartialEq)]
struct Read {
    reply: Result<Reply, String>,
    text: String,
    reasoning: String,
}

fuzz_target!(|input: &[u8]| {
    let Some((&count, rest)) = input.split_first() else { return };
    let (lengths, body) = rest.split_at(usize::from(count).min(rest.len()));
    let whole = read([body]);
    assert_eq!(read(pieces(body, lengths)), whole, "cut by the lengths {lengths:?}");
    assert_eq!(read(body.chunks(1)), whole, "byte by byte");
});

/// `body` in pieces of these lengths, which are used again and again; zero makes an empty piece.
fn pieces<'a>(body: &'a [u8], lengths: &[u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut rest = body;
    if lengths.iter().any(|length| *length > 0) {
        for length in lengths.iter().cycle() {
            let (piece, tail) = rest.split_at(usize::from(*length).min(rest.len()));
            pieces.push(piece);
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
    }
    pieces.push(rest);
    pieces
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Read {
    let (text, reasoning) = (RefCell::default(), RefCell::default());
    let hear = |delta: Delta| match delta {
        Delta::Text(more) => String::push_str(&mut text.borrow_mut(), &more),
        Delta::Reasoning(more) => String::push_str(&mut reasoning.borrow_mut(), &more),
        other => panic!("a body alone says nothing like {other:?}"),
    };
    let reply = tandem_router::read_stream(pieces, &hear);
    Read { reply, text: text.into_inner(), reasoning: reasoning.into_inner() }
}
