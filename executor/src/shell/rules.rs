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
/// Commands of Node's package managers that install, with npm's own short forms.
const NODE_INSTALLS: &[&str] = &[
    "install",
    "i",
    "in",
    "ins",
    "inst",
    "isntall",
    "install-test",
    "it",
    "ci",
    "cit",
    "ic",
    "clean-install",
    "add",
    "update",
    "up",
    "upgrade",
    "link",
    "ln",
    "exec",
    "x",
    "dlx",
    "create",
    "uninstall",
    "un",
    "remove",
    "rm",
];
/// `python -m pip`, in one word or two.
const PIP_MODULE: &[&str] = &["=-m", "=-mpip"];
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
        Call { options: &[RECURSIVE], target: Target::Vital, ..call(&["rm"]) },
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
        Call { options: &[&["=-delete"]], target: Target::System, ..call(&["find"]) },
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
        Call { options: &[RECURSIVE], target: Target::System, ..call(&["chmod", "chown", "chgrp"]) },
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
        Call { options: &[&["-i", "--in-place"]], target: Target::SystemFile, ..call(&["sed"]) },
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
        Call { options: &[FORCE], ..sub(&["git"], &[&["push"]]) },
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
            &["pip", "pip3*", "pip2*", "pipx", "pipenv", "uv", "conda", "mamba", "poetry"],
            &[&["install", "uninstall", "add", "sync", "tool"]],
        ),
        "installs packages, which may run code",
    ),
    row(
        "install_uv_pip",
        Risky,
        sub(&["uv"], &[&["pip"], &["install", "uninstall", "sync"]]),
        "installs packages, which may run code",
    ),
    row(
        "install_python_m",
        Risky,
        Call { options: &[PIP_MODULE, &["pip", "=-mpip"], &["install", "uninstall"]], ..call(&["python*"]) },
        "installs packages, which may run code",
    ),
    row(
        "install_node",
        Risky,
        sub(&["npm", "pnpm", "yarn", "bun"], &[NODE_INSTALLS]),
        "installs packages, which may run code",
    ),
    Rule {
        id: "install_bare",
        severity: Risky,
        matcher: Matcher::Bare(&["yarn", "bundle"]),
        why: "installs packages, which may run code",
    },
    row("install_npx", Risky, call(&["npx", "bunx", "uvx"]), "fetches and runs a package"),
    row(
        "install_other",
        Risky,
        sub(
            &["cargo", "gem", "go", "composer", "luarocks", "opam", "bundle", "bundler"],
            &[&["install", "binstall", "get", "require", "update", "add"]],
        ),
        "installs packages, which may run code",
    ),
    row(
        "publish",
        Risky,
        Call {
            unless: &["--dry-run", "-n"],
            ..sub(
                &["cargo", "npm", "pnpm", "yarn", "gem", "twine", "poetry", "docker", "podman"],
                &[&["publish", "push", "upload", "yank", "unpublish", "owner"]],
            )
        },
        "publishes to the world",
    ),
    row("gh_write", Risky, call(&["gh", "glab"]), "acts on a service under the user's name"),
    row(
        "git_push",
        Risky,
        sub(&["git"], &[&["push", "send-pack", "http-push"]]),
        "sends commits to a remote",
    ),
    row(
        "git_push_part",
        Risky,
        sub(&["git"], &[&["subtree", "lfs"], &["push"]]),
        "sends commits to a remote",
    ),
    row(
        "git_reset_hard",
        Risky,
        Call { options: &[&["--hard", "--merge", "--keep"]], ..sub(&["git"], &[&["reset"]]) },
        "discards uncommitted work",
    ),
    row(
        "git_clean",
        Risky,
        Call {
            unless: &["-n", "-nd", "-dn", "-ndx", "-nxd", "-nfd", "-fdn", "-ndf", "--dry-run"],
            ..sub(&["git"], &[&["clean"]])
        },
        "deletes untracked files",
    ),
    row(
        "git_rm",
        Risky,
        Call { unless: &["--cached", "-n", "--dry-run"], ..sub(&["git"], &[&["rm"]]) },
        "deletes files",
    ),
    row(
        "git_restore",
        Risky,
        Call { unless: &["--staged", "-S"], ..sub(&["git"], &[&["restore"]]) },
        "discards uncommitted work",
    ),
    row(
        "git_restore_worktree",
        Risky,
        Call { options: &[&["-W", "--worktree"]], ..sub(&["git"], &[&["restore"]]) },
        "discards uncommitted work",
    ),
    row(
        "git_switch",
        Risky,
        Call { options: &[&["-f", "--force", "--discard-changes"]], ..sub(&["git"], &[&["switch"]]) },
        "discards uncommitted work",
    ),
    row(
        "git_checkout_paths",
        Risky,
        Call { options: &[&["=--", ".", "-f", "--force"]], ..sub(&["git"], &[&["checkout"]]) },
        "discards uncommitted work",
    ),
    Rule {
        id: "git_checkout_files",
        severity: Risky,
        matcher: Matcher::ChecksOutFiles,
        why: "discards uncommitted work",
    },
    row("git_stash", Risky, sub(&["git"], &[&["stash"], &["drop", "clear", "pop"]]), "discards stashed work"),
    row(
        "git_branch_delete",
        Risky,
        Call { options: &[&["-D", "-d", "--delete"]], ..sub(&["git"], &[&["branch", "tag"]]) },
        "deletes a branch or tag",
    ),
    row(
        "git_rewrite",
        Risky,
        sub(&["git"], &[&["filter-branch", "filter-repo", "rebase", "gc", "prune", "update-ref", "replace"]]),
        "rewrites history",
    ),
    row(
        "git_reflog",
        Risky,
        sub(&["git"], &[&["reflog"], &["expire", "delete", "drop", "write"]]),
        "deletes what git remembers of lost commits",
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
    row(
        "infrastructure",
        Risky,
        sub(
            &["terraform", "tofu", "terragrunt", "pulumi", "cdk"],
            &[&["destroy", "apply", "up", "deploy", "import", "taint", "state", "run-all"]],
        ),
        "changes running machines and services",
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
