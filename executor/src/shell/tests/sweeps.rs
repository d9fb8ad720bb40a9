//! Files of secrets that a command reads without naming them: one row for each way to do so.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::shell::{Judgement, Place, Rules, judge};

/// `.env` is hidden and ignored, `conf/credentials.json` neither; git knows the second. `src` has none of them.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for (path, text) in [
        (".env", "KEY=1"),
        (".gitignore", ".env\nbuild/\n"),
        ("conf/credentials.json", "{}"),
        ("conf/app.toml", "a = 1"),
        ("src/main.rs", "fn main() {}"),
        ("src/deep/more.rs", "fn more() {}"),
        ("build/server.pem", "x"),
        ("node_modules/a/test.pem", "x"),
        ("README.md", "read me"),
    ] {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), text).unwrap();
    }
    for args in [&["init", "-q"][..], &["add", "conf", "src", "README.md"]] {
        assert!(Command::new("git").args(args).current_dir(root).status().unwrap().success());
    }
    folder
}

/// The files that `command` would be asked about; none where there is no question about secrets.
fn found(root: &Path, command: &str) -> String {
    match judge(command, &Rules::default(), Place { root }) {
        Judgement::Risky(rule) if rule.id == "secret_below" => {
            rule.why.rsplit_once(": ").map_or(rule.why.to_string(), |(_, files)| files.to_owned())
        }
        Judgement::Risky(rule) => panic!("{command}: {}", rule.id),
        _ => String::new(),
    }
}

fn check(root: &Path, rows: &[(&str, &str)]) {
    for (command, expect) in rows {
        assert_eq!(found(root, command), *expect, "{command}");
    }
}

const ALL: &str = ".env, build/server.pem, conf/credentials.json";
const SEEN: &str = "conf/credentials.json";

#[test]
fn a_folder_that_is_searched_is_looked_through_for_secrets() {
    let folder = project();
    check(
        folder.path(),
        &[
            ("grep -r KEY .", ALL),
            ("grep -R KEY", ALL),
            ("grep -rnA 3 KEY", ALL),
            ("grep --recurs KEY conf", SEEN),
            ("grep -d recurse KEY .", ALL),
            ("grep -d rec KEY .", ALL),
            ("grep -drec KEY .", ALL),
            ("grep --directories=rec KEY .", ALL),
            ("grep --direct rec KEY .", ALL),
            ("git grep --no-ind KEY .", ALL),
            ("gzip -rc conf | zcat", SEEN),
            ("tar rf x.tar conf", SEEN),
            ("tar -rf x.tar conf", SEEN),
            ("cp -r conf out && cat out/*", SEEN),
            ("cp -a -t out conf", SEEN),
            ("ln -s conf d; cat d/*", SEEN),
            ("mv conf out", SEEN),
            ("git cat-file --batch-all-objects --batch", SEEN),
            ("git fast-export --all", SEEN),
            ("git format-patch --stdout HEAD~1", SEEN),
            ("taskset -c 0 grep -r KEY conf", SEEN),
            ("setarch x86_64 -R grep -r KEY conf", SEEN),
            ("setarch -R grep -r KEY conf", SEEN),
            ("script -qc 'grep -r KEY conf' /dev/null", SEEN),
            ("egrep -ir KEY conf/", SEEN),
            ("rgrep KEY", ALL),
            ("cd conf && grep -r KEY .", SEEN),
            ("grep -r KEY src .", ALL),
            ("grep -rl KEY . | head", ALL),
            ("timeout 5 grep -r KEY .", ALL),
            ("grep -r KEY ..", ALL),
            ("bash -c 'grep -r KEY .'", ALL),
            ("grep -r KEY $DIR", ALL),
            ("rg KEY", SEEN),
            ("rg --hidden KEY", SEEN),
            ("rg -u KEY", "build/server.pem, conf/credentials.json"),
            ("rg -uu KEY .", ALL),
            ("rg -uuu KEY", ALL),
            ("rg --no-ignore --hidden KEY", ALL),
            ("rg -A 3 KEY", SEEN),
            ("rg -e KEY conf", SEEN),
            ("rg -g '*.json' KEY", SEEN),
            ("rg -g '.env' KEY", ".env"),
            ("rg -t json KEY", SEEN),
            ("ag KEY", SEEN),
            ("ugrep -r KEY", ALL),
            ("diff -r conf src", SEEN),
            ("diff conf src", SEEN),
            ("tar c .", ALL),
            ("tar czf x.tgz conf", SEEN),
            ("tar -cf - -C conf a", SEEN),
            ("zip -r x.zip conf", SEEN),
            ("git grep KEY", SEEN),
            ("git grep KEY HEAD", SEEN),
            ("git -C conf grep KEY", SEEN),
            ("git grep KEY -- '*.json'", SEEN),
            ("git grep --no-index KEY .", ALL),
            ("git archive HEAD", SEEN),
            ("git diff --no-index src conf", SEEN),
        ],
    );
}

#[test]
fn a_pattern_is_what_it_stands_for() {
    let folder = project();
    check(
        folder.path(),
        &[
            ("cat conf/*", SEEN),
            ("cat conf/*.json", SEEN),
            ("cat */*", "build/server.pem, conf/credentials.json"),
            ("cd conf && head -n 3 *", SEEN),
            ("grep -r KEY *", "build/server.pem, conf/credentials.json"),
            ("cat *", ""),
            ("cat conf/*.toml", ""),
            ("ls conf/*", ""),
            ("wc -c conf/*", ""),
            ("cat src/*.rs", ""),
        ],
    );
}

#[test]
fn names_that_another_command_prints_are_read() {
    let folder = project();
    check(
        folder.path(),
        &[
            ("find . -type f -exec cat {} +", ALL),
            ("find conf -name '*.json' -exec cat {} \\;", SEEN),
            ("find . -not -name '*.rs' -exec grep KEY {} +", ALL),
            ("find . -name '*.rs' -o -type f -exec cat {} +", ALL),
            ("find . -maxdepth 1 -type f -exec cat {} +", ".env"),
            ("find . -type f | xargs cat", ALL),
            ("find . -type f | grep -v target | xargs -n 1 head", ALL),
            ("git ls-files | xargs cat", SEEN),
            ("rg --files -uu | xargs cat", ALL),
            ("fd . | xargs cat", SEEN),
            ("ls -a | xargs cat", ".env"),
            ("cat $(find . -type f)", ALL),
            ("cat $(git ls-files)", SEEN),
            ("find . -type f | while read f; do cat \"$f\"; done", ALL),
            ("for f in $(git ls-files); do cat $f; done", SEEN),
            ("F=$(find . -type f); cat $F", ALL),
            ("ls -a && cat \"$HOME/x\"", ""),
            ("find . -type f; cargo run -- $X", ""),
            ("find . -type f -exec wc -l {} +", ""),
            ("find . -type f", ""),
            ("find . -name '*.rs' -exec grep KEY {} +", ""),
            ("find . \\( -name '*.rs' -o -name '*.toml' \\) -exec grep KEY {} +", ""),
            ("find . -name '*.rs' | xargs grep KEY", ""),
            ("wc -c $(git ls-files)", ""),
            ("cat $(git ls-files '*.rs')", ""),
        ],
    );
}

#[test]
fn what_a_command_leaves_out_is_no_question() {
    let folder = project();
    check(
        folder.path(),
        &[
            ("grep -rn KEY src README.md", ""),
            ("grep KEY README.md", ""),
            ("grep -rn --include='*.rs' KEY .", ""),
            ("grep -rn --include=*.toml KEY .", ""),
            ("grep -r --exclude=.env --exclude='*.json' --exclude-dir=build KEY .", ""),
            ("grep -r --exclude-dir build --exclude '.e*' KEY .", SEEN),
            ("rg KEY src", ""),
            ("rg -t rust KEY", ""),
            ("rg -g '*.rs' KEY", ""),
            ("rg -g '!credentials.json' KEY", ""),
            ("rg -T json KEY", ""),
            ("rg --type-add 'x:*.json' -t x KEY", SEEN),
            ("rg --max-depth 1 KEY", ""),
            ("rg --files", ""),
            ("git log | rg KEY", ""),
            ("rg --version", ""),
            ("diff -r src README.md", ""),
            ("diff -r -x '*.json' conf src", ""),
            ("tar tf x.tgz", ""),
            ("git grep KEY src", ""),
            ("git grep KEY -- '*.rs'", ""),
            ("git grep KEY -- ':!conf'", ""),
            ("grep -r KEY node_modules", ""),
            ("du -a .", ""),
            ("git status", ""),
            ("cp -r src conf", ""),
            ("mv src/main.rs conf", ""),
            ("git cat-file -p HEAD", ""),
        ],
    );
}

#[test]
fn a_link_is_what_it_leads_to() {
    let folder = project();
    let root = folder.path();
    symlink(".env", root.join("notes")).unwrap();
    symlink("../conf", root.join("src/way")).unwrap();
    fs::hard_link(root.join(".env"), root.join("plain.txt")).unwrap();
    fs::hard_link(root.join("README.md"), root.join("twin.md")).unwrap();
    check(
        root,
        &[
            ("cat notes", ".env"),
            ("cat < notes", ".env"),
            ("cat plain.txt", ".env"),
            ("sort plain.txt", ".env"),
            ("cat src/way/*", "src/way/credentials.json"),
            ("grep -r KEY src", ""),
            ("grep -R KEY src", "src/way/credentials.json"),
            ("cat twin.md", ""),
            ("ls -l plain.txt", ""),
        ],
    );
}

#[test]
fn a_rule_of_the_user_lets_it_through_if_it_names_the_search() {
    let folder = project();
    let check = |rule: &str, command: &str, expect: bool| {
        let rules = Rules::parse(&[], &[], &[rule.to_owned()]).unwrap();
        let judged = judge(command, &rules, Place { root: folder.path() });
        assert_eq!(judged == Judgement::Allowed, expect, "{rule} on {command}: {judged:?}");
    };
    check("grep -r KEY .", "grep -r KEY .", true);
    check("grep -r KEY *", "grep -r KEY .", true);
    check("grep *", "grep -r KEY .", false);
    check("grep -rn *", "grep -rn KEY src conf", true);
    check("rg *", "rg KEY", true);
    check("cat *", "cat conf/*", false);
}
