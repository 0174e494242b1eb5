//! What befalls the upstream as a whole, drawn from the seed before any client runs.

use std::ops::Range;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::chance::{Chance, Question};
use super::model::WorldModel;
use crate::schedule::PeakWindows;

const HOUR_MS: i64 = 3_600_000;

/// So many hours before the span are drawn at least: what began there may reach into it.
const BEFORE: i64 = 48;

/// And so many times the median length: with the default spread one spell in a hundred lasts longer.
const LENGTHS: i64 = 8;

/// No hour has more beginnings of one kind.
const MOST_AN_HOUR: u32 = 1000;

/// A kind of trouble.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Overload = 1,
    Congestion = 2,
}

/// When the upstream is unwell; instants are milliseconds since the start of the span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weather {
    overload: Vec<Range<i64>>,
    congestion: Vec<Range<i64>>,
}

impl Weather {
    /// The weather of so many hours from an instant on.
    #[must_use]
    pub(super) fn draw(
        world: &WorldModel,
        peaks: &PeakWindows,
        chance: Chance,
        (start, hours): (DateTime<Utc>, i64),
    ) -> Self {
        let first_hour = start.timestamp().div_euclid(HOUR_MS / 1000);
        let start_ms = start.timestamp_millis();
        let is_peak = |at_ms: i64| peaks.is_peak(start + TimeDelta::milliseconds(at_ms));
        let drawn = |kind, rate: f64, factor: f64, length: (Duration, f64)| {
            let lasts = i64::try_from(length.0.as_secs().div_ceil(3600)).unwrap_or(0);
            let before = BEFORE.max(lasts * LENGTHS);
            // Drawn at the highest rate and thinned by the rate of the moment: Lewis and Shedler, 1979.
            let highest = factor.max(1.0);
            let mut spells = Vec::new();
            for hour in first_hour - before..=first_hour + hours {
                let all = of_hour(chance, (kind, hour), rate * highest / 24.0, length);
                spells.extend(all.into_iter().filter_map(|spell| {
                    let begin = spell.start_ms - start_ms;
                    let rate = if is_peak(begin) { factor } else { 1.0 };
                    (spell.draw * highest < rate).then(|| begin..begin + spell.lasts_ms)
                }));
            }
            merged(spells)
        };
        let (overload, congestion) = (&world.overload, &world.congestion);
        Self {
            overload: drawn(
                Kind::Overload,
                overload.per_day,
                world.peaks.overload,
                (overload.lasts, overload.spread),
            ),
            congestion: drawn(
                Kind::Congestion,
                congestion.per_day,
                world.peaks.congestion,
                (congestion.lasts, congestion.spread),
            ),
        }
    }

    /// Whether requests are refused with 529 now.
    #[must_use]
    pub fn is_overloaded(&self, at_ms: i64) -> bool {
        holds(&self.overload, at_ms)
    }

    /// Whether others take a part of the limit now.
    #[must_use]
    pub fn is_congested(&self, at_ms: i64) -> bool {
        holds(&self.congestion, at_ms)
    }
}

/// A spell that may come to be.
struct Spell {
    /// Milliseconds since 1970.
    start_ms: i64,
    lasts_ms: i64,
    /// Decides whether it comes to be; 0 ≤ `draw` < 1.
    draw: f64,
}

/// The spells of one kind that may begin in an hour, counted from 1970: whoever looks at that hour sees the same.
fn of_hour(
    chance: Chance,
    (kind, hour): (Kind, i64),
    rate: f64,
    (lasts, spread): (Duration, f64),
) -> Vec<Spell> {
    let name = hour.cast_unsigned() ^ ((kind as u64) << 56);
    let count = poisson(rate, chance.draw(Question::Count, (name, 0)));
    let spell = |which: u32| {
        let what = (name, which.into());
        let factor = (spread * chance.normal(Question::Length, what)).exp();
        Spell {
            start_ms: HOUR_MS * hour + whole(chance.draw(Question::Start, what) * HOUR_MS as f64),
            lasts_ms: whole(lasts.as_secs_f64() * 1000.0 * factor),
            draw: chance.draw(Question::Keep, what),
        }
    };
    (0..count).map(spell).collect()
}

/// How many of a mean there are for a draw, by inversion.
fn poisson(mean: f64, draw: f64) -> u32 {
    let mut probability = (-mean).exp();
    let mut sum = probability;
    let mut count = 0;
    while draw >= sum && count < MOST_AN_HOUR {
        count += 1;
        probability *= mean / f64::from(count);
        sum += probability;
    }
    count
}

/// In order, those that touch made one.
fn merged(mut spells: Vec<Range<i64>>) -> Vec<Range<i64>> {
    spells.sort_unstable_by_key(|spell| spell.start);
    let mut merged: Vec<Range<i64>> = Vec::with_capacity(spells.len());
    for spell in spells {
        match merged.last_mut() {
            Some(last) if spell.start <= last.end => last.end = last.end.max(spell.end),
            Some(_) | None => merged.push(spell),
        }
    }
    merged
}

fn holds(spells: &[Range<i64>], at: i64) -> bool {
    let after = spells.partition_point(|spell| spell.start <= at);
    let last = after.checked_sub(1).and_then(|last| spells.get(last));
    last.is_some_and(|spell| spell.contains(&at))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast from float saturates, and no span of a world comes near"
)]
fn whole(value: f64) -> i64 {
    value as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weather(world: &WorldModel, seed: u64) -> Weather {
        let start = "2026-12-01T00:00:00Z".parse().unwrap();
        let peaks = world.peaks.windows().unwrap();
        Weather::draw(world, &peaks, Chance::new(seed), (start, 24 * 100))
    }

    fn in_span(spells: &[Range<i64>]) -> usize {
        spells.iter().filter(|spell| spell.start >= 0).count()
    }

    #[test]
    fn spells_are_as_frequent_as_the_world_says() {
        let mut world = WorldModel::default();
        world.overload.per_day = 2.0;
        world.peaks.overload = 1.0;
        world.overload.lasts = Duration::from_secs(1);
        let spells: usize = (0..20)
            .map(|seed| in_span(&weather(&world, seed).overload))
            .sum();
        let a_day = spells as f64 / 2000.0;
        assert!((a_day - 2.0).abs() < 0.1, "{a_day}");
    }

    #[test]
    fn peaks_have_more_of_them() {
        let mut world = WorldModel::default();
        world.peaks.overload = 10.0;
        world.overload.lasts = Duration::from_secs(1);
        let peaks = world.peaks.windows().unwrap();
        let start: DateTime<Utc> = "2026-12-01T00:00:00Z".parse().unwrap();
        let (mut inside, mut outside) = (0.0, 0.0);
        for seed in 0..20 {
            for spell in weather(&world, seed).overload {
                if peaks.is_peak(start + TimeDelta::milliseconds(spell.start)) {
                    inside += 1.0;
                } else {
                    outside += 1.0;
                }
            }
        }
        // Seven hours of a day are peak.
        let ratio: f64 = (inside / 7.0) / (outside / 17.0);
        assert!((8.0..12.0).contains(&ratio), "{ratio}");
    }

    /// A start at any minute sees the same weather as one at the full hour.
    #[test]
    fn weather_belongs_to_the_hour_and_not_to_the_start() {
        let world = WorldModel::default();
        let peaks = world.peaks.windows().unwrap();
        let of = |start: &str| {
            let start: DateTime<Utc> = start.parse().unwrap();
            let weather = Weather::draw(&world, &peaks, Chance::new(4), (start, 24 * 20));
            let at = |ms: i64| start + TimeDelta::milliseconds(ms);
            let spells = weather.overload.into_iter();
            spells
                .map(|spell| (at(spell.start), at(spell.end)))
                .collect::<Vec<_>>()
        };
        let (full, later) = (of("2026-12-01T00:00:00Z"), of("2026-12-01T00:37:11Z"));
        let after = |spells: Vec<(DateTime<Utc>, DateTime<Utc>)>| {
            let from = "2026-12-01T02:00:00Z".parse::<DateTime<Utc>>().unwrap();
            let until = "2026-12-20T00:00:00Z".parse::<DateTime<Utc>>().unwrap();
            let inside = spells
                .into_iter()
                .filter(|(begin, _)| (from..until).contains(begin));
            inside.collect::<Vec<_>>()
        };
        let (full, later) = (after(full), after(later));
        assert!(full.len() > 5, "{}", full.len());
        assert_eq!(full, later);
    }

    /// Long spells began long ago: the first day must not be better off than the tenth.
    #[test]
    fn first_day_has_as_much_trouble_as_any_other() {
        let mut world = WorldModel::default();
        world.overload.lasts = Duration::from_hours(48);
        (world.overload.per_day, world.overload.spread) = (0.1, 0.5);
        let (mut first, mut tenth) = (0, 0);
        for seed in 0..300 {
            let weather = weather(&world, seed);
            for hour in 0..24 {
                first += u32::from(weather.is_overloaded(hour * HOUR_MS));
                tenth += u32::from(weather.is_overloaded((hour + 24 * 9) * HOUR_MS));
            }
        }
        let ratio = f64::from(first) / f64::from(tenth);
        assert!((0.8..1.25).contains(&ratio), "{first} {tenth}");
    }

    #[test]
    fn half_of_the_spells_are_shorter_than_the_median() {
        let world = WorldModel::default();
        let median = world.overload.lasts.as_millis();
        let lengths = (0..50).flat_map(|seed| weather(&world, seed).overload);
        let lengths: Vec<i64> = lengths.map(|spell| spell.end - spell.start).collect();
        let short = lengths
            .iter()
            .filter(|length| u128::from(length.cast_unsigned()) < median);
        let share = short.count() as f64 / lengths.len() as f64;
        assert!((share - 0.5).abs() < 0.05, "{share}");
    }

    #[test]
    fn spell_holds_from_its_start_to_before_its_end() {
        let spells = [10..20, 30..40];
        let held: Vec<i64> = (0..50).filter(|at| holds(&spells, *at)).collect();
        let expected: Vec<i64> = (10..20).chain(30..40).collect();
        assert_eq!(held, expected);
    }

    #[test]
    fn spells_that_touch_are_one() {
        assert_eq!(merged(vec![5..9, 1..3, 3..4, 8..12]), [1..4, 5..12]);
    }

    #[test]
    fn well_world_has_none_and_dead_world_no_end() {
        let well = weather(&WorldModel::default().well(), 1);
        assert!(well.overload.is_empty() && well.congestion.is_empty());
        let dead = weather(&WorldModel::default().dead(), 1);
        assert!((0..24 * 100).all(|hour| dead.is_overloaded(hour * HOUR_MS)));
    }
}
