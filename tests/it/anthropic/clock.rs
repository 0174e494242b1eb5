//! A clock that stands still until a test moves it.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use chrono::{DateTime, Utc};
use offpeak::engine::ports::{Clock, Pending};

/// Time that passes by [`ManualClock::advance`] only.
#[derive(Debug, Default)]
pub struct ManualClock {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    elapsed: Duration,
    next_id: u64,
    sleepers: BTreeMap<u64, (Duration, Waker)>,
}

impl ManualClock {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Moves time on and wakes who has slept enough.
    pub fn advance(&self, span: Duration) {
        let mut state = self.state.lock().unwrap();
        state.elapsed += span;
        for (deadline, waker) in state.sleepers.values() {
            if *deadline <= state.elapsed {
                waker.wake_by_ref();
            }
        }
    }

    /// Until the next sleeper wakes.
    pub fn next_wake(&self) -> Option<Duration> {
        let state = self.state.lock().unwrap();
        let deadline = state
            .sleepers
            .values()
            .map(|(deadline, _)| *deadline)
            .min()?;
        Some(deadline.saturating_sub(state.elapsed))
    }

    /// Runs the work, and passes every sleep that is shorter than `patience`.
    ///
    /// Longer ones are the client's timeouts: while one of them is the nearest, the network has something to do.
    pub async fn pass<T>(&self, patience: Duration, work: impl Future<Output = T>) -> T {
        let passing = async {
            loop {
                // Bytes that are under way on the loopback interface arrive first.
                settle().await;
                match self.next_wake() {
                    Some(span) if span < patience => self.advance(span),
                    Some(_) | None => {}
                }
            }
        };
        tokio::select! {
            biased;
            done = work => done,
            () = passing => unreachable!("it passes time for ever"),
        }
    }
}

/// Lets everyone who can go on go on.
pub async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp(1_796_000_000, 0).unwrap() + self.elapsed()
    }

    fn elapsed(&self) -> Duration {
        self.state.lock().unwrap().elapsed
    }

    fn sleep(&self, span: Duration) -> Pending<'_, ()> {
        let mut state = self.state.lock().unwrap();
        state.next_id += 1;
        Box::pin(Sleep {
            clock: self,
            id: state.next_id,
            deadline: state.elapsed + span,
        })
    }
}

struct Sleep<'a> {
    clock: &'a ManualClock,
    id: u64,
    deadline: Duration,
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.clock.state.lock().unwrap();
        if state.elapsed >= self.deadline {
            return Poll::Ready(());
        }
        state
            .sleepers
            .insert(self.id, (self.deadline, context.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        self.clock.state.lock().unwrap().sleepers.remove(&self.id);
    }
}
