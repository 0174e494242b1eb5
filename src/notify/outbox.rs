//! One receiver: its queue, and the task that works it off.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::JoinSet;
use tracing::{debug, warn};

use super::body;
use crate::engine::alert::{Alert, Change};
use crate::engine::ports::Clock;
use crate::workspace::{Address, Program, RequestError, WorkspaceError, feed};

/// Alerts that wait for one receiver; what comes on top is dropped, and said.
const QUEUE: usize = 64;

/// Tries of one alert.
const TRIES: u32 = 2;

/// The pause between two tries.
const PAUSE: Duration = Duration::from_secs(2);

/// A receiver of alerts.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name in `notify`.
    pub name: String,
    /// How it is told.
    pub way: Way,
    /// What it wants to be told of.
    pub on: BTreeSet<Change>,
    /// How long one try may take.
    pub timeout: Duration,
}

/// How a receiver is told.
#[derive(Debug, Clone)]
pub enum Way {
    /// A POST to this address.
    Webhook(Address, Format),
    /// A program that gets the JSON on its standard input.
    Command {
        /// Program and arguments, at least one element; no shell.
        argv: Vec<String>,
        /// Its working folder.
        folder: PathBuf,
        /// Variables that it does not inherit.
        without: Vec<String>,
    },
}

/// The shape of a webhook's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// [`json`](super::json).
    Json,
    /// `{"text": "…"}` in plain sentences.
    Slack,
}

/// The queue of one receiver.
#[derive(Debug)]
pub struct Outbox {
    name: String,
    on: BTreeSet<Change>,
    queue: Sender<Alert>,
}

/// Why a try failed.
#[derive(Debug, thiserror::Error)]
enum TryError {
    #[error("nothing came back within {0:?}")]
    TimedOut(Duration),
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Command(#[from] WorkspaceError),
}

impl Outbox {
    /// Opens a queue whose task is among `tasks`; dropping the queue lets the task end once all is sent.
    pub fn open(entry: Entry, clock: Arc<dyn Clock>, tasks: &mut JoinSet<()>) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let (name, on) = (entry.name.clone(), entry.on.clone());
        tasks.spawn(work_off(entry, waiting, clock));
        Self { name, on, queue }
    }

    /// Its name in `notify`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Queues an alert if the receiver wants it; never waits.
    pub fn put(&self, alert: &Alert) {
        if self.on.contains(&alert.change()) && self.queue.try_send(alert.clone()).is_err() {
            let (notify, event) = (self.name.as_str(), alert.change().as_str());
            warn!(
                notify,
                event, "the receiver is too slow; it is not told of this"
            );
        }
    }
}

async fn work_off(entry: Entry, mut waiting: Receiver<Alert>, clock: Arc<dyn Clock>) {
    while let Some(alert) = waiting.recv().await {
        let (notify, event) = (entry.name.as_str(), alert.change().as_str());
        match tell(&entry, &alert, &*clock).await {
            Ok(()) => debug!(notify, event, "told"),
            Err(problem) => warn!(notify, event, %problem, "nobody was told"),
        }
    }
}

async fn tell(entry: &Entry, alert: &Alert, clock: &dyn Clock) -> Result<(), TryError> {
    let mut tried = 1;
    loop {
        let told = try_once(entry, alert, clock).await;
        if told.is_ok() || tried == TRIES {
            return told;
        }
        tried += 1;
        clock.sleep(PAUSE).await;
    }
}

async fn try_once(entry: &Entry, alert: &Alert, clock: &dyn Clock) -> Result<(), TryError> {
    match &entry.way {
        Way::Webhook(address, format) => {
            let body = match format {
                Format::Json => body::json(alert),
                Format::Slack => body::slack(alert),
            };
            tokio::select! {
                biased;
                done = address.post(body) => Ok(done?),
                () = clock.sleep(entry.timeout) => Err(TryError::TimedOut(entry.timeout)),
            }
        }
        Way::Command {
            argv,
            folder,
            without,
        } => {
            let program = Program {
                argv,
                folder,
                timeout: entry.timeout,
                without,
            };
            Ok(feed(program, &body::json(alert), clock).await?)
        }
    }
}

#[cfg(test)]
mod tests;
