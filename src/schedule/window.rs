//! Peak windows: daily spans in which nothing fires.
//!
//! A window is a span of civil time. Where clocks change, an instant counts by
//! the civil time that it has: a window in a repeated hour holds twice.

#[cfg(test)]
mod tests;

use std::fmt;

use chrono::{DateTime, Utc};

use super::Zone;
use super::zone::{Regime, instant};

const DAY: i64 = 86_400;
const MINUTE: i64 = 60;

/// Longer than a week and a clock change: what has not come by then never comes.
const SEARCH: i64 = 9 * DAY;

/// One daily span, start included and end excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeakWindow {
    /// Minute of the day, 0 to 1439.
    pub start: u16,
    /// Minute of the day, 1 to 1440, after `start`; a window over midnight is written as two.
    pub end: u16,
    /// Days on which it starts, Monday first.
    pub days: [bool; 7],
}

impl PeakWindow {
    /// Whether it holds a civil second of the epoch.
    fn holds(&self, civil: i64) -> bool {
        let minute = civil.rem_euclid(DAY) / MINUTE;
        self.is_on(civil.div_euclid(DAY))
            && (i64::from(self.start)..i64::from(self.end)).contains(&minute)
    }

    /// Whether it holds on a civil day of the epoch.
    fn is_on(&self, day: i64) -> bool {
        // Day 0 of the epoch was a Thursday.
        let weekday = usize::try_from((day + 3).rem_euclid(7)).unwrap_or_default();
        self.days[weekday]
    }
}

/// The span as users write it, and its days unless it starts on all seven: `18:00-23:00`, `18:00-23:00 mon-fri`.
///
/// Days are listed Monday first; three in a row or more are a range.
///
/// ```
/// use offpeak::schedule::PeakWindow;
///
/// let days = [true, true, true, true, true, false, false];
/// let window = PeakWindow { start: 18 * 60, end: 23 * 60, days };
/// assert_eq!(window.to_string(), "18:00-23:00 mon-fri");
/// ```
impl fmt::Display for PeakWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = (self.start, self.end);
        write!(
            f,
            "{:02}:{:02}-{:02}:{:02}",
            start / 60,
            start % 60,
            end / 60,
            end % 60
        )?;
        if self.days == [true; 7] {
            return Ok(());
        }
        write!(f, " {}", in_words(self.days))
    }
}

/// Days as users write them; `never` for none.
fn in_words(days: [bool; 7]) -> String {
    const NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let mut rows: Vec<Vec<&str>> = vec![Vec::new()];
    for (name, is_on) in NAMES.into_iter().zip(days) {
        match rows.last_mut() {
            Some(row) if is_on => row.push(name),
            Some(_) | None => rows.push(Vec::new()),
        }
    }
    let rows = rows.iter().filter(|row| !row.is_empty());
    let words: Vec<String> = rows
        .map(|row| match row.as_slice() {
            [first, _, .., last] if row.len() > 2 => format!("{first}-{last}"),
            few => few.join(","),
        })
        .collect();
    if words.is_empty() {
        return "never".to_owned();
    }
    words.join(",")
}

/// All peak windows, in one zone.
///
/// ```
/// use offpeak::schedule::{PeakWindow, PeakWindows, Zones};
///
/// let evening = PeakWindow { start: 18 * 60, end: 23 * 60, days: [true; 7] };
/// let peaks = PeakWindows::new(Zones::bundled().get("Asia/Tokyo").unwrap(), vec![evening]);
/// let six_in_tokyo = "2026-12-01T09:00:00Z".parse().unwrap();
/// let eleven_in_tokyo = "2026-12-01T14:00:00Z".parse().unwrap();
/// assert!(peaks.is_peak(six_in_tokyo));
/// assert!(!peaks.is_peak(eleven_in_tokyo));
/// assert_eq!(peaks.next_open(six_in_tokyo), Some(eleven_in_tokyo));
/// ```
#[derive(Debug, Clone)]
pub struct PeakWindows {
    zone: Zone,
    windows: Vec<PeakWindow>,
}

impl PeakWindows {
    /// Windows in a zone.
    #[must_use]
    pub fn new(zone: Zone, windows: Vec<PeakWindow>) -> Self {
        Self { zone, windows }
    }

    /// The zone.
    #[must_use]
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// The windows.
    #[must_use]
    pub fn windows(&self) -> &[PeakWindow] {
        &self.windows
    }

    /// The window that holds an instant; of several the first in the order of the file.
    #[must_use]
    pub fn containing(&self, at: DateTime<Utc>) -> Option<&PeakWindow> {
        self.holding(at.timestamp())
    }

    /// Whether an instant lies in a window.
    #[must_use]
    pub fn is_peak(&self, at: DateTime<Utc>) -> bool {
        self.containing(at).is_some()
    }

    /// The first instant at or after this one that lies in no window; `None` if every minute of a week does.
    #[must_use]
    pub fn next_open(&self, at: DateTime<Utc>) -> Option<DateTime<Utc>> {
        if !self.is_peak(at) {
            return Some(at);
        }
        let asked = at.timestamp();
        let mut at = asked;
        while let Some(window) = self.holding(at) {
            if at - asked > SEARCH {
                return None;
            }
            let regime = self.zone.regime_at(at);
            let civil = at + i64::from(regime.offset);
            let left = i64::from(window.end) * MINUTE - civil.rem_euclid(DAY);
            // Past a clock change the window's end is elsewhere: ask again from there.
            at = (at + left).min(regime.end);
        }
        Some(instant(at, 0))
    }

    /// The first instant strictly after this one at which a window starts, or at which a clock change leads into one;
    /// `None` if there are no windows. Of windows that touch, each has a start.
    #[must_use]
    pub fn next_start(&self, at: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let after = at.timestamp();
        let starts = self
            .windows
            .iter()
            .filter_map(|window| self.start_of(window, after));
        starts.min().map(|at| instant(at, 0))
    }

    fn holding(&self, at: i64) -> Option<&PeakWindow> {
        let civil = at.saturating_add(self.zone.regime_at(at).offset.into());
        self.windows.iter().find(|window| window.holds(civil))
    }

    /// The first start of one window after an instant.
    fn start_of(&self, window: &PeakWindow, after: i64) -> Option<i64> {
        let mut before = self.zone.regime_at(after);
        let mut from = after + 1;
        while from - after <= SEARCH {
            let regime = self.zone.regime_at(from);
            let led_into = from == regime.start
                && window.holds(from + i64::from(regime.offset))
                && !window.holds(from - 1 + i64::from(before.offset));
            if led_into {
                return Some(from);
            }
            if let Some(start) = start_within(
                window,
                Regime {
                    start: from,
                    ..regime
                },
            ) {
                return Some(start);
            }
            (before, from) = (regime, regime.end);
        }
        None
    }
}

/// The first instant of a regime at which the civil clock shows the start of a window.
fn start_within(window: &PeakWindow, regime: Regime) -> Option<i64> {
    let offset = i64::from(regime.offset);
    let first_day = (regime.start + offset).div_euclid(DAY);
    let days = (first_day..=first_day + 8).filter(|day| window.is_on(*day));
    let mut starts = days.map(|day| day * DAY + i64::from(window.start) * MINUTE - offset);
    starts
        .find(|at| *at >= regime.start)
        .filter(|at| *at < regime.end)
}
