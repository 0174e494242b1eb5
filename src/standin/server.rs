//! The sockets of the stand-in.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, JoinSet};

use crate::engine::ports::Clock;

use super::api::Site;
use super::ledger::{Ledger, Seen};
use super::script::Script;

/// So many connections may wait to be accepted, if the system lets them. One that finds the queue full tries again
/// after a second, and a thousand slots of one minute come at once.
const BACKLOG: u32 = 1_024;

/// A stand-in that serves until it is dropped.
pub struct Standin {
    address: SocketAddr,
    site: Arc<Site>,
    serving: JoinHandle<()>,
}

impl fmt::Debug for Standin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Standin")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Standin {
    /// Serves on a free port of 127.0.0.1, as a task of the runtime that it is called in.
    ///
    /// # Errors
    /// There is no runtime, or no socket to be had.
    pub fn start(script: Script, clock: Arc<dyn Clock>, seed: u64) -> io::Result<Self> {
        Self::start_on(0, script, clock, seed)
    }

    /// As [`Standin::start`], on this port.
    ///
    /// # Errors
    /// There is no runtime, or the port is taken.
    pub fn start_on(
        port: u16,
        script: Script,
        clock: Arc<dyn Clock>,
        seed: u64,
    ) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let socket = TcpSocket::new_v4()?;
        // A port whose last connections are not forgotten yet can be had again.
        socket.set_reuseaddr(true)?;
        socket.bind((Ipv4Addr::LOCALHOST, port).into())?;
        let listener = socket.listen(BACKLOG)?;
        let address = listener.local_addr()?;
        let site = Arc::new(Site::new(clock, Ledger::new(script, seed)));
        let serving = runtime.spawn(serve(listener, Arc::clone(&site)));
        Ok(Self {
            address,
            site,
            serving,
        })
    }

    /// What belongs into `upstream.base_url`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The latest 1,000 message requests, oldest first. A request is here before its reply begins.
    #[must_use]
    pub fn requests(&self) -> Vec<Seen> {
        self.site.seen()
    }

    /// Stops, and returns once the port is free and every connection closed.
    pub async fn stop(mut self) {
        self.serving.abort();
        // Cancelled is what we asked for, and a panic of the task ends it as well.
        let _ = (&mut self.serving).await;
    }
}

impl Drop for Standin {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Accepts connections; when it is dropped, they are.
async fn serve(listener: TcpListener, site: Arc<Site>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => {
                    // Events are small, and each should leave at once. A failure only makes them later.
                    let _ = socket.set_nodelay(true);
                    connections.spawn(connection(socket, Arc::clone(&site)));
                }
                // Out of descriptors, or the peer is gone already: others may still come.
                Err(_) => site.pause().await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(socket: TcpStream, site: Arc<Site>) {
    let service = service_fn(move |request| Arc::clone(&site).answer(request));
    // An error is a client that left or a connection that the script broke.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(socket), service)
        .await;
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::SystemClock;

    /// With the queue of 128 that is usual, the others tried again a second later, and the requests of a full minute
    /// were late for a reason that was not the daemon's.
    #[test]
    fn hundreds_of_clients_that_come_at_once_are_all_let_in() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let _inside = runtime.enter();
        let standin = Standin::start(Script::default(), Arc::new(SystemClock::new()), 1).unwrap();
        // The system may allow fewer.
        let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn")
            .map_or(128, |text| text.trim().parse().unwrap());
        // Nobody accepts: the runtime is not driven.
        let connect = |_| {
            let patience = Duration::from_millis(500);
            std::net::TcpStream::connect_timeout(&standin.address, patience).unwrap()
        };
        let clients: Vec<_> = (0..allowed.min(400)).map(connect).collect();
        assert_eq!(clients.len(), allowed.min(400));
    }
}
