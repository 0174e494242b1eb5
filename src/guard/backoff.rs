//! The wait before a retry: exponential, jittered, capped.
//!
//! The jitter is symmetric around the centre, and the centre is capped so low
//! that its longest wait is `max_delay`: capping after the jitter instead
//! would pile the waits of many clients up on the cap.

use std::time::Duration;

use super::RetryPolicy;

/// Beyond this doubling every centre above zero is over every cap: one nanosecond becomes 292 years.
const MAX_DOUBLINGS: u32 = 63;

/// The wait before the retry that follows attempt number `attempt`, counted from 1.
///
/// `center = min(base·2^(attempt−1), max/(1 + ratio/2))`,
/// `wait = center·(1 + ratio·(draw − ½))`, rounded down to a nanosecond; never
/// over `max_delay`. `draw` is in 0 ≤ d < 1; a value outside is taken to the
/// nearer end, and one that is no number to the middle.
///
/// ```
/// use std::time::Duration;
/// use offpeak::guard::{RetryPolicy, backoff::wait};
///
/// let policy = RetryPolicy::new(3, Duration::from_secs(1), Duration::from_secs(30), 0.5)?;
/// assert_eq!(wait(&policy, 1, 0.0), Duration::from_millis(750));
/// assert_eq!(wait(&policy, 2, 0.5), Duration::from_secs(2));
/// assert!(wait(&policy, u32::MAX, 0.999) <= Duration::from_secs(30));
/// # Ok::<(), offpeak::guard::PolicyError>(())
/// ```
#[must_use]
pub fn wait(policy: &RetryPolicy, attempt: u32, draw: f64) -> Duration {
    let center = center_nanos(policy, attempt);
    let factor = 1.0 + policy.jitter_ratio() * (unit(draw) - 0.5);
    let wait = Duration::from_secs_f64(center * factor / NANOS);
    // Rounding may add a nanosecond at the cap.
    wait.min(policy.max_delay())
}

const NANOS: f64 = 1e9;

/// The middle of the waits after an attempt, in nanoseconds.
fn center_nanos(policy: &RetryPolicy, attempt: u32) -> f64 {
    let doublings = attempt.saturating_sub(1).min(MAX_DOUBLINGS);
    let grown = nanos(policy.base_delay()) * (1_u64 << doublings) as f64;
    grown.min(nanos(policy.max_delay()) / (1.0 + policy.jitter_ratio() / 2.0))
}

/// Exact for every span that a policy may hold: an hour is far below 2^53 nanoseconds.
fn nanos(span: Duration) -> f64 {
    span.as_nanos() as f64
}

pub(super) fn unit(draw: f64) -> f64 {
    if draw.is_nan() {
        0.5
    } else {
        draw.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn policy(base: Duration, max: Duration, ratio: f64) -> RetryPolicy {
        RetryPolicy::new(3, base, max, ratio).unwrap()
    }

    #[test]
    fn waits_double_until_the_capped_centre() {
        let policy = policy(SECOND, SECOND * 30, 0.5);
        let middles: Vec<u64> = (1..=6).map(|n| wait(&policy, n, 0.5).as_secs()).collect();
        assert_eq!(middles, [1, 2, 4, 8, 16, 24]);
    }

    #[test]
    fn the_jitter_spans_the_ratio_evenly_around_the_centre() {
        let policy = policy(SECOND * 4, SECOND * 30, 0.5);
        assert_eq!(wait(&policy, 1, 0.0), SECOND * 3);
        assert_eq!(wait(&policy, 1, 1.0), SECOND * 5);
    }

    #[test]
    fn the_longest_wait_is_the_cap_itself() {
        let policy = policy(SECOND, SECOND * 30, 0.5);
        assert_eq!(wait(&policy, u32::MAX, 1.0), SECOND * 30);
        assert_eq!(wait(&policy, u32::MAX, 0.0), SECOND * 18);
    }

    #[test]
    fn a_base_of_zero_never_waits() {
        let policy = policy(Duration::ZERO, SECOND * 30, 1.0);
        assert_eq!(wait(&policy, u32::MAX, 1.0), Duration::ZERO);
    }

    #[test]
    fn a_draw_out_of_bounds_is_taken_to_the_nearer_end() {
        let policy = policy(SECOND * 4, SECOND * 30, 0.5);
        assert_eq!(wait(&policy, 1, -7.0), SECOND * 3);
        assert_eq!(wait(&policy, 1, f64::INFINITY), SECOND * 5);
        assert_eq!(wait(&policy, 1, f64::NAN), SECOND * 4);
    }

    #[test]
    fn attempt_zero_is_read_as_the_first() {
        let policy = policy(SECOND, SECOND * 30, 0.0);
        assert_eq!(wait(&policy, 0, 0.5), wait(&policy, 1, 0.5));
    }
}
