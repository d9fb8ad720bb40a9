//! A short table of programs that ask a project about itself: its packages, its toolchain. They read its set-up, so for the
//! executor they are commands like any other; where nothing can be written and nobody reached, they only look.

use super::looks::is_below;
use super::script::Simple;

/// A program that asks.
struct Asks {
    name: &'static str,
    bounds: Bounds,
}

enum Bounds {
    /// With exactly these arguments.
    Exactly(&'static [&'static str]),
    /// By one of these commands, without options that begin so: they would start a program that the project holds.
    Command(&'static [&'static str], &'static [&'static str]),
}

const fn exactly(name: &'static str, calls: &'static [&'static str]) -> Asks {
    Asks { name, bounds: Bounds::Exactly(calls) }
}

// `make -n` is not among them: it runs `$(shell …)` and lines that begin with `+`, and prints what a Makefile took from a
// file of secrets. `npm view` needs the network.
const ASKS: &[Asks] = &[
    exactly("cargo", &["--version", "-V", "-vV", "--version --verbose"]),
    Asks {
        name: "cargo",
        bounds: Bounds::Command(
            &["metadata", "tree", "pkgid", "locate-project"],
            &["--config", "-Z", "-C", "+"],
        ),
    },
    exactly(
        "rustc",
        &[
            "--version",
            "-V",
            "-vV",
            "--version --verbose",
            "--print cfg",
            "--print sysroot",
            "--print target-list",
        ],
    ),
    exactly("python", &["--version", "-V"]),
    exactly("python3", &["--version", "-V"]),
    exactly("node", &["--version", "-v"]),
    exactly("npm", &["--version", "-v"]),
    Asks { name: "npm", bounds: Bounds::Command(&["ls", "list"], &[]) },
    exactly("go", &["version"]),
    Asks {
        name: "go",
        bounds: Bounds::Command(
            &["list", "env"],
            &["-toolexec", "-export", "-compiled", "-exec", "-C", "-w", "-u", "--"],
        ),
    },
];

/// Set before a command that may ask. Nothing is written outside the temporary folder, so caches that a program insists on
/// go there; the network is off, so nobody waits for it; and a compiler, or what stands around it, is not what the
/// project's own settings name.
pub const BEFORE_ASKING: &str = "export CARGO_NET_OFFLINE=true RUSTC=\"${RUSTC:-rustc}\" RUSTC_WRAPPER= \
                                 RUSTC_WORKSPACE_WRAPPER= GOCACHE=\"${TMPDIR:-/tmp}/go-build\" GOPROXY=off \
                                 GOTOOLCHAIN=local npm_config_offline=true\n";

/// Whether `simple` asks the project about itself, and does nothing else.
pub fn asks(simple: &Simple) -> bool {
    let plain = simple.assigns.is_empty()
        && !simple.background
        && simple.words.iter().all(|word| word.known && !word.glob)
        && simple.redirects.iter().all(|to| to.target.text == "/dev/null" || to.op.contains('&'));
    // By its bare name: `./cargo` is a file of the project.
    let name = simple.words.first().map_or("", |word| word.text.as_str());
    let args: Vec<&str> = simple.args().iter().map(|word| word.text.as_str()).collect();
    let within = |row: &&Asks| match row.bounds {
        Bounds::Exactly(calls) => calls.contains(&args.join(" ").as_str()),
        Bounds::Command(commands, refused) => args.split_first().is_some_and(|(command, rest)| {
            commands.contains(command)
                && rest
                    .iter()
                    .all(|arg| is_below(arg) && !refused.iter().any(|option| arg.starts_with(option)))
        }),
    };
    plain && ASKS.iter().filter(|row| row.name == name).any(|row| within(&row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::parse::parse;

    fn check(command: &str, expect: bool) {
        assert_eq!(parse(command).commands.iter().all(asks), expect, "{command}");
    }

    #[test]
    fn what_asks_a_project_about_itself_is_known() {
        for command in [
            "cargo metadata --offline --format-version 1 --no-deps",
            "cargo metadata 2>/dev/null",
            "cargo tree -i serde --depth 2",
            "cargo pkgid",
            "cargo metadata --manifest-path sub/Cargo.toml",
            "rustc -vV",
            "rustc --print cfg",
            "python3 --version",
            "npm ls --all",
            "go list -m all",
            "go list ./...",
            "go env GOPATH",
        ] {
            check(command, true);
        }
    }

    #[test]
    fn what_would_start_a_program_of_the_project_does_not_ask() {
        for command in [
            "./cargo metadata",
            "bin/python3 --version",
            "cargo build",
            "cargo +nightly metadata",
            "cargo metadata --config build.rustc-wrapper=./x",
            "cargo metadata --manifest-path ../x/Cargo.toml",
            "cargo metadata > out",
            "cargo tree &",
            "RUSTC_WRAPPER=./x cargo metadata",
            "cargo -C sub metadata",
            "cargo $X",
            "rustc --print link-args src/main.rs",
            "rustc --print cfg -C linker=./x src/main.rs",
            "python3 --version x.py",
            "make -n",
            "make --dry-run all",
            "npm view left-pad",
            "npm ls --prefix /srv/other",
            "go list -toolexec ./x ./...",
            "go list --toolexec=./x",
            "go list -export",
            "go env -w GOFLAGS=-x",
        ] {
            check(command, false);
        }
    }
}
