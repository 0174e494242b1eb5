//! Five-field cron expressions.
//!
//! The grammar of a field is croner's; the count of fields, the places of
//! errors and the meaning of the two day fields together are ours, as in Vixie
//! cron. An expression knows civil times only: [`super::Timetable`] maps them
//! to instants, because croner's own mapping drops or doubles lists around
//! clock changes.

mod advice;
mod days;
mod field;
mod layout;
mod token;

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use chrono::NaiveDate;

use days::DayRule;
use field::{Field, Parsed};

/// Bytes of the longest expression: a list of every value of every field takes a third of it.
const MAX_BYTES: usize = 1_000;

/// A checked expression of five fields, Vixie meaning.
///
/// ```
/// use offpeak::schedule::CronExpr;
///
/// let expr = CronExpr::parse("0,45 2 * * mon-fri").unwrap();
/// assert_eq!(expr.times(), [120, 165]);
/// let error = CronExpr::parse("0 27 * * *").unwrap_err();
/// assert_eq!(error.to_string(), "hour `27` is outside 0-23");
/// assert_eq!(error.span, 2..4);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronExpr {
    text: String,
    times: Arc<[u16]>,
    days: DayRule,
    day_key: Arc<str>,
    spacing: Spacing,
}

/// How clock changes treat an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Fires at fixed civil times.
    Fixed,
    /// Its minute or hour field starts with `*`: even real spacing.
    Even,
}

impl CronExpr {
    /// Parses five fields, or one of the nicknames `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight`
    /// and `@hourly`.
    ///
    /// # Errors
    ///
    /// The first mistake from the left, with its place: another number of fields, a value out of its range, an unknown
    /// name, a reversed range, a step longer than its field, an empty item of a list.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        if text.len() > MAX_BYTES {
            let message = format!("an expression of {} bytes, at most {MAX_BYTES}", text.len());
            return Err(CronError::new(0..text.len(), message)
                .help("write ranges and steps, such as `0-30` and `*/5`, or several expressions"));
        }
        match layout::nickname(text)? {
            Some(expansion) => Self::parse_fields(text, expansion),
            None => Self::parse_fields(text, text),
        }
    }

    fn parse_fields(text: &str, fields: &str) -> Result<Self, CronError> {
        let spans = layout::five_fields(fields)?;
        let [minute, hour, day, month, weekday] = spans;
        let read =
            |field: Field, span: Range<usize>| field.parse(&fields[span.clone()], span.start);
        let minutes = read(Field::Minute, minute)?;
        let hours = read(Field::Hour, hour)?;
        let days_of_month = read(Field::DayOfMonth, day)?;
        let months = read(Field::Month, month)?;
        let weekdays = read(Field::DayOfWeek, weekday)?;
        let (days, day_key) = days::rule(&days_of_month, &months, &weekdays);
        Ok(Self {
            text: text.to_owned(),
            times: times_of_day(&minutes, &hours),
            days,
            day_key: Arc::from(day_key),
            spacing: if minutes.starts_with_star || hours.starts_with_star {
                Spacing::Even
            } else {
                Spacing::Fixed
            },
        })
    }

    /// The text as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Minute, hour, day of month, month and day of week as written; `None` for a nickname.
    ///
    /// ```
    /// use offpeak::schedule::CronExpr;
    ///
    /// let expr = CronExpr::parse("*/7 5  1,15 * mon").unwrap();
    /// assert_eq!(expr.fields(), Some(["*/7", "5", "1,15", "*", "mon"]));
    /// assert_eq!(CronExpr::parse("@daily").unwrap().fields(), None);
    /// ```
    #[must_use]
    pub fn fields(&self) -> Option<[&str; 5]> {
        let spans = layout::five_fields(&self.text).ok()?;
        Some(spans.map(|span| &self.text[span]))
    }

    /// Whether the month field names a month, counted from 1; no other number is named.
    #[must_use]
    pub fn names_month(&self, month: u32) -> bool {
        (1..=12).contains(&month) && self.days.names_month(month - 1)
    }

    /// Minutes of the day (0 to 1439), ascending, at which it fires on a day that matches; at least one.
    #[must_use]
    pub fn times(&self) -> &[u16] {
        &self.times
    }

    /// Whether the date matches month and day fields.
    #[must_use]
    pub fn matches_day(&self, date: NaiveDate) -> bool {
        self.days.matches(date)
    }

    /// The first date at or after this one that matches month and day fields.
    ///
    /// Looks 400 years ahead. The Gregorian calendar repeats after them, so `None` means that no date ever matches.
    #[must_use]
    pub fn next_day(&self, from: NaiveDate) -> Option<NaiveDate> {
        let first = from.to_epoch_days();
        let found = self
            .days
            .first_in(first, first.saturating_add(CALENDAR_CYCLE_DAYS - 1))?;
        NaiveDate::from_epoch_days(found)
    }

    /// How clock changes treat it.
    #[must_use]
    pub fn spacing(&self) -> Spacing {
        self.spacing
    }

    /// The day part in normal form: equal texts mean equal day sets, so that day sets can be shared.
    #[must_use]
    pub fn day_key(&self) -> &str {
        &self.day_key
    }

    /// The first epoch day in `first..=last` that matches month and day fields.
    pub(super) fn first_day_in(&self, first: i32, last: i32) -> Option<i32> {
        self.days.first_in(first, last)
    }
}

/// Days in 400 Gregorian years: a whole number of weeks, after which the calendar repeats.
pub(super) const CALENDAR_CYCLE_DAYS: i32 = 146_097;

fn times_of_day(minutes: &Parsed, hours: &Parsed) -> Arc<[u16]> {
    let minutes = minutes.values();
    hours
        .values()
        .iter()
        .flat_map(|hour| minutes.iter().map(move |minute| hour * 60 + minute))
        .collect()
}

/// Why a text is no expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronError {
    /// Byte range in the text.
    pub span: Range<usize>,
    /// What was found and what was expected.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl CronError {
    fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            help: None,
        }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CronError {}
