//! A server of raw bytes on loopback: one answer for each request, in order.

use std::fmt::Display;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Notify;

/// What the server does with a request.
pub enum Answer {
    /// Writes the bytes and closes.
    Close(String),
    /// The same with bytes that are no text.
    Bytes(Vec<u8>),
    /// Writes the pieces apart and takes the next request on the same connection.
    Keep(Vec<String>),
    /// The same with pieces that may be cut in the middle of a character.
    KeepBytes(Vec<Vec<u8>>),
    /// Writes the bytes, then resets the connection.
    Reset(String),
    /// Writes the bytes, then waits for the client to close.
    Hold(String),
    /// Writes the pieces with a pause before each, and closes.
    Slow(Vec<String>, Duration),
}

impl Answer {
    /// A whole response with a length.
    pub fn status(status: &str, headers: &str, body: &str) -> Answer {
        let length = body.len();
        Answer::Close(format!(
            "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        ))
    }

    /// A stream in one chunk, whose end comes by itself and after which the connection stays open.
    pub fn chunked(body: &str) -> Answer {
        let length = body.len();
        let chunk = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n");
        Answer::Keep(vec![chunk, "0\r\n\r\n".to_owned()])
    }

    /// A stream that ends with the connection.
    pub fn stream(body: &str) -> Answer {
        Answer::Close(head() + body)
    }
}

/// The head of a response that ends with the connection.
pub fn head() -> String {
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n".to_owned()
}

/// Chunks as events.
pub fn sse(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

/// The text of an error.
pub fn error<T, E: Display>(result: &Result<T, E>) -> String {
    result.as_ref().err().map(ToString::to_string).unwrap_or_default()
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Method, path and version.
    pub line: String,
    /// Which connection it came on, counted from 1.
    pub connection: usize,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Seen {
    /// The value of a header, named in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// A running server. It stops with the runtime of its test.
pub struct Server {
    /// With `/v1`.
    pub base: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    holding: Arc<Notify>,
    closed: Arc<Notify>,
}

impl Server {
    /// Gives the answers in order, one for each request; further ones are not answered.
    pub async fn start(answers: Vec<Answer>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server {
            base: format!("http://{}/v1", listener.local_addr().unwrap()),
            seen: Arc::default(),
            holding: Arc::default(),
            closed: Arc::default(),
        };
        let (seen, holding, closed) = (server.seen.clone(), server.holding.clone(), server.closed.clone());
        tokio::spawn(async move {
            let mut answers = answers.into_iter();
            let mut connection = 0;
            while let Ok((mut stream, _)) = listener.accept().await {
                connection += 1;
                // Otherwise the system may hold the second of two small pieces back.
                stream.set_nodelay(true).unwrap();
                while let Some(request) = read(&mut stream, connection).await {
                    seen.lock().unwrap().push(request);
                    // A client that went away is what some tests are about: writing may fail.
                    match answers.next() {
                        Some(Answer::Keep(pieces)) => {
                            keep(&mut stream, pieces.into_iter().map(String::into_bytes)).await;
                            continue;
                        }
                        Some(Answer::KeepBytes(pieces)) => {
                            keep(&mut stream, pieces.into_iter()).await;
                            continue;
                        }
                        Some(Answer::Close(text)) => drop(stream.write_all(text.as_bytes()).await),
                        Some(Answer::Bytes(bytes)) => drop(stream.write_all(&bytes).await),
                        Some(Answer::Reset(text)) => {
                            drop(stream.write_all(text.as_bytes()).await);
                            // What was written must be on its way before the reset overtakes it.
                            tokio::time::sleep(Duration::from_millis(20)).await;
                            stream.set_zero_linger().unwrap();
                        }
                        Some(Answer::Hold(text)) => {
                            drop(stream.write_all(text.as_bytes()).await);
                            holding.notify_one();
                            drop(stream.read(&mut [0]).await);
                            closed.notify_one();
                        }
                        Some(Answer::Slow(pieces, pause)) => {
                            for piece in pieces {
                                tokio::time::sleep(pause).await;
                                drop(stream.write_all(piece.as_bytes()).await);
                            }
                        }
                        None => {}
                    }
                    break;
                }
            }
        });
        server
    }

    /// A base URL where nothing listens.
    pub async fn nobody() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Returns once a held answer was written.
    pub async fn holding(&self) {
        self.holding.notified().await;
    }

    /// Returns once the client of a held answer has closed.
    pub async fn closed(&self) {
        self.closed.notified().await;
    }
}

/// Somebody who listens and takes no connection, with so many waiting that the system lets further ones hang.
pub struct BlackHole {
    /// With `/v1`.
    pub base: String,
    _listener: TcpListener,
    _waiting: Vec<TcpStream>,
}

impl BlackHole {
    /// Fills the queue of connections.
    pub async fn open() -> BlackHole {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let mut waiting = Vec::new();
        let wait = Duration::from_millis(100);
        while let Ok(stream) = tokio::time::timeout(wait, TcpStream::connect(address)).await {
            waiting.push(stream.unwrap());
        }
        BlackHole { base: format!("http://{address}/v1"), _listener: listener, _waiting: waiting }
    }
}

async fn keep(stream: &mut TcpStream, pieces: impl Iterator<Item = Vec<u8>>) {
    for piece in pieces {
        // A client that went away is what some tests are about.
        drop(stream.write_all(&piece).await);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn read(stream: &mut TcpStream, connection: usize) -> Option<Seen> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        more(stream, &mut bytes).await?;
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let line = lines.next()?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, n)| n.parse().unwrap());
    while bytes.len() < end + length {
        more(stream, &mut bytes).await?;
    }
    Some(Seen { line, connection, headers, body: bytes.split_off(end) })
}

async fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let mut buffer = [0; 4_096];
    let count = stream.read(&mut buffer).await.ok()?;
    bytes.extend_from_slice(&buffer[..count]);
    (count > 0).then_some(())
}
