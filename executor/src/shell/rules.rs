//! The danger list: commands that are refused in every mode, and commands that a person is always asked about.

use super::rule::Severity::{Catastrophic, Risky};
use super::rule::{Call, Matcher, Rule, Target, call, row, sub};

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

const WRITERS: &[&str] = &[
    "tee", "cp", "mv", "ln", "install", "rm", "truncate", "touch", "mkdir", "rmdir", "dd", "chmod", "chown",
    "tar", "unzip", "unlink",
];

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
    row("delete", Risky, call(&["rm", "unlink", "shred"]), "deletes files"),
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
        id: "redirect_protected",
        severity: Risky,
        matcher: Matcher::WritesTo(Target::Protected),
        why: "writes what belongs to git or to tandem",
    },
    row(
        "write_protected",
        Risky,
        Call { target: Target::Protected, ..call(WRITERS) },
        "changes what belongs to git or to tandem",
    ),
    Rule {
        id: "redirect_outside",
        severity: Risky,
        matcher: Matcher::WritesTo(Target::Outside),
        why: "writes outside the project",
    },
    row(
        "write_outside",
        Risky,
        Call { target: Target::Outside, ..call(WRITERS) },
        "changes files outside the project",
    ),
    Rule {
        id: "secret_file",
        severity: Risky,
        matcher: Matcher::ReadsSecrets,
        why: "reads a file that may hold secrets",
    },
    Rule {
        id: "secret_below",
        severity: Risky,
        matcher: Matcher::SweepsSecrets,
        why: "reads what may hold secrets, without naming it",
    },
];
