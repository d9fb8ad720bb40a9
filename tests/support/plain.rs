//! Settings that tests begin with.

use tandem_shared::settings::{CommandSettings, Network, Sandbox};

/// Commands without a cage, which would need the binary.
pub fn command_settings() -> CommandSettings {
    CommandSettings {
        idle_s: 20,
        absolute_s: 20,
        output_chars: 15_000,
        env: Default::default(),
        deny: Vec::new(),
        ask: Vec::new(),
        allow: Vec::new(),
        sandbox: Sandbox::Off,
        network: Network::On,
        cache_dirs: Vec::new(),
        hidden: Vec::new(),
        max_memory_mb: 0,
        max_processes: 0,
        max_output_mb: 256,
        max_file_mb: 0,
        max_cpu_s: 0,
    }
}
