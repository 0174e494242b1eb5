//! How the figures of an arm spread over its seeds.

use super::metric::Metric;
use super::score::Score;
use super::value::Value;
use crate::report::rank;

/// How one figure spreads over seeds, by nearest rank: every value is one of a seed.
///
/// Seeds in which there was nothing to measure are left out; [`Value::Beyond`] ranks above all, so that a median may be
/// beyond measure.
///
/// ```
/// use offpeak::trial::{Spread, Value};
///
/// let seeds = [3.0, 1.0, 2.0].map(Value::Measured);
/// let spread = Spread::of(seeds.into_iter().chain([Value::Beyond, Value::Nothing]));
/// assert_eq!((spread.seeds, spread.measured), (5, 4));
/// assert_eq!((spread.median, spread.most), (Value::Measured(2.0), Value::Beyond));
/// assert_eq!(Spread::of([]).median, Value::Nothing);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// How many seeds there are.
    pub seeds: usize,
    /// In how many seeds there was something to measure.
    pub measured: usize,
    /// The least.
    pub least: Value,
    /// 5 of 100 seeds have no more.
    pub p05: Value,
    /// A quarter of the seeds has no more.
    pub low: Value,
    /// Half of the seeds have no more.
    pub median: Value,
    /// Three quarters of the seeds have no more.
    pub high: Value,
    /// 95 of 100 seeds have no more.
    pub p95: Value,
    /// The most.
    pub most: Value,
}

impl Spread {
    /// The spread of the values of seeds.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = Value>) -> Self {
        let mut values: Vec<Value> = values.into_iter().collect();
        let seeds = values.len();
        values.retain(|value| *value != Value::Nothing);
        values.sort_unstable_by(Value::order);
        let at = |percent| {
            let value = values.get(rank(percent, values.len()));
            value.copied().unwrap_or(Value::Nothing)
        };
        Self {
            seeds,
            measured: values.len(),
            least: at(0),
            p05: at(5),
            low: at(25),
            median: at(50),
            high: at(75),
            p95: at(95),
            most: at(100),
        }
    }

    /// Whether every seed that had something to measure had the same.
    #[must_use]
    pub fn is_one_value(&self) -> bool {
        self.least == self.most
    }
}

/// The spreads of all figures of an arm.
///
/// ```
/// use offpeak::trial::{Log, Metric, Score, Summary, Value};
///
/// let summary = Summary::of(&[Score::of(&Log::default())]);
/// assert_eq!(summary.seeds(), 1);
/// assert_eq!(summary.spread(Metric::Lost).median, Value::Measured(0.0));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    seeds: usize,
    spreads: [Spread; Metric::ALL.len()],
}

impl Summary {
    /// The spreads over these seeds; their order does not matter.
    #[must_use]
    pub fn of(scores: &[Score]) -> Self {
        Self {
            seeds: scores.len(),
            spreads: std::array::from_fn(|at| {
                Spread::of(scores.iter().map(|score| score.get(Metric::ALL[at])))
            }),
        }
    }

    /// How many seeds there are.
    #[must_use]
    pub const fn seeds(&self) -> usize {
        self.seeds
    }

    /// How a figure spreads.
    #[must_use]
    pub const fn spread(&self, metric: Metric) -> &Spread {
        &self.spreads[metric as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Log;

    fn spread(numbers: impl IntoIterator<Item = u32>) -> Spread {
        Spread::of(
            numbers
                .into_iter()
                .map(|number| Value::Measured(number.into())),
        )
    }

    #[test]
    fn ranks_are_the_nearest_at_or_above() {
        let of_twenty = spread((1..=20).rev());
        let numbers = |it: &Spread| {
            [
                it.least, it.p05, it.low, it.median, it.high, it.p95, it.most,
            ]
        };
        let expected = |numbers: [f64; 7]| numbers.map(Value::Measured);
        assert_eq!(
            numbers(&of_twenty),
            expected([1.0, 1.0, 5.0, 10.0, 15.0, 19.0, 20.0])
        );
        let of_twenty_one = spread(1..=21);
        assert_eq!(
            numbers(&of_twenty_one),
            expected([1.0, 2.0, 6.0, 11.0, 16.0, 20.0, 21.0])
        );
        assert_eq!(numbers(&spread([7])), expected([7.0; 7]));
    }

    #[test]
    fn half_beyond_measure_keeps_the_median_and_more_than_half_does_not() {
        let with = |beyond: usize| {
            let numbers = [1.0, 2.0].map(Value::Measured);
            Spread::of(
                numbers
                    .into_iter()
                    .chain(std::iter::repeat_n(Value::Beyond, beyond)),
            )
        };
        assert_eq!(with(2).median, Value::Measured(2.0));
        assert_eq!(with(3).median, Value::Beyond);
        assert_eq!(with(0).most, Value::Measured(2.0));
    }

    #[test]
    fn seeds_with_nothing_to_measure_are_left_out() {
        let mut scores = vec![Score::of(&Log::default()); 3];
        scores[1].set(Metric::MeanAttempts, Value::Measured(2.0));
        let summary = Summary::of(&scores);
        assert_eq!(summary.seeds(), 3);
        let mean = summary.spread(Metric::MeanAttempts);
        assert_eq!((mean.seeds, mean.measured), (3, 1));
        assert_eq!(mean.median, Value::Measured(2.0));
        assert_eq!(summary.spread(Metric::CallP50).measured, 0);
        assert_eq!(summary.spread(Metric::CallP50).median, Value::Nothing);
        assert_eq!(summary.spread(Metric::Lost).measured, 3, "a count is there");
    }

    #[test]
    fn one_value_is_told_from_several() {
        assert!(spread([4, 4]).is_one_value());
        assert!(!spread([4, 5]).is_one_value());
    }
}
