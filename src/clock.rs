//! The system clock and its time-lapse; the only file that reads it.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use rustix::time::{ClockId, clock_gettime};

use crate::engine::ports::{Clock, Pending};

/// The machine's clocks: the wall clock, and the monotonic one for spans.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// Spans count from here.
    #[must_use]
    pub fn new() -> Self {
        Self {
            origin: read_monotonic(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> DateTime<Utc> {
        read_wall()
    }

    fn elapsed(&self) -> Duration {
        read_monotonic().saturating_duration_since(self.origin)
    }

    fn sleep(&self, span: Duration) -> Pending<'_, ()> {
        Box::pin(pass(span))
    }
}

/// Microseconds of the system's monotonic clock since an instant that all programs of this boot share.
///
/// For whoever compares our instants with its own, as systemd does; spans of ours are [`Clock::elapsed`].
#[must_use]
pub fn monotonic_micros() -> u64 {
    let at = clock_gettime(ClockId::Monotonic);
    // The kernel counts from the boot, so neither part is ever negative.
    let seconds = u64::try_from(at.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(at.tv_nsec).unwrap_or(0);
    seconds * 1_000_000 + nanos / 1_000
}

/// Time-lapse: virtual time that runs at a settable multiple of the real one.
pub struct LapseClock {
    pace: Mutex<Pace>,
    starts_at: DateTime<Utc>,
}

/// Virtual time since the start, as of a real instant, and its rate from then on.
#[derive(Debug, Clone, Copy)]
struct Pace {
    passed: Duration,
    as_of: Instant,
    rate: f64,
}

/// The longest real sleep of the time-lapse: within it, a change of the rate is seen.
const LAPSE_STEP: Duration = Duration::from_millis(5);

impl LapseClock {
    /// Virtual time starts here, and runs `rate` times as fast as real time.
    ///
    /// # Panics
    ///
    /// If `rate` is not a finite number above zero.
    #[must_use]
    pub fn new(starts_at: DateTime<Utc>, rate: f64) -> Self {
        assert!(
            rate.is_finite() && rate > 0.0,
            "a rate of time is a finite number above zero, not {rate}"
        );
        Self {
            pace: Mutex::new(Pace {
                passed: Duration::ZERO,
                as_of: read_monotonic(),
                rate,
            }),
            starts_at,
        }
    }

    /// Changes the rate from now on; virtual time does not jump.
    ///
    /// # Panics
    ///
    /// If `rate` is not a finite number above zero.
    pub fn set_rate(&self, rate: f64) {
        assert!(
            rate.is_finite() && rate > 0.0,
            "a rate of time is a finite number above zero, not {rate}"
        );
        let mut pace = self.lock();
        let as_of = read_monotonic();
        *pace = Pace {
            passed: pace.passed_at(as_of),
            as_of,
            rate,
        };
    }

    fn lock(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The real time until a virtual span since the start has passed, at today's rate.
    fn real_until(&self, passed: Duration) -> Duration {
        let pace = self.lock();
        passed
            .saturating_sub(pace.passed_at(read_monotonic()))
            .div_f64(pace.rate)
    }
}

impl fmt::Debug for LapseClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LapseClock")
            .field("starts_at", &self.starts_at)
            .finish_non_exhaustive()
    }
}

impl Pace {
    fn passed_at(&self, at: Instant) -> Duration {
        self.passed + at.saturating_duration_since(self.as_of).mul_f64(self.rate)
    }
}

impl Clock for LapseClock {
    fn now(&self) -> DateTime<Utc> {
        let passed = TimeDelta::from_std(self.elapsed()).unwrap_or(TimeDelta::MAX);
        self.starts_at
            .checked_add_signed(passed)
            .unwrap_or(DateTime::<Utc>::MAX_UTC)
    }

    fn elapsed(&self) -> Duration {
        self.lock().passed_at(read_monotonic())
    }

    fn sleep(&self, span: Duration) -> Pending<'_, ()> {
        let until = self.elapsed() + span;
        Box::pin(async move {
            loop {
                let left = self.real_until(until);
                if left.is_zero() {
                    return;
                }
                pass(left.min(LAPSE_STEP)).await;
            }
        })
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this file is where the wall clock is read"
)]
fn read_wall() -> DateTime<Utc> {
    Utc::now()
}

#[expect(
    clippy::disallowed_methods,
    reason = "this file is where the monotonic clock is read"
)]
fn read_monotonic() -> Instant {
    Instant::now()
}

#[expect(
    clippy::disallowed_methods,
    reason = "this file is where time is passed"
)]
async fn pass(span: Duration) {
    tokio::time::sleep(span).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> DateTime<Utc> {
        "2026-11-30T17:00:00Z".parse().unwrap()
    }

    #[test]
    fn virtual_time_runs_at_its_rate() {
        let clock = LapseClock::new(start(), 1_000_000.0);
        let before = read_monotonic();
        while read_monotonic().duration_since(before) < Duration::from_millis(2) {
            std::hint::spin_loop();
        }
        assert!(clock.elapsed() >= Duration::from_secs(2_000));
        assert!(clock.now() >= start() + TimeDelta::seconds(2_000));
    }

    #[test]
    fn a_change_of_rate_does_not_move_virtual_time() {
        let clock = LapseClock::new(start(), 1.0);
        let before = clock.elapsed();
        clock.set_rate(0.000_001);
        let after = clock.elapsed();
        assert!(after >= before);
        assert!(after < before + Duration::from_secs(5));
    }

    #[tokio::test]
    async fn a_sleep_passes_its_virtual_span() {
        let clock = LapseClock::new(start(), 100_000.0);
        let before = clock.elapsed();
        clock.sleep(Duration::from_mins(10)).await;
        assert!(clock.elapsed().saturating_sub(before) >= Duration::from_mins(10));
    }

    #[test]
    fn shared_monotonic_clock_moves_as_the_spans_do() {
        let first = monotonic_micros();
        let clock = SystemClock::new();
        while clock.elapsed() < Duration::from_millis(2) {
            std::hint::spin_loop();
        }
        assert!(monotonic_micros() >= first + 2_000);
    }

    #[test]
    fn spans_of_the_system_clock_never_shrink() {
        let clock = SystemClock::new();
        let first = clock.elapsed();
        assert!(clock.elapsed() >= first);
    }
}
