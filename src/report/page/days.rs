//! The axis of days: which are drawn, and where they stand.

use chrono::{DateTime, Days as Span, NaiveDate, TimeDelta, Utc};

use super::sheet::Frame;
use crate::report::breakdown::Breakdown;
use crate::report::figures::{By, Figures};
use crate::report::view::View;

/// A span of more days is drawn from the first day on which something happened to the last one: a quarter of a year.
const WHOLE: u64 = 92;

/// No more days than this are drawn, the last ones: as many as `--days` goes back.
const MAX_DAYS: u64 = 3_660;

/// The least width of a day; of more days the picture grows, and its box scrolls.
const MIN_PITCH: f64 = 3.0;

/// The room that a date below the axis takes.
const LABEL: f64 = 46.0;

/// Days in Japan without a gap, and the figures of those on which something happened.
#[derive(Debug, Clone)]
pub(super) struct Days<'a> {
    /// The first that is drawn.
    pub first: NaiveDate,
    /// How many are drawn, at least one.
    pub len: u64,
    /// The days of figures, counted from the first one, rising.
    pub rows: Vec<(u64, &'a Figures)>,
    /// Whether the report is about days that are not drawn.
    pub is_cut: bool,
}

impl<'a> Days<'a> {
    /// The days of a report, those before and after its span on which its work was done included; `None` if nothing
    /// happened on any.
    pub(super) fn of(report: &'a Breakdown, view: &View) -> Option<Self> {
        let section = report.sections.iter().find(|it| it.by == By::Day)?;
        let rows = section.rows.iter();
        let rows: Vec<(NaiveDate, &Figures)> = rows
            .filter_map(|(name, figures)| Some((name.parse().ok()?, figures)))
            .collect();
        let (begin, end) = (rows.first()?.0, rows.last()?.0);
        let scope = &report.scope;
        let day = |at: DateTime<Utc>| at.with_timezone(&view.offset).date_naive();
        let last_instant = scope.until - TimeDelta::milliseconds(1);
        let asked = (day(scope.since).min(begin), day(last_instant).max(end));
        let (first, last) = if count(asked) > WHOLE {
            (begin, end)
        } else {
            asked
        };
        let hidden = count((first, last)).saturating_sub(MAX_DAYS);
        let first = first.checked_add_days(Span::new(hidden)).unwrap_or(first);
        let rows = rows.into_iter().filter(|(date, _)| *date >= first);
        Some(Self {
            first,
            len: count((first, last)),
            rows: rows
                .map(|(date, it)| (count((first, date)) - 1, it))
                .collect(),
            is_cut: (first, last) != asked,
        })
    }

    /// The date of a day.
    pub(super) fn date(&self, day: u64) -> NaiveDate {
        let date = self.first.checked_add_days(Span::new(day));
        date.unwrap_or(NaiveDate::MAX)
    }

    /// How wide the axes must be for every day to be seen.
    pub(super) fn least_width(&self) -> f64 {
        self.len as f64 * MIN_PITCH
    }

    /// The width of a day.
    pub(super) fn pitch(&self, frame: &Frame) -> f64 {
        (frame.right - frame.left) / self.len as f64
    }

    /// The middle of a day.
    pub(super) fn x(&self, frame: &Frame, day: u64) -> f64 {
        frame.x((day as f64 + 0.5) / self.len as f64)
    }

    /// The days that have a date below the axis, and how it is written there.
    pub(super) fn labels(&self, frame: &Frame) -> Vec<(u64, String)> {
        let pitch = self.pitch(frame);
        let step = [1, 2, 3, 7, 14]
            .into_iter()
            .find(|step| *step as f64 * pitch >= LABEL);
        let format = if step.is_some() { "%m-%d" } else { "%Y-%m" };
        let is_shown = |day: u64| match step {
            Some(step) => day.is_multiple_of(step),
            None => self.date(day).to_string().ends_with("-01"),
        };
        let shown = (0..self.len).filter(|day| is_shown(*day));
        shown
            .map(|day| (day, self.date(day).format(format).to_string()))
            .collect()
    }

    /// The span that is drawn, in words, and that it is not the whole if so.
    pub(super) fn words(&self) -> String {
        let (first, last) = (self.first, self.date(self.len - 1));
        let span = if self.len == 1 {
            first.to_string()
        } else {
            format!("{first} to {last}")
        };
        if self.is_cut {
            format!("{span}, the days on which something happened")
        } else {
            span
        }
    }
}

/// How many days, both included.
fn count((first, last): (NaiveDate, NaiveDate)) -> u64 {
    let days = last.signed_duration_since(first).num_days() + 1;
    u64::try_from(days).unwrap_or(1).max(1)
}
