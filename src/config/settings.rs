//! What a configuration file can say, as types; none has a default here, `config/default.toml` holds them all.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tandem_router::{Quirks, ToolProtocol};
use tandem_shared::model::Price;
use tandem_shared::role::Role;
use tandem_shared::settings::{
    Approval, CommandSettings, ContextSettings, EditSettings, LoopSettings, PlanMode, ReadLimits,
    ThinkingSettings,
};

/// All settings, with every layer merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The profile in use, one of `[profiles.NAME]`.
    pub profile: Option<String>,
    /// How a session goes about a prompt.
    pub session: SessionSettings,
    /// When a run ends.
    pub r#loop: LoopSettings,
    /// When and how far the conversation is cut.
    pub context: ContextSettings,
    /// The phase that weighs the next step in words.
    pub thinking: ThinkingSettings,
    /// Bounds of the read tools.
    pub tools: ReadLimits,
    /// Bounds of changes, and of what can be taken back.
    pub edits: EditSettings,
    /// Bounds and rules of commands.
    pub commands: CommandSettings,
    /// Timeouts and retries of providers that set none of their own.
    pub network: NetworkSettings,
    /// Endpoints by name.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// The model of each role.
    pub roles: RoleTable,
    /// Named sets of roles.
    pub profiles: BTreeMap<String, ProfileSettings>,
    /// What `API_BASE`, `API_KEY` and `MODEL` stand for when only some of them are set.
    pub environment: EnvironmentSettings,
}

/// `[session]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionSettings {
    /// When a session plans first.
    pub plan: PlanMode,
    /// How much a run may do without asking.
    pub approval: Approval,
}

/// `[network]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkSettings {
    /// Seconds to reach a server; 0 is no limit.
    pub connect_timeout_s: u64,
    /// Seconds until the first token; 0 is no limit.
    pub first_token_timeout_s: u64,
    /// Seconds between tokens; 0 is no limit.
    pub idle_timeout_s: u64,
    /// Times a failed request is sent again.
    pub retries: u32,
    /// Milliseconds before the first retry.
    pub retry_first_ms: u64,
    /// Seconds that a wait between retries may grow to.
    pub retry_max_s: u64,
    /// Protocol faults from one source after which the task ends.
    pub protocol_faults: u32,
}

/// `[environment]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentSettings {
    /// Endpoint of the provider `env` when `API_BASE` is not set.
    pub base_url: String,
    /// Sent in place of a key to the provider `env` when `API_KEY` is not set; no secret.
    pub placeholder_key: String,
    /// Model of the provider `env` when `MODEL` is not set.
    pub model: String,
}

/// `[providers.NAME]`. What is not set comes from `[network]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProviderSettings {
    /// Where requests go, up to and including the version.
    pub base_url: String,
    /// Name of the environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// A command and its arguments that print the key.
    pub api_key_command: Option<Vec<String>>,
    /// Extra headers of each request.
    pub headers: Option<BTreeMap<String, String>>,
    /// Seconds to reach the server; 0 is no limit.
    pub connect_timeout_s: Option<u64>,
    /// Seconds until the first token; 0 is no limit.
    pub first_token_timeout_s: Option<u64>,
    /// Seconds between tokens; 0 is no limit.
    pub idle_timeout_s: Option<u64>,
    /// Times a failed request is sent again.
    pub retries: Option<u32>,
    /// How tools are offered; `native` when not set.
    pub tool_protocol: Option<ToolProtocol>,
    /// Where the endpoint differs from the common form of a request.
    pub quirks: Option<Quirks>,
    /// Further fields of each request.
    pub extra_body: Option<Map<String, Value>>,
    /// A PEM file with certificates that are trusted beside the system's own; an absolute path.
    pub ca_file: Option<PathBuf>,
    /// Whether `http://` may lead to another machine; not when not set.
    pub allow_http: Option<bool>,
}

/// `[roles]`: one table a role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleTable {
    /// Looks, and drafts a plan. Follows the executor when it has no model.
    pub planner: Option<RoleSettings>,
    /// Weighs the next step in words. Follows the planner when it has no model.
    pub thinking: Option<RoleSettings>,
    /// Carries out an approved plan. Follows the planner when it has no model.
    pub executor: Option<RoleSettings>,
    /// Judges a drafted plan. Follows thinking when it has no model.
    pub critique: Option<RoleSettings>,
    /// Summarises a long conversation. Follows the executor when it has no model.
    pub compaction: Option<RoleSettings>,
}

impl RoleTable {
    /// The table of one role, if it sets anything.
    pub fn get(&self, role: Role) -> Option<&RoleSettings> {
        match role {
            Role::Planner => self.planner.as_ref(),
            Role::Thinking => self.thinking.as_ref(),
            Role::Executor => self.executor.as_ref(),
            Role::Critique => self.critique.as_ref(),
            Role::Compaction => self.compaction.as_ref(),
        }
    }
}

/// `[roles.ROLE]`. Whatever is not set comes from the role that this one follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleSettings {
    /// `provider/name`, split at the first `/`.
    pub model: Option<String>,
    /// Models, each `provider/name`, that are asked in this order when the one before cannot be reached.
    pub fallback: Option<Vec<String>>,
    /// Left out of the request when not set.
    pub temperature: Option<f64>,
    /// Limit on an answer in tokens; left out of the request when not set.
    pub max_tokens: Option<u32>,
    /// The model's window in tokens; `context.window` when not set.
    pub context_window: Option<u64>,
    /// US dollars for a million tokens.
    pub price: Option<Price>,
}

/// `[profiles.NAME]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileSettings {
    /// What the profile changes of each role.
    pub roles: Option<RoleTable>,
}
