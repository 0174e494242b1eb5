//! What sets two arms apart, paired by seed.
//!
//! Both arms met the same world in each seed, so that the difference within a
//! seed is the arms' own. How well the relative change is known says a
//! percentile bootstrap interval over seeds: Efron and Tibshirani, *An
//! Introduction to the Bootstrap*, 1993, chapter 13.

use std::cmp::Ordering;

use super::metric::Metric;
use super::score::Score;
use super::summary::Spread;
use super::value::Value;

/// One in 40 resamples lies under a 95 % interval, and one in 40 above.
const TAIL: usize = 40;

/// With fewer seeds than this, resampling them has seen too little of the world: the interval would be far too narrow.
const MIN_SEEDS: usize = 10;

/// Seeds drawn with replacement, many times over. Drawn once, it serves every contrast of arms with these seeds.
///
/// ```
/// use offpeak::trial::Resamples;
///
/// let resamples = Resamples::draw(200, 2_000, &mut || 0.5);
/// assert_eq!(resamples.count(), 2_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resamples {
    seeds: usize,
    count: usize,
    /// The seeds of the first resample, then those of the second, and so on.
    picks: Vec<usize>,
}

impl Resamples {
    /// Draws `count` resamples of this many seeds; each draw is in 0 ≤ d < 1. For a 95 % interval 2,000 are plenty,
    /// and 39 are the least.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a draw is at least 0 and under 1, and is held to the number of seeds"
    )]
    pub fn draw(seeds: usize, count: usize, draw: &mut dyn FnMut() -> f64) -> Self {
        let mut pick = || ((draw() * seeds as f64) as usize).min(seeds - 1);
        let picks = (0..seeds * count).map(|_| pick()).collect();
        Self {
            seeds,
            count,
            picks,
        }
    }

    /// How many resamples there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    fn each(&self) -> impl Iterator<Item = &[usize]> {
        self.picks.chunks_exact(self.seeds.max(1))
    }
}

/// What sets a second arm apart from a first in one figure. Seeds in which either had nothing to measure are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// The figure.
    pub metric: Metric,
    /// The second arm less the first, in each seed.
    ///
    /// [`Value::Beyond`] where only the second was beyond measure, [`Value::Below`] where only the first was.
    pub difference: Spread,
    /// The same as a share of the first, in each seed: -0.59 is 59 % less. A seed in which the first had none has no share.
    pub relative: Spread,
    /// Seeds in which both were beyond measure: whether they differ there is not known, and they are left out above.
    pub beyond: usize,
    /// The change over all seeds; `None` if a seed was beyond measure, or if the first arm had none.
    pub change: Option<Change>,
    /// The means over the seeds that count, of the first arm and of the second; `None` if a seed was beyond measure, or
    /// if no seed had anything.
    pub means: Option<(f64, f64)>,
    /// In how many seeds the second arm did worse: more, or less of a figure of which more is better.
    pub worse: usize,
}

/// By what share a figure changed over all seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The ratio of the means over seeds, less one. Of counts and dollars each piece of work weighs the same in it,
    /// however it falls on seeds; of ratios and spans each seed does.
    pub estimate: f64,
    /// Where the estimate lies in 95 of 100 resamples; `None` with under 10 seeds, or without resamples of them.
    pub interval: Option<Interval>,
}

/// An interval; its ends are among the resamples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: Value,
    /// Its upper end; [`Value::Beyond`] if the first arm had none in too many resamples.
    pub high: Value,
}

impl Contrast {
    /// Sets `second` apart from `first`. The scores stand in the order of the same seeds; seeds at the end that only one
    /// of them has are left out.
    ///
    /// ```
    /// use offpeak::trial::{Contrast, Log, Metric, Opening, Resamples, Score, Value};
    ///
    /// let openings = |count| {
    ///     let opening = Opening { at_ms: 0, is_false: false };
    ///     Score::of(&Log { openings: vec![opening; count], ..Log::default() })
    /// };
    /// let (first, second) = ([openings(10), openings(20)], [openings(6), openings(6)]);
    /// let none = Resamples::draw(2, 0, &mut || 0.0);
    /// let contrast = Contrast::of(Metric::Openings, &first, &second, &none);
    /// assert_eq!(contrast.difference.least, Value::Measured(-14.0));
    /// assert_eq!(contrast.change.unwrap().estimate, 12.0 / 30.0 - 1.0);
    /// ```
    #[must_use]
    pub fn of(metric: Metric, first: &[Score], second: &[Score], resamples: &Resamples) -> Self {
        let pairs: Vec<(Value, Value)> = first
            .iter()
            .zip(second)
            .map(|(first, second)| (first.get(metric), second.get(metric)))
            .collect();
        let are_beyond = |pair: &&(Value, Value)| **pair == (Value::Beyond, Value::Beyond);
        Self {
            metric,
            difference: Spread::of(pairs.iter().map(|pair| difference(*pair))),
            relative: Spread::of(pairs.iter().map(|pair| relative(*pair))),
            beyond: pairs.iter().filter(are_beyond).count(),
            change: change(&pairs, resamples),
            means: means(&pairs),
            worse: pairs.iter().filter(|pair| is_worse(metric, **pair)).count(),
        }
    }

    /// Sets them apart in every figure.
    #[must_use]
    pub fn all(first: &[Score], second: &[Score], resamples: &Resamples) -> Vec<Self> {
        let metrics = Metric::ALL.iter();
        metrics
            .map(|metric| Self::of(*metric, first, second, resamples))
            .collect()
    }
}

fn difference(pair: (Value, Value)) -> Value {
    use Value::{Below, Beyond, Measured, Nothing};

    match pair {
        (Measured(first), Measured(second)) => Measured(second - first),
        (Measured(_), Beyond) => Beyond,
        (Beyond, Measured(_)) => Below,
        // No score is below: that is a difference alone.
        (Beyond, Beyond) | (Nothing | Below, _) | (_, Nothing | Below) => Nothing,
    }
}

fn relative(pair: (Value, Value)) -> Value {
    match (pair.0, difference(pair)) {
        (Value::Measured(first), _) if first <= 0.0 => Value::Nothing,
        (Value::Measured(first), Value::Measured(more)) => Value::Measured(more / first),
        (_, other) => other,
    }
}

fn change(pairs: &[(Value, Value)], resamples: &Resamples) -> Option<Change> {
    let mut known = 0;
    let mut numbers = Vec::with_capacity(pairs.len());
    for pair in pairs {
        // A seed that is left out adds nothing to either sum.
        let (first, second) = match *pair {
            (Value::Nothing, _) | (_, Value::Nothing) => (0.0, 0.0),
            (first, second) => {
                known += 1;
                (first.measured()?, second.measured()?)
            }
        };
        numbers.push((first, second));
    }
    let estimate = of_sums(numbers.iter())?;
    let has_enough = known >= MIN_SEEDS && resamples.seeds == pairs.len();
    let interval = has_enough.then(|| interval(&numbers, resamples)).flatten();
    Some(Change { estimate, interval })
}

fn means(pairs: &[(Value, Value)]) -> Option<(f64, f64)> {
    let is_known = |pair: &&(Value, Value)| pair.0 != Value::Nothing && pair.1 != Value::Nothing;
    let (mut first, mut second, mut count) = (0.0, 0.0, 0.0);
    for pair in pairs.iter().filter(is_known) {
        first += pair.0.measured()?;
        second += pair.1.measured()?;
        count += 1.0;
    }
    (count > 0.0).then(|| (first / count, second / count))
}

fn is_worse(metric: Metric, pair: (Value, Value)) -> bool {
    let zero = Value::Measured(0.0);
    let worse = if metric.is_better_high() {
        Ordering::Less
    } else {
        Ordering::Greater
    };
    difference(pair).rank_against(zero) == Some(worse)
}

/// The ratio of the sums, which is that of the means, less one; `None` if the first sum is zero.
fn of_sums<'a>(pairs: impl Iterator<Item = &'a (f64, f64)>) -> Option<f64> {
    let add = |sum: (f64, f64), pair: &(f64, f64)| (sum.0 + pair.0, sum.1 + pair.1);
    let (first, second) = pairs.fold((0.0, 0.0), add);
    (first > 0.0).then(|| second / first - 1.0)
}

/// The k-th lowest and the k-th highest of B resamples, with k = ⌊(B + 1) / 40⌋ as Efron and Tibshirani count.
fn interval(numbers: &[(f64, f64)], resamples: &Resamples) -> Option<Interval> {
    let mut changes: Vec<Value> = resamples
        .each()
        .map(|picks| {
            of_sums(picks.iter().map(|at| &numbers[*at]))
                // A resample without any in the first arm bounds nothing from above.
                .map_or(Value::Beyond, Value::Measured)
        })
        .collect();
    changes.sort_unstable_by(Value::order);
    let outside = ((changes.len() + 1) / TAIL).checked_sub(1)?;
    Some(Interval {
        low: *changes.get(outside)?,
        high: *changes.get(changes.len() - 1 - outside)?,
    })
}

#[cfg(test)]
mod tests;
