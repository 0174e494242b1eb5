//! A server of one connection that says exactly what a test wants, byte by byte.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A listener that has accepted nothing yet.
pub struct Raw {
    listener: TcpListener,
    pub address: SocketAddr,
}

/// One accepted connection, its request read.
pub struct Peer {
    pub socket: TcpStream,
    /// The request's head, lower case.
    pub head: String,
}

impl Raw {
    pub async fn bind() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        Self { listener, address }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Accepts, and reads the whole request.
    pub async fn accept(&self) -> Peer {
        let (mut socket, _) = self.listener.accept().await.unwrap();
        let mut bytes = Vec::new();
        loop {
            assert_ne!(
                socket.read_buf(&mut bytes).await.unwrap(),
                0,
                "the client left"
            );
            let text = String::from_utf8_lossy(&bytes).to_lowercase();
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Peer {
                    socket,
                    head: head.to_owned(),
                };
            }
        }
    }

    /// Accepts, and answers whatever comes first with these bytes.
    pub async fn answer_any(&self, bytes: &str) {
        let (mut socket, _) = self.listener.accept().await.unwrap();
        socket.readable().await.unwrap();
        socket.write_all(bytes.as_bytes()).await.unwrap();
    }

    /// Fails the test if anyone has knocked.
    pub fn assert_untouched(self) {
        let knock = self.listener.into_std().unwrap().accept();
        assert!(
            knock.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock),
            "someone knocked"
        );
    }
}

impl Peer {
    /// Sends bytes as they are.
    pub async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        self.socket.write_all(bytes.as_ref()).await.unwrap();
        self.socket.flush().await.unwrap();
    }

    /// Sends a head for a body that ends with the connection.
    pub async fn open(&mut self, content_type: &str) {
        self.say(format!(
            "HTTP/1.1 200 OK\r\n{content_type}connection: close\r\n\r\n"
        ))
        .await;
    }
}
