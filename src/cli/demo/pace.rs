//! The pace of the time-lapse: slow around slots and requests, fast between.
//!
//! Requests cross real sockets and rows go to a real disk, so a virtual second
//! must leave room for real milliseconds; the hours between slots need none.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::{DateTime, TimeDelta, Utc};

use crate::answer::{Reply, SendFailure, Usage};
use crate::clock::LapseClock;
use crate::engine::ports::{Pending, Upstream};
use crate::job::Request;
use crate::money::Dollars;
use crate::price::Estimate;

/// Virtual seconds a real second around slots and requests.
pub const SLOW: f64 = 60.0;
/// Virtual seconds a real second while nothing happens.
const FAST: f64 = 2_500.0;
/// Nothing has happened for this long: the slot's work is over.
const QUIET: TimeDelta = TimeDelta::seconds(20);
/// A slot is near: at the fast rate, a look every few real milliseconds must not miss it.
const NEAR: TimeDelta = TimeDelta::seconds(90);

/// An upstream that counts what is in flight, and sets the clock's pace by it.
pub struct Paced {
    clock: Arc<LapseClock>,
    inner: Arc<dyn Upstream>,
    in_flight: AtomicUsize,
}

impl std::fmt::Debug for Paced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Paced")
    }
}

impl Paced {
    /// Sends through another upstream.
    #[must_use]
    pub fn new(clock: Arc<LapseClock>, inner: Arc<dyn Upstream>) -> Self {
        Self {
            clock,
            inner,
            in_flight: AtomicUsize::new(0),
        }
    }

    /// Sets the pace for now: `heard` is when something last happened, `next` the next slot.
    pub fn adjust(&self, now: DateTime<Utc>, heard: DateTime<Utc>, next: Option<DateTime<Utc>>) {
        let idle = self.in_flight.load(Ordering::SeqCst) == 0
            && now - heard > QUIET
            && next.is_none_or(|next| next - now > NEAR);
        self.clock.set_rate(if idle { FAST } else { SLOW });
    }
}

/// Counts a request in flight until it ends or is cancelled.
struct InFlight<'a>(&'a AtomicUsize);

impl<'a> InFlight<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Upstream for Paced {
    fn send<'a>(&'a self, request: &'a Request) -> Pending<'a, Result<Reply, SendFailure>> {
        Box::pin(async move {
            let _counted = InFlight::begin(&self.in_flight);
            self.clock.set_rate(SLOW);
            self.inner.send(request).await
        })
    }

    fn cost(&self, request: &Request, model: &str, usage: &Usage) -> Option<Dollars> {
        self.inner.cost(request, model, usage)
    }

    fn estimate(&self, request: &Request) -> Estimate {
        self.inner.estimate(request)
    }
}
