//! Logs on standard error: quiet unless asked for, with secrets masked.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Mutex, OnceLock, PoisonError};

use tandem_shared::secret::{SHORTEST_SECRET, Secret};

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
    let secrets = SECRETS.get_or_init(|| Mutex::new(secrets(env)));
    let writer = Masking { secrets };
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false);
    // A second start in one process keeps the first.
    let _ = tracing_subscriber::registry().with(filter).with(layer).try_init();
}

/// The values of all variables whose names speak of a secret.
fn secrets(env: &BTreeMap<String, String>) -> Vec<String> {
    let named =
        env.iter().filter(|(name, value)| crate::machine::is_secret(name) && value.len() >= SHORTEST_SECRET);
    named.map(|(_, value)| value.clone()).collect()
}

/// Values that never reach the log. A key that a command prints is known only when it is first needed.
static SECRETS: OnceLock<Mutex<Vec<String>>> = OnceLock::new();

/// Keeps a key out of the log from now on.
pub fn mask(key: &Secret) {
    let Some(secrets) = SECRETS.get() else { return };
    let mut secrets = secrets.lock().unwrap_or_else(PoisonError::into_inner);
    if key.expose().len() >= SHORTEST_SECRET && !secrets.iter().any(|known| known == key.expose()) {
        secrets.push(key.expose().to_owned());
    }
}

#[derive(Clone)]
struct Masking {
    secrets: &'static Mutex<Vec<String>>,
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
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        for secret in self.secrets.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            text = text.replace(secret.as_str(), "***");
        }
        io::stderr().write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
