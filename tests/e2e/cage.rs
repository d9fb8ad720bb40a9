//! The cage of commands, by real attempts to get out of it. Each attempt is first shown to succeed without a cage.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;

use tandem_executor::cage::{Cage, CagePlaces, Found, Part};
use tandem_executor::{End, Environment, Leftovers, Limits, look, run_check};
use tandem_shared::interrupt::Interrupt;
use tandem_shared::proof::CheckRun;
use tandem_shared::settings::{CommandSettings, Network, Sandbox};
use tandem_shared::workspace::Workspace;

use crate::support::plain::command_settings;

/// A project with a repository, a home with a key, and a place that no command should write to.
struct Lab {
    folder: tempfile::TempDir,
    cage: Cage,
}

/// How far commands are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// Not at all.
    Free,
    /// By all that the kernel has.
    Caged,
    /// As where namespaces are denied.
    Fenced,
}

impl Lab {
    fn new(held: Held) -> Lab {
        let sandbox = if held == Held::Free { Sandbox::Off } else { Sandbox::Auto };
        Lab::with(held, CommandSettings { sandbox, ..settings() })
    }

    fn with(held: Held, settings: CommandSettings) -> Lab {
        Lab::in_folder(tempfile::tempdir().unwrap(), held, settings)
    }

    fn in_folder(folder: tempfile::TempDir, held: Held, settings: CommandSettings) -> Lab {
        let at = |path: &str| fs::canonicalize(folder.path()).unwrap().join(path);
        for path in ["root", "home/.ssh", "outside", "temp"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        fs::write(at("home/.ssh/id"), "SECRET").unwrap();
        fs::write(at("outside/file"), "old").unwrap();
        let git = Command::new("git").args(["init", "--quiet"]).current_dir(at("root")).output().unwrap();
        assert!(git.status.success());
        let places = CagePlaces {
            launcher: env!("CARGO_BIN_EXE_tandem").into(),
            home: Some(at("home")),
            temp: if at("").starts_with("/tmp") { at("temp") } else { "/tmp".into() },
            secret: Vec::new(),
        };
        let mut cage = Cage::new(&settings, places);
        if held == Held::Fenced {
            let found = cage.found().clone();
            let namespaces = Part::Lacks("this test leaves them out".to_owned());
            cage = cage.pretending(Found { namespaces, ..found });
        }
        Lab { folder, cage }
    }

    fn at(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(path)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_default()
    }

    fn env(&self) -> Environment {
        let variables = [
            ("PATH", std::env::var("PATH").unwrap()),
            ("HOME", self.at("home").display().to_string()),
            ("OUT", self.at("outside").display().to_string()),
            ("OTHER", std::process::id().to_string()),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value)).to_vec();
        Environment { variables, secrets: Default::default() }
    }

    /// Runs a script in the root, as a person would.
    fn prepare(&self, script: &str) {
        let ran = Command::new("sh").args(["-ec", script]).current_dir(self.at("root")).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
    }

    /// Runs a script in the root, as a model could have written it.
    fn run(&self, script: &str) -> CheckRun {
        fs::write(self.at("root/attempt.sh"), script).unwrap();
        let workspace = Workspace::open(&self.at("root")).unwrap();
        block_on(run_check(
            "sh attempt.sh",
            &workspace,
            &settings(),
            &self.env(),
            &self.cage,
            &Interrupt::new(),
        ))
    }
}

fn settings() -> CommandSettings {
    CommandSettings {
        sandbox: Sandbox::Auto,
        network: Network::Off,
        cache_dirs: vec!["~/.cache".to_owned()],
        hidden: vec!["~/.ssh".to_owned()],
        ..command_settings()
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Whether this kernel can hold a command so far.
fn can(held: Held) -> bool {
    let found = Lab::new(Held::Caged).cage.found().clone();
    let can = match held {
        Held::Free => true,
        Held::Caged => found.missing().is_empty(),
        Held::Fenced => found.landlock.is_some() && found.syscalls.is_there(),
    };
    if !can {
        eprintln!("left out: this kernel has {found:?}");
    }
    can
}

/// Runs the attempt without a cage, where it must succeed, and in each of these, where it must not.
fn check(script: &str, held: &[Held], succeeded: impl Fn(&Lab, &CheckRun) -> bool) {
    check_after("true", script, held, succeeded);
}

/// The same, where somebody has prepared the project by a script of their own.
fn check_after(prepare: &str, script: &str, held: &[Held], succeeded: impl Fn(&Lab, &CheckRun) -> bool) {
    let attempt = |held| {
        let lab = Lab::new(held);
        lab.prepare(prepare);
        let run = lab.run(script);
        (succeeded(&lab, &run), run)
    };
    let (free, run) = attempt(Held::Free);
    assert!(free, "without a cage it should succeed: {script}\n{run:?}");
    for held in held.iter().filter(|held| can(**held)) {
        let (out, run) = attempt(*held);
        assert!(!out, "{held:?} it should fail: {script}\n{run:?}");
    }
}

const BOTH: [Held; 2] = [Held::Caged, Held::Fenced];

#[test]
fn nothing_is_written_outside() {
    check("echo new > $OUT/file", &BOTH, |lab, _| lab.read("outside/file") != "old");
    check("echo new > $OUT/new", &BOTH, |lab, _| lab.at("outside/new").exists());
    check("rm $OUT/file", &BOTH, |lab, _| !lab.at("outside/file").exists());
    check("mv attempt.sh $OUT/", &BOTH, |lab, _| lab.at("outside/attempt.sh").exists());
    check("chmod 777 $OUT/file", &[Held::Caged], |lab, _| {
        lab.at("outside/file").metadata().unwrap().permissions().mode() & 0o777 == 0o777
    });
}

#[test]
fn no_link_leads_out() {
    check("ln -s $OUT link; echo new > link/file", &BOTH, |lab, _| lab.read("outside/file") != "old");
    check("ln $OUT/file hard && echo new > hard", &BOTH, |lab, _| lab.read("outside/file") != "old");
    check("echo new > /proc/self/root$OUT/file", &BOTH, |lab, _| lab.read("outside/file") != "old");
    check("echo new > /proc/self/cwd/../outside/file", &BOTH, |lab, _| lab.read("outside/file") != "old");
    check("echo new > /proc/$OTHER/root$OUT/file", &BOTH, |lab, _| lab.read("outside/file") != "old");
}

#[test]
fn no_hook_and_no_setting_of_git_is_changed() {
    let hook = |lab: &Lab, _: &CheckRun| lab.read("root/.git/hooks/pre-commit").contains("evil");
    check("echo evil > .git/hooks/pre-commit", &BOTH, hook);
    check("mv .git g; mkdir -p g/hooks; echo evil > g/hooks/pre-commit; mv g .git", &BOTH, hook);
    check("git config core.fsmonitor evil", &BOTH, |lab, _| lab.read("root/.git/config").contains("evil"));
    check("echo '[core]' > .git/config.worktree", &BOTH, |lab, _| {
        lab.at("root/.git/config.worktree").exists()
    });
    check("git init -q sub && echo evil > sub/.git/hooks/pre-push", &BOTH, |lab, _| {
        lab.at("root/sub/.git/hooks/pre-push").exists()
    });
}

#[test]
fn no_hook_in_a_folder_that_settings_name_is_changed() {
    let prepare = "git config core.hooksPath .githooks; mkdir .githooks; echo mine > .githooks/pre-commit";
    let evil = |lab: &Lab, _: &CheckRun| {
        let there = |hook: &str| lab.read(&format!("root/.githooks/{hook}")).contains("evil");
        there("pre-commit") || there("post-checkout")
    };
    for script in [
        "echo evil > .githooks/pre-commit",
        "echo evil > .githooks/post-checkout",
        "mv .githooks g; mkdir .githooks; echo evil > .githooks/pre-commit",
        "mv .githooks g; echo evil > g/pre-commit; ln -s g .githooks",
        "echo evil > e; rm .githooks/pre-commit; ln -s ../e .githooks/pre-commit",
    ] {
        check_after(prepare, script, &BOTH, evil);
    }
    let husky = "git config core.hooksPath .husky/_; mkdir -p .husky/_; echo mine > .husky/pre-commit; \
                 echo wrapper > .husky/_/pre-commit; cp -r .husky installed";
    let evil = |lab: &Lab, _: &CheckRun| {
        lab.read("root/.husky/pre-commit").contains("evil")
            || lab.read("root/.husky/_/pre-commit").contains("evil")
    };
    for script in [
        "echo evil > .husky/pre-commit",
        "echo evil > .husky/_/pre-commit",
        "mv .husky h; echo evil > h/pre-commit; ln -s h .husky",
        "rm -r .husky; mkdir -p .husky/_; echo evil > .husky/_/pre-commit",
    ] {
        check_after(husky, script, &BOTH, evil);
    }
    for held in BOTH.into_iter().filter(|held| can(*held)) {
        let lab = Lab::new(held);
        lab.prepare(husky);
        // As each installation does.
        let run = lab.run("cp -r installed/. .husky/");
        assert_eq!((run.exit, run.output.as_str()), (Some(0), ""), "{held:?}");
        let run = lab.run("echo other > .husky/pre-commit");
        assert!(run.output.contains(".husky/pre-commit was changed, and was put back"), "{held:?} {run:?}");
        assert!(run.output.contains("let the command run outside the cage"), "{held:?} {run:?}");
    }
}

#[test]
fn nothing_that_settings_include_or_run_is_changed() {
    let include = "git config include.path ../team.ini; git config includeIf.onbranch:later.path ../later.ini; \
                   echo '[core]' > team.ini";
    for (file, script) in [
        ("root/team.ini", "echo 'fsmonitor = evil' >> team.ini"),
        ("root/later.ini", "printf '[core]\nfsmonitor = evil\n' > later.ini"),
    ] {
        check_after(include, script, &BOTH, |lab, _| lab.read(file).contains("evil"));
    }
    let programs = "git config core.fsmonitor tools/watch.sh; git config alias.up '!sh tools/up.sh now'; mkdir tools; \
                    echo mine > tools/watch.sh; echo mine > tools/up.sh; echo mine > tools/free.sh";
    for file in ["tools/watch.sh", "tools/up.sh"] {
        let evil = |lab: &Lab, _: &CheckRun| lab.read(&format!("root/{file}")).contains("evil");
        check_after(programs, &format!("echo evil > {file}"), &BOTH, evil);
    }
    for held in BOTH.into_iter().filter(|held| can(*held)) {
        let lab = Lab::new(held);
        lab.prepare(programs);
        lab.run("echo new > tools/free.sh");
        assert_eq!(lab.read("root/tools/free.sh"), "new\n", "{held:?}");
    }
}

#[test]
fn no_bare_repository_is_changed() {
    let prepare = "git init -q --bare fixtures/bare.git";
    let evil = |lab: &Lab, _: &CheckRun| {
        lab.read("root/fixtures/bare.git/config").contains("evil")
            || lab.read("root/fixtures/bare.git/hooks/pre-receive").contains("evil")
    };
    for script in [
        "git -C fixtures/bare.git config core.fsmonitor evil",
        "echo evil > fixtures/bare.git/hooks/pre-receive",
        "mv fixtures f; echo '[alias] x = !evil' >> f/bare.git/config; mv f fixtures",
    ] {
        check_after(prepare, script, &BOTH, evil);
    }
    for held in BOTH.into_iter().filter(|held| can(*held)) {
        let lab = Lab::new(held);
        lab.prepare(prepare);
        let run = lab.run("git push -q fixtures/bare.git HEAD:x 2>/dev/null; git clone -q fixtures/bare.git copy; rm -r fixtures");
        assert!(run.passed && !run.output.contains("put back"), "{held:?} {run:?}");
    }
}

#[test]
fn what_was_put_back_is_said() {
    if can(Held::Fenced) {
        let run = Lab::new(Held::Fenced).run("git config user.name somebody");
        assert!(run.output.contains(".git/config was changed, and was put back"), "{}", run.output);
    }
}

#[test]
fn no_key_is_read() {
    check("cat ~/.ssh/id", &BOTH, |_, run| run.output.contains("SECRET"));
    check("cat /proc/self/root$HOME/.ssh/id", &BOTH, |_, run| run.output.contains("SECRET"));
    check("ln -s ~/.ssh keys; cat keys/id", &BOTH, |_, run| run.output.contains("SECRET"));
    check("cp ~/.ssh/id copy; cat copy", &BOTH, |_, run| run.output.contains("SECRET"));
    check(
        "umount ~/.ssh 2>/dev/null; unshare -rm umount ~/.ssh 2>/dev/null; cat ~/.ssh/id",
        &BOTH,
        |_, run| run.output.contains("SECRET"),
    );
}

#[test]
fn no_other_machine_is_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
    check(&script, &BOTH, |_, run| {
        let came = listener.accept().is_ok();
        assert_eq!(came, run.passed, "{run:?}");
        came
    });
}

#[test]
fn no_other_process_is_looked_into() {
    check("cat /proc/$OTHER/environ | grep -c .", &BOTH, |_, run| run.passed);
    #[cfg(target_arch = "x86_64")]
    check("perl -e 'exit(syscall(101, 0, 0, 0, 0) == 0 ? 0 : 1)'", &BOTH, |_, run| run.passed);
}

#[test]
fn no_signal_gets_out() {
    check("kill -0 $OTHER", &BOTH, |_, run| run.passed);
    // From its sixth version on, Landlock lets none out of the command's own processes.
    if Lab::new(Held::Caged).cage.found().landlock.is_some_and(|version| version >= 6) {
        let mut stranger = Command::new("sleep").arg("60").spawn().unwrap();
        check(&format!("kill -0 {}", stranger.id()), &BOTH, |_, run| run.passed);
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }
    for held in BOTH.into_iter().filter(|held| can(*held)) {
        let run = Lab::new(held).run("sleep 60 & kill $!; wait $!; test $? -gt 128");
        assert!(run.passed, "its own processes can be ended: {run:?}");
    }
}

#[test]
fn no_service_is_spoken_to_by_a_socket_in_the_file_system() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("service");
    let _listener = UnixListener::bind(&socket).unwrap();
    let script = format!(
        "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un(\"{}\")) or exit 1'",
        socket.display()
    );
    check(&script, &BOTH, |_, run| run.passed);
}

#[test]
fn ordinary_work_goes_on() {
    let work = "set -e
        echo text > file; mkdir -p a/b; mv file a/b/; rm -r a; echo text > file
        git add file
        git -c user.name=n -c user.email=e commit --quiet -m 'a commit'
        git log --format=%s
        echo temporary > $TMPDIR/x; cat $(mktemp) $TMPDIR/x
        echo x > /dev/null; cat $OUT/file; ls / > /dev/null
        mkdir -p ~/.cache 2>/dev/null || true
        (exit 3) || echo code $?";
    for held in BOTH.into_iter().filter(|held| can(*held)) {
        let run = Lab::new(held).run(work);
        assert_eq!(
            (run.exit, run.output.as_str()),
            (Some(0), "a commit\ntemporary\noldcode 3\n"),
            "{held:?}"
        );
        assert_eq!(Lab::new(held).run("exit 7").exit, Some(7));
        assert!(matches!(Lab::new(held).run("kill -9 $$").exit, None | Some(137)));
    }
}

#[test]
fn the_shared_folders_for_temporary_files_are_the_sessions_own() {
    let elsewhere = || tempfile::tempdir_in("/dev/shm");
    if !can(Held::Caged) || elsewhere().is_err() {
        return;
    }
    let left = tempfile::NamedTempFile::new_in("/tmp").unwrap();
    let lab = Lab::in_folder(elsewhere().unwrap(), Held::Caged, settings());
    let script =
        "echo $TMPDIR; echo kept > /tmp/mine; cat /var/tmp/mine; echo file > file; cat file $OUT/file";
    let run = lab.run(script);
    assert_eq!((run.exit, run.output.as_str()), (Some(0), "/tmp\nkept\nfile\nold"));
    assert_eq!(lab.run("cat /tmp/mine").output, "kept\n");
    assert!(!lab.run(&format!("cat {}", left.path().display())).passed);
    assert!(!lab.run("echo new > $OUT/file; cat ~/.ssh/id").passed);
    assert_eq!(lab.read("outside/file"), "old");
    assert!(!PathBuf::from("/tmp/mine").exists());
}

#[test]
fn a_worktree_commits_to_its_repository() {
    for held in BOTH.into_iter().filter(|held| can(*held)) {
        let lab = Lab::new(held);
        let git = |folder: &str, args: &str| {
            let args = format!("-c user.name=n -c user.email=e {args}");
            let ran = Command::new("git").args(args.split(' ')).current_dir(lab.at(folder)).output().unwrap();
            assert!(ran.status.success(), "{ran:?}");
        };
        fs::rename(lab.at("root"), lab.at("outside/main")).unwrap();
        git("outside/main", "commit --quiet --allow-empty -m first");
        git("outside/main", "worktree add --quiet ../../root");
        let run = lab
            .run("git -c user.name=n -c user.email=e commit --allow-empty -qm second && git log --format=%s");
        assert_eq!((run.exit, run.output.as_str()), (Some(0), "second\nfirst\n"), "{held:?}");
        let run = lab.run("echo evil > $OUT/main/.git/hooks/pre-commit; echo evil > $OUT/main/file");
        assert_eq!(
            lab.read("outside/main/.git/hooks/pre-commit") + &lab.read("outside/main/file"),
            "",
            "{run:?}"
        );
    }
}

#[test]
fn the_network_can_be_allowed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for held in BOTH.into_iter().filter(|held| can(*held)) {
        let lab = Lab::with(held, CommandSettings { network: Network::On, ..settings() });
        assert!(lab.run(&format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'")).passed, "{held:?}");
    }
}

#[test]
fn looking_writes_nothing() {
    for held in BOTH.into_iter().filter(|held| can(*held)) {
        let lab = Lab::new(held);
        let workspace = Workspace::open(&lab.at("root")).unwrap();
        let limits = Limits::new(&settings(), None, Leftovers::Kill);
        let command = "ls -d .git; echo x > new; echo x > ~/new; echo x > $TMPDIR/new && cat $TMPDIR/new";
        let looked =
            block_on(look(command, &workspace, limits, &lab.env(), &lab.cage, None, &Interrupt::new()))
                .unwrap();
        assert_eq!(looked.by, End::Exit(0), "{looked:?}");
        assert!(looked.output.starts_with(".git\n") && looked.output.ends_with("x\n"), "{looked:?}");
        assert!(!lab.at("root/new").exists() && !lab.at("home/new").exists(), "{held:?}");
    }
    let lab = Lab::new(Held::Free);
    let workspace = Workspace::open(&lab.at("root")).unwrap();
    let limits = Limits::new(&settings(), None, Leftovers::Kill);
    let looked = block_on(look("true", &workspace, limits, &lab.env(), &lab.cage, None, &Interrupt::new()));
    assert!(looked.is_err(), "nothing would hold it to looking");
}

#[test]
fn a_cage_that_is_required_and_not_whole_stops_the_command() {
    let lab = Lab::with(Held::Fenced, CommandSettings { sandbox: Sandbox::Require, ..settings() });
    let run = lab.run("touch ran");
    assert!(run.output.contains("commands.sandbox is \"require\""), "{run:?}");
    assert!(!lab.at("root/ran").exists());
}

#[test]
fn bounds_hold() {
    if can(Held::Caged) {
        let lab = Lab::with(Held::Caged, CommandSettings { max_file_mb: 1, ..settings() });
        lab.run("head -c 3000000 /dev/zero > big");
        assert_eq!(fs::metadata(lab.at("root/big")).unwrap().len(), 1024 * 1024);
        let lab = Lab::with(Held::Caged, CommandSettings { max_cpu_s: 1, ..settings() });
        assert!(!lab.run("while :; do :; done").passed);
        let hungry = "perl -e '$x = \"x\" x (500 << 20); print length($x)'";
        assert!(Lab::new(Held::Caged).run(hungry).passed, "without a bound it has the memory");
        let lab = Lab::with(Held::Caged, CommandSettings { max_memory_mb: 200, ..settings() });
        assert!(!lab.run(hungry).passed);
        // The kernel does not bound the processes of root.
        if !rustix::process::geteuid().is_root() {
            let lab = Lab::with(Held::Caged, CommandSettings { max_processes: 1, ..settings() });
            assert!(!lab.run("(sleep 0.1) & (sleep 0.1) & wait").passed);
        }
    }
}

#[test]
fn a_cage_that_cannot_be_set_up_is_no_exit_code_of_the_command() {
    if can(Held::Caged) {
        let lab = Lab::new(Held::Caged);
        lab.cage.found();
        // There is nothing to put in the place of masked things.
        fs::rename(lab.at("temp"), lab.at("gone")).unwrap();
        let run = lab.run("touch ran");
        assert_eq!(run.exit, None);
        assert!(run.output.contains("its cage could not be set up"), "{run:?}");
        assert!(!lab.at("root/ran").exists());
    }
    let by_hand = Command::new(env!("CARGO_BIN_EXE_tandem")).arg("__cage").output().unwrap();
    assert_eq!(by_hand.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&by_hand.stderr).contains("by hand"));
}
