//! The days of the proof, and sets of them.
//!
//! A cron expression's day fields are turned into a bitset once; whether any
//! date, or neighbouring date, suits two expressions is then a few word
//! operations over the whole horizon.

use std::ops::Range;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::outline::{Almanac, Outline};
use crate::schedule::CronExpr;

/// Seconds of a day.
pub(super) const DAY: i64 = 86_400;

/// Days of a proof: 28 years, after which dates and weekdays repeat within a
/// century, with one leap day more than any 28 years hold.
pub(super) const HORIZON_DAYS: i64 = 28 * 365 + 8;

/// Days of the count `per_year`.
const YEAR_DAYS: i64 = 365;

/// Local dates on either side of the horizon that may name an instant inside
/// it: no zone is more than a day from UTC, and one day more is room for pairs.
const MARGIN_DAYS: i64 = 3;

/// The span of the proof, in whole seconds of UTC.
#[derive(Debug, Clone, Copy)]
pub(super) struct Calendar {
    /// The first second of the proof.
    pub(super) from: i64,
    /// The proof holds before this second.
    pub(super) until: i64,
    /// `per_year` counts what lies before this second.
    pub(super) year_end: i64,
}

impl Calendar {
    /// The horizon from an instant on, and its end.
    pub(super) fn starting(from: DateTime<Utc>) -> (Self, DateTime<Utc>) {
        let until = from
            .checked_add_signed(TimeDelta::days(HORIZON_DAYS))
            .unwrap_or(DateTime::<Utc>::MAX_UTC);
        let first = ceil_second(from);
        let end = ceil_second(until).max(first);
        let year_end = end.min(first + YEAR_DAYS * DAY);
        (
            Self {
                from: first,
                until: end,
                year_end,
            },
            until,
        )
    }

    /// The span itself.
    pub(super) const fn span(&self) -> Range<i64> {
        self.from..self.until
    }

    /// The local dates, as days since 1970, that may matter.
    pub(super) const fn days(&self) -> Range<i64> {
        self.from.div_euclid(DAY) - MARGIN_DAYS..self.until.div_euclid(DAY) + MARGIN_DAYS + 1
    }

    /// The part of a span that lies in the horizon.
    pub(super) fn clip(&self, span: &Range<i64>) -> Range<i64> {
        span.start.max(self.from)..span.end.min(self.until)
    }
}

/// Fire times are whole seconds: one lies at or after an instant when it lies
/// at or after that instant's next whole second.
fn ceil_second(at: DateTime<Utc>) -> i64 {
    at.timestamp() + i64::from(at.timestamp_subsec_nanos() > 0)
}

/// A set of days, counted from 1970.
#[derive(Debug, Clone)]
pub(super) struct DaySet {
    first: i64,
    words: Vec<u64>,
    outline: Outline,
}

impl DaySet {
    /// The days of a range that suit an expression's day fields; the almanac is that of the range.
    pub(super) fn of(expr: &CronExpr, days: &Range<i64>, almanac: &Almanac) -> Self {
        let mut words = Vec::new();
        let mut day = days.start;
        while day < days.end {
            let bits = (0..64)
                .filter(|bit| suits(expr, day + bit))
                .fold(0, |word, bit| word | 1u64 << bit);
            words.push(bits);
            day += 64;
        }
        Self::new(days.start, words, almanac)
    }

    /// The days whose bits are set: bit `n` stands for `first + n`.
    fn new(first: i64, words: Vec<u64>, almanac: &Almanac) -> Self {
        let days = (first..).zip(
            words
                .iter()
                .flat_map(|word| (0..64).map(move |bit| word >> bit & 1)),
        );
        let held = days.filter(|(_, bit)| *bit == 1).map(|(day, _)| day);
        let outline = Outline::of(held, almanac);
        Self {
            first,
            words,
            outline,
        }
    }

    /// Whether a day is in the set; days outside its range are not.
    pub(super) fn contains(&self, day: i64) -> bool {
        self.bits_from(day) & 1 == 1
    }

    /// Membership of 64 days: bit `n` stands for `day + n`.
    pub(super) fn bits_from(&self, day: i64) -> u64 {
        let at = day - self.first;
        let (word, shift) = (at.div_euclid(64), at.rem_euclid(64));
        let low = self.word(word) >> shift;
        if shift == 0 {
            low
        } else {
            low | self.word(word + 1) << (64 - shift)
        }
    }

    fn word(&self, index: i64) -> u64 {
        usize::try_from(index)
            .ok()
            .and_then(|index| self.words.get(index))
            .copied()
            .unwrap_or(0)
    }

    /// The most days of the set that any so many days in a row hold.
    pub(super) fn most_in(&self, days: usize) -> u64 {
        let member = |index: usize| self.words[index / 64] >> (index % 64) & 1;
        let (mut held, mut most) = (0, 0);
        for index in 0..self.words.len() * 64 {
            held += member(index);
            if let Some(left) = index.checked_sub(days) {
                held -= member(left);
            }
            most = most.max(held);
        }
        most
    }

    /// The first day of a range that is in the set.
    pub(super) fn first_in(&self, range: Range<i64>) -> Option<i64> {
        self.first_common(self, 0, range)
    }

    /// The first day of a range that is in this set while the day `shift` days on is in the other.
    pub(super) fn first_common(&self, other: &Self, shift: i64, range: Range<i64>) -> Option<i64> {
        if !self.outline.may_meet(&other.outline, shift) {
            return None;
        }
        let mut day = range.start;
        while day < range.end {
            let bits = self.bits_from(day) & other.bits_from(day + shift);
            if bits != 0 {
                let hit = day + i64::from(bits.trailing_zeros());
                return (hit < range.end).then_some(hit);
            }
            day += 64;
        }
        None
    }
}

fn suits(expr: &CronExpr, day: i64) -> bool {
    date_of(day).is_some_and(|date| expr.matches_day(date))
}

/// The date of a day counted from 1970; `None` beyond chrono's dates.
pub(super) fn date_of(day: i64) -> Option<NaiveDate> {
    DateTime::from_timestamp(day.checked_mul(DAY)?, 0).map(|at| at.date_naive())
}

/// The weekday of a day counted from 1970: 0 is Monday.
pub(super) const fn weekday(day: i64) -> i64 {
    // 1 January 1970 was a Thursday.
    (day + 3).rem_euclid(7)
}

#[cfg(test)]
mod tests {
    use chrono::Datelike as _;

    use super::*;

    fn set(days: &[i64]) -> DaySet {
        let mut words = vec![0u64; 4];
        for day in days {
            let at = usize::try_from(day + 10).unwrap();
            words[at / 64] |= 1 << (at % 64);
        }
        DaySet::new(-10, words, &Almanac::of(&(-10..246)))
    }

    #[test]
    fn days_are_found_across_word_borders_and_outside_counts_as_absent() {
        let days = set(&[-10, 53, 54, 118, 245]);
        assert!(days.contains(-10) && days.contains(54) && !days.contains(55));
        assert!(!days.contains(-11) && !days.contains(246) && !days.contains(100_000));
        assert_eq!(days.first_in(-9..300), Some(53));
        assert_eq!(days.first_in(55..118), None);
        assert_eq!(days.first_in(55..119), Some(118));
        assert_eq!(days.bits_from(53) & 3, 3);
        assert_eq!(days.bits_from(-11) & 3, 2);
    }

    #[test]
    fn most_days_in_a_row_are_counted_in_every_place() {
        let days = set(&[-10, 53, 54, 60, 118, 245]);
        let most: Vec<u64> = [0, 1, 2, 7, 8, 66, 1_000]
            .map(|length| days.most_in(length))
            .to_vec();
        assert_eq!(most, [0, 1, 2, 2, 3, 4, 6]);
    }

    #[test]
    fn common_days_are_found_with_a_shift_either_way() {
        let (one, other) = (set(&[5, 70, 130]), set(&[4, 71, 131]));
        assert_eq!(one.first_common(&other, 0, -10..200), None);
        assert_eq!(one.first_common(&other, 1, -10..200), Some(70));
        assert_eq!(one.first_common(&other, 1, 71..200), Some(130));
        assert_eq!(one.first_common(&other, -1, -10..200), Some(5));
    }

    #[test]
    fn horizon_is_at_least_twenty_eight_years_and_starts_on_a_whole_second() {
        let from = "2026-12-01T00:00:00.5Z".parse::<DateTime<Utc>>().unwrap();
        let (calendar, until) = Calendar::starting(from);
        assert_eq!(calendar.from, from.timestamp() + 1);
        assert!(until >= from.with_year(2054).unwrap());
        assert_eq!(calendar.year_end - calendar.from, 365 * DAY);
    }

    #[test]
    fn horizon_ends_with_the_last_instant_at_hand() {
        let (calendar, until) = Calendar::starting(DateTime::<Utc>::MAX_UTC);
        assert_eq!(until, DateTime::<Utc>::MAX_UTC);
        assert!(calendar.from <= calendar.until);
    }

    #[test]
    fn weekdays_count_from_monday() {
        assert_eq!(weekday(0), 3);
        assert_eq!(weekday(4), 0);
        assert_eq!(weekday(-1), 2);
    }
}
