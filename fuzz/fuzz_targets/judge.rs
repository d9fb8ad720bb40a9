//! Any text as a command: judging it never panics, and what is not understood, or has a command that acts behind it, is
//! never taken for one that only looks.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use tandem_executor::shell::{self, Judgement, Place, Rules};

/// What is put behind a whole command: another one that acts.
const TAILS: &[&str] = &["; touch x", " && touch x", " || touch x", " | tee x", " & touch x", "\ntouch x"];

fuzz_target!(|input: &[u8]| {
    let Ok(command) = std::str::from_utf8(input) else { return };
    let is_whole = shell::faults(input).is_some_and(|faults| faults.is_empty());
    let script = shell::parse(command);
    if looks(command) {
        assert!(is_whole, "it has an error of syntax");
        assert!(script.odd.is_empty(), "{:?}", script.odd);
        assert!(script.commands.iter().all(|simple| simple.redirects.iter().all(|to| !writes(to))));
    }
    // A comment, a here-document and a last backslash take in what follows.
    if is_whole && !command.contains(['#', '\\']) && !command.contains("<<") {
        for tail in TAILS {
            assert!(!looks(&format!("{command}{tail}")), "{tail:?} is not seen");
        }
    }
});

fn looks(command: &str) -> bool {
    let place = Place { root: Path::new("/srv/project") };
    shell::judge(command, &Rules::default(), place) == Judgement::Looks
}

fn writes(to: &shell::Redirect) -> bool {
    let target = to.target.text.as_str();
    let is_number = target.bytes().all(|byte| byte.is_ascii_digit());
    to.op.contains('>') && target != "/dev/null" && !(to.op.contains('&') && (is_number || target == "-"))
}
