//! How times and spans are shown.

use std::time::Duration;

use chrono::{DateTime, FixedOffset, Utc};

use crate::outcome::DeferredTo;

/// Japan has not changed its clocks since 1951.
const JST: FixedOffset = match FixedOffset::east_opt(9 * 3600) {
    Some(offset) => offset,
    None => panic!("nine hours are less than a day"),
};

/// How times are shown, and how wide a line may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The offset in which instants are shown.
    pub offset: FixedOffset,
    /// Its name in the heads of columns.
    pub label: String,
    /// The most columns of a line; the last column of a table is cut there.
    pub width: usize,
}

impl View {
    /// Times in Japan, in which the peak windows are written.
    #[must_use]
    pub fn jst(width: usize) -> Self {
        Self {
            offset: JST,
            label: "JST".to_owned(),
            width,
        }
    }

    pub(super) fn time(&self, at: DateTime<Utc>) -> String {
        at.with_timezone(&self.offset)
            .format("%Y-%m-%d %H:%M")
            .to_string()
    }

    pub(super) fn head(&self, word: &str) -> String {
        format!("{word} ({})", self.label)
    }
}

/// Where deferred work waits.
pub(super) fn waits(deferred: &DeferredTo, view: &View) -> String {
    match deferred.to {
        Some(to) => format!("deferred to {}", view.time(to)),
        None => format!("deferred, not before {}", view.time(deferred.not_before)),
    }
}

/// A span in two units at most: `840ms`, `12.3s`, `3m20s`, `1h05m`.
pub(crate) fn span(span: Duration) -> String {
    let (millis, seconds) = (span.as_millis(), span.as_secs());
    match seconds {
        0 => format!("{millis}ms"),
        1..60 => format!("{}.{}s", seconds, millis % 1000 / 100),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_written_in_two_units_at_most() {
        for (millis, expected) in [
            (0, "0ms"),
            (999, "999ms"),
            (1000, "1.0s"),
            (59_999, "59.9s"),
            (60_000, "1m00s"),
            (3_599_999, "59m59s"),
            (3_600_000, "1h00m"),
            (90_061_000, "25h01m"),
        ] {
            assert_eq!(span(Duration::from_millis(millis)), expected);
        }
    }
}
