//! The stop signal, and racing work against it.
//!
//! SIGTERM asks for a drain, a second signal for an end at once. The signal
//! itself comes from the shell; here it is a value that only ever rises.

use std::future::{Future, pending};
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::sync::watch;

use super::ports::Clock;

/// What the shell wants of the engine; it rises and never falls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Go on.
    #[default]
    Running,
    /// No new slots; waits end at once, requests in flight get the grace.
    Drain,
    /// Cancel what is in flight; only the records are written.
    Now,
}

/// What a drain came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Slots that were under way at the stop signal.
    pub running: usize,
    /// Runs that the store did not take; the next start closes them as interrupted and defers them.
    pub unclosed: usize,
}

/// The receiving end of the stop signal.
///
/// A sender that is gone means that nobody can stop the engine any more, not that it should stop.
#[derive(Debug, Clone)]
pub struct StopSignal {
    receiver: watch::Receiver<Stop>,
}

impl StopSignal {
    /// Listens to a channel.
    #[must_use]
    pub fn new(receiver: watch::Receiver<Stop>) -> Self {
        Self { receiver }
    }

    /// What is wanted now.
    #[must_use]
    pub fn level(&self) -> Stop {
        *self.receiver.borrow()
    }

    /// Whether no new work may begin.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.level() >= Stop::Drain
    }

    /// Waits until at least this much is wanted.
    pub async fn reaches(&self, level: Stop) {
        let mut receiver = self.receiver.clone();
        if receiver.wait_for(|now| *now >= level).await.is_err() {
            pending::<()>().await;
        }
    }

    /// Does work until the signal comes; `None` if it came first.
    pub async fn or_stop<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        first(work, self.reaches(Stop::Drain)).await
    }

    /// Does work that a drain leaves alone for `grace`; `None` if it was given up.
    pub async fn or_grace<T>(
        &self,
        clock: &dyn Clock,
        grace: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let grace = async {
            self.reaches(Stop::Drain).await;
            first(clock.sleep(grace), self.reaches(Stop::Now)).await;
        };
        first(work, grace).await
    }
}

/// The result of `work` unless `end` comes first; work that is ready as well wins.
async fn first<T>(work: impl Future<Output = T>, end: impl Future<Output = ()>) -> Option<T> {
    match select(pin!(work), pin!(end)).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(((), _)) => None,
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join;

    use super::*;
    use crate::sim::{self, VirtualClock};

    const SECOND: Duration = Duration::from_secs(1);

    fn clock() -> VirtualClock {
        VirtualClock::new("2026-12-01T00:00:00Z".parse().unwrap())
    }

    /// Ten seconds of work; the signal rises to each level at each second.
    fn race(graced: Option<Duration>, signals: &[(u64, Stop)]) -> (Option<()>, Duration) {
        let clock = clock();
        let (sender, receiver) = watch::channel(Stop::Running);
        let signal = StopSignal::new(receiver);
        let work = async {
            let ten = clock.sleep(SECOND * 10);
            let done = match graced {
                Some(grace) => signal.or_grace(&clock, grace, ten).await,
                None => signal.or_stop(ten).await,
            };
            (done, clock.elapsed())
        };
        let script = async {
            for (second, level) in signals {
                let wait = Duration::from_secs(*second).saturating_sub(clock.elapsed());
                clock.sleep(wait).await;
                sender.send_replace(*level);
            }
        };
        sim::run(&clock, join(work, script)).unwrap().0
    }

    #[test]
    fn work_ends_by_itself_when_nothing_stops_it() {
        assert_eq!(race(None, &[]), (Some(()), SECOND * 10));
        assert_eq!(race(Some(SECOND), &[]), (Some(()), SECOND * 10));
    }

    #[test]
    fn a_wait_ends_at_once_and_work_in_flight_gets_the_grace() {
        let drain = [(3, Stop::Drain)];
        assert_eq!(race(None, &drain), (None, SECOND * 3));
        assert_eq!(race(Some(SECOND * 5), &drain), (None, SECOND * 8));
        assert_eq!(race(Some(SECOND * 8), &drain), (Some(()), SECOND * 10));
    }

    #[test]
    fn a_second_signal_ends_the_grace() {
        let twice = [(3, Stop::Drain), (4, Stop::Now)];
        assert_eq!(race(Some(SECOND * 5), &twice), (None, SECOND * 4));
    }

    #[test]
    fn a_signal_to_end_at_once_gives_no_grace() {
        assert_eq!(
            race(Some(SECOND * 5), &[(3, Stop::Now)]),
            (None, SECOND * 3)
        );
    }

    #[test]
    fn a_sender_that_is_gone_stops_nothing() {
        let clock = clock();
        let (sender, receiver) = watch::channel(Stop::Running);
        let signal = StopSignal::new(receiver);
        drop(sender);
        let done = sim::run(&clock, signal.or_stop(clock.sleep(SECOND)));
        assert_eq!(done, Some(Some(())));
    }
}
