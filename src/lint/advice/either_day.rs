//! `either-day`: both day fields are restricted, and either of them is enough.
//!
//! Cron joins the two by "or" unless one of them begins with `*`. Who writes
//! `0 5 1-7 * mon` for the first Monday gets eleven days a month.

use chrono::{NaiveDate, TimeDelta};

use super::{Advice, Question, words};
use crate::schedule::CronExpr;

/// The weeks of a month by their days, in the order of `#1` to `#4`.
const WEEKS: [&str; 4] = ["1-7", "8-14", "15-21", "22-28"];

/// Speaks up if a date comes that only one of the two fields names.
pub(super) fn advice(question: &Question<'_>) -> Option<Advice> {
    let [minute, hour, dates, months, weekdays] = question.expr.fields()?;
    if dates.starts_with('*') || weekdays.starts_with('*') {
        return None;
    }
    let by_date = format!("{minute} {hour} {dates} {months} *");
    let by_weekday = format!("{minute} {hour} * {months} {weekdays}");
    let (date_rule, weekday_rule) = (
        CronExpr::parse(&by_date).ok()?,
        CronExpr::parse(&by_weekday).ok()?,
    );
    let lone = |date: NaiveDate| {
        (date_rule.matches_day(date) != weekday_rule.matches_day(date))
            .then(|| Some((date, question.fires_on(date)?)))?
    };
    let (date, at) = question.dates().find_map(lone)?;
    let field = if date_rule.matches_day(date) {
        "day of month"
    } else {
        "day of week"
    };
    let days = days_a_year(question);
    let message = format!(
        "fires on {}, and also on {}{}, {days} {} in the first 365, not only on those that suit both: {} suits the {field} alone",
        words::dates(dates),
        words::weekdays(weekdays),
        of_months(question, months),
        if days == 1 { "day" } else { "days" },
        date.format("%a %Y-%m-%d"),
    );
    let help = format!(
        "{}keep one day field, as in `{by_date}` or `{by_weekday}`, or make two jobs of these if either is meant",
        meant(minute, hour, dates, months, weekdays).unwrap_or_default()
    );
    Some(Advice {
        at: Some(at),
        message,
        help,
    })
}

fn days_a_year(question: &Question<'_>) -> usize {
    let end = question.today().checked_add_signed(TimeDelta::days(365));
    let in_year = |date: &NaiveDate| end.is_none_or(|end| *date < end);
    question.dates().take_while(in_year).count()
}

fn of_months(question: &Question<'_>, field: &str) -> String {
    if field.starts_with('*') {
        return String::new();
    }
    let named: Vec<&str> = (1..=12)
        .filter(|month| question.expr.names_month(*month))
        .map(words::month)
        .collect();
    format!(" in {}", words::listed(&named))
}

/// What `#` or `L` says in one field, where the two fields look like it.
fn meant(minute: &str, hour: &str, dates: &str, months: &str, weekdays: &str) -> Option<String> {
    if weekdays.contains(['#', '/']) || weekdays.to_ascii_uppercase().contains('L') {
        return None;
    }
    let week = WEEKS.iter().position(|week| *week == dates);
    let last = matches!(dates, "L" | "l" | "25-31" | "22-31");
    // `L` marks single weekdays only.
    let mark = match (week, last && !weekdays.contains('-')) {
        (Some(week), _) => format!("#{}", week + 1),
        (None, true) => "L".to_owned(),
        (None, false) => return None,
    };
    let marked: Vec<String> = weekdays
        .split(',')
        .map(|item| format!("{item}{mark}"))
        .collect();
    let marked = marked.join(",");
    let text = format!("{minute} {hour} * {months} {marked}");
    CronExpr::parse(&text).ok()?;
    Some(format!(
        "for {} write `{text}`; otherwise ",
        words::weekdays(&marked)
    ))
}

#[cfg(test)]
mod tests {
    use crate::lint::Rule;
    use crate::lint::advice::tests::told;

    fn first(cron: &str) -> Option<(String, String, String)> {
        told(Rule::EitherDay, "Asia/Tokyo", cron)
    }

    #[test]
    fn days_that_either_field_names_are_told_and_counted() {
        let (at, message, help) = first("0 5 1,15 * mon").unwrap();
        assert_eq!(at, "2026-12-06T20:00:00Z");
        assert_eq!(
            message,
            "`0 5 1,15 * mon` of `a` fires on the 1st and the 15th, and also on every Monday, 70 days in the first 365, \
             not only on those that suit both: Mon 2026-12-07 suits the day of week alone"
        );
        assert_eq!(
            help,
            "keep one day field, as in `0 5 1,15 * *` or `0 5 * * mon`, or make two jobs of these if either is meant"
        );
    }

    #[test]
    fn one_star_joins_the_fields_by_and_and_needs_no_advice() {
        for cron in [
            "0 5 1,15 * *",
            "0 5 * * mon",
            "0 5 */2 * mon",
            "0 5 1 * */2",
            "@weekly",
        ] {
            assert_eq!(first(cron), None, "{cron}");
        }
    }

    #[test]
    fn fields_that_always_agree_need_no_advice() {
        assert_eq!(first("0 5 1-31 * 0-6"), None);
        assert!(first("0 5 1-31 * mon").is_some());
        assert!(first("0 5 1 * 0-6").is_some());
    }

    #[test]
    fn nth_and_last_weekday_are_named_where_they_were_meant() {
        let help = |cron| first(cron).unwrap().2;
        assert!(help("0 5 1-7 * mon").starts_with(
            "for the first Monday of the month write `0 5 * * mon#1`; otherwise keep one day field"
        ));
        assert!(help("0 5 22-28 * 2,4").contains("`0 5 * * 2#4,4#4`"));
        assert!(
            help("0 5 L * fri").contains("for the last Friday of the month write `0 5 * * friL`")
        );
        assert!(!help("0 5 L * mon-fri").contains("otherwise"));
        assert!(!help("0 5 1-7 * mon#1").contains("otherwise"));
    }

    #[test]
    fn months_are_named_if_not_all_of_them_count() {
        let (_, message, _) = first("0 5 1 1,7 mon").unwrap();
        assert!(
            message.contains("every Monday in January and July, 10 days"),
            "{message}"
        );
    }
}
