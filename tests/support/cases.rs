//! Data-driven tests: the cases of `tests/cases/NAME.jsonl`, or of that file in the folder that `TANDEM_CASES` names.
//! Shared by the unit tests of all packages through `#[path]`.

use std::path::PathBuf;

use serde_json::Value;

/// Runs `judge` on every case and names all ids that fail, each with the judge's words.
pub fn check_all(name: &str, mut judge: impl FnMut(&Value) -> Result<(), String>) {
    let folder = match std::env::var_os("TANDEM_CASES") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases")),
    };
    let path = folder.join(format!("{name}.jsonl"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut count = 0;
    let mut failed = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        count += 1;
        if let Err(why) = judge(&case) {
            failed.push(format!("{}: {why}", case["id"].as_str().unwrap_or("(no id)")));
        }
    }
    assert!(count > 0, "{} holds no case", path.display());
    assert!(failed.is_empty(), "{} of {count} cases of {name} fail:\n{}", failed.len(), failed.join("\n"));
}
