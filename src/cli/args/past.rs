//! Arguments of what looks back: `history` and `why`.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use clap::Args as ClapArgs;
use clap::builder::PossibleValuesParser;

use super::instant;
use crate::outcome::Outcome;

/// Arguments of `history`.
#[derive(Debug, ClapArgs)]
pub struct History {
    /// Only this job.
    #[arg(value_name = "JOB")]
    pub job: Option<String>,
    /// Only runs that counted against this group.
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// Only runs that ended like this.
    #[arg(long, value_name = "WORD", value_parser = PossibleValuesParser::new(Outcome::WORDS))]
    pub outcome: Option<String>,
    /// Only runs that started at or after this instant.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub since: Option<DateTime<Utc>>,
    /// Only runs that started before this instant.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub until: Option<DateTime<Utc>>,
    /// Only the newest N runs.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub limit: u32,
    /// Print the answers that the store has kept: those that went to no file.
    #[arg(long)]
    pub text: bool,
    /// Show how each item of runs with `for_each` ended.
    #[arg(long)]
    pub items: bool,
}

/// Arguments of `why`.
#[derive(Debug, ClapArgs)]
pub struct Why {
    /// The job's name.
    #[arg(value_name = "JOB")]
    pub job: String,
    /// The slot: an instant such as `2026-12-01T05:00:00+09:00`, or a time in the job's zone such as
    /// `2026-12-01T05:00`, `2026-12-01` or `05:00`; the job's last slot that did not succeed, or else its last slot, if
    /// not given.
    #[arg(value_name = "T", value_parser = moment)]
    pub at: Option<Moment>,
}

/// When, in the words of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// An instant.
    Instant(DateTime<Utc>),
    /// A date and a time of day in the job's zone.
    Civil(NaiveDateTime),
    /// A whole day in the job's zone.
    Day(NaiveDate),
    /// A time of day in the job's zone, when it was last.
    Clock(NaiveTime),
}

fn moment(text: &str) -> Result<Moment, String> {
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Ok(Moment::Instant(at.to_utc()));
    }
    if let Ok(day) = text.parse::<NaiveDate>() {
        return Ok(Moment::Day(day));
    }
    let spaced = text.replacen(' ', "T", 1);
    let civil = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];
    if let Some(civil) = civil
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(&spaced, form).ok())
    {
        return Ok(Moment::Civil(civil));
    }
    NaiveTime::parse_from_str(text, "%H:%M")
        .map(Moment::Clock)
        .map_err(|_| {
            "expected an instant such as 2026-12-01T05:00:00+09:00, or a time in the job's zone such as \
             2026-12-01T05:00, 2026-12-01 or 05:00"
                .to_owned()
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{FailReason, IncompleteReason, SkipReason, YieldReason};

    #[test]
    fn every_outcome_can_be_asked_for() {
        let outcomes = [
            Outcome::Succeeded,
            Outcome::Incomplete(IncompleteReason::Empty),
            Outcome::Yielded(YieldReason::Peak),
            Outcome::Exhausted,
            Outcome::Failed(FailReason::Fatal),
            Outcome::Skipped(SkipReason::Missed),
        ];
        assert_eq!(outcomes.map(|outcome| outcome.as_str()), Outcome::WORDS);
    }

    #[test]
    fn a_moment_is_an_instant_or_a_local_time() {
        let day = NaiveDate::from_ymd_opt(2026, 12, 1).unwrap();
        let civil = Moment::Civil(day.and_hms_opt(5, 0, 0).unwrap());
        let utc = "2026-11-30T20:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("2026-12-01T05:00:00+09:00", Moment::Instant(utc)),
            ("2026-11-30T20:00:00Z", Moment::Instant(utc)),
            ("2026-12-01T05:00", civil),
            ("2026-12-01 05:00:00", civil),
            ("2026-12-01", Moment::Day(day)),
            (
                "05:00",
                Moment::Clock(NaiveTime::from_hms_opt(5, 0, 0).unwrap()),
            ),
        ] {
            assert_eq!(moment(text), Ok(expected), "{text}");
        }
        for text in ["yesterday", "25:00", "2026-13-01", ""] {
            assert!(moment(text).unwrap_err().contains("05:00"), "{text}");
        }
    }
}
