//! How many tokens a request takes, and how many it may take.

use crate::model::{Message, ModelInfo};
use crate::settings::ContextSettings;
use crate::tool::ToolSpec;

/// Bytes of text for a token before calibration: the usual rule of thumb for English and code. The provider's own
/// counts correct it (see `Facts::context`).
pub const BYTES_PER_TOKEN: u64 = 4;
/// Tokens that a message takes beside its text, for its role and marks.
const PER_MESSAGE: u64 = 4;

/// The room for one request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Estimated tokens in use.
    pub used: u64,
    /// Tokens that may be used: the model's window less the reserve for the answer.
    pub budget: u64,
}

impl Window {
    /// The budget of a model; what the request takes is to be filled in.
    pub fn of(info: &ModelInfo, settings: &ContextSettings) -> Window {
        let window = info.context_window.unwrap_or(settings.window);
        let reserve = match info.max_tokens {
            Some(tokens) => u64::from(tokens),
            None => (window as f64 * settings.reserve) as u64,
        };
        // A reserve that swallows the window would leave nothing to work in; half is kept for the request then.
        Window { used: 0, budget: window.saturating_sub(reserve).max(window / 2).max(1) }
    }

    /// The same budget with other use.
    pub fn with(self, used: u64) -> Window {
        Window { used, ..self }
    }

    /// The share of the budget in use; over 1 when it does not fit.
    pub fn share(self) -> f64 {
        self.used as f64 / self.budget as f64
    }
}

/// Tokens of a text, before calibration.
pub fn estimate(text: &str) -> u64 {
    (text.len() as u64).div_ceil(BYTES_PER_TOKEN)
}

/// Tokens of a whole request, before calibration.
pub fn request_tokens(system: &str, messages: &[Message], tools: &[ToolSpec]) -> u64 {
    let specs: u64 = tools
        .iter()
        .map(|spec| {
            estimate(&spec.name) + estimate(&spec.description) + estimate(&spec.parameters.to_string())
        })
        .sum();
    let said: u64 = messages.iter().map(|message| PER_MESSAGE + message_tokens(message)).sum();
    estimate(system) + specs + said
}

fn message_tokens(message: &Message) -> u64 {
    match message {
        Message::User { text } => estimate(text),
        Message::Tool { text, call_id } => estimate(text) + estimate(call_id),
        Message::Assistant { text, calls, .. } => {
            let calls: u64 = calls
                .iter()
                .map(|call| {
                    estimate(&call.id) + estimate(&call.name) + estimate(&call.arguments) + PER_MESSAGE
                })
                .sum();
            estimate(text) + calls
        }
    }
}
