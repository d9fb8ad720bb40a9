//! What an examination found.

use serde::Serialize;
use tandem_shared::model::ModelError;

use crate::provider::ToolProtocol;
use crate::quirks::Quirks;

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// An exchange of words, for roles that call nothing.
    Words,
    /// Words, and calls of tools.
    Tools,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub probe: &'static str,
    /// Whether it is as it should be.
    pub verdict: Verdict,
    /// What was seen.
    pub found: String,
    /// What that means for tandem.
    pub means: String,
}

/// Whether a thing is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As the common form has it.
    Good,
    /// Otherwise, and tandem can live with it, perhaps with a setting.
    Odd,
    /// A role cannot work with it.
    Bad,
}

/// All that was found at one endpoint with one model.
#[derive(Debug)]
pub struct Examination {
    /// In the order in which it was looked at.
    pub findings: Vec<Finding>,
    /// What was measured; what could not be measured is absent.
    pub quirks: Quirks,
    /// How tools are best offered; `None` when that was not looked at, or no way works.
    pub tool_protocol: Option<ToolProtocol>,
    /// Tokens that fit into a prompt, when that was measured.
    pub window: Option<u64>,
    /// Requests that were sent.
    pub requests: u32,
    /// Why the role cannot work; `None` when it can.
    pub fault: Option<ModelError>,
}

impl Examination {
    pub(super) fn impossible(reason: String) -> Examination {
        Examination {
            findings: Vec::new(),
            quirks: Quirks::default(),
            tool_protocol: None,
            window: None,
            requests: 0,
            fault: Some(ModelError::NotConfigured(reason)),
        }
    }
}
