//! An address on loopback that lets every connection hang: somebody listens there, takes none, and the queue is full.

use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use tokio::net::TcpSocket;

/// Open for as long as it lives.
pub struct BlackHole {
    port: u16,
    _listener: TcpListener,
    _waiting: Vec<TcpStream>,
}

impl BlackHole {
    /// Fills the queue of connections.
    pub fn open() -> BlackHole {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        let listener = runtime.block_on(async {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
            // The queue of the standard library's listener is too long to be filled.
            socket.listen(1).unwrap().into_std().unwrap()
        });
        let address = listener.local_addr().unwrap();
        let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(100));
        let waiting = std::iter::from_fn(|| connect().ok()).collect();
        BlackHole { port: address.port(), _listener: listener, _waiting: waiting }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }
}
