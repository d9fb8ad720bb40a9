//! Sessions and projects on disk: durable, private, shared between processes, and unharmed by damage.

use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::call::{Outcome, ToolCall};
use crate::digest::Digest;
use crate::history::History;
use crate::image::Image;
use crate::journal::{Granted, GrantedBy, Journal as _};
use crate::model::OwnFields;
use crate::record::{Entry, Record, ReplyEnd, Spent, TurnEnd};
use crate::role::ActingRole;
use crate::tool::Archive as _;

const NOWHERE: Look<'static> = &|_| Image::Missing;

fn clock() -> Clock {
    Arc::new(|| 1)
}

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "run_command".into(), arguments: "{}".into() }
}

fn begin(folder: &Path) -> SessionStore {
    let store = SessionStore::create(folder, Path::new("/p"), "1", clock()).unwrap();
    let (role, model) = (ActingRole::Executor, "m".to_owned());
    store
        .record([
            Record::TurnOpened { role, prompt: "go".into(), plan_demanded: false },
            Record::Replied {
                role,
                model,
                text: String::new(),
                reasoning: None,
                own: OwnFields::default(),
                calls: vec![call("a"), call("b")],
                finish: ReplyEnd::Stop,
                spent: Spent::default(),
            },
        ])
        .unwrap();
    store
}

#[test]
fn what_was_in_flight_comes_back_as_interrupted_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = begin(folder.path());
    let effect_digest = Some(Digest::of("an effect"));
    store
        .started(&call("a"), &Granted { by: GrantedBy::Mode, effect_digest: effect_digest.clone() })
        .unwrap();
    let id = store.id().to_owned();
    drop(store);

    let store = SessionStore::resume(folder.path(), &id, clock(), NOWHERE).unwrap();
    let outcomes: Vec<(String, &str)> = store.history(|history| {
        history.steps().map(|step| (step.outcome.content().to_owned(), step.outcome.as_str())).collect()
    });
    assert!(
        outcomes[0].0.contains("while it ran") && outcomes[1].0.contains("before it ran"),
        "{outcomes:?}"
    );
    assert!(outcomes.iter().all(|(_, outcome)| *outcome == "interrupted"));
    assert_eq!(store.history(|history| history.turns()[0].end.clone()), Some(TurnEnd::Crashed));
    let saved = store.entries().unwrap();
    let leaves: Vec<_> = saved
        .iter()
        .filter_map(|entry| match &entry.record {
            Record::Stepped { audit, .. } => Some((audit.approved_by, audit.effect_digest.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(leaves, [(Some(GrantedBy::Mode), effect_digest), (None, None)]);
    drop(store);

    let store = SessionStore::resume(folder.path(), &id, clock(), NOWHERE).unwrap();
    assert_eq!(store.entries().unwrap().len(), saved.len() + 1, "only the second resume is new");
    assert_eq!(store.history(History::pending), vec![]);
}

#[test]
fn entries_of_earlier_versions_without_the_digest_of_the_effect_still_load() {
    let started = r#"{"seq":4,"ts":1,"record":"started","call_id":"a","by":"person"}"#;
    let entry: Entry = serde_json::from_str(started).unwrap();
    let granted = Granted { by: GrantedBy::Person, effect_digest: None };
    assert_eq!(entry.record, Record::Started { call_id: "a".into(), granted: granted.clone() });
    let checked = r#"{"seq":5,"ts":1,"record":"checked","step":1,"moment":"before","by":"person","material":{},
        "run":{"command":"true","exit":0,"passed":true,"output":"","duration_ms":3}}"#;
    let entry: Entry = serde_json::from_str(checked).unwrap();
    assert!(matches!(entry.record, Record::Checked { granted: of_check, .. } if of_check == granted));
}

#[test]
fn a_session_that_runs_can_be_read_and_not_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = begin(folder.path());
    assert_eq!(SessionStore::read(folder.path(), store.id()).unwrap().len(), 3);
    assert!(matches!(
        SessionStore::resume(folder.path(), store.id(), clock(), NOWHERE),
        Err(StoreError::Busy(_))
    ));
    assert!(matches!(SessionStore::delete(folder.path(), store.id()), Err(StoreError::Busy(_))));
    assert!(matches!(
        SessionStore::resume(folder.path(), "none", clock(), NOWHERE),
        Err(StoreError::Missing(_))
    ));
}

#[test]
fn blobs_and_outcomes_are_recalled_by_id() {
    let folder = tempfile::tempdir().unwrap();
    let store = begin(folder.path());
    let digest = store.put_blob(b"the whole output").unwrap();
    assert_eq!(recalled(&store, digest.short()).as_deref(), Some("the whole output"));
    assert_eq!(recalled(&store, &digest.as_str()[..4]), None, "too short to name one thing");
    assert_eq!(recalled(&store, "nothing"), None);
    let outcome = Outcome::text("short result");
    for id in ["a", "b"] {
        let audit = serde_json::from_str(
            r#"{"tool":"t","args_hash":"","path_scope":[],"result":"ok","duration_ms":0,"approved_by":null,"rollback_of":null,"turn":1,"role":"executor"}"#,
        );
        store.note(Record::Stepped { call_id: id.into(), outcome: outcome.clone(), audit: audit.unwrap() });
    }
    assert_eq!(recalled(&store, "a").as_deref(), Some("short result"));
}

fn recalled(store: &SessionStore, id: &str) -> Option<String> {
    Some(std::io::read_to_string(store.recall(id)?).unwrap())
}

#[test]
fn an_output_is_kept_piece_by_piece_and_survives() {
    let folder = tempfile::tempdir().unwrap();
    let store = begin(folder.path());
    let (first, second) = (store.new_output().unwrap(), store.new_output().unwrap());
    assert_eq!((first.as_str(), second.as_str()), ("output-1", "output-2"));
    assert_eq!(recalled(&store, &first), None, "nothing came yet");
    store.keep(&first, 0, b"one ").unwrap();
    store.keep(&second, 0, b"other").unwrap();
    store.keep(&first, 1, b"two").unwrap();
    assert_eq!(recalled(&store, &first).as_deref(), Some("one two"));
    assert_eq!(recalled(&store, &second).as_deref(), Some("other"));
    let id = store.id().to_owned();
    drop(store);
    let mut written = Vec::new();
    assert!(
        SessionStore::output(folder.path(), &id, &first, |bytes| written.extend_from_slice(bytes)).unwrap()
    );
    assert_eq!(written, b"one two");
    assert!(!SessionStore::output(folder.path(), &id, "output-3", |_| {}).unwrap());
    let store = SessionStore::open(folder.path(), &id, clock()).unwrap();
    assert_eq!(store.new_output().as_deref(), Some("output-3"));
}

#[cfg(unix)]
#[test]
fn files_and_folders_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("sessions");
    let store = begin(&folder);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join(format!("{}.redb", store.id()))), 0o600);
}

#[test]
fn a_damaged_file_is_an_error_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let store = begin(folder.path());
    let id = store.id().to_owned();
    drop(store);
    let path = folder.path().join(format!("{id}.redb"));
    let whole = std::fs::read(&path).unwrap();
    let mut refused = 0;
    for number in 0..40 {
        let mut bytes = whole.clone();
        // A stretch of noise at places spread over the file.
        let at = number * whole.len() / 40;
        let end = (at + 97).min(whole.len());
        bytes[at..end].iter_mut().for_each(|byte| *byte ^= 0xa5);
        std::fs::write(&path, &bytes).unwrap();
        refused += usize::from(SessionStore::read(folder.path(), &id).is_err());
    }
    assert!(refused > 0, "some of the damage must be seen");
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let error = SessionStore::read(folder.path(), &id).unwrap_err().to_string();
    assert!(error.contains("damaged") && error.contains("left as it is"), "{error}");
}

#[test]
fn many_writers_take_turns_at_the_projects_file() {
    let folder = tempfile::tempdir().unwrap();
    let writers: Vec<_> = (0..8)
        .map(|number: u64| {
            let project = ProjectStore::new(folder.path(), Path::new("/p"));
            std::thread::spawn(move || {
                let row = SessionRow {
                    id: number.to_string(),
                    title: String::new(),
                    created: number,
                    updated: number,
                    state: "done".into(),
                    turns: 1,
                    cost: None,
                };
                project.put_session(&row).unwrap();
            })
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    assert_eq!(ProjectStore::new(folder.path(), Path::new("/p")).sessions().unwrap().len(), 8);
    assert_eq!(ProjectStore::new(folder.path(), Path::new("/q")).sessions().unwrap().len(), 0);
}
