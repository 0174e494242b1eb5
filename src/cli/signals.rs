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
    /// Held and never waited for: it keeps the default action away.
    _no_room: Signal,
}

/// What a process gets whose file may not grow any more (`ulimit -f`), on Linux and BSD. By default it ends the process.
/// Heard, the write fails like one on a full disk, and that is borne.
const FILE_SIZE: i32 = 25;

impl Stops {
    /// Listens from here on; the default actions no longer hold.
    pub fn listen() -> Result<Self, CliError> {
        let listen = |kind| signal(kind).map_err(CliError::Signals);
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            _no_room: listen(SignalKind::from_raw(FILE_SIZE))?,
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
