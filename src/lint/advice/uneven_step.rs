//! `uneven-step`: a step over a whole field that does not divide it.
//!
//! `*/7` among the minutes ends with 49 and 56 and begins anew at 0, four
//! minutes later. That matters only where the next hour, day, month or year
//! follows; a range that begins or ends inside the field has no such gap.

use chrono::{DateTime, Datelike as _, NaiveDate, Utc};

use super::{Advice, Question, words};

const HOUR: u16 = 60;
const DAY: u16 = 24 * HOUR;

/// A field that begins anew when it is through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Minute,
    Hour,
    DayOfMonth,
    Month,
}

/// A step over a whole field.
#[derive(Debug, Clone, Copy)]
struct Step {
    unit: Unit,
    step: u16,
}

/// The firing after the odd gap, and what it is the gap between.
type Odd = (DateTime<Utc>, String);

/// Speaks up for the first field with an odd gap that really comes.
pub(super) fn advice(question: &Question<'_>) -> Option<Advice> {
    let [minute, hour, dates, months, weekdays] = question.expr.fields()?;
    let fields = [
        (Unit::Minute, minute),
        (Unit::Hour, hour),
        (Unit::DayOfMonth, dates),
        (Unit::Month, months),
    ];
    fields
        .into_iter()
        .filter_map(|(unit, text)| Step::of(unit, text))
        // With a weekday beside it, days do not follow each other by the step anyway.
        .filter(|step| step.unit != Unit::DayOfMonth || weekdays == "*")
        .find_map(|step| step.advice(question))
}

impl Unit {
    /// The least and the greatest value.
    const fn bounds(self) -> (u16, u16) {
        match self {
            Self::Minute => (0, 59),
            Self::Hour => (0, 23),
            Self::DayOfMonth => (1, 31),
            Self::Month => (1, 12),
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day",
            Self::Month => "month",
        }
    }

    fn counted(self, count: u16) -> String {
        format!(
            "{count} {}{}",
            self.word(),
            if count == 1 { "" } else { "s" }
        )
    }
}

impl Step {
    /// The step of a field's text that does not divide the field, if the text is nothing else.
    fn of(unit: Unit, text: &str) -> Option<Self> {
        let (range, step) = text.split_once('/')?;
        let (least, greatest) = unit.bounds();
        let is_whole = range == "*" || range == format!("{least}-{greatest}");
        let step = step.parse().ok().filter(|_| is_whole)?;
        let size = greatest - least + 1;
        // Months have different lengths, so no step of days divides them all.
        let is_even = size % step == 0 && unit != Unit::DayOfMonth;
        (step > 1 && step < size && !is_even).then_some(Self { unit, step })
    }

    /// From the last value to the first one of the next turn.
    const fn odd_gap(self) -> u16 {
        let (_, greatest) = self.unit.bounds();
        greatest + 1 - self.last()
    }

    const fn last(self) -> u16 {
        let (least, greatest) = self.unit.bounds();
        least + (greatest - least) / self.step * self.step
    }

    fn advice(self, question: &Question<'_>) -> Option<Advice> {
        let (at, odd) = match self.unit {
            Unit::Minute => self.over_hours(question),
            Unit::Hour => self.over_midnight(question),
            Unit::DayOfMonth => self.over_months(question),
            Unit::Month => self.over_years(question),
        }?;
        let message = format!(
            "has a step of {} that does not divide its field: {odd}",
            self.unit.counted(self.step)
        );
        Some(Advice {
            at: Some(at),
            message,
            help: self.help(),
        })
    }

    /// Where an hour follows another one.
    fn over_hours(self, question: &Question<'_>) -> Option<Odd> {
        let fires = |minute: u16| question.expr.times().binary_search(&minute).is_ok();
        let gap = self.odd_gap();
        let within: Vec<u16> = (1..24)
            .map(|hour| hour * HOUR)
            .filter(|start| fires(*start) && fires(start - gap))
            .collect();
        let over_midnight = fires(0) && fires(DAY - gap);
        if within.is_empty() && !over_midnight {
            return None;
        }
        let at = question.dates().find_map(|date| {
            let midnight = (over_midnight && follows_another(question, date)).then_some(0);
            let starts = midnight.into_iter().chain(within.iter().copied());
            starts
                .into_iter()
                .find_map(|start| question.fires_at(date, start))
        })?;
        Some((at, self.between(&self.last().to_string(), "0")))
    }

    /// Where a day follows another one.
    fn over_midnight(self, question: &Question<'_>) -> Option<Odd> {
        let first = *question.expr.times().first()?;
        let at = question
            .dates()
            .filter(|date| follows_another(question, *date))
            .find_map(|date| question.fires_at(date, first))?;
        Some((at, self.between(&self.last().to_string(), "0")))
    }

    /// Where a month follows another one, unless their lengths happen to fit.
    fn over_months(self, question: &Question<'_>) -> Option<Odd> {
        let mut before: Option<NaiveDate> = None;
        question.dates().find_map(|date| {
            let last = before.replace(date)?;
            let days = u16::try_from((date - last).num_days()).ok()?;
            let next_month = date.day() == 1 && days <= 31 && days != self.step;
            let at = next_month.then(|| question.fires_on(date))??;
            let between = format!(
                "after {last} comes {date}, {} later",
                self.unit.counted(days)
            );
            Some((at, between))
        })
    }

    /// From the last month of a year to January.
    fn over_years(self, question: &Question<'_>) -> Option<Odd> {
        let mut dates = question.dates().filter(|date| date.month() == 1);
        let at = dates.find_map(|date| question.fires_on(date))?;
        let last = words::month(u32::from(self.last()));
        Some((at, self.between(last, words::month(1))))
    }

    fn between(self, last: &str, first: &str) -> String {
        let gap = self.unit.counted(self.odd_gap());
        match self.unit {
            Unit::Minute | Unit::Hour | Unit::DayOfMonth => {
                let word = self.unit.word();
                format!("after {word} {last} comes {word} {first}, {gap} later")
            }
            Unit::Month => format!("after {last} comes {first}, {gap} later"),
        }
    }

    fn help(self) -> String {
        if self.unit == Unit::DayOfMonth {
            return "no step of days divides every month: name the days, such as `1,15`, \
                    or a day of the week, such as `mon`"
                .to_owned();
        }
        let (least, greatest) = self.unit.bounds();
        let size = greatest - least + 1;
        let divides = |step: &u16| size % step == 0;
        let below = (2..self.step).rev().find(divides);
        let above = (self.step + 1..=size).find(divides);
        let written = |step: u16| {
            if step == size {
                format!("`{least}`")
            } else {
                format!("`*/{step}`")
            }
        };
        let even: Vec<String> = below.into_iter().chain(above).map(written).collect();
        format!(
            "write {} in the {} field for even gaps",
            even.join(" or "),
            self.unit.word()
        )
    }
}

/// Whether the expression fires on the day before as well.
fn follows_another(question: &Question<'_>, date: NaiveDate) -> bool {
    date.pred_opt()
        .is_some_and(|before| question.expr.matches_day(before))
}

#[cfg(test)]
mod tests {
    use crate::lint::Rule;
    use crate::lint::advice::tests::told;

    fn first(cron: &str) -> Option<(String, String, String)> {
        let (at, message, help) = told(Rule::UnevenStep, "UTC", cron)?;
        let (_, odd) = message.split_once("divide its field: ").unwrap();
        Some((at, odd.to_owned(), help))
    }

    fn found(at: &str, odd: &str, help: &str) -> (String, String, String) {
        let help = format!("write {help} field for even gaps");
        (at.to_owned(), odd.to_owned(), help)
    }

    #[test]
    fn minutes_begin_anew_with_the_hour() {
        assert_eq!(
            first("*/7 * * * *").unwrap(),
            found(
                "2026-12-01T00:00:00Z",
                "after minute 56 comes minute 0, 4 minutes later",
                "`*/6` or `*/10` in the minute"
            )
        );
        assert_eq!(
            first("0-59/45 * * * *").unwrap(),
            found(
                "2026-12-01T00:00:00Z",
                "after minute 45 comes minute 0, 15 minutes later",
                "`*/30` or `0` in the minute"
            )
        );
        assert_eq!(first("*/7 5,6 * * *").unwrap().0, "2026-12-01T06:00:00Z");
        assert_eq!(first("*/7 23,0 * * 2,3").unwrap().0, "2026-12-02T00:00:00Z");
    }

    #[test]
    fn hours_begin_anew_with_the_day() {
        assert_eq!(
            first("30 */5 * * *").unwrap(),
            found(
                "2026-12-01T00:30:00Z",
                "after hour 20 comes hour 0, 4 hours later",
                "`*/4` or `*/6` in the hour"
            )
        );
        assert_eq!(first("30 */5 * * 2,3").unwrap().0, "2026-12-02T00:30:00Z");
    }

    #[test]
    fn months_begin_anew_with_the_year() {
        assert_eq!(
            first("0 5 1 */5 *").unwrap(),
            found(
                "2027-01-01T05:00:00Z",
                "after November comes January, 2 months later",
                "`*/4` or `*/6` in the month"
            )
        );
        assert_eq!(
            first("0 5 1 */7 *").unwrap().2,
            "write `*/6` or `1` in the month field for even gaps"
        );
    }

    #[test]
    fn days_begin_anew_with_months_whose_length_does_not_fit() {
        let (at, odd, help) = first("0 5 */2 * *").unwrap();
        assert_eq!(at, "2027-01-01T05:00:00Z");
        assert_eq!(odd, "after 2026-12-31 comes 2027-01-01, 1 day later");
        assert!(help.contains("`1,15`"), "{help}");
        // April has thirty days: two days lie between the 29th and the 1st of May.
        assert_eq!(first("0 5 */2 4,5 *"), None);
        assert_eq!(first("0 5 */31 * *"), None);
    }

    #[test]
    fn step_that_divides_or_never_begins_anew_is_even() {
        for cron in [
            "*/1 * * * *",
            "*/15 * * * *",
            "*/60 * * * *",
            "0 */8 * * *",
            "0 */24 * * *",
            "0 5 1 */3 *",
            "*/7 5 * * *",
            "*/7 23,0 * * mon",
            "30 */5 * * mon",
            "0-56/7 * * * *",
            "5-59/7 * * * *",
            "0,30 * * * *",
            "0 5 */2 * mon",
            "@hourly",
        ] {
            assert_eq!(first(cron), None, "{cron}");
        }
    }
}
