//! The corpus of edits from real commits, misquoted as models misquote: played through the tool beside one that knows
//! only exact matches. It is read where it lies and never copied.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
#[serde(tag = "row", rename_all = "lowercase")]
enum Row {
    File {
        id: String,
        text: String,
    },
    Case(Box<Case>),
    #[serde(other)]
    Meta,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    kind: String,
    label: Label,
    before: String,
    after: String,
    eol: String,
    old: String,
    new: String,
    replace_all: bool,
    #[serde(default)]
    also: Vec<String>,
    /// Lines, from and to, in which blanks at line ends do not count.
    blanks_free: Option<(usize, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Label {
    MustApply,
    May,
    MustRefuse,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Right,
    Refused,
    Wrong,
}

/// The corpus and its files; `None` in a clone that has none.
fn load() -> Option<(Vec<Case>, HashMap<String, String>)> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases");
    let named = std::env::var_os("TANDEM_CASES").map(PathBuf::from);
    let path = named.as_ref().unwrap_or(&beside).join("edit_corpus.jsonl.gz");
    if named.is_none() && !path.exists() {
        return None;
    }
    let packed = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let (mut cases, mut files) = (Vec::new(), HashMap::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str(line).unwrap() {
            Row::File { id, text } => drop(files.insert(id, text)),
            Row::Case(case) => cases.push(*case),
            Row::Meta => {}
        }
    }
    assert!(!cases.is_empty(), "{} holds no case", path.display());
    Some((cases, files))
}

impl Case {
    fn text(&self, files: &HashMap<String, String>, id: &str) -> String {
        let text = &files[id];
        if self.eol == "crlf" { text.replace('\n', "\r\n") } else { text.clone() }
    }

    /// What is to be said of a content after; `None` for a refusal that changed nothing.
    fn verdict(&self, files: &HashMap<String, String>, got: Option<&[u8]>) -> Verdict {
        let right = |id: &String| got == Some(self.text(files, id).as_bytes());
        match (self.label, got) {
            (Label::MustRefuse, None) => Verdict::Right,
            (Label::MustRefuse, Some(_)) => Verdict::Wrong,
            (_, None) => Verdict::Refused,
            (_, Some(got)) => {
                let truth = self.text(files, &self.after);
                let is_right = std::iter::once(&self.after).chain(&self.also).any(right)
                    || self.is_same_but_blanks(got, truth.as_bytes());
                if is_right { Verdict::Right } else { Verdict::Wrong }
            }
        }
    }

    fn is_same_but_blanks(&self, got: &[u8], truth: &[u8]) -> bool {
        let Some((from, to)) = self.blanks_free else { return false };
        let lines = |text: &[u8]| text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
        let trimmed = |line: &[u8]| String::from_utf8_lossy(line).trim_end_matches([' ', '\t']).to_owned();
        let (got, truth) = (lines(got), lines(truth));
        got.len() == truth.len()
            && got.iter().zip(&truth).enumerate().all(|(at, (got, truth))| {
                got == truth || ((from..to).contains(&at) && trimmed(got) == trimmed(truth))
            })
    }

    /// What a tool that knows only exact matches writes.
    fn exact_only(&self, before: &str) -> Option<Vec<u8>> {
        let count = if self.old.is_empty() { 0 } else { before.matches(&self.old).count() };
        let refused = self.old == self.new || count == 0 || (count > 1 && !self.replace_all);
        (!refused).then(|| before.replace(&self.old, &self.new).into_bytes())
    }
}

#[tokio::test]
async fn cases_edit_corpus() {
    let Some((cases, files)) = load() else {
        println!("skipped: no corpus");
        return;
    };
    let room = Room::new(Approval::Auto, None);
    let mut tally: BTreeMap<(Label, &str), [[usize; 3]; 2]> = BTreeMap::new();
    let (mut wrong, mut refused) = (Vec::new(), Vec::new());
    for case in &cases {
        let before = case.text(&files, &case.before);
        room.put("f", &before);
        let arguments =
            json!({ "path": "f", "old": case.old, "new": case.new, "replace_all": case.replace_all });
        let outcome = room.run("edit_file", arguments).await;
        let after = room.bytes("f");
        let got = match (&outcome, after == before.as_bytes()) {
            (Outcome::Error(_), true) => None,
            _ => Some(after.as_slice()),
        };
        let verdict = case.verdict(&files, got);
        let exact = case.verdict(&files, case.exact_only(&before).as_deref());
        let counts = tally.entry((case.label, case.kind.as_str())).or_default();
        counts[0][exact as usize] += 1;
        counts[1][verdict as usize] += 1;
        match verdict {
            Verdict::Right => {}
            Verdict::Refused if case.label == Label::MustApply => refused.push(case.id.as_str()),
            Verdict::Refused => {}
            Verdict::Wrong => wrong.push(case.id.as_str()),
        }
    }
    println!("{:32} {:>5}  exact only: right refused WRONG   with passes: right refused WRONG", "", "cases");
    for ((label, kind), [exact, ours]) in &tally {
        let name = format!("{kind} ({label:?})");
        println!(
            "{name:32} {:5}              {:5} {:7} {:5}                {:5} {:7} {:5}",
            exact.iter().sum::<usize>(),
            exact[0],
            exact[1],
            exact[2],
            ours[0],
            ours[1],
            ours[2]
        );
    }
    let must_apply = cases.iter().filter(|case| case.label == Label::MustApply).count();
    println!("refused though they must apply: {refused:?}");
    assert!(wrong.is_empty(), "{} wrong texts: {wrong:?}", wrong.len());
    assert!(refused.len() * 100 <= must_apply, "more than one in a hundred refused: {refused:?}");
}
