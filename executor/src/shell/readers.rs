//! The table of programs that read all the files of a folder: when they do, what they leave out, and how their options
//! narrow that. An option that is not in the table narrows nothing, so that what is not known is taken for read.

use super::reader::Narrows::*;
use super::reader::{Operands, Reader, Sees, When};

const GREP: Reader = Reader {
    name: "grep",
    when: When::With(&[
        "-r",
        "-R",
        "--recursive",
        "--dereference-recursive",
        "-d=recurse",
        "--directories=recurse",
    ]),
    sees: Sees::All,
    operands: Operands::Pattern,
    valued: "-A -B -C -D -d -e -f -m --after-context --before-context --context --devices --directories --regexp \
             --file --max-count --include --exclude --exclude-dir --exclude-from --label --binary-files \
             --group-separator",
    narrows: &[
        ("--include", Only),
        ("--exclude", Not),
        ("--exclude-dir", NotFolder),
        ("-R", Follows),
        ("--dereference-recursive", Follows),
        ("-e", Pattern),
        ("-f", Pattern),
        ("--regexp", Pattern),
        ("--file", Pattern),
    ],
};

const RG: Reader = Reader {
    name: "rg",
    when: When::Without(&["--files", "--type-list", "--version", "-V", "--help", "--pcre2-version"]),
    sees: UNIGNORED,
    operands: Operands::PatternOrInput,
    valued: "-A -B -C -E -M -T -d -e -f -g -j -m -r -t --after-context --before-context --color --colors --context \
             --context-separator --dfa-size-limit --encoding --engine --field-context-separator \
             --field-match-separator --file --generate --glob --hostname-bin --hyperlink-format --iglob --ignore-file \
             --max-columns --max-count --max-depth --maxdepth --max-filesize --path-separator --pre --pre-glob \
             --regex-size-limit --regexp --replace --sort --sortr --threads --type --type-add --type-clear --type-not",
    narrows: &[
        ("-.", Hidden),
        ("--hidden", Hidden),
        ("-u", Unrestricted),
        ("--unrestricted", Unrestricted),
        ("--no-ignore", Ignored),
        ("--no-ignore-dot", Ignored),
        ("--no-ignore-exclude", Ignored),
        ("--no-ignore-parent", Ignored),
        ("--no-ignore-vcs", Ignored),
        ("-g", Glob),
        ("--glob", Glob),
        ("--iglob", GlobAnyCase),
        ("-t", Type),
        ("--type", Type),
        ("-T", NotType),
        ("--type-not", NotType),
        ("--type-add", OtherTypes),
        ("--type-clear", OtherTypes),
        ("-d", Depth),
        ("--max-depth", Depth),
        ("--maxdepth", Depth),
        ("-L", Follows),
        ("--follow", Follows),
        ("-e", Pattern),
        ("-f", Pattern),
        ("--regexp", Pattern),
        ("--file", Pattern),
    ],
};

const FD: Reader = Reader {
    name: "fd",
    when: When::Always,
    sees: UNIGNORED,
    // Its pattern stands for a part of a name, which is not held against names here.
    operands: Operands::Pattern,
    valued: "-E -S -c -d -e -j -o -t --base-directory --changed-before --changed-within --color --exact-depth --exclude \
             --extension --max-depth --min-depth --owner --search-path --size --threads --type",
    narrows: &[
        ("-H", Hidden),
        ("--hidden", Hidden),
        ("-I", Ignored),
        ("--no-ignore", Ignored),
        ("--no-ignore-vcs", Ignored),
        ("-u", Everything),
        ("--unrestricted", Everything),
        ("-d", Depth),
        ("--max-depth", Depth),
        ("-L", Follows),
        ("--follow", Follows),
        ("--base-directory", In),
        ("--search-path", In),
    ],
};

const COPY: Reader = Reader {
    name: "cp",
    when: When::With(&["-r", "-R", "-a", "--recursive", "--archive"]),
    sees: Sees::All,
    operands: Operands::Sources,
    valued: "-S -t --suffix --target-directory",
    narrows: &[],
};

const EXPORT: Reader = Reader {
    name: "git fast-export",
    when: When::Always,
    sees: Sees::Tracked,
    operands: Operands::InGit,
    valued: "",
    narrows: &[],
};

const UNIGNORED: Sees = Sees::Chosen { hidden: false, ignored: false };

/// Every program that reads so.
pub(super) const READERS: &[Reader] = &[
    GREP,
    Reader { name: "egrep", ..GREP },
    Reader { name: "fgrep", ..GREP },
    Reader { name: "ugrep", ..GREP },
    Reader { name: "rgrep", when: When::Always, ..GREP },
    Reader { name: "ug", when: When::Always, ..GREP },
    Reader { name: "ack", when: When::Always, ..GREP },
    RG,
    Reader {
        name: "ag",
        when: When::Without(&["-g", "--list-file-types", "--version", "--help"]),
        sees: UNIGNORED,
        operands: Operands::PatternOrInput,
        valued: "-A -B -C -G -m -p --depth --ignore --ignore-dir",
        narrows: &[
            ("--hidden", Hidden),
            ("-u", Everything),
            ("--unrestricted", Everything),
            ("-a", Everything),
            ("--all-types", Everything),
            ("-U", Ignored),
            ("--skip-vcs-ignores", Ignored),
            ("-f", Follows),
            ("--follow", Follows),
        ],
    },
    Reader {
        name: "diff",
        when: When::DeepWith(&["-r", "--recursive"]),
        sees: Sees::All,
        operands: Operands::Places,
        valued: "-x -X -U -C -W -I -F -S -D --exclude --label --ignore-matching-lines --show-function-line \
                 --starting-file --ifdef --width",
        narrows: &[("-x", Not), ("--exclude", Not)],
    },
    Reader {
        name: "tar",
        when: When::Archives,
        sees: Sees::All,
        operands: Operands::Places,
        valued: "-f -C -X -T -g --file --directory --exclude --exclude-from",
        narrows: &[("--exclude", Not), ("-C", In), ("--directory", In), ("-h", Follows)],
    },
    Reader {
        name: "zip",
        when: When::With(&["-r", "-R", "--recurse-paths"]),
        sees: Sees::All,
        operands: Operands::Places,
        valued: "",
        narrows: &[],
    },
    Reader {
        name: "gzip",
        when: When::With(&["-r", "--recursive"]),
        sees: Sees::All,
        operands: Operands::Places,
        valued: "-S --suffix",
        narrows: &[],
    },
    // What is copied, moved or linked can be read under its other name.
    COPY,
    Reader { name: "mv", when: When::Always, ..COPY },
    Reader { name: "ln", when: When::With(&["-s", "--symbolic"]), ..COPY },
    Reader { name: "git cat-file", when: When::With(&["--batch", "--batch-command"]), ..EXPORT },
    EXPORT,
    Reader { name: "git format-patch", when: When::With(&["--stdout"]), ..EXPORT },
    Reader {
        name: "git grep",
        when: When::Always,
        sees: Sees::Tracked,
        operands: Operands::PatternInGit,
        valued: "-A -B -C -e -f -m --after-context --before-context --context --max-depth --max-count --threads",
        narrows: &[
            ("--no-index", Everything),
            ("--untracked", Everything),
            ("--no-exclude-standard", Everything),
            ("-e", Pattern),
            ("-f", Pattern),
        ],
    },
    Reader {
        name: "git archive",
        when: When::Always,
        sees: Sees::Tracked,
        operands: Operands::InGit,
        valued: "-o --output --format --prefix",
        narrows: &[],
    },
    Reader {
        name: "git diff",
        when: When::With(&["--no-index"]),
        sees: Sees::All,
        operands: Operands::Places,
        valued: "",
        narrows: &[],
    },
];

/// Programs that print names of files, which another may then read (`cat $(…)`, `… | xargs cat`).
pub(super) const LISTERS: &[Reader] = &[
    Reader {
        name: "ls",
        when: When::DeepWith(&["-R", "--recursive"]),
        sees: Sees::Chosen { hidden: false, ignored: true },
        operands: Operands::PlacesOrHere,
        valued: "-I -w -T",
        narrows: &[("-a", Hidden), ("-A", Hidden), ("--all", Hidden), ("--almost-all", Hidden)],
    },
    Reader { name: "git diff", ..EXPORT },
    Reader { name: "git log", ..EXPORT },
    Reader { name: "git show", ..EXPORT },
    Reader { name: "git diff-tree", ..EXPORT },
    Reader { when: When::With(&["--files"]), operands: Operands::PlacesOrHere, ..RG },
    FD,
    Reader { name: "fdfind", ..FD },
    Reader {
        name: "git ls-files",
        when: When::Always,
        sees: Sees::Tracked,
        operands: Operands::InGit,
        valued: "-x -X --exclude --exclude-from",
        narrows: &[
            ("-o", Everything),
            ("--others", Everything),
            ("-i", Everything),
            ("--ignored", Everything),
        ],
    },
];

/// Programs that start another with what is piped into them as its arguments.
pub(super) const FEEDERS: &[&str] = &["xargs", "parallel"];
