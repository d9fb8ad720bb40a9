//! The window: how many tokens fit into a prompt, by halving the distance between a prompt that fits and one that does not.

use serde_json::json;

use super::finding::Verdict;
use super::patient::{LIMITS, Patient, Taken};
use super::texts;
use crate::fault::Fault;

/// Words of the prompt that shows how many tokens a word of filling has.
const FEW_WORDS: u64 = 1_000;

/// Steps of halving; after five the result is right within a thirty-second.
const STEPS: u32 = 5;

/// How far above the expected window is looked.
const ABOVE: u64 = 2;

/// Share of the tokens that were sent which a server that cuts nothing counts.
const COUNTED: f64 = 0.8;

/// What a measurement takes at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowPlan {
    expected: u64,
}

impl WindowPlan {
    /// A measurement around `expected` tokens.
    pub fn around(expected: u64) -> WindowPlan {
        WindowPlan { expected: expected.max(2 * FEW_WORDS) }
    }

    /// Requests at most.
    pub fn requests(self) -> u32 {
        STEPS + 3
    }

    /// Prompt tokens at most, if the server counts those that it refuses, too.
    pub fn tokens(self) -> u64 {
        FEW_WORDS + self.expected + ABOVE * self.expected * (u64::from(STEPS) + 1)
    }
}

/// How a prompt was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// Whole, as so many tokens.
    Whole(u64),
    /// Without a word, the server cut it to so many tokens.
    Cut(u64),
    /// Not at all.
    Refused,
}

/// Measures, and notes what it found.
pub(super) async fn measure(patient: &mut Patient<'_>, plan: WindowPlan) -> Result<(), Fault> {
    let Taken::Answered(few) = ask(patient, FEW_WORDS).await? else {
        patient.note("window", Verdict::Bad, format!("under {FEW_WORDS} words"), "too small to work with");
        return Ok(());
    };
    let counts = few.prompt_tokens();
    let per_word = counts.map_or(1.0, |tokens| tokens as f64 / FEW_WORDS as f64);
    let words_for = |tokens: u64| (tokens as f64 / per_word).round() as u64;
    let (mut fits, mut too_long) = (FEW_WORDS, None);
    let mut tokens = counts.unwrap_or(FEW_WORDS);
    let mut cut_to = None;
    for words in [plan.expected, ABOVE * plan.expected].map(words_for) {
        match fit(patient, words, counts.is_some(), per_word).await? {
            Fit::Whole(counted) => (fits, tokens) = (words, counted),
            short => {
                too_long = Some(words);
                cut_to = if let Fit::Cut(to) = short { Some(to) } else { None };
                break;
            }
        }
    }
    if let (Some(mut long), None) = (too_long, cut_to) {
        for _ in 0..STEPS {
            let middle = fits.midpoint(long);
            match fit(patient, middle, counts.is_some(), per_word).await? {
                Fit::Whole(counted) => (fits, tokens) = (middle, counted),
                Fit::Cut(_) | Fit::Refused => long = middle,
            }
        }
    }
    let about = if counts.is_some() { "" } else { "about " };
    let tokens = cut_to.unwrap_or(tokens);
    patient.window = Some(tokens);
    match (too_long, cut_to) {
        (_, Some(to)) => patient.note(
            "window",
            Verdict::Odd,
            format!("longer prompts are cut to {to} tokens without a word"),
            "set context_window to it, or the model forgets what nobody sees",
        ),
        (Some(_), None) => patient.note(
            "window",
            Verdict::Good,
            format!("{about}{tokens} tokens fit, and a thirty-second more does not"),
            "set context_window to it, less the room for an answer",
        ),
        (None, None) => patient.note(
            "window",
            Verdict::Good,
            format!("at least {about}{tokens} tokens"),
            "more was not tried",
        ),
    }
    Ok(())
}

async fn fit(patient: &mut Patient<'_>, words: u64, counts: bool, per_word: f64) -> Result<Fit, Fault> {
    let Taken::Answered(answer) = ask(patient, words).await? else { return Ok(Fit::Refused) };
    let sent = words as f64 * per_word;
    Ok(match answer.prompt_tokens() {
        Some(counted) if counts && (counted as f64) < COUNTED * sent => Fit::Cut(counted),
        Some(counted) if counts => Fit::Whole(counted),
        _ => Fit::Whole(sent.round() as u64),
    })
}

async fn ask(patient: &mut Patient<'_>, words: u64) -> Result<Taken, Fault> {
    let filling = texts::FILLING_WORD.repeat(usize::try_from(words).unwrap_or(usize::MAX));
    let mut body = patient.body(vec![texts::user(&format!("{}{filling}", texts::FILLING))]);
    // The answer itself is of no interest.
    for (_, name) in LIMITS {
        if body.contains_key(name) {
            body.insert(name.to_owned(), json!(1));
        }
    }
    patient.ask(body).await
}
