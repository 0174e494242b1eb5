//! When a spend limit lifts.

use chrono::{DateTime, Datelike, Months, NaiveDate, NaiveTime, TimeDelta, Utc};

/// A monthly cap met so soon after midnight UTC on the 1st is last month's, not yet lifted on the server or met by a
/// clock that runs ahead. Taken for the new month's it would hold the group for a month.
const LIFTING: TimeDelta = TimeDelta::minutes(15);

/// When the monthly cap of the usage tier lifts: 00:00 UTC on the 1st of next month.
///
/// In the first 15 minutes of a month that is the cap of the month before,
/// and the answer is the end of those 15 minutes.
#[must_use]
pub fn cap_lifts_at(now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let month = now
        .date_naive()
        .with_day(1)?
        .and_time(NaiveTime::MIN)
        .and_utc();
    let lifted = month + LIFTING;
    if now < lifted {
        Some(lifted)
    } else {
        month.checked_add_months(Months::new(1))
    }
}

/// The instant that the text of an owner's limit names, such as `2026-12-01 at 00:00 UTC` or `2026-12-01T00:00:00Z`.
///
/// A date alone means its midnight in UTC. `None` if there is none after `now`.
#[must_use]
pub fn named_instant(message: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    (0..message.len())
        .filter_map(|start| date_at(message, start))
        .map(|(date, rest)| {
            date.and_time(time_after(rest).unwrap_or(NaiveTime::MIN))
                .and_utc()
        })
        .find(|at| *at > now)
}

/// A date such as `2026-12-01` at a place in a text, and the text after it.
fn date_at(text: &str, start: usize) -> Option<(NaiveDate, &str)> {
    let (word, rest) = (text.get(start..start + 10)?, text.get(start + 10..)?);
    let parts: Vec<&str> = word.split('-').collect();
    let [year, month, day] = parts[..] else {
        return None;
    };
    if [year.len(), month.len(), day.len()] != [4, 2, 2] {
        return None;
    }
    let date = NaiveDate::from_ymd_opt(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)?;
    Some((date, rest))
}

/// A time such as ` at 00:00`, `T00:00:00Z` or ` 00:00`, right after a date.
fn time_after(rest: &str) -> Option<NaiveTime> {
    let rest = rest.strip_prefix('T').unwrap_or_else(|| rest.trim_start());
    let rest = rest.strip_prefix("at ").unwrap_or(rest);
    let (hour, minute) = (rest.get(..2)?, rest.get(2..5)?.strip_prefix(':')?);
    NaiveTime::from_hms_opt(hour.parse().ok()?, minute.parse().ok()?, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(text: &str) -> DateTime<Utc> {
        DateTime::parse_from_rfc3339(text).unwrap().to_utc()
    }

    #[test]
    fn a_monthly_cap_lifts_on_the_first_of_next_month() {
        for (now, lifts) in [
            ("2026-11-30T23:59:59.999Z", "2026-12-01T00:00:00Z"),
            ("2026-12-31T12:00:00Z", "2027-01-01T00:00:00Z"),
            ("2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z"),
            ("2026-12-01T00:15:00Z", "2027-01-01T00:00:00Z"),
        ] {
            assert_eq!(cap_lifts_at(instant(now)), Some(instant(lifts)), "{now}");
        }
    }

    /// A clock a moment ahead of the server's met the old cap at 09:00:00 JST on the 1st.
    #[test]
    fn a_cap_met_as_the_month_begins_is_the_old_one() {
        for now in ["2026-12-01T00:00:00Z", "2026-12-01T00:14:59.999Z"] {
            assert_eq!(
                cap_lifts_at(instant(now)),
                Some(instant("2026-12-01T00:15:00Z")),
                "{now}"
            );
        }
    }

    #[test]
    fn the_instant_is_found_in_the_message() {
        let now = instant("2026-11-20T00:00:00Z");
        for (message, named) in [
            (
                "You will regain access on 2026-12-01 at 00:00 UTC.",
                "2026-12-01T00:00:00Z",
            ),
            (
                "regain access on 2026-12-01 at 09:30 UTC",
                "2026-12-01T09:30:00Z",
            ),
            ("resets 2026-12-01T06:00:00Z", "2026-12-01T06:00:00Z"),
            ("until 2026-12-01.", "2026-12-01T00:00:00Z"),
            (
                "set on 2026-10-01, regain access on 2026-12-01",
                "2026-12-01T00:00:00Z",
            ),
            ("größer als 2026-12-01", "2026-12-01T00:00:00Z"),
        ] {
            assert_eq!(
                named_instant(message, now),
                Some(instant(named)),
                "{message}"
            );
        }
    }

    #[test]
    fn a_message_without_a_later_instant_names_none() {
        let now = instant("2026-11-20T00:00:00Z");
        for message in [
            "",
            "2026-1",
            "2026-13-01",
            "2026-11-20",
            "12026/12/01",
            "+026-12-01",
            "2025-12-01 at 00:00",
        ] {
            assert_eq!(named_instant(message, now), None, "{message}");
        }
    }
}
