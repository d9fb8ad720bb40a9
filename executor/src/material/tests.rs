//! Which files belong to a check, and how a change of one is seen.

use super::*;

#[test]
fn a_checks_files_are_those_it_names_and_tests_for_a_runner() {
    let check = |command: &str, changed: &[&str], expect: &[&str]| {
        let material = Material::of(command, &[]);
        let held: Vec<&str> = changed.iter().copied().filter(|file| material.holds(file)).collect();
        assert_eq!(held, expect, "{command}");
    };
    check(
        "cargo test",
        &["src/lib.rs", "tests/a.rs", "crates/x/tests/b.rs"],
        &["tests/a.rs", "crates/x/tests/b.rs"],
    );
    check("cargo build", &["src/lib.rs", "tests/a.rs"], &[]);
    check("cargo nextest run", &["src/parse_test.rs"], &["src/parse_test.rs"]);
    check("pytest -q", &["a.py", "test_a.py", "conftest.py"], &["test_a.py", "conftest.py"]);
    check("python -m pytest tests/test_a.py::one", &["tests/test_a.py"], &["tests/test_a.py"]);
    check("timeout 60 npm run test:unit && npm test", &["src/a.test.ts", "src/a.ts"], &["src/a.test.ts"]);
    check("go test ./...", &["a.go", "a_test.go"], &["a_test.go"]);
    check("make test", &["Makefile", "a.c"], &["Makefile"]);
    check("sh ./check.sh --fast", &["check.sh", "other.sh"], &["check.sh"]);
    check("cd sub && ./check.sh", &["sub/check.sh", "check.sh"], &["sub/check.sh"]);
    check("bash -c 'sh scripts/*.sh'", &["scripts/a.sh", "a.sh"], &["scripts/a.sh"]);
    check("diff out.txt expected.txt", &["expected.txt", "src/a.c"], &["expected.txt"]);
    check("grep -q done < notes.txt", &["notes.txt"], &["notes.txt"]);
    check("cargo test", &["src/contest.rs", "latest/a.rs"], &[]);
}

#[test]
fn a_steps_own_subject_is_no_part_of_its_check() {
    let check = |command: &str, file: &str, expect: bool| {
        let files = [file.to_owned()];
        assert_eq!(Material::of(command, &files).holds(file), expect, "{command}");
    };
    check("grep -q 'a + b' src/lib.rs", "src/lib.rs", false);
    check("test -f src/lib.rs", "src/lib.rs", false);
    check("sh check.sh", "check.sh", true);
    check("./check.sh", "check.sh", true);
    check("pytest tests/test_a.py", "tests/test_a.py", true);
}

#[test]
fn a_change_by_whatever_means_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("tests/a.rs", "1");
    write("tests/gone.rs", "1");
    write("src/lib.rs", "1");
    write("target/tests/b.rs", "1");
    write(".gitignore", "target\n");
    let workspace = Workspace::open(folder.path()).unwrap();
    let material = Material::of("cargo test", &[]);
    let before = material.snapshot(&workspace);
    assert_eq!(before.keys().collect::<Vec<_>>(), ["tests/a.rs", "tests/gone.rs"]);
    write("tests/a.rs", "2");
    write("tests/new.rs", "1");
    write("src/lib.rs", "2");
    std::fs::remove_file(folder.path().join("tests/gone.rs")).unwrap();
    assert_eq!(
        changed(&before, &material.snapshot(&workspace)),
        ["tests/a.rs", "tests/gone.rs", "tests/new.rs"]
    );
}
