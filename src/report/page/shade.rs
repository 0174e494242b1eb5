//! When the peak windows are, on a clock in Japan.
//!
//! The windows may be written in another zone, hold on some days of the week
//! only, and move with that zone's clock changes. So every minute of the days
//! that are shown is asked, and what holds on some of them only is told apart.

use std::ops::Range;

use chrono::{DateTime, FixedOffset, NaiveTime, TimeDelta, Utc};

use super::days::Days;

/// Minutes of a day.
pub(super) const DAY: u16 = 1440;

/// No more days are asked than this, the last ones: a year has every day of the week and both clock changes.
const MAX_ASKED: u64 = 366;

/// On which days a span of the clock is a peak window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// On every day that is shown.
    Always,
    /// On some of them.
    Sometimes,
}

/// The spans of the clock that are peak windows, in minutes of the day, rising.
pub(super) fn shades(
    days: &Days<'_>,
    offset: FixedOffset,
    is_peak: &dyn Fn(DateTime<Utc>) -> bool,
) -> Vec<(Range<u16>, Held)> {
    let asked = days.len.min(MAX_ASKED);
    let mut shades: Vec<(Range<u16>, Held)> = Vec::new();
    let midnights: Vec<DateTime<Utc>> = (days.len - asked..days.len)
        .filter_map(|day| {
            let midnight = days.date(day).and_time(NaiveTime::MIN);
            midnight.and_local_timezone(offset).single()
        })
        .map(|midnight| midnight.with_timezone(&Utc))
        .collect();
    for minute in 0..DAY {
        let held = midnights
            .iter()
            .filter(|midnight| is_peak(**midnight + TimeDelta::minutes(minute.into())))
            .count();
        let held = match held {
            0 => continue,
            all if all == midnights.len() => Held::Always,
            _ => Held::Sometimes,
        };
        match shades.last_mut() {
            Some((span, before)) if span.end == minute && *before == held => span.end += 1,
            Some(_) | None => shades.push((minute..minute + 1, held)),
        }
    }
    shades
}

/// The spans in words.
pub(super) fn words(shades: &[(Range<u16>, Held)]) -> String {
    if shades.is_empty() {
        return "there is no peak window".to_owned();
    }
    let spans = shades.iter().map(|(span, held)| {
        let time = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        let on = match held {
            Held::Always => "",
            Held::Sometimes => " on some days",
        };
        format!("{}-{}{on}", time(span.start), time(span.end))
    });
    format!("peak windows {}", spans.collect::<Vec<_>>().join(", "))
}
