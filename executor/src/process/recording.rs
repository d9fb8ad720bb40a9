//! What a command prints: the whole of it while that is short; of more, head and tail, and the rest kept piece by piece.

use std::sync::Arc;

use tandem_shared::call::ToolError;
use tandem_shared::context::Alarms;
use tandem_shared::plain_text::plain;
use tandem_shared::secret::Masker;
use tandem_shared::settings::CommandSettings;
use tandem_shared::tool::{Archive, blocking};

use super::border::{clean_start, piece_end};
use super::capture::Capture;
use crate::environment::Environment;

/// Bytes up to which an output is held in memory as a whole; also those of a piece.
const SHORT: usize = 1024 * 1024;
/// Characters that are shown of a longer one. The loop would cut more than this once again.
const SHOWN_OF_LONG: usize = 6_000;
/// Characters of its lines that look like errors.
const ALARMS: usize = 1_200;
/// Where long outputs are kept.
#[derive(Clone)]
pub struct Keeping {
    /// By id.
    pub archive: Arc<dyn Archive>,
    /// Bytes of each that are kept at most.
    pub bytes: u64,
    /// What must not be kept.
    pub secrets: Masker,
}

impl Keeping {
    /// In `archive`, as much as the settings say, without the secrets of `env`.
    pub fn new(archive: &Arc<dyn Archive>, settings: &CommandSettings, env: &Environment) -> Keeping {
        let bytes = settings.max_output_mb.saturating_mul(1024 * 1024);
        Keeping { archive: archive.clone(), bytes, secrets: env.secrets.clone() }
    }
}

/// What a command printed so far.
pub struct Recording {
    keeping: Option<Keeping>,
    /// All of it while that is short, then what is not in a piece yet.
    pending: Vec<u8>,
    /// Its ends, and what is left of it when nothing else is kept.
    ends: Capture,
    long: Option<Long>,
}

/// An output that is kept piece by piece.
struct Long {
    id: String,
    pieces: u32,
    kept: u64,
    /// Bytes that were too many to be kept.
    dropped: u64,
    failed: Option<String>,
    /// It is short, and kept because it is not text.
    is_odd: bool,
    alarms: Alarms,
}

/// A part of an output that is to be kept.
pub struct Piece {
    keeping: Keeping,
    id: String,
    number: u32,
    bytes: Vec<u8>,
}

impl Piece {
    /// Keeps it, without secrets.
    ///
    /// # Errors
    /// Why that failed, in words.
    pub async fn keep(self) -> Result<(), String> {
        let Piece { keeping, id, number, bytes } = self;
        let kept =
            blocking(move || Ok(keeping.archive.keep(&id, number, &keeping.secrets.mask_bytes(&bytes))));
        kept.await.unwrap_or_else(|error: ToolError| Err(error.text))
    }
}

impl Recording {
    /// Of nothing yet. Where nothing can be kept, only `chars` characters of head and tail are.
    pub fn new(keeping: Option<Keeping>, chars: usize) -> Recording {
        let chars = if keeping.is_some() { SHOWN_OF_LONG } else { chars };
        Recording { keeping, pending: Vec::new(), ends: Capture::new(chars), long: None }
    }

    /// Whether nothing came yet.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Takes the next bytes, and hands out what has to be kept elsewhere.
    #[must_use]
    pub fn push(&mut self, bytes: &[u8]) -> Option<Piece> {
        self.ends.push(bytes);
        self.keeping.as_ref()?;
        self.pending.extend_from_slice(bytes);
        if self.pending.len() <= SHORT || !self.begin() {
            return None;
        }
        let Keeping { secrets, bytes: bound, .. } = self.keeping.as_ref()?;
        let bound = *bound;
        let rest = self.pending.split_off(piece_end(&self.pending, secrets));
        let bytes = std::mem::replace(&mut self.pending, rest);
        let long = self.long.as_mut()?;
        long.alarms.look(&bytes);
        if long.kept >= bound || long.failed.is_some() {
            long.dropped += bytes.len() as u64;
            return None;
        }
        self.piece(bytes)
    }

    /// What is left to be kept when no more will come: the rest of a long output, or one that is not text as it came.
    #[must_use]
    pub fn finish(&mut self) -> Option<Piece> {
        if self.long.is_none() {
            if std::str::from_utf8(&self.pending).is_ok() || !self.begin() {
                return None;
            }
            self.long.as_mut()?.is_odd = true;
        }
        let pending = std::mem::take(&mut self.pending);
        let tail = self.ends.tail();
        let tail = tail.get(clean_start(&tail)..).unwrap_or_default();
        let long = self.long.as_mut().filter(|long| long.failed.is_none())?;
        if long.dropped == 0 {
            long.alarms.look(&pending);
            return self.piece(pending);
        }
        let dropped = (long.dropped + pending.len() as u64).saturating_sub(tail.len() as u64);
        let mark = format!("\n[… {dropped} bytes were more than commands.max_output_mb keeps …]\n");
        self.piece([mark.as_bytes(), tail].concat())
    }

    /// Takes note of a piece that could not be kept.
    pub fn lost(&mut self, why: String) {
        if let Some(long) = &mut self.long {
            long.failed.get_or_insert(why);
        }
    }

    /// Makes a long output of it; whether it is one.
    fn begin(&mut self) -> bool {
        if self.long.is_none() {
            let id = self.keeping.as_ref().and_then(|keeping| keeping.archive.new_output());
            match id {
                Some(id) => {
                    let alarms = Alarms::default();
                    self.long = Some(Long {
                        id,
                        pieces: 0,
                        kept: 0,
                        dropped: 0,
                        failed: None,
                        is_odd: false,
                        alarms,
                    });
                }
                None => (self.keeping, self.pending) = (None, Vec::new()),
            }
        }
        self.long.is_some()
    }

    fn piece(&mut self, bytes: Vec<u8>) -> Option<Piece> {
        let (long, keeping) = (self.long.as_mut()?, self.keeping.clone()?);
        let number = long.pieces;
        long.pieces += 1;
        long.kept += bytes.len() as u64;
        Some(Piece { keeping, id: long.id.clone(), number, bytes })
    }

    /// For a model: without control sequences, and without `secrets`.
    pub fn text(&self, secrets: &Masker) -> String {
        let clean = |bytes: &[u8]| {
            let mut text = plain(&String::from_utf8_lossy(bytes));
            secrets.clean(&mut text);
            text
        };
        let Some(long) = &self.long else {
            return match &self.keeping {
                Some(_) => clean(&self.pending),
                None => self.ends.text(clean, |left_out| {
                    format!("{left_out} of output left out here; to see them, write the output to a file and read a part of it")
                }),
            };
        };
        let whole = match &long.failed {
            None => format!("recall(\"{}\") reads the whole", long.id),
            Some(why) => format!("the whole could not be kept: {why}"),
        };
        let text = self.ends.text(clean, |left_out| format!("{left_out} left out; {whole}"));
        if long.is_odd {
            return format!(
                "{}\n[not all of it is text; {} is what came]",
                text.trim_end_matches('\n'),
                long.id
            );
        }
        let mut alarms = long.alarms.told(&text, ALARMS);
        secrets.clean(&mut alarms);
        text.replacen("…]\n", &format!("…]\n{alarms}"), usize::from(!alarms.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;
    use std::sync::Mutex;

    use tandem_shared::secret::Secret;

    use super::*;

    #[derive(Default)]
    struct Pieces(Mutex<BTreeMap<(String, u32), Vec<u8>>>);

    impl Archive for Pieces {
        fn recall<'a>(&'a self, _: &str) -> Option<Box<dyn Read + 'a>> {
            None
        }
        fn new_output(&self) -> Option<String> {
            Some("o".to_owned())
        }
        fn keep(&self, id: &str, piece: u32, bytes: &[u8]) -> Result<(), String> {
            self.0.lock().unwrap().insert((id.to_owned(), piece), bytes.to_vec());
            Ok(())
        }
    }

    /// What the model is shown, and what is kept.
    fn recorded(bytes: u64, parts: &[&[u8]]) -> (String, Vec<u8>) {
        let archive = Arc::new(Pieces::default());
        let secrets = Masker::new([Secret::new("known-12345".to_owned())]);
        let keeping = Keeping { archive: archive.clone(), bytes, secrets };
        let mut recording = Recording::new(Some(keeping), 100);
        let mut pieces: Vec<Piece> = parts.iter().filter_map(|part| recording.push(part)).collect();
        pieces.extend(recording.finish());
        let keep = futures::future::join_all(pieces.into_iter().map(Piece::keep));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert!(runtime.block_on(keep).iter().all(Result::is_ok));
        let kept = archive.0.lock().unwrap().values().flatten().copied().collect();
        (recording.text(&Masker::new([Secret::new("known-12345".to_owned())])), kept)
    }

    #[test]
    fn a_short_output_is_whole_and_kept_nowhere_else() {
        assert_eq!(recorded(9, &[b"one\n", b"\x1b[1mtwo\x1b[0m\n"]), ("one\ntwo\n".to_owned(), Vec::new()));
    }

    #[test]
    fn one_that_is_no_text_is_kept_as_it_came() {
        let (text, kept) = recorded(1 << 20, &[b"a\xff known-12345\n"]);
        assert_eq!(text, "a\u{fffd} ***\n[not all of it is text; o is what came]");
        assert_eq!(kept, b"a\xff ***\n");
    }

    #[test]
    fn a_long_one_is_kept_piece_by_piece() {
        let line = |n: usize| {
            if n == 20_000 {
                "an ERROR there\n".to_owned()
            } else {
                format!("line number {n} of many, known-12345\n")
            }
        };
        let all: String = (0..100_000).map(line).collect();
        let parts: Vec<&[u8]> = all.as_bytes().chunks(60_000).collect();
        let (text, kept) = recorded(1 << 30, &parts);
        assert!(
            String::from_utf8(kept).unwrap() == all.replace("known-12345", "***"),
            "it is all there, without secrets"
        );
        assert!(
            text.starts_with("line number 0 of many") && text.ends_with("line number 99999 of many, ***\n")
        );
        assert!(text.contains("left out; recall(\"o\") reads the whole …]\n[lines of it that look like errors:]\nan ERROR there\n"), "{text}");
        assert!(text.chars().count() < 7_500, "{}", text.chars().count());
    }

    #[test]
    fn more_than_is_kept_leaves_a_mark_and_the_tail() {
        let all = b"0123456789abcde\n".repeat(400_000);
        let parts: Vec<&[u8]> = all.chunks(60_000).chain([b"the end".as_slice()]).collect();
        let (_, kept) = recorded(1 << 20, &parts);
        let kept = String::from_utf8(kept).unwrap();
        assert!(kept.len() < 3 << 20 && kept.ends_with("\nthe end"), "{}", kept.len());
        assert!(kept.contains("bytes were more than commands.max_output_mb keeps …]"));
    }

    #[test]
    fn a_key_is_not_cut_in_two() {
        let key = format!(
            "-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY-----\n",
            "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ+/\n".repeat(20)
        );
        for before in [10, 500, 1_000, 1_400] {
            let mut all = "x\n".repeat((SHORT - before) / 2);
            all.push_str(&key);
            all.push_str(&"y\n".repeat(1_000));
            let parts: Vec<&[u8]> = all.as_bytes().chunks(1_000).collect();
            let (_, kept) = recorded(1 << 30, &parts);
            assert!(
                !String::from_utf8(kept).unwrap().contains("0123456789ABC"),
                "{before} bytes before the cut"
            );
        }
    }
}
