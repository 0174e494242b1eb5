//! The watcher's address: pinged after good slots, so that silence can be seen from outside.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::JoinSet;
use tracing::warn;

use crate::engine::ports::Clock;
use crate::workspace::Address;

/// A ping that fails is said at most this often: there may be one after every slot.
const QUIET: Duration = Duration::from_hours(1);

/// The bell of the task that pings.
#[derive(Debug)]
pub struct Deadman {
    bell: Sender<()>,
}

impl Deadman {
    /// Starts the task among `tasks`; it ends when this is dropped. A ping may take as long as `timeout`.
    pub fn start(
        address: Address,
        timeout: Duration,
        clock: Arc<dyn Clock>,
        tasks: &mut JoinSet<()>,
    ) -> Self {
        // One place: slots that end while a ping is under way share the next one.
        let (bell, rung) = mpsc::channel(1);
        tasks.spawn(ping(address, timeout, rung, clock));
        Self { bell }
    }

    /// A slot went well; never waits.
    pub fn ring(&self) {
        // If it cannot be taken, a ping is about to go out as it is.
        let _ = self.bell.try_send(());
    }
}

async fn ping(address: Address, timeout: Duration, mut rung: Receiver<()>, clock: Arc<dyn Clock>) {
    let mut said: Option<Duration> = None;
    while rung.recv().await.is_some() {
        let problem = tokio::select! {
            biased;
            done = address.get() => done.err().map(|error| error.to_string()),
            () = clock.sleep(timeout) => Some(format!("nothing came back within {timeout:?}")),
        };
        let now = clock.elapsed();
        if let Some(problem) = problem
            && is_due(said, now)
        {
            said = Some(now);
            warn!(
                problem,
                "the ping of `deadman` failed; further ones are not told for an hour"
            );
        }
    }
}

/// Whether a failure is said, after another that was said so long ago.
fn is_due(said: Option<Duration>, now: Duration) -> bool {
    said.is_none_or(|said| now.saturating_sub(said) >= QUIET)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::fixture::{Logged, Manner, Receiver, Standing};

    #[test]
    fn a_failure_is_said_at_most_once_an_hour() {
        let (minute, hour) = (Duration::from_mins(1), Duration::from_hours(1));
        assert!(is_due(None, minute));
        assert!(!is_due(Some(minute), hour));
        assert!(is_due(Some(minute), minute + hour));
    }

    #[tokio::test]
    async fn a_ring_asks_for_the_address() {
        let receiver = Receiver::start(Manner::Takes);
        let mut tasks = JoinSet::new();
        let deadman = Deadman::start(receiver.address(), QUIET, Standing::clock(), &mut tasks);
        deadman.ring();
        drop(deadman);
        assert!(tasks.join_next().await.is_some_and(|done| done.is_ok()));
        assert_eq!(receiver.heard(), [("GET".to_owned(), String::new())]);
    }

    #[tokio::test]
    async fn failures_in_a_row_are_one_line_without_the_address() {
        let logged = Logged::start();
        let receiver = Receiver::start(Manner::Answers(500));
        let mut tasks = JoinSet::new();
        let deadman = Deadman::start(receiver.address(), QUIET, Standing::clock(), &mut tasks);
        for count in 1..=3 {
            deadman.ring();
            receiver.until(count).await;
        }
        drop(deadman);
        assert!(tasks.join_next().await.is_some_and(|done| done.is_ok()));
        let text = logged.text();
        assert_eq!(
            text.matches("the ping of `deadman` failed").count(),
            1,
            "{text}"
        );
        assert!(text.contains("the answer has status 500"), "{text}");
    }
}
