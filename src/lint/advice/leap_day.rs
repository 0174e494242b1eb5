//! `leap-day`: an expression that fires on 29 February only.

use chrono::{Datelike as _, NaiveDate};

use super::{Advice, Question, words};

/// How many of the next dates are told.
const NEXT: usize = 3;

/// Speaks up if no other date of the calendar suits the expression.
pub(super) fn advice(question: &Question<'_>) -> Option<Advice> {
    let [minute, hour, dates, _, weekdays] = question.expr.fields()?;
    let cycle = NaiveDate::from_ymd_opt(2001, 1, 1)?..NaiveDate::from_ymd_opt(2401, 1, 1)?;
    let mut all = from(question, cycle.start).take_while(|date| *date < cycle.end);
    // Most expressions fire in the first common year, so the walk ends at its first step.
    if !all.next().is_some_and(is_leap_day) || !all.all(is_leap_day) {
        return None;
    }
    let first = from(question, question.today()).find_map(|date| question.fires_on(date))?;
    let today = question.zone.civil(first).date();
    let next: Vec<String> = from(question, today)
        .take(NEXT)
        .map(|date| date.to_string())
        .collect();
    let message = format!(
        "fires on 29 February only: next on {}",
        words::listed(&next)
    );
    let help = if dates == "*" {
        format!(
            "a fifth weekday of February is always the 29th; write `L` for its last, not `{weekdays}`"
        )
    } else {
        format!("write `{minute} {hour} L 2 *` for the last day of every February, or day 28")
    };
    Some(Advice {
        at: Some(first),
        message,
        help,
    })
}

/// The dates that suit the expression, without end but that of the calendar.
fn from(question: &Question<'_>, start: NaiveDate) -> impl Iterator<Item = NaiveDate> {
    let expr = question.expr;
    std::iter::successors(expr.next_day(start), |date| expr.next_day(date.succ_opt()?))
}

fn is_leap_day(date: NaiveDate) -> bool {
    (date.month(), date.day()) == (2, 29)
}

#[cfg(test)]
mod tests;
