//! An upstream that answers whatever a test wants, and keeps what it was sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A server on loopback; every connection gets the reply of the moment.
pub struct Hostile {
    place: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    reply: Vec<u8>,
    requests: Vec<String>,
}

impl Hostile {
    /// Serves until the test ends; it answers with nothing yet.
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let place = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for socket in listener.incoming() {
                // A client that goes in the middle is no matter.
                let _ = socket.and_then(|socket| serve(&socket, &shared));
            }
        });
        Self { place, state }
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://{}", self.place)
    }

    /// What it answers from now on: the bytes after `HTTP/1.1 `; then it closes the connection.
    pub fn reply(&self, reply: impl AsRef<[u8]>) {
        self.state.lock().unwrap().reply = [b"HTTP/1.1 ", reply.as_ref()].concat();
    }

    /// It answers with a Message of this text.
    pub fn answer(&self, text: &str) {
        let body = serde_json::json!({
            "type": "message", "id": "msg_1", "model": "claude-sonnet-5-5", "stop_reason": "end_turn",
            "content": [{ "type": "text", "text": text }],
            "usage": { "input_tokens": 1, "output_tokens": 1 },
        });
        self.reply(format!(
            "200 OK\r\ncontent-type: application/json\r\n\r\n{body}"
        ));
    }

    /// Everything it was sent since the last time: heads and bodies.
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }
}

fn serve(socket: &TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(socket);
    let (mut request, mut length) = (String::new(), 0);
    loop {
        let start = request.len();
        if reader.read_line(&mut request)? == 0 || request[start..].trim().is_empty() {
            break;
        }
        let line = request[start..].to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    request.push_str(&String::from_utf8_lossy(&body));
    let reply = {
        let mut state = state.lock().unwrap();
        state.requests.push(request);
        state.reply.clone()
    };
    let mut socket = socket;
    socket.write_all(&reply)
}
