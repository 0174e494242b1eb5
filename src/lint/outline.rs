//! What a set of days looks like from afar, so that most sets that never meet need no closer look.

use std::ops::Range;

use chrono::Datelike as _;

use super::calendar::{date_of, weekday};

/// Words of 64 bits that hold twelve months of 31 dates.
const WORDS: usize = 6;

/// Distances in days that are looked at; most pairs of firings are on one local date or on neighbouring ones.
const SHIFTS: [i64; 3] = [0, 1, -1];

/// The dates of the year of every day of a range, each as its place in twelve months of 31 dates.
#[derive(Debug)]
pub(super) struct Almanac {
    first: i64,
    places: Vec<u16>,
}

/// The dates of the year and the weekdays of a set of days.
#[derive(Debug, Clone, Default)]
pub(super) struct Outline {
    /// For each distance, the dates after which, at that distance, a day of the set comes.
    dates: [[u64; WORDS]; SHIFTS.len()],
    /// Bit `n` is set if the set holds a weekday `n`.
    weekdays: u8,
}

impl Almanac {
    /// The dates of these days, counted from 1970.
    pub(super) fn of(days: &Range<i64>) -> Self {
        let place = |day| {
            // Beyond chrono's dates there is none, and no set holds such a day.
            let date = date_of(day).unwrap_or_default();
            u16::try_from(date.month0() * 31 + date.day0()).unwrap_or_default()
        };
        Self {
            first: days.start,
            places: days.clone().map(place).collect(),
        }
    }

    fn place(&self, day: i64) -> Option<usize> {
        let index = usize::try_from(day - self.first).ok()?;
        self.places.get(index).map(|place| usize::from(*place))
    }
}

impl Outline {
    /// The outline of these days.
    pub(super) fn of(days: impl Iterator<Item = i64>, almanac: &Almanac) -> Self {
        let mut outline = Self::default();
        for day in days {
            outline.weekdays |= 1 << weekday(day);
            for (dates, shift) in outline.dates.iter_mut().zip(SHIFTS) {
                if let Some(place) = almanac.place(day - shift) {
                    dates[place / 64] |= 1 << (place % 64);
                }
            }
        }
        outline
    }

    /// Whether some day of this set may have a day of the other `shift` days on; `false` is certain.
    pub(super) fn may_meet(&self, other: &Self, shift: i64) -> bool {
        let meets = |day: i64| {
            let later = (day + shift).rem_euclid(7);
            self.weekdays >> day & other.weekdays >> later & 1 == 1
        };
        (0..7).any(meets) && self.may_meet_by_date(other, shift)
    }

    fn may_meet_by_date(&self, other: &Self, shift: i64) -> bool {
        let Some(at) = SHIFTS.iter().position(|known| *known == shift) else {
            return true;
        };
        let mut both = self.dates[0].iter().zip(&other.dates[at]);
        both.any(|(one, two)| one & two != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::calendar::Calendar;
    use crate::lint::fixture::at;
    use crate::schedule::CronExpr;

    #[test]
    fn sets_that_meet_may_meet() {
        let (calendar, _) = Calendar::starting(at("2026-12-01T00:00:00Z"));
        let days = calendar.days();
        let almanac = Almanac::of(&days);
        let texts = [
            "0 0 28 2 *",
            "0 0 29 2 *",
            "0 0 1 3 *",
            "0 0 31 12 *",
            "0 0 1 1 *",
            "0 0 * * mon",
            "0 0 * * tue",
            "0 0 L * *",
            "0 0 1 * *",
            "0 0 15W * *",
            "0 0 * * *",
            "0 0 30 2 *",
        ];
        let sets = texts.map(|text| {
            let expr = CronExpr::parse(text).unwrap();
            let held: Vec<i64> = days
                .clone()
                .filter(|day| date_of(*day).is_some_and(|date| expr.matches_day(date)))
                .collect();
            let outline = Outline::of(held.iter().copied(), &almanac);
            (held, outline)
        });
        let mut refused = 0;
        for (one, two, shift) in sets.iter().flat_map(|one| {
            sets.iter()
                .flat_map(move |two| (-3..=3).map(move |shift| (one, two, shift)))
        }) {
            let meets = one
                .0
                .iter()
                .any(|day| two.0.binary_search(&(day + shift)).is_ok());
            let may = one.1.may_meet(&two.1, shift);
            assert!(may || !meets, "{:?} {:?} {shift}", one.0, two.0);
            refused += usize::from(!may);
        }
        assert!(refused > 200, "only {refused} were refused");
    }

    #[test]
    fn last_of_february_comes_before_the_first_of_march_and_before_a_leap_day() {
        let days = Calendar::starting(at("2026-12-01T00:00:00Z")).0.days();
        let almanac = Almanac::of(&days);
        let outline = |text: &str| {
            let expr = CronExpr::parse(text).unwrap();
            let held = days
                .clone()
                .filter(|day| date_of(*day).is_some_and(|date| expr.matches_day(date)));
            Outline::of(held, &almanac)
        };
        let [last, leap, first] = ["0 0 28 2 *", "0 0 29 2 *", "0 0 1 3 *"].map(outline);
        assert!(last.may_meet(&leap, 1) && last.may_meet(&first, 1) && first.may_meet(&leap, -1));
        assert!(!last.may_meet(&leap, 0) && !leap.may_meet(&last, 1) && !last.may_meet(&first, -1));
    }
}
