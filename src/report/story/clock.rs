//! How a story shows instants and spans.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, NaiveDateTime, Utc};

/// A zone, as far as a story needs it: the civil time at an instant, and the zone's abbreviation then.
pub type Civil<'a> = &'a dyn Fn(DateTime<Utc>) -> (NaiveDateTime, String);

/// By which a story shows instants.
#[derive(Clone, Copy)]
pub struct Clocks<'a> {
    /// The job's zone.
    pub job: Civil<'a>,
    /// The zone of the peak windows, if it is another.
    pub peaks: Option<Civil<'a>>,
}

impl fmt::Debug for Clocks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clocks")
    }
}

/// The clocks, and the slot whose day needs no date.
#[derive(Debug, Clone, Copy)]
pub(super) struct Face<'a> {
    pub clocks: Clocks<'a>,
    pub fire_at: DateTime<Utc>,
}

impl Face<'_> {
    /// `Tue 2026-12-01 05:00 JST`; in the zone of the peak windows too where that is another.
    pub fn full(&self, at: DateTime<Utc>) -> String {
        let own = dated(self.clocks.job, at);
        match self.clocks.peaks {
            Some(peaks) => format!("{own} = {}", dated(peaks, at)),
            None => own,
        }
    }

    /// `05:00` on the slot's day, `Wed 2026-12-02 05:00` otherwise; with seconds where they are not zero.
    pub fn at(&self, at: DateTime<Utc>) -> String {
        let (civil, _) = (self.clocks.job)(at);
        let form = if civil.format("%S").to_string() == "00" {
            "%H:%M"
        } else {
            "%H:%M:%S"
        };
        let time = civil.format(form);
        let (slot, _) = (self.clocks.job)(self.fire_at);
        if civil.date() == slot.date() {
            time.to_string()
        } else {
            format!("{} {time}", civil.format("%a %Y-%m-%d"))
        }
    }

    /// As [`Face::at`], with the time in the zone of the peak windows where that is another.
    pub fn at_peaks(&self, at: DateTime<Utc>) -> String {
        match self.clocks.peaks {
            Some(peaks) => {
                let (civil, zone) = peaks(at);
                format!("{} ({} {zone})", self.at(at), civil.format("%H:%M"))
            }
            None => self.at(at),
        }
    }
}

fn dated(zone: Civil<'_>, at: DateTime<Utc>) -> String {
    let (civil, abbreviation) = zone(at);
    format!("{} {abbreviation}", civil.format("%a %Y-%m-%d %H:%M"))
}

/// `840 ms`, `12.3 s`, `3 min 20 s`, `1 h 5 min`, `2 d 3 h`: two units at most.
pub(super) fn span(span: Duration) -> String {
    let (millis, seconds) = (span.as_millis(), span.as_secs());
    let two = |large: u64, unit: &str, small: u64, under: &str| match small {
        0 => format!("{large} {unit}"),
        _ => format!("{large} {unit} {small} {under}"),
    };
    match seconds {
        0 => format!("{millis} ms"),
        1..60 => format!("{seconds}.{} s", millis % 1000 / 100),
        60..3_600 => two(seconds / 60, "min", seconds % 60, "s"),
        3_600..86_400 => two(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => two(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

/// `1 call`, `2 calls`.
pub(super) fn counted(number: usize, word: &str) -> String {
    match number {
        1 => format!("1 {word}"),
        _ => format!("{number} {word}s"),
    }
}
