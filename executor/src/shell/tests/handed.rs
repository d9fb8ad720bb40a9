//! Files of secrets whose names reach a program by a variable, a pipe or another command.

use std::fs;
use std::path::Path;

use super::word_in;

/// A hidden file of secrets, one in `conf`, and none in `src`.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for path in [".env", "conf/credentials.json", "conf/app.toml", "src/main.rs", "src/deep/more.rs", "list"]
    {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    folder
}

fn asks(root: &Path, command: &str) -> bool {
    matches!(word_in(root, command).as_str(), "risky secret_file" | "risky secret_below")
}

const READING: &[&str] = &[
    "for f in conf/*; do cat \"$f\"; done",
    "for f in .e*; do cat $f; done",
    "for f in .env; do cat ${f}; done",
    "for d in conf; do cat $d/*; done",
    "for d in src conf; do head -n 3 \"$d\"/*; done",
    "f=.env; cat $f",
    "f=\"a .env\"; cat $f",
    "d=conf; cat $d/*",
    "d=conf; grep -r KEY $d",
    "export f=.env; cat \"$f\"",
    "files=(a .env); cat \"${files[@]}\"",
    "a=.e; a+=nv; cat $a",
    "f=.env; bash -c \"cat $f\"",
    "cat \"$(echo .env)\"",
    "cat $(printf '%s\\n' conf/*)",
    "f=$(echo .env); cat $f",
    "echo .env | xargs cat",
    "printf '%s\\n' conf/* | xargs cat",
    "cat list | xargs cat",
    "xargs cat < list",
    "xargs -a list cat",
    "echo .env | xargs -I{} sh -c 'cat {}'",
    "xargs cat <<'E'\n.env\nE",
    "while read f; do cat $f; done <<E\n.env\nE",
    "while read -r f; do cat \"$f\"; done < list",
    "cat list | while read f; do cat $f; done",
    "python3 list.py | xargs cat",
    "cat ${x:-.env}",
    "cat .e${x}nv",
    "cat $FILE",
    "cat conf/$x",
    "sh -c 'cat \"$1\"' _ .env",
    "show() { cat \"$1\"; }; show .env",
    "bash -c 'cat .{env,x}'",
    "cat .{\"env\",x}",
    "bash -c \"cat $'.en\\x76'\"",
    "sed -n 'r .env' a.txt",
    "sed '1r.env' a.txt",
    "python3 -c \"print(open('.env').read())\"",
    "python3 - <<'E'\nprint(open(\".env\").read())\nE",
    "awk 'BEGIN { while ((getline l < \".env\") > 0) print l }'",
];

const ORDINARY: &[&str] = &[
    "for f in *; do cat $f; done",
    "for f in src/*.rs; do cat \"$f\"; done",
    "for f in src/*; do cat ${f%.rs}.rs; done",
    "for i in 1 2 3; do head -n $i list; done",
    "for i in {1..3}; do cat src/$i.rs; done",
    "d=src; cat $d/*",
    "n=$(wc -l < list); head -n $n list",
    "f=$(mktemp); cat $f",
    "cat conf/$name.toml",
    "cat \"$HOME/x\"",
    "cd src && cat $FILE",
    "echo src/main.rs | xargs cat",
    "find . -name '*.rs' | while read -r f; do cat \"$f\"; done",
    "find . -name '*.rs' | sed 's/x/y/' | sort | xargs cat",
    "while read -r f; do cat \"$f\"; done < <(find . -name '*.rs')",
    "xargs cat <<'E'\nsrc/main.rs\nE",
    "grep -l x src/*.rs | xargs sed -n 1,3p",
    "show() { sed -n 1,9p \"$1\"; }; show src/main.rs; show list",
    "grep \"$word\" src/main.rs",
    "sed -i \"s/$a/$b/\" src/main.rs",
    "cargo run -- $X",
    "echo $X",
    "diff <(sort list) <(sort src/main.rs)",
    "git checkout -b $name",
    "cp src/main.rs \"$out\"",
    "python3 -c \"print('a')\"",
    "cat src/{main,other}.rs",
];

#[test]
fn what_reaches_a_program_in_another_way_is_read() {
    let folder = project();
    let missed: Vec<&&str> = READING.iter().filter(|command| !asks(folder.path(), command)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn ordinary_scripts_are_no_question() {
    let folder = project();
    let asked: Vec<&&str> = ORDINARY.iter().filter(|command| asks(folder.path(), command)).collect();
    assert!(asked.is_empty(), "{asked:#?}");
}

#[test]
fn where_no_file_of_secrets_lies_nothing_open_is_a_question() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["cat $FILE", "cat list | xargs cat", "while read f; do cat $f; done < list", "cat \"$1\""]
    {
        assert!(!asks(folder.path(), command), "{command}");
    }
}
