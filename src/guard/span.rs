//! Spans between instants on a wall clock that may step.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// The last second of the year 9999: later instants cannot be written with a four-digit year.
const LAST: i64 = 253_402_300_799;

/// The time from one instant to another; zero if the clock stepped back in between.
#[must_use]
pub fn elapsed(from: DateTime<Utc>, now: DateTime<Utc>) -> Duration {
    (now - from).to_std().unwrap_or(Duration::ZERO)
}

/// The instant a span later, at most the end of the year 9999, whatever a server asks for.
#[must_use]
pub fn later(from: DateTime<Utc>, span: Duration) -> DateTime<Utc> {
    let last = DateTime::from_timestamp(LAST, 0).unwrap_or(DateTime::<Utc>::MAX_UTC);
    TimeDelta::from_std(span)
        .ok()
        .and_then(|span| from.checked_add_signed(span))
        .map_or(last, |at| at.min(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elapsed_is_zero_when_the_clock_stepped_back() {
        let now = DateTime::UNIX_EPOCH;
        let span = Duration::from_millis(1500);
        assert_eq!(elapsed(now, later(now, span)), span);
        assert_eq!(elapsed(later(now, span), now), Duration::ZERO);
    }

    #[test]
    fn later_stays_within_four_digit_years_for_every_span() {
        for span in [
            Duration::MAX,
            Duration::from_secs(u64::MAX / 4),
            Duration::from_hours(24 * 365 * 9000),
        ] {
            let at = later(DateTime::UNIX_EPOCH, span);
            assert_eq!(at.to_rfc3339(), "9999-12-31T23:59:59+00:00");
        }
    }
}
