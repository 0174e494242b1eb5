//! SIGTERM and SIGINT: the first drains, the second stops at once.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::{CliError, Exit};
use crate::engine::Stop;

/// The two signals that stop the program.
#[derive(Debug)]
pub struct Stops {
    terminate: Signal,
    interrupt: Signal,
}

impl Stops {
    /// Listens from here on; the default actions no longer hold.
    pub fn listen() -> Result<Self, CliError> {
        let listen = |kind| signal(kind).map_err(CliError::Signals);
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    /// Waits for a signal, tells the engine, and says which exit code belongs to it.
    pub async fn next(&mut self, stop: &watch::Sender<Stop>) -> Exit {
        let exit = tokio::select! {
            _ = self.terminate.recv() => Exit::Terminated,
            _ = self.interrupt.recv() => Exit::Interrupted,
        };
        stop.send_modify(|stop| {
            *stop = match stop {
                Stop::Running => Stop::Drain,
                Stop::Drain | Stop::Now => Stop::Now,
            };
        });
        exit
    }
}
