//! Instants and spans as people read them.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::schedule::Zone;

/// Within so many days each weekday comes once.
const NEAR: TimeDelta = TimeDelta::days(6);

/// `Tue 2026-12-01 05:00 JST`.
#[must_use]
pub fn local(zone: &Zone, at: DateTime<Utc>) -> String {
    format!(
        "{} {}",
        zone.civil(at).format("%a %Y-%m-%d %H:%M"),
        zone.abbreviation(at)
    )
}

/// An instant in a job's zone, and in that of the peak windows where it is another.
#[must_use]
pub fn both(zone: &Zone, peaks: &Zone, at: DateTime<Utc>) -> String {
    if zone.name() == peaks.name() {
        return local(zone, at);
    }
    format!("{} = {}", local(zone, at), local(peaks, at))
}

/// `Tue 05:00 JST` if the day of the week says enough, with the date otherwise.
#[must_use]
pub fn short(zone: &Zone, now: DateTime<Utc>, at: DateTime<Utc>) -> String {
    if (at - now).abs() > NEAR {
        return local(zone, at);
    }
    format!(
        "{} {}",
        zone.civil(at).format("%a %H:%M"),
        zone.abbreviation(at)
    )
}

/// `1 h 30 min`, `45 s`, `250 ms`: the two largest units.
#[must_use]
pub fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0 => format!("{} ms", span.as_millis()),
        1..60 => format!("{seconds} s"),
        60..3_600 => two(seconds / 60, "min", seconds % 60, "s"),
        3_600..86_400 => two(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 {
        format!("{large} {large_unit}")
    } else {
        format!("{large} {large_unit} {small} {small_unit}")
    }
}

/// How far an instant lies ahead, `in 1 h 30 min`, or behind, `2 d ago`.
#[must_use]
pub fn distance(now: DateTime<Utc>, at: DateTime<Utc>) -> String {
    match (at - now).to_std() {
        Ok(ahead) => format!("in {}", span(ahead)),
        Err(_) => format!("{} ago", span((now - at).to_std().unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_show_their_two_largest_units() {
        let text = |seconds| span(Duration::from_secs(seconds));
        assert_eq!(span(Duration::from_millis(250)), "250 ms");
        assert_eq!(text(59), "59 s");
        assert_eq!(text(60), "1 min");
        assert_eq!(text(90), "1 min 30 s");
        assert_eq!(text(5_400), "1 h 30 min");
        assert_eq!(text(86_400), "1 d");
        assert_eq!(text(93_600), "1 d 2 h");
    }

    #[test]
    fn a_distance_says_ahead_or_behind() {
        let now = DateTime::UNIX_EPOCH;
        assert_eq!(
            distance(now, now + chrono::TimeDelta::minutes(90)),
            "in 1 h 30 min"
        );
        assert_eq!(distance(now + chrono::TimeDelta::days(2), now), "2 d ago");
    }
}
