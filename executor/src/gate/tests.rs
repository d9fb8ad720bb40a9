//! The gate as a table: mode, effect, who answers, and what comes of it.

use futures::future::BoxFuture;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tandem_shared::person::Nobody;
use tandem_shared::plan::{Approver, Plan, PlanDraft, PlanStep};
use tandem_shared::secret::Secret;

use super::*;

/// Gives the same answer to every question, and counts the questions.
struct Says(Option<Answer>, AtomicUsize);

impl Person for Says {
    fn ask(&self, _question: Question) -> BoxFuture<'_, Option<Answer>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(self.0.clone()))
    }
}

fn says(answer: Answer) -> Arc<Says> {
    Arc::new(Says(Some(answer), AtomicUsize::new(0)))
}

fn no() -> Answer {
    Answer::No { reason: "not today".to_owned() }
}

fn call() -> ToolCall {
    ToolCall { id: "1".to_owned(), name: "x".to_owned(), arguments: "{}".to_owned() }
}

fn command(command: &str) -> Effect {
    Effect::Command { command: command.to_owned() }
}

fn written(paths: &[&str], diff: &str) -> Effect {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    Effect::Write { paths, added: 1, removed: 0, deleted: 0, diff: diff.to_owned() }
}

fn write(path: &str) -> Effect {
    written(&[path], "")
}

fn plan() -> ApprovedPlan {
    let step = PlanStep {
        what: "work".to_owned(),
        files: vec!["./src/../src/lib.rs".to_owned(), "new.txt".to_owned()],
        check: Some("make check".to_owned()),
    };
    let evil = PlanStep { what: "more".to_owned(), files: Vec::new(), check: Some("sudo true".to_owned()) };
    let risky =
        PlanStep { what: "clear".to_owned(), files: Vec::new(), check: Some("rm -r build".to_owned()) };
    let draft = PlanDraft { goal: "goal".to_owned(), steps: vec![step, evil, risky], ..PlanDraft::default() };
    Plan::new(draft).unwrap().approve(Approver::Person)
}

fn allowing(rule: &str) -> Rules {
    Rules::parse(&[], &[], &[rule.to_owned()]).unwrap()
}

fn root() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    (folder, workspace)
}

async fn judged(gate: &Gate, effect: &Effect) -> Result<GrantedBy, String> {
    gate.judge(&call(), effect).await.map(|grant| grant.granted().by)
}

/// Says yes, and keeps the effects that it was shown.
#[derive(Default)]
struct Sees(Mutex<Vec<Effect>>);

impl Person for Sees {
    fn ask(&self, question: Question) -> BoxFuture<'_, Option<Answer>> {
        if let Question::Approve { effect, .. } = question {
            self.0.lock().unwrap().push(effect);
        }
        Box::pin(std::future::ready(Some(Answer::Yes)))
    }
}

#[tokio::test]
async fn a_grant_carries_the_digest_of_exactly_what_was_shown_or_judged() {
    let (_folder, workspace) = root();
    let person = Arc::new(Sees::default());
    let masker = Masker::new([Secret::new("hunter2-hunter2".to_owned())]);
    let gate = Gate::new(workspace, Approval::Ask, Rules::default(), None, person.clone()).masking(masker);
    let mut digests = Vec::new();
    for effect in
        [command("ls"), command("touch a"), command("touch b # hunter2-hunter2"), written(&["a"], "+x")]
    {
        let grant = gate.judge(&call(), &effect).await.unwrap();
        assert_eq!(grant.effect(), &effect, "what is done is what was asked for, secrets included");
        digests.push(grant.granted().effect_digest.clone().unwrap());
    }
    let shown = person.0.lock().unwrap().clone();
    assert_eq!(shown, [command("touch a"), command("touch b # ***"), written(&["a"], "+x")]);
    assert_eq!(digests[0], command("ls").digest(), "nobody was asked");
    assert_eq!(digests[1..], shown.iter().map(Effect::digest).collect::<Vec<_>>());
}

#[tokio::test]
async fn no_rule_and_no_mode_is_enough_outside_the_cage() {
    for (approval, line, expect) in [
        (Approval::Auto, "ls", "Person"),
        (Approval::Auto, "touch a", "Person"),
        (Approval::Auto, "sudo ls", "Refused"),
        (Approval::Strict, "ls", "Denied"),
        (Approval::Plan, "ls", "Denied"),
    ] {
        check(approval, None, says(Answer::Yes), Effect::Uncaged { command: line.to_owned() }, expect).await;
    }
}

/// What a denial's reason begins with, by the name that the tables below have for it.
const REASONS: [(&str, &str); 4] = [
    ("The approval mode is ", "Denied"),
    ("This needs a person's leave, because ", "Denied"),
    ("The danger rule ", "Refused"),
    ("The user said no", "No"),
];

/// `granted by`, or the kind of the denial.
async fn check(
    approval: Approval,
    plan: Option<ApprovedPlan>,
    person: Arc<dyn Person>,
    effect: Effect,
    expect: &str,
) {
    let (_folder, workspace) = root();
    let gate = Gate::new(workspace, approval, allowing("cargo test *"), plan, person);
    let got = match judged(&gate, &effect).await {
        Ok(by) => format!("{by:?}"),
        Err(reason) => {
            let kind = REASONS.iter().find(|(begins, _)| reason.starts_with(begins));
            kind.map_or(reason.clone(), |(_, kind)| (*kind).to_owned())
        }
    };
    assert_eq!(got, expect, "{approval:?} {effect:?}");
}

#[tokio::test]
async fn each_mode_without_a_person() {
    use Approval::{Ask, Auto, AutoEdit, Plan, Strict};
    for (effect, by_mode) in [
        (
            Effect::Nothing,
            [
                (Ask, "NoEffect"),
                (AutoEdit, "NoEffect"),
                (Auto, "NoEffect"),
                (Strict, "NoEffect"),
                (Plan, "NoEffect"),
            ],
        ),
        (
            write("a"),
            [(Ask, "Denied"), (AutoEdit, "Mode"), (Auto, "Mode"), (Strict, "Denied"), (Plan, "Denied")],
        ),
        (
            command("ls"),
            [(Ask, "Rule"), (AutoEdit, "Rule"), (Auto, "Rule"), (Strict, "Denied"), (Plan, "Denied")],
        ),
        (
            command("cargo test a"),
            [(Ask, "Rule"), (AutoEdit, "Rule"), (Auto, "Rule"), (Strict, "Rule"), (Plan, "Denied")],
        ),
        (
            command("touch a"),
            [(Ask, "Denied"), (AutoEdit, "Denied"), (Auto, "Mode"), (Strict, "Denied"), (Plan, "Denied")],
        ),
        (
            command("rm -r a"),
            [(Ask, "Denied"), (AutoEdit, "Denied"), (Auto, "Denied"), (Strict, "Denied"), (Plan, "Denied")],
        ),
        (
            command("$X a"),
            [(Ask, "Denied"), (AutoEdit, "Denied"), (Auto, "Denied"), (Strict, "Denied"), (Plan, "Denied")],
        ),
        (
            command("rm -rf /"),
            [
                (Ask, "Refused"),
                (AutoEdit, "Refused"),
                (Auto, "Refused"),
                (Strict, "Refused"),
                (Plan, "Refused"),
            ],
        ),
        (
            Effect::Remote { service: "s".to_owned() },
            [(Ask, "Denied"), (AutoEdit, "Denied"), (Auto, "Mode"), (Strict, "Denied"), (Plan, "Denied")],
        ),
    ] {
        for (mode, expect) in by_mode {
            check(mode, None, Arc::new(Nobody), effect.clone(), expect).await;
        }
    }
}

#[tokio::test]
async fn a_person_decides_what_is_asked_and_nothing_else() {
    for (effect, yes, denied) in [
        (write("a"), "Person", "No"),
        (command("touch a"), "Person", "No"),
        (command("git push"), "Person", "No"),
        (command("$X a"), "Person", "No"),
        (command("ls"), "Rule", "Rule"),
        (command("sudo ls"), "Refused", "Refused"),
    ] {
        check(Approval::Ask, None, says(Answer::Yes), effect.clone(), yes).await;
        check(Approval::Ask, None, says(no()), effect, denied).await;
    }
}

#[tokio::test]
async fn strict_and_plan_never_ask() {
    for approval in [Approval::Strict, Approval::Plan] {
        for effect in [write("a"), command("touch a"), command("git push"), command("$X")] {
            let person = says(Answer::Yes);
            check(approval, None, person.clone(), effect, "Denied").await;
            assert_eq!(person.1.load(Ordering::Relaxed), 0);
        }
    }
}

#[tokio::test]
async fn where_git_settings_are_only_put_back_a_command_that_names_them_is_asked_about() {
    let (_folder, workspace) = root();
    let rules = Rules::default();
    for (settings, expect) in [(GitSettings::Held, true), (GitSettings::PutBack, false)] {
        let gate = Gate::new(workspace.clone(), Approval::Auto, rules.clone(), None, Arc::new(Nobody));
        let gate = Gate { settings, ..gate };
        let judged_so = judged(&gate, &command("git config user.name x")).await;
        assert_eq!(judged_so.is_ok(), expect, "{settings:?}: {judged_so:?}");
        assert!(judged(&gate, &command("touch a")).await.is_ok());
    }
}

#[tokio::test]
async fn a_plan_grants_its_files_and_its_checks_as_shown() {
    for (effect, expect) in [
        (write("src/lib.rs"), "Plan"),
        (write("new.txt"), "Plan"),
        (write("src/other.rs"), "Denied"),
        (written(&["new.txt", "b"], ""), "Denied"),
        (written(&[], ""), "Denied"),
        (command("make check"), "Plan"),
        (command("make check x"), "Denied"),
        (command("make  check"), "Denied"),
        // The danger list holds for what a plan shows, too.
        (command("rm -r build"), "Denied"),
        (command("sudo true"), "Refused"),
    ] {
        check(Approval::Ask, Some(plan()), Arc::new(Nobody), effect.clone(), expect).await;
        check(Approval::Strict, Some(plan()), Arc::new(Nobody), effect.clone(), expect).await;
    }
    check(Approval::Plan, Some(plan()), Arc::new(Nobody), write("new.txt"), "Denied").await;
    check(Approval::Plan, Some(plan()), Arc::new(Nobody), command("make check"), "Denied").await;
}

#[tokio::test]
async fn always_holds_for_the_same_command_and_the_same_file() {
    let (_folder, workspace) = root();
    let person = says(Answer::Always);
    let gate = Gate::new(workspace, Approval::Ask, Rules::default(), None, person.clone());
    for (effect, questions) in [
        (command("touch a"), 1),
        (command("touch a"), 1),
        (command("touch b"), 2),
        (write("a"), 3),
        (written(&["a"], "other"), 3),
        (write("b"), 4),
    ] {
        assert!(judged(&gate, &effect).await.is_ok(), "{effect:?}");
        assert_eq!(person.1.load(Ordering::Relaxed), questions, "{effect:?}");
    }
}

#[tokio::test]
async fn a_denial_for_lack_of_a_person_is_counted_and_says_how_to_allow() {
    let (_folder, workspace) = root();
    let gate = Gate::new(workspace.clone(), Approval::Ask, Rules::default(), None, Arc::new(Nobody));
    let reason = judged(&gate, &command("touch a")).await.unwrap_err();
    for part in ["no terminal", "--approval", "allow", "plan"] {
        assert!(reason.contains(part), "{reason}");
    }
    assert_eq!(judged(&gate, &command("rm -rf /")).await.map_err(|_| ()), Err(()));

    let gate = Gate::new(workspace, Approval::Ask, Rules::default(), None, says(no()));
    let reason = judged(&gate, &command("touch a")).await.unwrap_err();
    assert!(reason.starts_with("The user said no: not today\n"), "{reason}");
}

#[tokio::test]
async fn ones_own_act_is_approved_but_the_danger_list_holds() {
    let (_folder, workspace) = root();
    let gate = Gate::own_act(workspace, Rules::default(), Arc::new(Nobody));
    assert_eq!(judged(&gate, &write("a")).await, Ok(GrantedBy::OwnAct));
    assert_eq!(judged(&gate, &command("touch a")).await, Ok(GrantedBy::OwnAct));
    assert!(
        judged(&gate, &command("git push")).await.unwrap_err().starts_with("This needs a person's leave")
    );
    let reason = judged(&gate, &command("sudo ls")).await.unwrap_err();
    assert!(
        reason.starts_with("The danger rule root_rights forbids it: the command takes the rights"),
        "{reason}"
    );
}

#[tokio::test]
async fn an_own_act_that_only_looks_is_allowed_by_rule() {
    let (_folder, workspace) = root();
    let gate = Gate::own_act(workspace, Rules::default(), Arc::new(Nobody));
    assert_eq!(judged(&gate, &command("ls")).await, Ok(GrantedBy::Rule));
}

#[test]
fn a_rule_that_is_no_single_command_is_an_error() {
    let error = Rules::parse(&[], &[], &["a; b".to_owned()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the rule \"a; b\" is not one simple command: write one rule for each program"
    );
}

#[tokio::test]
async fn always_keeps_the_narrowest_rule_for_later() {
    let (_folder, workspace) = root();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeper = kept.clone();
    let remembered = Remembered::kept(
        Vec::new(),
        Arc::new(move |rules: &[String]| keeper.lock().unwrap().extend_from_slice(rules)),
    );
    let person = says(Answer::Always);
    let gate =
        Gate::new(workspace, Approval::Ask, Rules::default(), None, person.clone()).remembering(remembered);
    for (line, questions) in [
        ("cargo test --lib", 1),
        ("cargo test parse", 1),
        ("cargo build", 2),
        ("rm -r build", 3),
        ("rm -r build", 3),
    ] {
        assert!(judged(&gate, &command(line)).await.is_ok());
        assert_eq!(person.1.load(Ordering::Relaxed), questions, "{line}");
    }
    assert_eq!(*kept.lock().unwrap(), ["cargo test *", "cargo build *"], "a danger is not kept");
}

#[tokio::test]
async fn a_denied_command_is_denied_in_every_stance() {
    let (_folder, workspace) = root();
    let rules = Rules::parse(
        &["touch".to_owned()],
        &["make".to_owned()],
        &["touch *".to_owned(), "make *".to_owned()],
    )
    .unwrap();
    let own = Gate::own_act(workspace.clone(), rules.clone(), says(Answer::Yes));
    let auto = Gate::new(workspace, Approval::Auto, rules, None, Arc::new(Nobody));
    for gate in [&own, &auto] {
        let reason = judged(gate, &command("ls && touch x")).await.unwrap_err();
        assert!(reason.starts_with("The rule `touch` of commands.deny forbids it."), "{reason}");
    }
    assert!(
        judged(&auto, &command("make all")).await.unwrap_err().contains("the rule `make` of commands.ask")
    );
    assert_eq!(judged(&own, &command("make all")).await, Ok(GrantedBy::Person));
}
