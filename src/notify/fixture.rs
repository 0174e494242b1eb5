//! A receiver on the loopback interface, clocks that stand, and a log that can be read.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};
use tracing::subscriber::DefaultGuard;

use super::Address;
use crate::engine::ports::{Clock, Pending};

/// A webhook's path, which no log may hold.
pub const PLANTED: &str = "planted-7Zq9x";

/// How a receiver behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Status 200.
    Takes,
    /// This status.
    Answers(u16),
    /// It reads, and never answers.
    Silent,
}

/// What arrived: method and body.
type Heard = Vec<(String, String)>;

#[derive(Debug)]
struct Seen {
    manner: Manner,
    heard: Mutex<Heard>,
    more: Notify,
}

/// A webhook that keeps what it gets; gone when dropped.
#[derive(Debug)]
pub struct Receiver {
    place: SocketAddr,
    seen: Arc<Seen>,
    serving: JoinHandle<()>,
}

impl Receiver {
    /// Serves as a task of the runtime that it is called in.
    pub fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let place = listener.local_addr().unwrap();
        let seen = Arc::new(Seen {
            manner,
            heard: Mutex::default(),
            more: Notify::new(),
        });
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let serving = tokio::spawn(serve(listener, Arc::clone(&seen)));
        Self {
            place,
            seen,
            serving,
        }
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://{}/{PLANTED}", self.place)
    }

    /// Its address.
    pub fn address(&self) -> Address {
        Address::new(&self.url(), Duration::from_secs(10)).unwrap()
    }

    /// All that arrived so far.
    pub fn heard(&self) -> Heard {
        self.seen.heard.lock().unwrap().clone()
    }

    /// The `event` of each body so far.
    pub fn events(&self) -> Vec<String> {
        let event = |(_, body): (String, String)| {
            let body: serde_json::Value = serde_json::from_str(&body).unwrap();
            body["event"].as_str().unwrap().to_owned()
        };
        self.heard().into_iter().map(event).collect()
    }

    /// Waits until so many requests have arrived.
    pub async fn until(&self, count: usize) {
        while self.heard().len() < count {
            self.seen.more.notified().await;
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: tokio::net::TcpListener, seen: Arc<Seen>) {
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        let seen = Arc::clone(&seen);
        connections.spawn(async move {
            let service = service_fn(move |request| answer(Arc::clone(&seen), request));
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(socket), service)
                .await;
        });
    }
}

async fn answer(
    seen: Arc<Seen>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let method = request.method().to_string();
    let body = request.into_body().collect().await?.to_bytes();
    let body = String::from_utf8(body.to_vec()).unwrap();
    seen.heard.lock().unwrap().push((method, body));
    seen.more.notify_one();
    let mut response = Response::new(Full::default());
    match seen.manner {
        Manner::Takes => {}
        Manner::Answers(status) => *response.status_mut() = status.try_into().unwrap(),
        Manner::Silent => std::future::pending().await,
    }
    Ok(response)
}

/// A clock whose pauses pass at once, and whose timeouts never come.
#[derive(Debug)]
pub struct Standing;

impl Standing {
    /// As a port.
    pub fn clock() -> Arc<dyn Clock> {
        Arc::new(Self)
    }
}

impl Clock for Standing {
    fn now(&self) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, span: Duration) -> Pending<'_, ()> {
        if span <= Duration::from_secs(5) {
            Box::pin(std::future::ready(()))
        } else {
            Box::pin(std::future::pending())
        }
    }
}

/// Everything that this thread logs while it lives, at every level.
#[derive(Debug)]
pub struct Logged {
    lines: Lines,
    _guard: DefaultGuard,
}

#[derive(Debug, Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Logged {
    /// From here on.
    pub fn start() -> Self {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        Self {
            lines,
            _guard: tracing::subscriber::set_default(subscriber),
        }
    }

    /// Our own lines so far.
    ///
    /// # Panics
    /// If any line, one of the libraries too, holds the path of a receiver, or if one of ours holds its host.
    #[track_caller]
    pub fn text(&self) -> String {
        let all = String::from_utf8(self.lines.0.lock().unwrap().clone()).unwrap();
        assert!(!all.contains(PLANTED), "{all}");
        let own: Vec<&str> = all
            .lines()
            .filter(|line| line.contains(" offpeak::"))
            .collect();
        let own = own.join("\n");
        assert!(!own.contains("127.0.0.1"), "{own}");
        own
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
