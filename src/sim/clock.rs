//! Virtual time: a clock that moves when everyone waits.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::engine::ports::{Clock, Pending};

/// A clock that stands still until [`VirtualClock::advance`] moves it to the next sleeper.
///
/// Sleepers of one instant wake in the order in which they began to wait, so
/// that a run repeats exactly. Clones show the same time.
#[derive(Debug, Clone)]
pub struct VirtualClock {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    /// The wall clock when `elapsed` was zero; a step of the wall clock moves it.
    wall: DateTime<Utc>,
    elapsed: Duration,
    sleepers: BTreeMap<Place, Waker>,
    next_place: u64,
}

/// When a sleeper wakes, and its turn among those of the same instant.
type Place = (Duration, u64);

impl VirtualClock {
    /// A clock whose wall shows this instant and stands still.
    #[must_use]
    pub fn new(start: DateTime<Utc>) -> Self {
        let state = State {
            wall: start,
            elapsed: Duration::ZERO,
            sleepers: BTreeMap::new(),
            next_place: 0,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Steps the wall clock without passing time, as a correction of the machine's clock does.
    pub fn step(&self, by: TimeDelta) {
        self.lock().wall += by;
    }

    /// Passes time up to the next sleeper and wakes it; `false` if nobody sleeps.
    #[must_use]
    pub fn advance(&self) -> bool {
        self.advance_within(Duration::MAX)
    }

    /// As [`VirtualClock::advance`], but never past this much of [`Clock::elapsed`].
    ///
    /// `false` if nobody wakes by then; the clock then stands at the limit, unless that is [`Duration::MAX`].
    #[must_use]
    pub fn advance_within(&self, limit: Duration) -> bool {
        let mut state = self.lock();
        let next = state.sleepers.first_key_value().map(|(place, _)| place.0);
        if next.is_none_or(|at| at > limit) {
            if limit != Duration::MAX {
                state.elapsed = state.elapsed.max(limit);
            }
            return false;
        }
        let sleeper = state.sleepers.pop_first();
        if let Some(((at, _), waker)) = sleeper {
            state.elapsed = state.elapsed.max(at);
            drop(state);
            waker.wake();
        }
        true
    }

    /// No step leaves the state half changed, so a panic elsewhere poisons nothing.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> DateTime<Utc> {
        let state = self.lock();
        state.wall + TimeDelta::from_std(state.elapsed).unwrap_or(TimeDelta::MAX)
    }

    fn elapsed(&self) -> Duration {
        self.lock().elapsed
    }

    fn sleep(&self, span: Duration) -> Pending<'_, ()> {
        let until = self.elapsed().saturating_add(span);
        Box::pin(Sleep {
            clock: self.clone(),
            until,
            place: None,
        })
    }
}

/// One sleeper; dropping it takes it out of the queue.
struct Sleep {
    clock: VirtualClock,
    until: Duration,
    place: Option<Place>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let until = self.until;
        let known = self.place;
        let mut state = self.clock.lock();
        if state.elapsed >= until {
            return Poll::Ready(());
        }
        let place = known.unwrap_or((until, state.next_place));
        if known.is_none() {
            state.next_place += 1;
        }
        state.sleepers.insert(place, context.waker().clone());
        drop(state);
        self.place = Some(place);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.clock.lock().sleepers.remove(&place);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::{join, select};

    use super::*;
    use crate::sim::run;

    const SECOND: Duration = Duration::from_secs(1);

    fn start() -> DateTime<Utc> {
        "2026-12-01T00:00:00Z".parse().unwrap()
    }

    #[test]
    fn sleeping_passes_virtual_time_only() {
        let clock = VirtualClock::new(start());
        run(&clock, clock.sleep(Duration::from_hours(24 * 365))).unwrap();
        assert_eq!(clock.now(), start() + TimeDelta::days(365));
    }

    #[test]
    fn sleepers_of_one_instant_wake_in_their_order() {
        let clock = VirtualClock::new(start());
        let order = Mutex::new(Vec::new());
        let sleeper = |name: u32, span: Duration| {
            let (clock, order) = (&clock, &order);
            async move {
                clock.sleep(span).await;
                order.lock().unwrap().push(name);
            }
        };
        let pair = join(sleeper(1, SECOND * 2), sleeper(2, SECOND));
        run(&clock, join(pair, sleeper(3, SECOND * 2))).unwrap();
        assert_eq!(*order.lock().unwrap(), [2, 1, 3]);
    }

    #[test]
    fn a_sleeper_that_is_dropped_moves_no_time() {
        let clock = VirtualClock::new(start());
        run(&clock, select(clock.sleep(SECOND), clock.sleep(SECOND * 9))).unwrap();
        assert_eq!(clock.elapsed(), SECOND);
        assert!(!clock.advance());
        assert_eq!(clock.elapsed(), SECOND);
    }

    #[test]
    fn a_step_moves_the_wall_and_no_sleeper() {
        let clock = VirtualClock::new(start());
        clock.step(TimeDelta::hours(-5));
        run(&clock, clock.sleep(SECOND)).unwrap();
        assert_eq!(clock.elapsed(), SECOND);
        assert_eq!(
            clock.now(),
            start() - TimeDelta::hours(5) + TimeDelta::seconds(1)
        );
    }

    #[test]
    fn a_limit_holds_the_clock_before_a_later_sleeper() {
        let clock = VirtualClock::new(start());
        let mut sleep = clock.sleep(SECOND * 5);
        assert_eq!(crate::sim::run_until(&clock, SECOND * 3, &mut sleep), None);
        assert_eq!(clock.elapsed(), SECOND * 3);
        assert_eq!(
            crate::sim::run_until(&clock, SECOND * 5, &mut sleep),
            Some(())
        );
    }

    #[test]
    fn a_future_that_nothing_can_wake_ends_the_run() {
        let clock = VirtualClock::new(start());
        assert_eq!(run(&clock, std::future::pending::<()>()), None);
    }
}
