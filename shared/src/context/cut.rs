//! The cutting stages: which results each of them stops showing. Only results are cut; calls, words and notes stay, so
//! no pair is ever broken.

use super::measure::estimate;
use super::wire::result_text;
use crate::history::{History, Shown};
use crate::record::Stage;
use crate::settings::ContextSettings;

/// A stage that cuts results: its threshold, and what it leaves of a result.
pub struct Cutting {
    /// Which.
    pub stage: Stage,
    /// Share of the budget from which it acts.
    pub at: fn(&ContextSettings) -> f64,
    /// What a result becomes.
    pub to: Shown,
}

/// The cutting stages, mildest first.
pub const CUTTING: &[Cutting] = &[
    Cutting { stage: Stage::Mask, at: |settings| settings.mask, to: Shown::Reference },
    Cutting { stage: Stage::Prune, at: |settings| settings.prune, to: Shown::Marker },
    Cutting { stage: Stage::Aggressive, at: |settings| settings.aggressive, to: Shown::Marker },
];

/// The calls whose results the stage cuts further than they are cut now, oldest first.
pub fn due_calls(
    history: &History,
    cutting: &Cutting,
    budget: u64,
    settings: &ContextSettings,
) -> Vec<String> {
    let compacted = history.compacted_rounds();
    let steps: Vec<_> =
        history.rounds().filter(|round| round.number > compacted).flat_map(|r| &r.steps).collect();
    let keep = match cutting.stage {
        Stage::Mask => settings.mask_keep,
        Stage::Aggressive => settings.aggressive_keep,
        Stage::Prune => {
            let tokens = settings.prune_keep_tokens.min(budget / 3);
            let mut sum = 0;
            let newest = steps.iter().rev().take_while(|step| {
                // By their whole size: references are small, so all of them would count as the newest.
                sum += estimate(step.outcome.content());
                sum <= tokens
            });
            newest.count()
        }
        Stage::Warn | Stage::Compact => return Vec::new(),
    };
    // What the newest round brought has not been seen yet.
    let unseen = history.rounds().next_back().map_or(0, |round| round.steps.len());
    let older = steps.len().saturating_sub(keep.max(unseen));
    steps
        .into_iter()
        .take(older)
        .filter(|step| {
            let now = history.shown(&step.call.id);
            // A result that is shorter than its reference gains nothing.
            now < cutting.to && saved(step, now, cutting.to) > 0
        })
        .map(|step| step.call.id.clone())
        .collect()
}

/// Estimated tokens that cutting these calls' results to `to` frees.
pub fn freed_by(history: &History, call_ids: &[String], to: Shown) -> u64 {
    let steps = history.steps().filter(|step| call_ids.contains(&step.call.id));
    steps.map(|step| saved(step, history.shown(&step.call.id), to)).sum()
}

fn saved(step: &crate::call::Step, now: Shown, then: Shown) -> u64 {
    estimate(&result_text(step, now)).saturating_sub(estimate(&result_text(step, then)))
}
