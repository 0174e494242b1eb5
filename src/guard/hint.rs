//! Reading the wait that the server asked for.
//!
//! Header text comes from gateways too, so that nothing here fails: what is
//! unreadable, negative or past was not given. A long wait is legal and kept.

use std::time::Duration;

use chrono::{DateTime, Datelike, Months, NaiveDate, NaiveDateTime, NaiveTime, Utc};

use crate::answer::Hint;

/// Longer hints are cut here: a century says the same, and every store can count its milliseconds.
const MAX_HINT: Duration = Duration::from_hours(24 * 36_525);
/// A second is this power of ten of nanoseconds.
const SECOND: usize = 9;
/// So is a millisecond.
const MILLISECOND: usize = 6;
/// A two-digit year is never read as further away than this (RFC 9110, section 5.6.7).
const HALF_CENTURY: Months = Months::new(50 * 12);

/// Reads the two headers; a readable `retry-after-ms` goes before `retry-after`.
///
/// A zero in it says nothing against the other header: the official clients take it for not given, and a retry before
/// the other's time would fail.
///
/// ```
/// use std::time::Duration;
/// use chrono::DateTime;
/// use offpeak::answer::Hint;
/// use offpeak::guard::hint::read;
///
/// let now = DateTime::UNIX_EPOCH;
/// assert_eq!(read(None, Some(" 20 "), now), Some(Hint::After(Duration::from_secs(20))));
/// assert_eq!(read(Some("1.5"), Some("20"), now), Some(Hint::After(Duration::from_micros(1500))));
/// assert_eq!(read(Some("soon"), Some("-1"), now), None);
/// ```
#[must_use]
pub fn read(
    retry_after_ms: Option<&str>,
    retry_after: Option<&str>,
    now: DateTime<Utc>,
) -> Option<Hint> {
    let fine = retry_after_ms.and_then(|text| decimal(text.trim(), MILLISECOND));
    fine.filter(|span| !span.is_zero())
        .map(Hint::After)
        .or_else(|| retry_after.and_then(|text| read_retry_after(text, now)))
        .or_else(|| fine.map(Hint::After))
}

/// Reads `retry-after`: seconds with or without a fraction, else an HTTP date that is not past.
#[must_use]
pub fn read_retry_after(text: &str, now: DateTime<Utc>) -> Option<Hint> {
    let text = text.trim();
    decimal(text, SECOND)
        .map(Hint::After)
        .or_else(|| http_date(text, now).filter(|at| *at >= now).map(Hint::At))
}

/// The wait that a hint means now; `None` once its instant is past.
#[must_use]
pub fn remaining(hint: Hint, now: DateTime<Utc>) -> Option<Duration> {
    match hint {
        Hint::After(span) => Some(span.min(MAX_HINT)),
        Hint::At(at) => (at - now).to_std().ok().map(|span| span.min(MAX_HINT)),
    }
}

/// Reads `digits` or `digits.digits`, where one is `10^places` nanoseconds; no sign, no exponent, no float.
///
/// Digits beyond a nanosecond round up: a wait that is too short fails.
fn decimal(text: &str, places: usize) -> Option<Duration> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let (near, rest) = fraction.split_at(fraction.len().min(places));
    let rounded = u128::from(rest.bytes().any(|digit| digit != b'0'));
    // More digits than a number holds are a very long wait, not an illegible one.
    let nanos = format!("{whole}{near:0<places$}")
        .parse::<u128>()
        .unwrap_or(u128::MAX);
    Some(Duration::from_nanos_u128(
        nanos.saturating_add(rounded).min(MAX_HINT.as_nanos()),
    ))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads an HTTP date in any of the three legal forms; a weekday that does not fit its date is no reason to refuse it.
fn http_date(text: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let (weekday, rest) = text.split_once(' ')?;
    match weekday.strip_suffix(',') {
        Some(day) if is_weekday(day) => imf_fixdate(rest).or_else(|| rfc850_date(rest, now)),
        None if is_weekday(weekday) => asctime_date(rest),
        Some(_) | None => None,
    }
    .map(|civil| civil.and_utc())
}

fn is_weekday(text: &str) -> bool {
    const DAYS: [&str; 7] = [
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
    ];
    DAYS.iter()
        .any(|day| *day == text || day.get(..3) == Some(text))
}

/// `06 Nov 1994 08:49:37 GMT`.
fn imf_fixdate(rest: &str) -> Option<NaiveDateTime> {
    let [day, month, year, time, "GMT"] = words(rest)? else {
        return None;
    };
    civil(four_digits(year)?, month, day, time)
}

/// `06-Nov-94 08:49:37 GMT`.
fn rfc850_date(rest: &str, now: DateTime<Utc>) -> Option<NaiveDateTime> {
    let [date, time, "GMT"] = words(rest)? else {
        return None;
    };
    let mut parts = date.split('-');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 2 || !is_digits(year) {
        return None;
    }
    let now = now.naive_utc();
    let short: i32 = year.parse().ok()?;
    let century = now.year() - now.year().rem_euclid(100);
    // The nearest of the years that end so: 29 February may exist in only one of them.
    [century + 100, century, century - 100]
        .into_iter()
        .filter_map(|century| civil(century + short, month, day, time))
        .find(|at| {
            now.checked_add_months(HALF_CENTURY)
                .is_none_or(|latest| *at <= latest)
        })
}

/// `Nov  6 08:49:37 1994`.
fn asctime_date(rest: &str) -> Option<NaiveDateTime> {
    let [month, day, time, year] = words(rest)?;
    civil(four_digits(year)?, month, day, time)
}

/// Exactly `N` words with blanks in between.
fn words<const N: usize>(text: &str) -> Option<[&str; N]> {
    let words: Vec<&str> = text.split_ascii_whitespace().take(N + 1).collect();
    words.try_into().ok()
}

fn four_digits(year: &str) -> Option<i32> {
    (year.len() == 4 && is_digits(year)).then(|| year.parse().ok())?
}

fn civil(year: i32, month: &str, day: &str, time: &str) -> Option<NaiveDateTime> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = (1..)
        .zip(MONTHS)
        .find_map(|(number, name)| (name == month).then_some(number))?;
    if day.len() > 2 || !is_digits(day) {
        return None;
    }
    Some(NaiveDate::from_ymd_opt(year, month, day.parse().ok()?)?.and_time(clock_time(time)?))
}

/// `08:49:37`; a leap second counts as the second before it.
fn clock_time(text: &str) -> Option<NaiveTime> {
    let mut parts = text.split(':');
    let mut part = || {
        parts
            .next()
            .filter(|part| part.len() == 2 && is_digits(part))?
            .parse::<u32>()
            .ok()
    };
    let (hour, minute, second) = (part()?, part()?, part()?);
    let second = if second == 60 { 59 } else { second };
    NaiveTime::from_hms_opt(hour, minute, second).filter(|_| parts.next().is_none())
}

#[cfg(test)]
mod tests;
