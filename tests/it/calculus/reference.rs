//! The written rule of clock changes, walked minute by minute.
//!
//! It shares nothing with the calculus but the two crates below it: offsets
//! come straight from jiff, field sets and days straight from croner.

use chrono::{DateTime, Datelike as _, NaiveDate, Utc};
use croner::parser::{CronParser, Seconds, Year};
use croner::{Cron, Weekday};
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

const DAY: i64 = 1440;

/// Longer than the longest gap or fold: a clock that starts this early has met the one that matters.
const LEAD: i64 = 2 * DAY;

/// Whole-hour, half-hour and quarter-hour zones of both halves of the earth, and one that skipped a whole day.
pub const ZONES: [&str; 14] = [
    "Asia/Tokyo",
    "Asia/Kolkata",
    "Europe/London",
    "America/New_York",
    "America/Santiago",
    "America/Havana",
    "Australia/Sydney",
    "Australia/Lord_Howe",
    "Pacific/Auckland",
    "Pacific/Chatham",
    "Pacific/Apia",
    "Africa/Casablanca",
    "Africa/Cairo",
    "America/St_Johns",
];

/// One expression as croner reads it.
pub struct Reference {
    times: Vec<bool>,
    cron: Cron,
    even: bool,
}

impl Reference {
    pub fn new(text: &str) -> Self {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let star = |field: usize| fields[field].starts_with('*');
        let cron = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .dom_and_dow(star(2) || star(4))
            .build()
            .parse(text)
            .unwrap();
        let (minutes, hours) = (cron.pattern.minutes.values(), cron.pattern.hours.values());
        let matches = |time: u16| minutes.contains(&(time % 60)) && hours.contains(&(time / 60));
        Self {
            times: (0..1440).map(matches).collect(),
            even: star(0) || star(1),
            cron,
        }
    }

    fn matches_day(&self, day: i64) -> bool {
        let date = NaiveDate::from_epoch_days(i32::try_from(day).unwrap()).unwrap();
        let weekday = Weekday::from_days_from_sunday(date.weekday().num_days_from_sunday());
        let pattern = &self.cron.pattern;
        pattern.month_match(date.month()).unwrap()
            && pattern
                .day_match(date.year(), date.month(), date.day(), weekday)
                .unwrap()
    }
}

/// The offset of each minute of a span, in minutes, as jiff tells it.
pub struct Clock {
    first: i64,
    offsets: Vec<i64>,
}

impl Clock {
    /// A clock that can answer for `from..=until`, in minutes of the epoch.
    pub fn new(zone: &str, from: i64, until: i64) -> Self {
        // In the years of these tests clocks change on quarter hours only.
        const STEP: i64 = 15;
        let first = (from - LEAD).div_euclid(STEP) * STEP;
        let zone = TimeZoneDatabase::bundled().get(zone).unwrap();
        let quarters = (first..=until).step_by(STEP as usize);
        let offsets = quarters
            .flat_map(|at| [offset(&zone, at); STEP as usize])
            .collect();
        Self { first, offsets }
    }

    /// The fire times in `after < t <= until`, in minutes of the epoch.
    ///
    /// An even expression fires whenever the clock shows a time that matches. A fixed one fires when the clock reaches or
    /// passes, for the first time, a time that matches.
    pub fn fires(&self, expr: &Reference, after: i64, until: i64) -> Vec<i64> {
        let mut fires = Vec::new();
        let mut reached = self.first + self.offsets[0];
        let mut today = (i64::MIN, false);
        let mut matches = |civil: i64| {
            let day = civil.div_euclid(DAY);
            if today.0 != day {
                today = (day, expr.matches_day(day));
            }
            today.1 && expr.times[civil.rem_euclid(DAY) as usize]
        };
        for (at, offset) in (self.first..=until).zip(&self.offsets) {
            let shown = at + offset;
            let fires_now = if expr.even {
                matches(shown)
            } else {
                (reached + 1..=shown)
                    .filter(|civil| matches(*civil))
                    .count()
                    > 0
            };
            reached = reached.max(shown);
            if fires_now && at > after {
                fires.push(at);
            }
        }
        fires
    }
}

fn offset(zone: &TimeZone, minute: i64) -> i64 {
    let at = Timestamp::from_second(minute * 60).unwrap();
    let seconds = zone.to_offset(at).seconds();
    assert_eq!(seconds % 60, 0);
    i64::from(seconds / 60)
}

/// The instant of a minute of the epoch.
pub fn instant(minute: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(minute * 60, 0).unwrap()
}

/// The minute of the epoch that holds an instant.
pub fn minute(at: DateTime<Utc>) -> i64 {
    at.timestamp().div_euclid(60)
}
