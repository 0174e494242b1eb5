//! Sets of work while it is counted: by kind, hour and day. Every other way is a sum of those of the kinds.

use chrono::{DateTime, Utc};

use super::kinds::Kind;
use super::{NONE, Tally};
use crate::report::figures::{By, Figures};

const HOUR_MS: i64 = 3_600_000;

/// Japan has not changed its clocks since 1951.
const JST_MS: i64 = 9 * HOUR_MS;

const DAY_MS: i64 = 24 * HOUR_MS;

/// The first days of 2106, where the seconds of a sample end.
const LAST_DAY: i64 = 49_711;

/// Numbers of a kind, an hour of the day and a day.
pub(super) type Keys = [u32; 3];

/// The figures of every set.
#[derive(Debug, Default)]
pub(super) struct Sets([Vec<Figures>; 3]);

/// The days in Japan that occur, numbered. Instants before 1970 and after 2105 count to the first and the last of them.
#[derive(Debug, Default)]
pub(super) struct Days {
    numbers: Vec<u16>,
    order: Vec<u16>,
}

/// A day that has no number.
const UNKNOWN: u16 = u16::MAX;

impl Sets {
    /// Does the same to each set that these keys name.
    pub(super) fn each(&mut self, keys: Keys, change: impl Fn(&mut Figures)) {
        for (figures, key) in self.0.iter_mut().zip(keys) {
            let at = key as usize;
            if figures.len() <= at {
                figures.resize_with(at + 1, Figures::default);
            }
            change(&mut figures[at]);
        }
    }
}

impl Days {
    /// The keys of work of a kind at an instant.
    pub(super) fn keys(&mut self, kind: u32, at_ms: i64) -> Keys {
        [kind, hour(at_ms).into(), self.number(at_ms).into()]
    }

    /// The number of the day of an instant, a new one if need be.
    pub(super) fn number(&mut self, at_ms: i64) -> u16 {
        let day = day(at_ms);
        let at = usize::from(day);
        if self.numbers.len() <= at {
            self.numbers.resize(at + 1, UNKNOWN);
        }
        if self.numbers[at] == UNKNOWN {
            self.numbers[at] = u16::try_from(self.order.len()).unwrap_or(UNKNOWN);
            self.order.push(day);
        }
        self.numbers[at]
    }

    /// The number of a day that has one.
    pub(super) fn find(&self, at_ms: i64) -> u16 {
        let number = self.numbers.get(usize::from(day(at_ms)));
        number.copied().unwrap_or(UNKNOWN)
    }

    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        self.order.len()
    }

    /// Such as `2026-12-01`.
    fn name(&self, number: u16) -> String {
        let day = self
            .order
            .get(usize::from(number))
            .copied()
            .unwrap_or_default();
        let at: Option<DateTime<Utc>> = DateTime::from_timestamp(i64::from(day) * 86_400, 0);
        at.unwrap_or_default().format("%Y-%m-%d").to_string()
    }
}

/// The hour of the day in Japan.
pub(super) fn hour(at_ms: i64) -> u8 {
    let hours = (at_ms + JST_MS).div_euclid(HOUR_MS);
    u8::try_from(hours.rem_euclid(24)).unwrap_or_default()
}

/// The day in Japan, counted from the first of 1970.
fn day(at_ms: i64) -> u16 {
    let days = (at_ms + JST_MS).div_euclid(DAY_MS).clamp(0, LAST_DAY);
    u16::try_from(days).unwrap_or_default()
}

/// The sets of one way, with their names, once all is counted: the index of each is its number.
pub(super) fn of_way(tally: &Tally, by: By) -> Vec<(String, Figures)> {
    let [kinds, hours, days] = &tally.sets.0;
    let count = match by {
        By::Group | By::Job | By::Model => tally.names[by.index()].len(),
        By::Hour => 24,
        By::Day => tally.days.len(),
    };
    let name = |at: u32| match by {
        By::Group | By::Job | By::Model => tally.names[by.index()]
            .get(at)
            .unwrap_or_default()
            .to_owned(),
        By::Hour => format!("{at:02}"),
        By::Day => tally.days.name(u16::try_from(at).unwrap_or(UNKNOWN)),
    };
    let mut sets: Vec<_> = (0..)
        .take(count)
        .map(|at| (name(at), Figures::default()))
        .collect();
    let mut add = |at: u32, figures: &Figures| {
        if let Some((_, sum)) = sets.get_mut(at as usize) {
            sum.add(figures);
        }
    };
    match by {
        By::Group | By::Job | By::Model => {
            for (number, figures) in (0..).zip(kinds) {
                add(tally.kinds.get(number).of(by), figures);
            }
        }
        By::Hour => (0..).zip(hours).for_each(|(at, it)| add(at, it)),
        By::Day => (0..).zip(days).for_each(|(at, it)| add(at, it)),
    }
    sets
}

/// The figures of everything.
pub(super) fn total(tally: &Tally) -> Figures {
    let [kinds, _, _] = &tally.sets.0;
    let mut total = Figures::default();
    for figures in kinds {
        total.add(figures);
    }
    total
}

impl Kind {
    /// The number of its group, job or model.
    const fn of(self, by: By) -> u32 {
        match by {
            By::Group => self.group,
            By::Job => self.job,
            By::Model => self.model,
            // These belong to an instant, not to a kind.
            By::Hour | By::Day => NONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(text: &str) -> i64 {
        text.parse::<DateTime<Utc>>().unwrap().timestamp_millis()
    }

    #[test]
    fn day_and_hour_turn_at_midnight_in_japan() {
        let mut days = Days::default();
        for (at, expected) in [
            ("2026-12-01T14:59:59.999Z", ("2026-12-01", 23)),
            ("2026-12-01T15:00:00Z", ("2026-12-02", 0)),
            ("1969-12-31T14:00:00Z", ("1970-01-01", 23)),
            ("2262-01-01T00:00:00Z", ("2106-02-08", 9)),
        ] {
            let number = days.number(ms(at));
            assert_eq!((days.name(number).as_str(), hour(ms(at))), expected, "{at}");
        }
    }

    #[test]
    fn days_are_numbered_as_they_come() {
        let mut days = Days::default();
        let (late, early) = (ms("2026-12-05T00:00:00Z"), ms("2026-12-01T00:00:00Z"));
        assert_eq!((days.number(late), days.number(early)), (0, 1));
        assert_eq!((days.number(late), days.find(early), days.len()), (0, 1, 2));
    }
}
