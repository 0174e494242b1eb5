//! Which dates an expression matches.
//!
//! Within a month everything depends on two things only: how many days it has
//! and the weekday of its first. There are 28 such shapes, so a rule is worked
//! out once for each and a date costs one look-up.

use std::fmt::Write as _;

use chrono::{Datelike as _, NaiveDate};

use super::field::{Mark, Parsed};

/// The dates that month and day fields name together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DayRule {
    /// Bit `m` for month `m + 1`.
    months: u16,
    /// By length less 28, then by the weekday of the first (Sunday is 0): bit `d` for day `d + 1`.
    shapes: [[u32; 7]; 4],
}

/// A month as a day rule sees it.
#[derive(Clone, Copy)]
struct Month {
    length: u32,
    /// Sunday is 0.
    first_weekday: u32,
}

/// The two day fields as bit sets.
#[derive(Clone, Copy)]
struct DayFields {
    /// Days of the month, bit `d` for day `d + 1`.
    dates: u32,
    /// Days of the month whose nearest working day counts.
    nearest: u32,
    last_day: bool,
    last_working_day: bool,
    /// Days of the week, bit 0 for Sunday.
    weekdays: u32,
    /// The same, for the first to fifth of the month.
    nth: [u32; 5],
    /// The same, for the last of the month.
    last: u32,
    /// Vixie: one of the fields starts with `*`, so both must match; otherwise either.
    both: bool,
}

/// The rule of three fields, and its normal form as text.
pub(super) fn rule(dates: &Parsed, months: &Parsed, weekdays: &Parsed) -> (DayRule, String) {
    let fields = DayFields::new(dates, weekdays);
    let month_bits = months
        .values()
        .iter()
        .fold(0_u16, |bits, month| bits | 1 << (month - 1));
    let mut shapes = [[0; 7]; 4];
    for (length, row) in (28..).zip(&mut shapes) {
        for (first_weekday, days) in (0..).zip(row) {
            *days = fields.days_of(Month {
                length,
                first_weekday,
            });
        }
    }
    (
        DayRule {
            months: month_bits,
            shapes,
        },
        fields.key(month_bits),
    )
}

impl DayRule {
    pub(super) fn matches(&self, date: NaiveDate) -> bool {
        let first_weekday = (date.weekday().num_days_from_sunday() + 35 - date.day0()) % 7;
        let month = Month {
            length: days_in_month(date.year(), date.month0()),
            first_weekday,
        };
        self.days_of(date.month0(), month) >> date.day0() & 1 == 1
    }

    /// Whether a month, counted from 0, is named.
    pub(super) const fn names_month(&self, month0: u32) -> bool {
        self.months >> month0 & 1 == 1
    }

    /// The first epoch day in `first..=last` that matches. Walks months, not days.
    pub(super) fn first_in(&self, first: i32, last: i32) -> Option<i32> {
        let start = NaiveDate::from_epoch_days(first)?;
        let (mut year, mut month0) = (start.year(), start.month0());
        // Days before the start do not count in its month.
        let mut allowed = u32::MAX << start.day0();
        let mut month_start = first - start.day0().cast_signed();
        while month_start <= last {
            let length = days_in_month(year, month0);
            // Day 0 of the epoch was a Thursday.
            let first_weekday = (month_start + 4).rem_euclid(7).cast_unsigned();
            let days = self.days_of(
                month0,
                Month {
                    length,
                    first_weekday,
                },
            ) & allowed;
            if days != 0 {
                let found = month_start + days.trailing_zeros().cast_signed();
                return (found <= last).then_some(found);
            }
            allowed = u32::MAX;
            month_start += length.cast_signed();
            (year, month0) = if month0 == 11 {
                (year + 1, 0)
            } else {
                (year, month0 + 1)
            };
        }
        None
    }

    fn days_of(&self, month0: u32, month: Month) -> u32 {
        if !self.names_month(month0) {
            return 0;
        }
        self.shapes[(month.length - 28) as usize][month.first_weekday as usize]
    }
}

impl DayFields {
    fn new(dates: &Parsed, weekdays: &Parsed) -> Self {
        let days = |mark| {
            dates
                .marked(mark)
                .iter()
                .fold(0_u32, |bits, day| bits | 1 << (day - 1))
        };
        let week = |mark| {
            weekdays
                .marked(mark)
                .iter()
                .fold(0_u32, |bits, day| bits | 1 << (day % 7))
        };
        Self {
            dates: days(Mark::Plain),
            nearest: days(Mark::Nearest),
            last_day: dates.has_last_day,
            last_working_day: dates.has_last_working_day,
            weekdays: week(Mark::Plain),
            nth: [1, 2, 3, 4, 5].map(|n| week(Mark::Nth(n))),
            last: week(Mark::Last),
            both: dates.starts_with_star || weekdays.starts_with_star,
        }
    }

    fn days_of(&self, month: Month) -> u32 {
        let dates = self.by_date(month);
        let weekdays = self.by_weekday(month);
        let days = if self.both {
            dates & weekdays
        } else {
            dates | weekdays
        };
        days & ALL_DATES >> (31 - month.length)
    }

    fn by_date(&self, month: Month) -> u32 {
        let mut days = self.dates;
        if self.last_day {
            days |= 1 << (month.length - 1);
        }
        if self.last_working_day {
            days |= 1 << (last_working_day(month) - 1);
        }
        for day in (1..=month.length).filter(|day| self.nearest >> (day - 1) & 1 == 1) {
            days |= 1 << (nearest_working_day(month, day) - 1);
        }
        days
    }

    fn by_weekday(&self, month: Month) -> u32 {
        let mut days = 0;
        for day0 in 0..month.length {
            let weekday = (month.first_weekday + day0) % 7;
            let mut named = self.weekdays | self.nth[(day0 / 7) as usize];
            if day0 + 7 >= month.length {
                named |= self.last;
            }
            days |= (named >> weekday & 1) << day0;
        }
        days
    }

    /// Equal keys mean equal day sets; a few spellings of one set have different keys.
    fn key(&self, months: u16) -> String {
        let mut key = String::new();
        if months != ALL_MONTHS {
            let _ = write!(key, "m{months:x} ");
        }
        let every_date = self.dates == ALL_DATES;
        let every_weekday = self.weekdays == ALL_WEEKDAYS;
        match (self.both, every_date, every_weekday) {
            (true, true, true) | (false, true, _) | (false, _, true) => key.push('*'),
            (true, true, false) => self.write_weekdays(&mut key),
            (true, false, true) => self.write_dates(&mut key),
            (both, false, false) => {
                self.write_dates(&mut key);
                key.push(if both { '&' } else { '|' });
                self.write_weekdays(&mut key);
            }
        }
        key
    }

    fn write_dates(&self, key: &mut String) {
        let _ = write!(key, "d{:x}w{:x}", self.dates, self.nearest);
        key.push_str(if self.last_day { "L" } else { "" });
        key.push_str(if self.last_working_day { "LW" } else { "" });
    }

    fn write_weekdays(&self, key: &mut String) {
        let [first, second, third, fourth, fifth] = self.nth;
        let _ = write!(
            key,
            "d{:x}#{first:x}.{second:x}.{third:x}.{fourth:x}.{fifth:x}L{:x}",
            self.weekdays, self.last
        );
    }
}

const ALL_DATES: u32 = (1 << 31) - 1;
const ALL_WEEKDAYS: u32 = (1 << 7) - 1;
const ALL_MONTHS: u16 = (1 << 12) - 1;

const SUNDAY: u32 = 0;
const SATURDAY: u32 = 6;

fn weekday_of(month: Month, day: u32) -> u32 {
    (month.first_weekday + day - 1) % 7
}

/// `LW`: the last day from Monday to Friday.
fn last_working_day(month: Month) -> u32 {
    match weekday_of(month, month.length) {
        SATURDAY => month.length - 1,
        SUNDAY => month.length - 2,
        _ => month.length,
    }
}

/// `15W`: the nearest day from Monday to Friday in the same month.
fn nearest_working_day(month: Month, day: u32) -> u32 {
    match weekday_of(month, day) {
        SATURDAY if day == 1 => 3,
        SATURDAY => day - 1,
        SUNDAY if day == month.length => day - 2,
        SUNDAY => day + 1,
        _ => day,
    }
}

fn days_in_month(year: i32, month0: u32) -> u32 {
    const LENGTHS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    LENGTHS[month0 as usize] + u32::from(month0 == 1 && is_leap)
}
