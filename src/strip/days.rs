//! The rows of a strip: civil days of one zone.
//!
//! A row is a span of instants, from midnight to midnight, and its axis is
//! civil time: where clocks go forward a part of the axis holds nothing, where
//! they go back a part of it holds two passes.

#[cfg(test)]
mod tests;

use std::ops::Range;

use chrono::{DateTime, Days as Count, NaiveDate, NaiveDateTime, TimeDelta, Timelike, Utc};

use crate::schedule::{Resolved, Transition, Zone};

/// The minutes of a day, 0 to 1440, the end excluded.
pub type Minutes = Range<u16>;

/// How many minutes the axis of a row has.
pub(super) const DAY: u16 = 1_440;

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Day {
    /// The civil date.
    pub date: NaiveDate,
    /// Its first instant.
    pub starts_at: DateTime<Utc>,
    /// The first instant of the next day.
    pub ends_at: DateTime<Utc>,
    /// Minutes that clocks jump over.
    pub skipped: Vec<Minutes>,
    /// Minutes that clocks go through twice.
    pub repeated: Vec<Minutes>,
}

/// A part of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The row, counted from 0.
    pub row: usize,
    /// Its minutes; begun minutes count.
    pub minutes: Minutes,
}

/// Consecutive civil days of one zone; at least one.
#[derive(Debug, Clone)]
pub struct Days {
    zone: Zone,
    rows: Vec<Day>,
    /// Where civil time breaks off: the ends of days and the clock changes, ascending.
    breaks: Vec<DateTime<Utc>>,
}

impl Days {
    /// So many days of a zone, beginning with the one that holds an instant; none counts as one.
    #[must_use]
    pub fn starting(zone: Zone, at: DateTime<Utc>, count: u16) -> Self {
        let first = zone.civil(at).date();
        let dates =
            (0..count.max(1)).map_while(|ahead| first.checked_add_days(Count::new(ahead.into())));
        let mut rows: Vec<Day> = dates
            .map(|date| Day {
                date,
                starts_at: midnight(&zone, date),
                ends_at: midnight(&zone, date.succ_opt().unwrap_or(date)),
                skipped: Vec::new(),
                repeated: Vec::new(),
            })
            .collect();
        let mut breaks: Vec<DateTime<Utc>> = rows.iter().map(|day| day.ends_at).collect();
        let (from, until) = ends(&rows);
        for change in zone.transitions(from - TimeDelta::seconds(1), until) {
            breaks.push(change.at);
            for day in &mut rows {
                mark(day, change);
            }
        }
        breaks.sort_unstable();
        Self { zone, rows, breaks }
    }

    /// The zone of the axis.
    #[must_use]
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// The rows, in order.
    #[must_use]
    pub fn rows(&self) -> &[Day] {
        &self.rows
    }

    /// The first instant of the first day.
    #[must_use]
    pub fn starts_at(&self) -> DateTime<Utc> {
        ends(&self.rows).0
    }

    /// The first instant after the last day.
    #[must_use]
    pub fn ends_at(&self) -> DateTime<Utc> {
        ends(&self.rows).1
    }

    /// Where an instant stands: its row, and the minute of its axis; `None` outside the days.
    #[must_use]
    pub fn place(&self, at: DateTime<Utc>) -> Option<(usize, u16)> {
        if at >= self.ends_at() {
            return None;
        }
        let row = self.rows.partition_point(|day| day.starts_at <= at);
        let civil = self.zone.civil(at);
        let minute = civil.hour() * 60 + civil.minute();
        Some((
            row.checked_sub(1)?,
            u16::try_from(minute).unwrap_or_default(),
        ))
    }

    /// The parts of rows that a span covers, split at midnight and where clocks change.
    #[must_use]
    pub fn pieces(&self, from: DateTime<Utc>, until: DateTime<Utc>) -> Vec<Piece> {
        let mut at = from.max(self.starts_at());
        let until = until.min(self.ends_at());
        let mut pieces = Vec::new();
        while at < until {
            let Some((row, start)) = self.place(at) else {
                break;
            };
            let next = self.breaks.partition_point(|end| *end <= at);
            let end = self.breaks.get(next).map_or(until, |end| until.min(*end));
            let seconds = i64::from(self.zone.civil(at).second()) + (end - at).num_seconds();
            let minutes = u16::try_from((seconds + 59) / 60).unwrap_or(DAY);
            pieces.push(Piece {
                row,
                minutes: start..start.saturating_add(minutes).min(DAY),
            });
            at = end;
        }
        pieces
    }
}

/// The first and the last instant of rows.
fn ends(rows: &[Day]) -> (DateTime<Utc>, DateTime<Utc>) {
    let first = rows.first().map(|day| day.starts_at);
    let last = rows.last().map(|day| day.ends_at);
    (first.unwrap_or_default(), last.unwrap_or_default())
}

/// The first instant of a date.
fn midnight(zone: &Zone, date: NaiveDate) -> DateTime<Utc> {
    match zone.resolve(date.into()) {
        Resolved::Unique(at) | Resolved::Gap(at) | Resolved::Fold(at, _) => at,
    }
}

/// Marks what a clock change does to the axis of a day.
fn mark(day: &mut Day, change: Transition) {
    let civil = |offset: i32| change.at.naive_utc() + TimeDelta::seconds(offset.into());
    let (before, after) = (civil(change.before), civil(change.after));
    let (marks, span) = if before < after {
        (&mut day.skipped, before..after)
    } else {
        (&mut day.repeated, after..before)
    };
    let midnight = NaiveDateTime::from(day.date);
    let minute = |at: NaiveDateTime| (at - midnight).num_minutes().clamp(0, DAY.into());
    let [from, until] =
        [span.start, span.end].map(|at| u16::try_from(minute(at)).unwrap_or_default());
    if from < until {
        marks.push(from..until);
    }
}
