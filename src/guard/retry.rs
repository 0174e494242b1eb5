//! Stop, or again after a wait.
//!
//! The retry layer is this one decision. It waits for nothing and counts
//! nothing: the call machine holds the attempt number and passes the wait on.

use std::time::Duration;

use super::{RetryPolicy, backoff};
use crate::outcome::Class;

/// What follows an attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// No further attempt of this call in this run.
    Stop,
    /// Another attempt after this wait, at most `max_delay`.
    Wait(Duration),
    /// The hint is longer than `max_delay`: yield, and hold the group for this long.
    Yield(Duration),
}

/// Decides what follows attempt number `attempt`, counted from 1. `draw` is in 0 ≤ d < 1.
///
/// - Success and fatal: stop.
/// - A hint over `max_delay`: yield, after the last attempt too, since the
///   server has named the instant that a later slot must respect.
/// - After attempt `max_attempts`: stop.
/// - Otherwise wait `max(backoff, min(hint·(1 + ratio/2·draw), max_delay))`:
///   the hint is a floor, and jitter on it only lengthens, by at most the half
///   width that the backoff has, and never over `max_delay`.
///
/// ```
/// use std::time::Duration;
/// use offpeak::guard::{RetryPolicy, Step, next_step};
/// use offpeak::outcome::Class;
///
/// let policy = RetryPolicy::new(3, Duration::from_secs(1), Duration::from_secs(30), 0.5)?;
/// let hint = Some(Duration::from_secs(20));
/// assert_eq!(next_step(&policy, 1, Class::Retryable, None, 0.5), Step::Wait(Duration::from_secs(1)));
/// assert_eq!(next_step(&policy, 1, Class::Retryable, hint, 0.0), Step::Wait(Duration::from_secs(20)));
/// assert_eq!(next_step(&policy, 3, Class::Retryable, None, 0.5), Step::Stop);
/// # Ok::<(), offpeak::guard::PolicyError>(())
/// ```
#[must_use]
pub fn next_step(
    policy: &RetryPolicy,
    attempt: u32,
    class: Class,
    hint: Option<Duration>,
    draw: f64,
) -> Step {
    match class {
        Class::Success | Class::Fatal => return Step::Stop,
        Class::Retryable => {}
    }
    if let Some(hint) = hint.filter(|hint| *hint > policy.max_delay()) {
        return Step::Yield(hint);
    }
    if attempt >= policy.max_attempts() {
        return Step::Stop;
    }
    let own = backoff::wait(policy, attempt, draw);
    let asked = hint.map_or(Duration::ZERO, |hint| lengthened(policy, hint, draw));
    Step::Wait(own.max(asked))
}

/// A hint of at most `max_delay` with its share of jitter.
fn lengthened(policy: &RetryPolicy, hint: Duration, draw: f64) -> Duration {
    let share = policy.jitter_ratio() / 2.0 * backoff::unit(draw);
    hint.saturating_add(hint.mul_f64(share))
        .min(policy.max_delay())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn policy() -> RetryPolicy {
        RetryPolicy::new(3, SECOND, SECOND * 30, 0.5).unwrap()
    }

    #[test]
    fn success_and_fatal_stop_whatever_the_server_asks_for() {
        for class in [Class::Success, Class::Fatal] {
            for hint in [None, Some(SECOND), Some(SECOND * 3600)] {
                assert_eq!(next_step(&policy(), 1, class, hint, 0.5), Step::Stop);
            }
        }
    }

    #[test]
    fn the_last_attempt_is_followed_by_nothing() {
        let after = |attempt| next_step(&policy(), attempt, Class::Retryable, None, 0.5);
        assert_eq!(after(1), Step::Wait(SECOND));
        assert_eq!(after(2), Step::Wait(SECOND * 2));
        assert_eq!(after(3), Step::Stop);
        assert_eq!(after(u32::MAX), Step::Stop);
    }

    #[test]
    fn a_hint_of_max_delay_waits_and_one_nanosecond_more_yields() {
        let bound = SECOND * 30;
        let over = bound + Duration::from_nanos(1);
        for draw in [0.0, 0.5, 0.999] {
            assert_eq!(
                next_step(&policy(), 1, Class::Retryable, Some(bound), draw),
                Step::Wait(bound)
            );
            assert_eq!(
                next_step(&policy(), 1, Class::Retryable, Some(over), draw),
                Step::Yield(over)
            );
        }
    }

    #[test]
    fn a_long_hint_yields_after_the_last_attempt_too() {
        let days = Duration::from_hours(24 * 40);
        assert_eq!(
            next_step(&policy(), 3, Class::Retryable, Some(days), 0.5),
            Step::Yield(days)
        );
        assert_eq!(
            next_step(&policy(), 3, Class::Retryable, Some(Duration::MAX), 0.5),
            Step::Yield(Duration::MAX)
        );
    }

    #[test]
    fn jitter_on_a_hint_only_lengthens() {
        let wait = |draw| next_step(&policy(), 1, Class::Retryable, Some(SECOND * 8), draw);
        assert_eq!(wait(0.0), Step::Wait(SECOND * 8));
        assert_eq!(wait(0.5), Step::Wait(SECOND * 9));
        assert_eq!(wait(1.0), Step::Wait(SECOND * 10));
    }

    #[test]
    fn a_zero_hint_leaves_the_own_backoff() {
        let wait = next_step(&policy(), 2, Class::Retryable, Some(Duration::ZERO), 0.5);
        assert_eq!(wait, Step::Wait(SECOND * 2));
    }
}
