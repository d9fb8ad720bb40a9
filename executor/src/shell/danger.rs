//! The danger list: commands that are refused in every mode, and commands that a person is always asked about.

use std::path::Path;

use super::parse::{Script, Simple, Word};
use super::place::Place;
use super::wrap::SHELLS;

/// How a danger is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A person is asked, whatever the mode.
    Risky,
    /// Refused, whoever says yes.
    Catastrophic,
}

/// A row of the danger list.
pub struct Rule {
    /// Names the rule in questions, denials and tests.
    pub id: &'static str,
    /// How it is met.
    pub severity: Severity,
    /// What it meets.
    matcher: Matcher,
    /// Why, as the end of a sentence that begins with "it".
    pub why: &'static str,
}

/// What a rule meets, over parsed words.
enum Matcher {
    /// A program with such operands and options.
    Call(Call),
    /// A redirect that writes to such a place.
    WritesTo(Target),
    /// A shell that runs what such a program prints; no names: any program.
    ShellRuns(&'static [&'static str]),
    /// A function that starts itself in a pipe or in the background.
    SelfStarting,
}

/// A call of one of `names` (a trailing `*` is a prefix) whose first operands are `operands` (alternatives by place),
/// with an option of every group of `options`, and with a path of `target`.
struct Call {
    names: &'static [&'static str],
    operands: &'static [&'static [&'static str]],
    options: &'static [&'static [&'static str]],
    target: Target,
}

/// Kinds of path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// No path is needed.
    Any,
    /// The file system's root, a system folder, a home, the project root, or a folder above it.
    Vital,
    /// The same without the project and what is in it.
    System,
    /// A disk or another device that holds data, or a switch of the kernel.
    Device,
    /// A file that rules the whole system.
    SystemFile,
    /// A file outside the project in the home or in the system.
    Outside,
}

use Severity::{Catastrophic, Risky};

const fn call(names: &'static [&'static str]) -> Call {
    Call { names, operands: &[], options: &[], target: Target::Any }
}

const fn sub(names: &'static [&'static str], operands: &'static [&'static [&'static str]]) -> Call {
    Call { operands, ..call(names) }
}

const fn row(id: &'static str, severity: Severity, call: Call, why: &'static str) -> Rule {
    Rule { id, severity, matcher: Matcher::Call(call), why }
}

const RECURSIVE: &[&str] = &["-r", "-R", "--recursive"];
const FORCE: &[&str] = &[
    "-f",
    "--force",
    "--force-with-lease",
    "--force-if-includes",
    "+*",
    "--mirror",
    "-d",
    "--delete",
    "--prune",
    ":*",
];
const FETCH: &[&str] = &["curl", "wget", "fetch", "aria2c"];
const DECODE: &[&str] = &["base64", "xxd", "base32", "openssl", "uudecode"];

/// Every rule; the most severe that matches counts.
pub const RULES: &[Rule] = &[
    row(
        "rm_vital",
        Catastrophic,
        Call { names: &["rm"], operands: &[], options: &[RECURSIVE], target: Target::Vital },
        "deletes the root, a system folder, a home or the whole project",
    ),
    row(
        "rm_no_preserve_root",
        Catastrophic,
        Call { options: &[&["--no-preserve-root"]], ..call(&["rm"]) },
        "switches off the guard of the file system's root",
    ),
    row(
        "find_vital",
        Catastrophic,
        Call { names: &["find"], operands: &[], options: &[&["=-delete"]], target: Target::System },
        "deletes the root, a system folder or a home",
    ),
    row(
        "mv_vital",
        Catastrophic,
        Call { target: Target::Vital, ..call(&["mv", "shred"]) },
        "moves or destroys a system folder or the whole project",
    ),
    row(
        "chmod_vital",
        Catastrophic,
        Call {
            names: &["chmod", "chown", "chgrp"],
            operands: &[],
            options: &[RECURSIVE],
            target: Target::Vital,
        },
        "changes the rights of the whole system or a home",
    ),
    row(
        "root_rights",
        Catastrophic,
        call(&["sudo", "su", "doas", "pkexec", "run0"]),
        "takes the rights of another user",
    ),
    row(
        "mkfs",
        Catastrophic,
        call(&["mkfs*", "mke2fs", "mkswap", "wipefs", "blkdiscard"]),
        "destroys a file system",
    ),
    row(
        "disk_tool",
        Catastrophic,
        Call {
            target: Target::Device,
            ..call(&["fdisk", "sfdisk", "parted", "sgdisk", "shred", "tee", "cp", "mv", "truncate"])
        },
        "writes to a disk",
    ),
    row("dd_device", Catastrophic, Call { target: Target::Device, ..call(&["dd"]) }, "overwrites a disk"),
    Rule {
        id: "redirect_device",
        severity: Catastrophic,
        matcher: Matcher::WritesTo(Target::Device),
        why: "writes to a disk or a switch of the kernel",
    },
    Rule {
        id: "redirect_system",
        severity: Catastrophic,
        matcher: Matcher::WritesTo(Target::SystemFile),
        why: "changes who may do what on this system",
    },
    row(
        "write_system",
        Catastrophic,
        Call { target: Target::SystemFile, ..call(&["tee", "cp", "mv", "ln", "install", "rm"]) },
        "changes who may do what on this system",
    ),
    row(
        "sed_system",
        Catastrophic,
        Call {
            names: &["sed"],
            operands: &[],
            options: &[&["-i", "--in-place"]],
            target: Target::SystemFile,
        },
        "changes who may do what on this system",
    ),
    Rule {
        id: "fork_bomb",
        severity: Catastrophic,
        matcher: Matcher::SelfStarting,
        why: "starts itself without end",
    },
    Rule {
        id: "download_to_shell",
        severity: Catastrophic,
        matcher: Matcher::ShellRuns(FETCH),
        why: "runs what it downloads",
    },
    Rule {
        id: "decode_to_shell",
        severity: Catastrophic,
        matcher: Matcher::ShellRuns(DECODE),
        why: "runs a script that is hidden by an encoding",
    },
    row(
        "reverse_shell",
        Catastrophic,
        Call { options: &[&["-e", "-c", "--exec", "--sh-exec"]], ..call(&["nc", "ncat", "netcat"]) },
        "hands a shell to the network",
    ),
    row(
        "kernel_module",
        Catastrophic,
        call(&["insmod", "modprobe", "rmmod", "kexec"]),
        "changes the running kernel",
    ),
    row(
        "git_force_push",
        Catastrophic,
        Call { names: &["git"], operands: &[&["push"]], options: &[FORCE], target: Target::Any },
        "rewrites or deletes history of a remote",
    ),
    row(
        "shutdown",
        Risky,
        call(&["shutdown", "reboot", "halt", "poweroff", "init", "telinit"]),
        "stops the machine",
    ),
    row("systemctl", Risky, call(&["systemctl", "service", "launchctl"]), "changes running services"),
    row("rm_recursive", Risky, Call { options: &[RECURSIVE], ..call(&["rm"]) }, "deletes a whole folder"),
    row(
        "find_delete",
        Risky,
        Call { options: &[&["=-delete"]], ..call(&["find"]) },
        "deletes every file that it finds",
    ),
    row(
        "chmod_wide",
        Risky,
        Call {
            options: &[&[
                "777", "0777", "a+rwx", "+s", "u+s", "g+s", "4755", "04755", "2755", "6755", "4777",
            ]],
            ..call(&["chmod"])
        },
        "gives rights away",
    ),
    row(
        "install_apt",
        Risky,
        sub(
            &["apt", "apt-get", "dnf", "yum", "zypper", "brew", "apk", "snap", "flatpak", "port", "nix-env"],
            &[&["install", "add", "remove", "purge", "upgrade", "dist-upgrade", "reinstall"]],
        ),
        "changes the packages of the system",
    ),
    row("install_pacman", Risky, call(&["pacman", "dpkg", "rpm"]), "changes the packages of the system"),
    row(
        "install_python",
        Risky,
        sub(
            &["pip", "pip3", "pipx", "uv", "conda", "poetry"],
            &[&["install", "uninstall", "add", "sync", "tool"]],
        ),
        "installs packages, which may run code",
    ),
    row(
        "install_python_m",
        Risky,
        Call { options: &[&["=-m"], &["pip"], &["install"]], ..call(&["python", "python3"]) },
        "installs packages, which may run code",
    ),
    row(
        "install_node",
        Risky,
        sub(
            &["npm", "pnpm", "yarn", "bun"],
            &[&["install", "i", "ci", "add", "update", "upgrade", "link", "exec", "dlx"]],
        ),
        "installs packages, which may run code",
    ),
    row("install_npx", Risky, call(&["npx", "bunx", "uvx"]), "fetches and runs a package"),
    row(
        "install_other",
        Risky,
        sub(&["cargo", "gem", "go", "composer", "luarocks", "opam"], &[&["install", "get", "require"]]),
        "installs packages, which may run code",
    ),
    row(
        "publish",
        Risky,
        sub(
            &["cargo", "npm", "pnpm", "yarn", "gem", "twine", "poetry", "docker", "podman"],
            &[&["publish", "push", "upload", "yank", "unpublish", "owner"]],
        ),
        "publishes to the world",
    ),
    row("gh_write", Risky, call(&["gh", "glab"]), "acts on a service under the user's name"),
    row("git_push", Risky, sub(&["git"], &[&["push"]]), "sends commits to a remote"),
    row(
        "git_reset_hard",
        Risky,
        Call {
            names: &["git"],
            operands: &[&["reset"]],
            options: &[&["--hard", "--merge", "--keep"]],
            target: Target::Any,
        },
        "discards uncommitted work",
    ),
    row("git_clean", Risky, sub(&["git"], &[&["clean"]]), "deletes untracked files"),
    row("git_restore", Risky, sub(&["git"], &[&["restore"]]), "discards uncommitted work"),
    row(
        "git_checkout_paths",
        Risky,
        Call {
            names: &["git"],
            operands: &[&["checkout"]],
            options: &[&["=--", ".", "-f", "--force"]],
            target: Target::Any,
        },
        "discards uncommitted work",
    ),
    row("git_stash", Risky, sub(&["git"], &[&["stash"], &["drop", "clear", "pop"]]), "discards stashed work"),
    row(
        "git_branch_delete",
        Risky,
        Call {
            names: &["git"],
            operands: &[&["branch", "tag"]],
            options: &[&["-D", "-d", "--delete"]],
            target: Target::Any,
        },
        "deletes a branch or tag",
    ),
    row(
        "git_rewrite",
        Risky,
        sub(
            &["git"],
            &[&["filter-branch", "filter-repo", "rebase", "reflog", "gc", "prune", "update-ref", "replace"]],
        ),
        "rewrites history",
    ),
    row(
        "git_config",
        Risky,
        sub(
            &["git"],
            &[&["config", "remote"], &["--global", "--system", "add", "set-url", "core.hooksPath", "remove"]],
        ),
        "changes what later git commands do",
    ),
    row(
        "containers",
        Risky,
        call(&["docker", "podman", "nsenter", "unshare", "chroot", "kubectl", "machinectl"]),
        "acts beyond this folder",
    ),
    row("debuggers", Risky, call(&["gcore", "ptrace", "gdb"]), "reads other processes"),
    row("kill_others", Risky, call(&["killall", "pkill", "kill"]), "ends other processes"),
    row("schedules", Risky, call(&["crontab", "at", "batch"]), "plans later commands"),
    row(
        "network_shells",
        Risky,
        call(&["ssh", "scp", "sftp", "rsync", "telnet", "nc", "ncat", "netcat", "socat", "ftp"]),
        "connects to another machine",
    ),
    Rule {
        id: "pipe_to_shell",
        severity: Risky,
        matcher: Matcher::ShellRuns(&[]),
        why: "runs a script that another command prints",
    },
    Rule {
        id: "redirect_outside",
        severity: Risky,
        matcher: Matcher::WritesTo(Target::Outside),
        why: "writes outside the project",
    },
    row(
        "write_outside",
        Risky,
        Call {
            target: Target::Outside,
            ..call(&[
                "tee", "cp", "mv", "ln", "install", "rm", "truncate", "touch", "mkdir", "dd", "chmod",
                "chown",
            ])
        },
        "changes files outside the project",
    ),
];

/// The most severe rule that `script` meets.
pub fn worst(script: &Script, place: Place<'_>) -> Option<&'static Rule> {
    let mut worst: Option<&'static Rule> = None;
    for rule in RULES.iter().filter(|rule| meets(&rule.matcher, script, place)) {
        if worst.is_none_or(|known| rule.severity > known.severity) {
            worst = Some(rule);
        }
    }
    worst
}

fn meets(matcher: &Matcher, script: &Script, place: Place<'_>) -> bool {
    match matcher {
        Matcher::Call(call) => script.commands.iter().any(|simple| meets_call(call, simple, place)),
        Matcher::WritesTo(target) => script.commands.iter().any(|simple| {
            let writes = |op: &str| op.contains('>');
            simple.redirects.iter().any(|to| writes(&to.op) && is_target(*target, &to.target, simple, place))
        }),
        Matcher::ShellRuns(sources) => {
            script.commands.iter().any(|simple| shell_runs(simple, script, sources))
        }
        Matcher::SelfStarting => script.commands.iter().any(|simple| {
            let itself = simple.function.as_deref() == Some(simple.name()) && !simple.words.is_empty();
            itself && (simple.background || !simple.upstream.is_empty())
        }),
    }
}

fn meets_call(call: &Call, simple: &Simple, place: Place<'_>) -> bool {
    let name = simple.name();
    let named = call.names.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == *pattern,
    });
    if !named || simple.words.is_empty() {
        return false;
    }
    let operands = operands(simple);
    let operands_meet = call.operands.iter().enumerate().all(|(at, alternatives)| {
        operands.get(at).is_some_and(|word| alternatives.contains(&word.text.as_str()))
            // Further alternatives may also stand as options (`git config --global`).
            || (at > 0 && simple.args().iter().any(|word| alternatives.contains(&word.text.as_str())))
    });
    operands_meet
        && call.options.iter().all(|group| group.iter().any(|option| has_option(simple.args(), option)))
        && (call.target == Target::Any
            || simple.args().iter().any(|word| is_target(call.target, word, simple, place)))
}

/// Options of git that stand before its subcommand and take the next word.
const GIT_VALUED: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"];

/// The arguments that are no options.
pub(super) fn operands(simple: &Simple) -> Vec<&Word> {
    let mut found = Vec::new();
    let mut args = simple.args().iter();
    while let Some(arg) = args.next() {
        if simple.name() == "git" && found.is_empty() && GIT_VALUED.contains(&arg.text.as_str()) {
            args.next();
        } else if !arg.text.starts_with('-') && !arg.text.starts_with('+') {
            found.push(arg);
        }
    }
    found
}

/// Tests of find that take the next word.
const FIND_TESTS: &[&str] = &["-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-lname", "-ilname"];

/// `-x` is met alone or in a cluster, `--long` whole, shortened or with a value, `=word` and others as they stand;
/// `+*` is a word that begins so.
fn has_option(args: &[Word], option: &str) -> bool {
    args.iter().enumerate().any(|(at, arg)| {
        let text = arg.text.as_str();
        if let Some(exact) = option.strip_prefix('=') {
            // `find -name -delete` looks for a file of that name.
            let before = at.checked_sub(1).and_then(|at| args.get(at)).map_or("", |arg| arg.text.as_str());
            return text == exact && !FIND_TESTS.contains(&before);
        }
        if let Some(prefix) = option.strip_suffix('*') {
            return text.len() > prefix.len() && text.starts_with(prefix);
        }
        if option.starts_with("--") {
            let stem = text.split('=').next().unwrap_or(text);
            return stem.len() > 3 && option.starts_with(stem);
        }
        match option.strip_prefix('-') {
            Some(letter) => text.starts_with('-') && !text.starts_with("--") && text.contains(letter),
            None => text == option,
        }
    })
}

fn shell_runs(simple: &Simple, script: &Script, sources: &[&str]) -> bool {
    let name = simple.name();
    let is_source = |at: &usize| {
        let named = script.commands.get(*at).map(Simple::name).unwrap_or_default();
        if sources.is_empty() { !named.is_empty() } else { sources.contains(&named) }
    };
    let evaluates = SHELLS.contains(&name) || matches!(name, "eval" | "source" | ".");
    // An interpreter with no operand reads its program from its input.
    let reads_input =
        SHELLS.contains(&name) || matches!(name, "python" | "python3" | "perl" | "ruby" | "node");
    let bare = simple.args().iter().all(|arg| arg.text.starts_with('-') && !arg.text.starts_with("-c"));
    (evaluates && simple.inner.iter().any(is_source))
        || (reads_input && bare && simple.upstream.iter().any(is_source))
}

/// Devices that are no harm to write to.
const HARMLESS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd", "/dev/shm"];
const RULING: &[&str] = &[
    "/etc/sudoers",
    "/etc/passwd",
    "/etc/shadow",
    "/etc/group",
    "/etc/ld.so.preload",
    "/etc/pam.d",
    "/etc/sudoers.d",
];

fn is_target(target: Target, word: &Word, simple: &Simple, place: Place<'_>) -> bool {
    // `of=/dev/sda`, `--output=/etc/x`: the value counts.
    let text = match word.text.split_once('=') {
        Some((key, value))
            if !matches!(target, Target::Vital | Target::System)
                && key.chars().all(|c| c.is_ascii_lowercase() || c == '-') =>
        {
            if key == "if" {
                return false;
            }
            value
        }
        _ => word.text.as_str(),
    };
    if text.starts_with('-') || text.is_empty() {
        return false;
    }
    let Some(path) = place.absolute(text, simple.dir.as_deref()) else { return false };
    let below = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    match target {
        Target::Any => true,
        Target::Vital => place.is_vital(&path),
        Target::System => place.is_vital(&path) && place.is_outside(&path),
        Target::Device => {
            (path.starts_with("/dev") && path != Path::new("/dev") && !below(HARMLESS))
                || below(&["/proc/sysrq-trigger", "/proc/sys", "/sys"])
        }
        Target::SystemFile => below(RULING),
        Target::Outside => place.is_outside(&path) && !below(HARMLESS) && !below(&["/tmp", "/var/tmp"]),
    }
}
