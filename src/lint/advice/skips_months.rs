//! `skips-months`: a day 29, 30 or 31 that some of the named months do not have.
//!
//! A range counts by its first day: `15-31` is the second half of any month,
//! and `29-31` is nothing in most Februaries. An `L` beside it says that the
//! end of the month was thought of.

use chrono::{Datelike as _, NaiveDate};

use super::{Advice, Question, words};
use crate::schedule::CronExpr;

/// The days of each month in a common year.
const LENGTHS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// Every February has so many days; an earlier day is in every month.
const SHORTEST: u32 = 28;

/// Speaks up for the first day in the list that a named month lacks and another one has.
pub(super) fn advice(question: &Question<'_>) -> Option<Advice> {
    let [_, _, dates, _, weekdays] = question.expr.fields()?;
    let is_last = |item: &str| matches!(item.to_ascii_uppercase().as_str(), "L" | "LW");
    // With a weekday beside it, the days are no plain days of the month any more.
    if weekdays != "*" || dates.starts_with('*') || dates.split(',').any(is_last) {
        return None;
    }
    let (item, day) = dates
        .split(',')
        .filter_map(|item| Some((item, words::first_date(item)?)))
        .find(|(_, day)| is_in_some_only(question.expr, *day))?;
    let lacking: Vec<u32> = lacking(question.expr, day).collect();
    let named: Vec<&str> = lacking
        .iter()
        .map(|month| match (month, day) {
            (2, 29) => "February of a common year",
            _ => words::month(*month),
        })
        .collect();
    let message = format!(
        "names the {}, which {} {} not have: it does not fire then, first in {}",
        words::ordinal(day),
        words::listed(&named),
        if named.len() == 1 { "does" } else { "do" },
        first_skipped(question, &lacking, day)?
    );
    Some(Advice {
        at: None,
        message,
        help: help(question, item)?,
    })
}

/// The named months that are too short for a day.
fn lacking(expr: &CronExpr, day: u32) -> impl Iterator<Item = u32> {
    let months = (1..=12).zip(LENGTHS);
    months
        .filter(move |(month, length)| *length < day && expr.names_month(*month))
        .map(|(month, _)| month)
}

/// Whether some named months have a day and others do not; without the former it never fires, or on leap days only.
fn is_in_some_only(expr: &CronExpr, day: u32) -> bool {
    let named = (1..=12).filter(|month| expr.names_month(*month)).count();
    let lacking = lacking(expr, day).count();
    (1..named).contains(&lacking)
}

/// The first month from today on without the day, as `February 2027`.
fn first_skipped(question: &Question<'_>, lacking: &[u32], day: u32) -> Option<String> {
    let today = question.today();
    let (year, month) = (today.year(), today.month());
    let months = (month..=12)
        .map(|month| (year, month))
        .chain((year + 1..=year + 8).flat_map(|year| (1..=12).map(move |month| (year, month))));
    let (year, month) = months
        .filter(|(_, month)| lacking.contains(month))
        .find(|(year, month)| NaiveDate::from_ymd_opt(*year, *month, day).is_none())?;
    Some(format!("{} {year}", words::month(month)))
}

fn help(question: &Question<'_>, item: &str) -> Option<String> {
    let [minute, hour, dates, months, weekdays] = question.expr.fields()?;
    let (last, what) = if item.ends_with(['w', 'W']) {
        ("LW", "last working day")
    } else {
        ("L", "last day")
    };
    let items: Vec<&str> = dates
        .split(',')
        .map(|other| if other == item { last } else { other })
        .collect();
    Some(format!(
        "write `{minute} {hour} {} {months} {weekdays}` for the {what} of each month, or a day up to {SHORTEST}",
        items.join(",")
    ))
}

#[cfg(test)]
mod tests {
    use crate::lint::Rule;
    use crate::lint::advice::tests::told;

    fn first(cron: &str) -> Option<(String, String)> {
        told(Rule::SkipsMonths, "UTC", cron).map(|(_, message, help)| (message, help))
    }

    #[test]
    fn months_without_the_day_are_named() {
        let (message, help) = first("0 5 31 * *").unwrap();
        assert_eq!(
            message,
            "`0 5 31 * *` of `a` names the 31st, which February, April, June, September and November do not have: \
             it does not fire then, first in February 2027"
        );
        assert_eq!(
            help,
            "write `0 5 L * *` for the last day of each month, or a day up to 28"
        );
    }

    #[test]
    fn only_named_months_count() {
        assert_eq!(first("0 5 31 1,3,5 *"), None);
        assert_eq!(first("0 5 30 4,6 *"), None);
        let (message, _) = first("0 5 31 3,4 *").unwrap();
        assert!(message.contains("which April does not have"), "{message}");
    }

    #[test]
    fn twenty_ninth_is_missing_in_common_years_only() {
        assert_eq!(first("0 5 28 * *"), None);
        let (message, _) = first("0 5 1,29 * *").unwrap();
        assert!(
            message.contains("which February of a common year does not have")
                && message.ends_with("first in February 2027"),
            "{message}"
        );
        assert_eq!(first("0 5 29 2 *"), None);
        assert_eq!(first("0 5 30 2 *"), None);
    }

    #[test]
    fn range_counts_by_its_first_day() {
        assert_eq!(first("0 5 28-31 * *"), None);
        assert_eq!(first("0 5 15-31/4 * *"), None);
        assert!(first("0 5 29-31 * *").is_some());
    }

    #[test]
    fn end_of_the_month_and_other_fields_are_left_alone() {
        for cron in [
            "0 5 L * *",
            "0 5 30,L * *",
            "0 5 */2 * *",
            "0 5 31 * mon",
            "@monthly",
        ] {
            assert_eq!(first(cron), None, "{cron}");
        }
    }

    #[test]
    fn working_day_is_mended_by_the_last_working_day() {
        let (_, help) = first("0 5 15,31W * *").unwrap();
        assert!(
            help.starts_with("write `0 5 15,LW * *` for the last working day"),
            "{help}"
        );
    }
}
