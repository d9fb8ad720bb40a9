//! Ordinary commands that are no question, or one for the right reason.

use super::check;

#[test]
fn what_only_sounds_dangerous_is_left_to_the_mode() {
    for command in [
        "chmod -R u+w .",
        "git restore --staged f",
        "git clean -n",
        "git clean -nd",
        "git rm --cached f",
        "git checkout main",
        "git checkout -b work origin/main",
        "git switch main",
        "cargo publish --dry-run",
        "git reflog show HEAD",
        "terraform plan",
    ] {
        check(command, "plain");
    }
    check("git reflog", "looks");
}

#[test]
fn what_a_shell_often_holds_is_understood() {
    for (command, expect) in [
        ("for i in {1..3}; do echo $i; done", "looks"),
        ("trap \"\" INT; ls", "plain"),
        ("trap - INT; ls", "plain"),
        ("time (cargo build)", "plain"),
        ("time (rm -r x)", "risky delete"),
        ("i=0; ((i++)); ls", "plain"),
        ("((i += $(rm x; echo 1)))", "risky delete"),
        ("# only a remark", "plain"),
    ] {
        check(command, expect);
    }
}

#[test]
fn what_is_fed_to_cat_file_decides_what_it_prints() {
    for (command, expect) in [
        ("git cat-file -p HEAD", "looks"),
        ("git cat-file --batch-check", "looks"),
        ("git cat-file --batch-all-objects --batch", "plain"),
        ("git cat-file --batch < ids", "plain"),
        ("wc --files0-from=list", "plain"),
        ("du --files0=list", "plain"),
        ("file -bf list", "plain"),
        ("wc -l a.txt", "looks"),
        ("file a.txt", "looks"),
    ] {
        check(command, expect);
    }
}
