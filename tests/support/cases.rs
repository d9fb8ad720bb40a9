//! Data-driven tests: the cases of `tests/cases/NAME.jsonl`, or of that file in the folder that `TANDEM_CASES` names.
//! Shared by the unit tests of all packages through `#[path]`.

use std::path::Path;

use serde_json::Value;

/// All cases of a file. Fails when the file is not there, or holds none.
pub fn load(name: &str) -> Vec<Value> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases");
    let folder = std::env::var_os("TANDEM_CASES").map_or(own, Into::into);
    let path = folder.join(format!("{name}.jsonl"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let parse =
        |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cases: Vec<Value> = lines.map(parse).collect();
    assert!(!cases.is_empty(), "{} holds no case", path.display());
    cases
}
