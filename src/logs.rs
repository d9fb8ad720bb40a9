//! Logs on standard error: quiet unless asked for, with secrets masked.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::OnceLock;

use tandem_shared::secret::{Masker, Secret};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Starts logging. `verbose` counts `-v`; the variable `RUST_LOG` goes before it.
pub fn start(verbose: u8, env: &BTreeMap<String, String>) {
    let level = match verbose {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let ours = Targets::new().with_target("tandem", level).with_targets(
        ["tandem_shared", "tandem_router", "tandem_planner", "tandem_executor"].map(|name| (name, level)),
    );
    let wanted = env.get("RUST_LOG").and_then(|text| text.parse::<Targets>().ok()).unwrap_or(ours);
    // The client logs the bodies of failed requests, which hold the user's files.
    let filter = wanted.with_target("async_openai", LevelFilter::OFF);
    let masker = masker();
    named(env).for_each(|secret| masker.learn(&secret));
    let writer = Masking { masker };
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false);
    // A second start in one process keeps the first.
    let _ = tracing_subscriber::registry().with(filter).with(layer).try_init();
}

/// The values of all variables whose names speak of a secret.
fn named(env: &BTreeMap<String, String>) -> impl Iterator<Item = Secret> {
    env.iter()
        .filter(|(name, _)| crate::machine::is_secret(name))
        .map(|(_, value)| Secret::new(value.clone()))
}

/// What this process knows to be secret. One for all: a key that a command prints is known only when it is first needed,
/// and then it stays out of logs and of everything else.
static MASKER: OnceLock<Masker> = OnceLock::new();

/// Takes secrets out of texts.
pub fn masker() -> Masker {
    MASKER.get_or_init(Masker::default).clone()
}

#[derive(Clone)]
struct Masking {
    masker: Masker,
}

impl<'a> MakeWriter<'a> for Masking {
    type Writer = Masking;
    fn make_writer(&'a self) -> Masking {
        self.clone()
    }
}

impl Write for Masking {
    /// Gets a whole line at a time, so no secret is split over two writes.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let text = self.masker.mask(&text);
        io::stderr().write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
