//! The timeouts of one attempt, held against the injected clock.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};

use crate::answer::FailureKind;
use crate::engine::ports::Clock;

/// The timeouts of one attempt that is under way.
pub(super) struct Timing<'a> {
    clock: &'a dyn Clock,
    started: Duration,
    limits: Limits,
}

/// How long an attempt may wait for what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// From the start to the first byte of the reply's body.
    pub first_byte: Duration,
    /// Between two bytes; any byte counts.
    pub idle: Duration,
    /// From the start to the end.
    pub whole: Duration,
}

/// A limit that was reached, and how long it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimedOut {
    /// No first byte.
    FirstByte(Duration),
    /// No byte after another.
    Idle(Duration),
    /// No end.
    Whole(Duration),
}

impl TimedOut {
    /// The word of the history.
    pub const fn kind(self) -> FailureKind {
        match self {
            Self::FirstByte(_) => FailureKind::FirstByteTimeout,
            Self::Idle(_) => FailureKind::IdleTimeout,
            Self::Whole(_) => FailureKind::AttemptTimeout,
        }
    }
}

impl<'a> Timing<'a> {
    /// Starts counting.
    pub fn start(clock: &'a dyn Clock, limits: Limits) -> Self {
        Self {
            clock,
            started: clock.elapsed(),
            limits,
        }
    }

    /// Since the start of the attempt.
    pub fn elapsed(&self) -> Duration {
        self.clock.elapsed().saturating_sub(self.started)
    }

    /// Waits for something on the way to the first byte.
    pub async fn first_byte<T>(&self, work: impl Future<Output = T>) -> Result<T, TimedOut> {
        let left = self.limits.first_byte.saturating_sub(self.elapsed());
        self.within(work, left, TimedOut::FirstByte(self.limits.first_byte))
            .await
    }

    /// Waits for the next bytes after the first.
    pub async fn next_byte<T>(&self, work: impl Future<Output = T>) -> Result<T, TimedOut> {
        let limit = self.limits.idle;
        self.within(work, limit, TimedOut::Idle(limit)).await
    }

    /// Races the work against the nearer of a limit and the end of the attempt; work that is ready wins a tie.
    async fn within<T>(
        &self,
        work: impl Future<Output = T>,
        span: Duration,
        reached: TimedOut,
    ) -> Result<T, TimedOut> {
        let left = self.limits.whole.saturating_sub(self.elapsed());
        let (span, reached) = if span < left {
            (span, reached)
        } else {
            (left, TimedOut::Whole(self.limits.whole))
        };
        match select(pin!(work), self.clock.sleep(span)).await {
            Either::Left((done, _)) => Ok(done),
            Either::Right(((), _)) => Err(reached),
        }
    }
}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstByte(limit) => write!(f, "no first byte within {limit:?}"),
            Self::Idle(limit) => write!(f, "no byte for {limit:?} inside the reply"),
            Self::Whole(limit) => write!(f, "no whole answer within {limit:?}"),
        }
    }
}
