//! The shared cases of edits, played through the tool on real files.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Case {
    id: String,
    kind: String,
    file: Option<String>,
    old: String,
    new: String,
    #[serde(default)]
    replace_all: bool,
    file_when_read: Option<String>,
    expect: Right,
    tier: Tier,
    #[serde(default)]
    also_accept: Vec<Right>,
}

/// Whether a refusal is as good as the right text.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Tier {
    Must,
    May,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Right {
    Ok {
        ok: String,
    },
    Error {
        error: String,
        #[serde(default)]
        count: Option<usize>,
    },
}

async fn played(case: &Case) -> Right {
    let room = Room::new(Approval::Auto, None);
    if let Some(file) = &case.file {
        std::fs::write(room.path("f"), file).unwrap();
    }
    if let Some(seen) = case.file_when_read.as_ref().or(case.file.as_ref()) {
        room.saw("f", seen);
    }
    let arguments = json!({ "path": "f", "old": case.old, "new": case.new, "replace_all": case.replace_all });
    let got = match room.run("edit_file", arguments).await {
        Outcome::Ok(_) => return Right::Ok { ok: String::from_utf8(room.bytes("f")).unwrap() },
        Outcome::Error(error) => {
            let count =
                error.text.split(" times").next().and_then(|text| text.rsplit(' ').next()?.parse().ok());
            Right::Error { error: error.kind.as_str().to_owned(), count }
        }
        other => panic!("{}: {other:?}", case.id),
    };
    let after = std::fs::read_to_string(room.path("f")).ok();
    assert_eq!(after, case.file, "{}: text was written beside an error", case.id);
    got
}

fn is_right(got: &Right, right: &Right) -> bool {
    match (got, right) {
        (Right::Error { error: got, count: counted }, Right::Error { error, count }) => {
            got == error && (count.is_none() || counted == count)
        }
        (got, right) => got == right,
    }
}

#[tokio::test]
async fn cases_edit() {
    let cases: Vec<Case> =
        crate::cases::load("edit").into_iter().map(|case| serde_json::from_value(case).unwrap()).collect();
    let mut failing = Vec::new();
    // Right and refused, by kind.
    let mut tally: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for case in &cases {
        let got = played(case).await;
        let counts = tally.entry(case.kind.as_str()).or_default();
        let refused =
            matches!(&got, Right::Error { error, .. } if error == "not_found" || error == "ambiguous");
        if std::iter::once(&case.expect).chain(&case.also_accept).any(|right| is_right(&got, right)) {
            counts.0 += 1;
        } else if case.tier == Tier::May && refused {
            counts.1 += 1;
        } else {
            failing.push(format!("{}: {got:?}, right is {:?}", case.id, case.expect));
        }
    }
    for (kind, (right, refused)) in &tally {
        println!("{kind:20} {right:3} right, {refused:3} refused");
    }
    assert!(failing.is_empty(), "{} of {} fail:\n{}", failing.len(), cases.len(), failing.join("\n"));
}
