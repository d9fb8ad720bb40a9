//! Runs the real binary with a clean environment, and tells what came of it.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::server::PATIENCE;
use super::world::{KEY, KEY_VARIABLE, World};

/// No run of a test takes longer than this, or it hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// A run that has not begun.
pub struct Launch {
    binary: PathBuf,
    args: Vec<OsString>,
    stdin: Option<String>,
    environment: Vec<(String, OsString)>,
    cwd: PathBuf,
    terminal: bool,
}

/// A run that ended.
#[derive(Debug)]
pub struct Ran {
    /// What a shell would call the exit code: that of the process, or 128 and the signal that ended it.
    pub code: i32,
    /// With a terminal: all that the screen showed.
    pub stdout: String,
    pub stderr: String,
    shown: String,
}

impl Launch {
    pub fn new(world: &World, args: &[&str]) -> Launch {
        let mut all: Vec<OsString> = vec!["--state-dir".into(), world.state().into()];
        all.extend(args.iter().map(OsString::from));
        let mut environment: Vec<(String, OsString)> = vec![
            ("HOME".into(), world.path("home").into()),
            ("XDG_CONFIG_HOME".into(), world.path("config").into()),
            ("XDG_STATE_HOME".into(), world.path("state").into()),
            ("XDG_CACHE_HOME".into(), world.path("cache").into()),
            ("TMPDIR".into(), std::env::temp_dir().into()),
            ("LANG".into(), "C.UTF-8".into()),
            ("TERM".into(), "dumb".into()),
            ("SHELL".into(), "/bin/sh".into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            (KEY_VARIABLE.into(), KEY.into()),
        ];
        environment.extend(std::env::var_os("PATH").map(|path| ("PATH".to_owned(), path)));
        let binary = env!("CARGO_BIN_EXE_tandem").into();
        Launch { binary, args: all, stdin: None, environment, cwd: world.root(), terminal: false }
    }

    /// With these arguments behind the others.
    pub fn and(mut self, args: &[&str]) -> Launch {
        self.args.extend(args.iter().map(OsString::from));
        self
    }

    /// Text on standard input, which then ends. Without it, standard input is empty.
    pub fn stdin(mut self, text: &str) -> Launch {
        self.stdin = Some(text.to_owned());
        self
    }

    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Launch {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Runs in another folder than the project.
    pub fn cwd(mut self, folder: &Path) -> Launch {
        self.cwd = folder.to_owned();
        self
    }

    /// Runs with a terminal, played by util-linux's `script`: a person is there, and stderr is the screen too.
    pub fn terminal(mut self) -> Launch {
        self.terminal = true;
        self
    }

    /// Runs this copy of the binary.
    pub fn program(mut self, binary: &Path) -> Launch {
        self.binary = binary.to_owned();
        self
    }

    /// Runs to the end.
    pub fn run(self) -> Ran {
        let stdin = self.stdin.clone();
        let mut running = self.spawn();
        if let Some(text) = stdin {
            running.say(&text);
        }
        running.close();
        running.wait()
    }

    /// Runs to the end, and answers standard output, which need not be text.
    pub fn output(self) -> Vec<u8> {
        let mut command = Command::new(&self.binary);
        command
            .args(&self.args)
            .env_clear()
            .envs(self.environment)
            .current_dir(self.cwd)
            .stdin(Stdio::null());
        command.output().expect("it runs").stdout
    }

    /// Begins, with standard input open.
    pub fn spawn(self) -> Running {
        let binary = &self.binary.to_string_lossy().into_owned();
        let shown = self.args.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let mut command = if self.terminal {
            let words = std::iter::once(binary.as_str().into())
                .chain(self.args.iter().map(|arg| arg.to_string_lossy()));
            // The shell in between must not stay: it would die of a Ctrl+C that the program outlives.
            let line = format!("exec {}", words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" "));
            let mut command = Command::new("script");
            command.args(["--quiet", "--return", "--flush", "--echo=never", "--command", &line, "/dev/null"]);
            command
        } else {
            let mut command = Command::new(binary);
            command.args(&self.args);
            command
        };
        command
            .env_clear()
            .envs(self.environment)
            .current_dir(self.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", command.get_program()));
        let stdin = child.stdin.take();
        let stdout = Heard::listen(child.stdout.take().expect("stdout is piped"));
        let stderr = Heard::listen(child.stderr.take().expect("stderr is piped"));
        Running { child, stdin, stdout, stderr, shown, began: Instant::now(), read_to: 0 }
    }
}

/// A run that goes on.
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Heard,
    stderr: Heard,
    shown: String,
    began: Instant,
    /// How much of stdout earlier waits have seen.
    read_to: usize,
}

impl Running {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Types text. A program that has ended hears nothing.
    pub fn say(&mut self, text: &str) {
        if let Some(stdin) = &mut self.stdin {
            _ = stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush());
        }
    }

    /// Ends standard input.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Waits until stdout holds `text` after what earlier waits have seen.
    pub fn wait_for(&mut self, text: &str) {
        match self.stdout.wait_for(text, self.read_to) {
            Some(end) => self.read_to = end,
            None => {
                self.kill();
                let (out, err) = (self.stdout.text(), self.stderr.text());
                panic!("`{}` never said {text:?}\nstdout:\n{out}\nstderr:\n{err}", self.shown);
            }
        }
    }

    /// Sends the process a signal by name, as `kill` does.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([format!("-{name}"), self.id().to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()), "kill -{name} {}", self.id());
    }

    /// Ends the process as a power cut would.
    pub fn kill(&mut self) {
        _ = self.child.kill();
    }

    /// Waits for the end.
    pub fn wait(mut self) -> Ran {
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the process can be waited for") {
                break status;
            }
            if self.began.elapsed() > LIMIT {
                self.kill();
                _ = self.child.wait();
                let (out, err) = (self.stdout.text(), self.stderr.text());
                panic!("`{}` did not end within {LIMIT:?}\nstdout:\n{out}\nstderr:\n{err}", self.shown);
            }
            thread::sleep(Duration::from_millis(5));
        };
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1);
        let shown = self.shown.clone();
        let (stdout, stderr) = (self.stdout.finish(), self.stderr.finish());
        let ran = Ran { code, stdout, stderr, shown };
        assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY), "the key is shown\n{}", ran.all());
        ran
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A test that failed half way must not leave the process behind.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Ran {
    /// Everything that is known, for a failure's message.
    pub fn all(&self) -> String {
        format!(
            "`tandem {}` ended with {}\nstdout:\n{}\nstderr:\n{}",
            self.shown, self.code, self.stdout, self.stderr
        )
    }

    /// Standard output of `--output-format stream-json`: one event a line.
    #[track_caller]
    pub fn events(&self) -> Vec<Value> {
        let event = |line: &str| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("not JSON: {line}: {error}\n{}", self.all()))
        };
        self.stdout.lines().map(event).collect()
    }

    /// The payloads of the events of one type.
    #[track_caller]
    pub fn payloads(&self, kind: &str) -> Vec<Value> {
        let events = self.events().into_iter().filter(|event| event["type"] == kind);
        events.map(|event| event["payload"].clone()).collect()
    }

    #[track_caller]
    pub fn expect(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "exit code\n{}", self.all());
        self
    }
}

/// Listens to a pipe.
struct Heard {
    said: Arc<Said>,
    reader: JoinHandle<()>,
}

/// What a pipe has said so far.
#[derive(Default)]
struct Said {
    bytes: Mutex<Bytes>,
    changed: Condvar,
}

#[derive(Default)]
struct Bytes {
    all: Vec<u8>,
    ended: bool,
}

impl Bytes {
    /// The place after `text`, looked for behind `from`.
    fn after(&self, text: &str, from: usize) -> Option<usize> {
        let rest = self.all.get(from..)?;
        let at = rest.windows(text.len()).position(|window| window == text.as_bytes())?;
        Some(from + at + text.len())
    }
}

impl Heard {
    fn listen(mut pipe: impl Read + Send + 'static) -> Heard {
        let said = Arc::new(Said::default());
        let writing = said.clone();
        let reader = thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                let count = pipe.read(&mut buffer).unwrap_or(0);
                let mut bytes = writing.bytes.lock().unwrap();
                bytes.all.extend_from_slice(&buffer[..count]);
                bytes.ended = count == 0;
                writing.changed.notify_all();
                if count == 0 {
                    return;
                }
            }
        });
        Heard { said, reader }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.said.bytes.lock().unwrap().all).into_owned()
    }

    /// The place after `text`, once it is there.
    fn wait_for(&self, text: &str, from: usize) -> Option<usize> {
        let waits = |bytes: &mut Bytes| bytes.after(text, from).is_none() && !bytes.ended;
        let bytes = self.said.bytes.lock().unwrap();
        let (bytes, _) = self.said.changed.wait_timeout_while(bytes, PATIENCE, waits).unwrap();
        bytes.after(text, from)
    }

    /// All of it. A process of the run that outlives it may hold the pipe open; that is not waited for.
    fn finish(&self) -> String {
        let ended = Instant::now();
        while !self.reader.is_finished() {
            if ended.elapsed() > Duration::from_secs(2) {
                break;
            }
            thread::sleep(Duration::from_millis(2));
        }
        self.text()
    }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
