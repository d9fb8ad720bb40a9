//! HTTP/1.1 on a plain TCP stream, as far as a chat endpoint needs it, with the means to break it on purpose.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long a read waits before it looks whether the server is to stop.
const POLL: Duration = Duration::from_millis(20);

/// A request as it came over the wire.
pub struct HttpRequest {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The server's end of one connection.
pub struct Connection {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Connection {
    pub fn new(stream: TcpStream) -> io::Result<Connection> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(POLL))?;
        Ok(Connection { stream, unread: Vec::new() })
    }

    /// The next request; `None` when the client closed the connection or `stopped` says so.
    pub fn read_request(&mut self, stopped: &dyn Fn() -> bool) -> io::Result<Option<HttpRequest>> {
        let head_end = loop {
            if let Some(at) = find(&self.unread, b"\r\n\r\n") {
                break at;
            }
            if !self.fill(stopped)? {
                return Ok(None);
            }
        };
        let head = String::from_utf8_lossy(&self.unread[..head_end]).into_owned();
        self.unread.drain(..head_end + 4);
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ');
        let method = first.next().unwrap_or_default().to_owned();
        let path = first.next().unwrap_or_default().to_owned();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body = if chunked {
            self.read_chunks(stopped)?
        } else {
            let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
            self.read_exactly(length, stopped)?
        };
        Ok(body.map(|body| HttpRequest { method, path, headers, body }))
    }

    fn read_exactly(&mut self, length: usize, stopped: &dyn Fn() -> bool) -> io::Result<Option<Vec<u8>>> {
        while self.unread.len() < length {
            if !self.fill(stopped)? {
                return Ok(None);
            }
        }
        Ok(Some(self.unread.drain(..length).collect()))
    }

    fn read_chunks(&mut self, stopped: &dyn Fn() -> bool) -> io::Result<Option<Vec<u8>>> {
        let mut body = Vec::new();
        loop {
            let line_end = loop {
                if let Some(at) = find(&self.unread, b"\r\n") {
                    break at;
                }
                if !self.fill(stopped)? {
                    return Ok(None);
                }
            };
            let size = String::from_utf8_lossy(&self.unread[..line_end]).into_owned();
            let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
            self.unread.drain(..line_end + 2);
            let Some(mut chunk) = self.read_exactly(size + 2, stopped)? else { return Ok(None) };
            if size == 0 {
                return Ok(Some(body));
            }
            chunk.truncate(size);
            body.append(&mut chunk);
        }
    }

    /// Reads what there is; false when nothing more will come.
    fn fill(&mut self, stopped: &dyn Fn() -> bool) -> io::Result<bool> {
        let mut buffer = [0; 16 * 1024];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(false),
                Ok(count) => {
                    self.unread.extend_from_slice(&buffer[..count]);
                    return Ok(true);
                }
                Err(error) if is_poll(&error) && stopped() => return Ok(false),
                Err(error) if is_poll(&error) || error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until `limit` is over, the client closes the connection, or `stopped` says so. True when it was closed.
    pub fn wait_for_close(&mut self, limit: Option<Duration>, stopped: &dyn Fn() -> bool) -> bool {
        let began = Instant::now();
        let mut byte = [0];
        while limit.is_none_or(|limit| began.elapsed() < limit) && !stopped() {
            match self.stream.peek(&mut byte) {
                Ok(0) => return true,
                // The client sends its next request early; nothing of the kind is expected here.
                Ok(_) => std::thread::sleep(POLL),
                Err(error) if is_poll(&error) || error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return true,
            }
        }
        false
    }

    /// Status line and headers. The body follows in chunks, so that a cut can be told from an end.
    pub fn begin(&mut self, status: u16, headers: &[(String, String)]) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("transfer-encoding: chunked\r\n\r\n");
        self.stream.write_all(head.as_bytes())
    }

    pub fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.extend_from_slice(b"\r\n");
        self.stream.write_all(&framed)
    }

    /// Makes the close that follows a reset.
    pub fn reset(&self) -> io::Result<()> {
        // What was written must be on its way before the reset overtakes it.
        std::thread::sleep(POLL);
        let stream = self.stream.try_clone()?;
        stream.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let _entered = runtime.enter();
        tokio::net::TcpStream::from_std(stream)?.set_zero_linger()
    }

    pub fn end(&mut self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n")
    }
}

fn is_poll(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Scripted",
    }
}
