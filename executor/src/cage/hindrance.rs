//! Failures that look as if the cage caused them.

/// What a command was most likely kept from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// Writing or reading at some place.
    Files,
    /// Reaching another machine.
    Network,
}

const OF_FILES: [&str; 4] =
    ["Read-only file system", "Permission denied", "Operation not permitted", "Device or resource busy"];

const OF_NETWORK: [&str; 9] = [
    "Could not resolve host",
    "could not resolve host",
    "Temporary failure in name resolution",
    "Name or service not known",
    "Network is unreachable",
    "network is unreachable",
    "getaddrinfo",
    "failed to lookup address",
    "No address associated with hostname",
];

impl Hindrance {
    /// What the output of a failed command points at, if anything.
    pub fn in_output(output: &str, network: tandem_shared::settings::Network) -> Option<Hindrance> {
        let names = |texts: &[&str]| texts.iter().any(|text| output.contains(text));
        let cut = network == tandem_shared::settings::Network::Off;
        if cut && names(&OF_NETWORK) {
            Some(Hindrance::Network)
        } else {
            names(&OF_FILES).then_some(Hindrance::Files)
        }
    }

    /// What it was kept from, for a person.
    pub fn what(self) -> &'static str {
        match self {
            Hindrance::Files => "files outside the project",
            Hindrance::Network => "the network",
        }
    }

    /// For the model: what may be the reason, and what can be done.
    pub fn advice(self) -> &'static str {
        match self {
            Hindrance::Files => {
                "Commands run in a cage: they can write only in the project, in their temporary folder and in the \
                 caches of build tools, they cannot change hooks or settings of git, and they cannot read key files. \
                 If that is why it failed, do not try to get around it: find another way, or tell the user, who can \
                 run the command outside the cage, or widen commands.cache_dirs."
            }
            Hindrance::Network => {
                "Commands run in a cage without a network: only programs on the same machine's loopback interface can \
                 be reached. If that is why it failed, do not try to get around it: work with what is there (for \
                 example with --offline), or tell the user, who can allow it with commands.network = \"on\" (for one \
                 run: --set commands.network=on)."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tandem_shared::settings::Network;

    #[test]
    fn failures_that_look_like_the_cage_are_told_apart() {
        let check =
            |output, network, expect| assert_eq!(Hindrance::in_output(output, network), expect, "{output}");
        check("touch: cannot touch '/etc/x': Read-only file system", Network::Off, Some(Hindrance::Files));
        check("curl: (6) Could not resolve host: example.org", Network::Off, Some(Hindrance::Network));
        check("curl: (6) Could not resolve host: example.org", Network::On, None);
        check("error[E0308]: mismatched types", Network::Off, None);
    }
}
