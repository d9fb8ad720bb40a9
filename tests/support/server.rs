//! A scripted OpenAI-compatible server on loopback. It keeps every request and checks all of them when it ends.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::{Connection, HttpRequest};
use super::invariants;
use super::reply::{Fault, Reply};
use super::request::Request;
use super::script::Script;

/// How long a test waits for something that must happen.
pub const PATIENCE: Duration = Duration::from_secs(40);

/// The running server.
pub struct Server {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    script: Mutex<Script>,
    requests: Mutex<Vec<Arc<Request>>>,
    changed: Condvar,
    stopped: AtomicBool,
    /// Whether requests keep to what tandem's roles may send.
    checked: bool,
}

impl Server {
    pub fn start(script: Script) -> Server {
        Server::begin(script, true)
    }

    /// A server for requests that are no role's own work.
    pub fn start_unchecked(script: Script) -> Server {
        Server::begin(script, false)
    }

    fn begin(script: Script, checked: bool) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on loopback");
        let port = listener.local_addr().expect("a bound address").port();
        let shared = Arc::new(Shared {
            script: Mutex::new(script),
            requests: Mutex::default(),
            changed: Condvar::new(),
            stopped: AtomicBool::new(false),
            checked,
        });
        let accepting = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.stopped.load(Ordering::Relaxed) {
                    return;
                }
                let shared = accepting.clone();
                // A client that breaks off is a thing that tests do on purpose; its request is kept all the same.
                thread::spawn(move || _ = shared.serve(stream));
            }
        });
        Server { port, shared }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Every request so far.
    pub fn all(&self) -> Vec<Arc<Request>> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The chat requests so far.
    pub fn chats(&self) -> Vec<Arc<Request>> {
        self.all().into_iter().filter(|request| request.path.ends_with("/chat/completions")).collect()
    }

    /// The chat requests of one role.
    pub fn of(&self, role: &str) -> Vec<Arc<Request>> {
        self.chats().into_iter().filter(|request| request.role() == role).collect()
    }

    /// Waits until the requests are as wished for.
    pub fn wait_until(&self, what: &str, wished: impl Fn(&[Arc<Request>]) -> bool) {
        let requests = self.shared.requests.lock().unwrap();
        let (requests, timeout) =
            self.shared.changed.wait_timeout_while(requests, PATIENCE, |requests| !wished(requests)).unwrap();
        assert!(!timeout.timed_out(), "waited in vain for {what}; there were {} requests", requests.len());
    }

    /// Ends the server and checks every request that it got.
    pub fn finish(self) -> Vec<Arc<Request>> {
        self.chats()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts, so that it sees the mark.
        _ = TcpStream::connect(("127.0.0.1", self.port));
        if thread::panicking() || !self.shared.checked {
            return;
        }
        let broken: Vec<String> = self.chats().iter().flat_map(|chat| invariants::broken(chat)).collect();
        assert!(broken.is_empty(), "requests break the rules of the wire:\n{}", broken.join("\n"));
    }
}

impl Shared {
    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let mut connection = Connection::new(stream)?;
        while let Some(http) = connection.read_request(&|| self.stopped())? {
            if http.path.ends_with("/models") {
                self.keep(http);
                let models = ["planner", "thinking", "executor", "critique", "compaction"];
                let data: Vec<Value> =
                    models.iter().map(|id| json!({ "id": id, "object": "model" })).collect();
                self.send_json(&mut connection, &json!({ "object": "list", "data": data }))?;
                continue;
            }
            let request = self.keep(http);
            let reply = self.script.lock().unwrap().next(&request);
            if let Some(action) = &reply.before {
                action(&request);
            }
            let sent = self.answer(&mut connection, &request, &reply);
            if !matches!(sent, Ok(Sent::Whole)) {
                if matches!(sent, Ok(Sent::ClientGone) | Err(_)) {
                    request.close();
                    let _changed = self.requests.lock().unwrap();
                    self.changed.notify_all();
                }
                return Ok(());
            }
        }
        Ok(())
    }

    fn keep(&self, http: HttpRequest) -> Arc<Request> {
        let mut requests = self.requests.lock().unwrap();
        let request = Arc::new(Request::new(requests.len() + 1, http));
        requests.push(request.clone());
        self.changed.notify_all();
        request
    }

    fn answer(&self, connection: &mut Connection, request: &Request, reply: &Reply) -> io::Result<Sent> {
        match &reply.fault {
            Some(Fault::Drop {}) => return Ok(Sent::Broken),
            Some(Fault::Status { status, body, headers }) => {
                let mut headers: Vec<(String, String)> =
                    headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                headers.push(("content-type".into(), "application/json".into()));
                connection.begin(*status, &headers)?;
                connection.chunk(body.as_bytes())?;
                connection.end()?;
                return Ok(Sent::Whole);
            }
            Some(Fault::Raw { headers, body, cut }) => {
                let headers: Vec<(String, String)> =
                    headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                connection.begin(200, &headers)?;
                connection.chunk(body)?;
                if *cut {
                    return Ok(Sent::Broken);
                }
                connection.end()?;
                return Ok(Sent::Whole);
            }
            _ if request.body["stream"] != true => {
                self.send_json(connection, &reply.whole(request))?;
                return Ok(Sent::Whole);
            }
            _ => {}
        }
        connection.begin(200, &[("content-type".into(), "text/event-stream".into())])?;
        for (index, event) in reply.events(request).iter().enumerate() {
            let bytes = event.as_bytes();
            match &reply.fault {
                Some(Fault::Hang { after }) if *after == index => {
                    let gone = connection.wait_for_close(None, &|| self.stopped());
                    return Ok(if gone { Sent::ClientGone } else { Sent::Broken });
                }
                Some(Fault::Stall { after, ms })
                    if *after == index
                        && connection
                            .wait_for_close(Some(Duration::from_millis(*ms)), &|| self.stopped()) =>
                {
                    return Ok(Sent::ClientGone);
                }
                Some(Fault::Cut { after }) if *after == index => {
                    connection.chunk(&bytes[..bytes.len() / 2])?;
                    return Ok(Sent::Broken);
                }
                Some(Fault::Reset { after }) if *after == index => {
                    connection.reset()?;
                    return Ok(Sent::Broken);
                }
                Some(Fault::Short { after }) if *after == index => {
                    connection.chunk(&bytes[..bytes.len() / 2])?;
                    connection.end()?;
                    return Ok(Sent::Whole);
                }
                Some(Fault::Bytewise {}) => {
                    for byte in bytes {
                        connection.chunk(&[*byte])?;
                    }
                    continue;
                }
                _ => {}
            }
            connection.chunk(bytes)?;
        }
        connection.end()?;
        Ok(if matches!(reply.fault, Some(Fault::Leave {})) { Sent::Broken } else { Sent::Whole })
    }

    fn send_json(&self, connection: &mut Connection, body: &Value) -> io::Result<()> {
        connection.begin(200, &[("content-type".into(), "application/json".into())])?;
        connection.chunk(body.to_string().as_bytes())?;
        connection.end()
    }
}

/// How an answer ended.
enum Sent {
    /// As HTTP wants it: the connection can be used again.
    Whole,
    /// Broken off by the script.
    Broken,
    /// The client did not wait for the end.
    ClientGone,
}

/// Waits until something that no server sees is so.
#[track_caller]
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
