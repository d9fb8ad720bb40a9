//! Making room: the stages that are due run mildest first, and each says what it freed.

use super::request::{Agent, End};
use crate::context::{self, CUTTING, Window};
use crate::digest::Digest;
use crate::event::Event;
use crate::record::{Record, Stage, Summary};
use crate::role::WordsRole;

/// What a summary is taken to need before it is written.
const SUMMARY_TOKENS: f64 = 600.0;

impl Agent<'_> {
    /// Runs the stages that are due before a request.
    pub(super) async fn make_room(&self) -> Result<(), End> {
        let settings = &self.settings.context;
        let mut window = self.measured();
        let high = window.share() >= settings.warn;
        if high != self.store.facts(|facts| facts.context.high) {
            self.store.note(Record::Pressure { high });
            if high {
                (self.hear)(Event::Context {
                    stage: Stage::Warn,
                    used: window.used,
                    budget: window.budget,
                    freed: 0,
                });
            }
        }
        for cutting in CUTTING.iter() {
            if window.share() < (cutting.at)(settings) {
                continue;
            }
            let (call_ids, freed) = self.store.history(|history| {
                let ids = context::due_calls(history, cutting, window.budget, settings);
                let freed = context::freed_by(history, &ids, cutting.to);
                (ids, freed)
            });
            if !call_ids.is_empty() {
                self.store.note(Record::Cut { stage: cutting.stage, call_ids, freed });
                (self.hear)(Event::Context {
                    stage: cutting.stage,
                    used: window.used,
                    budget: window.budget,
                    freed,
                });
                window = self.measured();
            }
        }
        self.store.commit()?;
        if window.share() >= settings.compact {
            self.compact().await?;
        }
        Ok(())
    }

    /// The use of the window by the request that would be sent now.
    pub(super) fn measured(&self) -> Window {
        let request = self.action_request();
        let tokens = context::request_tokens(&request.system, &request.messages, &request.tools);
        let info = self.model.info();
        Window::of(&info, &self.settings.context).with((tokens as f64 * self.calibration(&info)) as u64)
    }

    /// The use of the window if the rounds up to `upto` were replaced by `summary`.
    fn measured_after(&self, upto: u64, summary: &Summary) -> Window {
        let mut history = self.store.history(Clone::clone);
        let archive = Digest::of("");
        history.apply(&Record::Compacted { summary: summary.clone(), archive, rounds: upto, freed: 0 });
        let messages = context::wire(&history, &self.preamble(self.plan().as_ref()));
        let tokens = context::request_tokens(&self.system.acting, &messages, &self.toolbox.specs());
        self.measured().with((tokens as f64 * self.calibration(&self.model.info())) as u64)
    }

    /// Up to which round a summary is to reach: as few as bring the use under the warning mark, at most all.
    fn fold_point(&self) -> Option<u64> {
        let settings = &self.settings.context;
        let points: Vec<u64> = (0..=settings.compact_keep)
            .rev()
            .filter_map(|keep| self.store.history(|history| context::fold_point(history, keep)))
            .collect();
        let fits = |upto: &&u64| {
            let window = self.measured_after(**upto, &Summary::default());
            window.share() + SUMMARY_TOKENS / window.budget as f64 <= settings.warn
        };
        points.iter().find(fits).or(points.last()).copied()
    }

    /// Archives and summarises all but the newest rounds. Answers the estimated tokens freed; `None` when there is nothing
    /// to summarise.
    pub(super) async fn compact(&self) -> Result<Option<u64>, End> {
        let Some(upto) = self.fold_point() else { return Ok(None) };
        let before = self.measured();
        let archive = self.store.history(|history| context::transcript(history, upto));
        let archive = self.store.put_blob(archive.as_bytes())?;
        let room = Window::of(&self.compactor.info(), &self.settings.context).budget as usize * 2;
        let request = self.store.history(|history| context::compaction_request(history, upto, room));
        let summary = match self.say(WordsRole::Compaction, self.compactor.as_ref(), request).await? {
            Ok(text) => context::parse(&text).ok_or_else(|| "its fields are missing".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        let summary = summary.unwrap_or_else(|why| {
            (self.hear)(Event::Notice {
                text: format!("No usable summary came ({why}); it is made from facts instead."),
            });
            // Facts and history are behind one lock, so they are looked at one after the other.
            let facts = self.store.facts(Clone::clone);
            self.store.history(|history| context::fallback(&facts, history, upto))
        });
        let freed = before.used.saturating_sub(self.measured_after(upto, &summary).used);
        self.store.note(Record::Compacted { summary, archive, rounds: upto, freed });
        self.store.commit()?;
        (self.hear)(Event::Context {
            stage: Stage::Compact,
            used: before.used,
            budget: before.budget,
            freed,
        });
        Ok(Some(freed))
    }
}
