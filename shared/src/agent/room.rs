//! Making room: the stages that are due run mildest first, and each says what it freed.

use super::request::{Agent, End};
use crate::context::{self, CUTTING, Window};
use crate::event::Event;
use crate::record::{Record, Stage};
use crate::role::WordsRole;

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
        let calibration = self.store.facts(|facts| facts.context.calibration);
        Window::of(&self.model.info(), &self.settings.context).with((tokens as f64 * calibration) as u64)
    }

    /// Archives and summarises all but the newest rounds. Answers the estimated tokens freed; 0 when there is nothing
    /// to summarise.
    pub(super) async fn compact(&self) -> Result<u64, End> {
        let keep = self.settings.context.compact_keep;
        // When even the newest rounds do not fit, fewer of them are kept.
        let point = (0..=keep)
            .rev()
            .find_map(|keep| self.store.history(|history| context::fold_point(history, keep)));
        let Some(upto) = point else { return Ok(0) };
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
        self.store.note(Record::Compacted { summary, archive, rounds: upto, freed: 0 });
        let freed = before.used.saturating_sub(self.measured().used);
        self.store.commit()?;
        (self.hear)(Event::Context {
            stage: Stage::Compact,
            used: before.used,
            budget: before.budget,
            freed,
        });
        Ok(freed)
    }
}
