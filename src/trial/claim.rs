//! Whether what somebody measured once is what the simulated seeds show.

use std::fmt;

use super::summary::Spread;

/// A statement about a figure or about a difference between two arms: it lies between two numbers.
///
/// A claim of one number states how far off still counts as the same. A claim of a direction is one with an open end:
/// "p99 drops" is a relative change between minus infinity and a small loss.
///
/// ```
/// use offpeak::trial::{Claim, Spread, Value, Verdict};
///
/// let seeds = Spread::of([4.2, 4.5, 4.7, 6.0].map(Value::Measured));
/// assert_eq!(Claim::about(4.6, 0.2).judge(&seeds), Verdict::Reproduced);
/// assert_eq!(Claim::about(5.8, 0.2).judge(&seeds), Verdict::WithinRange);
/// assert_eq!(Claim::about(9.0, 0.2).judge(&seeds), Verdict::Contradicted);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    low: f64,
    high: f64,
    stated: Option<f64>,
}

/// What the seeds say of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The median over seeds is what the claim says.
    Reproduced,
    /// The median is not, but a seed like the claim is no rarity: what it says lies between the 5th and the 95th of 100
    /// seeds.
    WithinRange,
    /// The seeds cannot tell: in most of them there was nothing to measure, or the figure does not hang on what the
    /// claim is about.
    NotIdentifiable,
    /// The seeds say otherwise.
    Contradicted,
}

impl Claim {
    /// A claim of one number, and how far off still counts as the same; both in the unit of the figure.
    #[must_use]
    pub const fn about(stated: f64, tolerance: f64) -> Self {
        Self {
            low: stated - tolerance,
            high: stated + tolerance,
            stated: Some(stated),
        }
    }

    /// A claim that the figure lies between two numbers, both included; either may be infinite.
    #[must_use]
    pub const fn between(low: f64, high: f64) -> Self {
        Self {
            low,
            high,
            stated: None,
        }
    }

    /// Judges the claim by how the figure spreads over seeds.
    ///
    /// In this order: with nothing to measure in half of the seeds or more, nothing can be told; a median between the
    /// claim's bounds reproduces it; a claim that meets the range from the 5th to the 95th of 100 seeds is within range;
    /// all else contradicts it. The tolerance of a claim of one number widens what reproduces it, never the range. A
    /// median beyond measure is above every number.
    ///
    /// A bootstrap interval has no say: it tells how well the median is known, not what one fortnight may bring, and a
    /// wide one must not make a claim true. That a figure does not hang on what is claimed cannot be seen in its
    /// numbers: whoever knows it says [`Verdict::NotIdentifiable`] without asking.
    #[must_use]
    pub fn judge(&self, spread: &Spread) -> Verdict {
        let places = (
            spread.median.place(),
            spread.p05.place(),
            spread.p95.place(),
        );
        let (Some(median), Some(p05), Some(p95)) = places else {
            return Verdict::NotIdentifiable;
        };
        if spread.measured * 2 <= spread.seeds {
            return Verdict::NotIdentifiable;
        }
        let (low, high) = self.stated.map_or((self.low, self.high), |it| (it, it));
        if (self.low..=self.high).contains(&median) {
            Verdict::Reproduced
        } else if p05 <= high && low <= p95 {
            Verdict::WithinRange
        } else {
            Verdict::Contradicted
        }
    }
}

impl Verdict {
    /// The words used in tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::WithinRange => "within range",
            Self::NotIdentifiable => "not identifiable",
            Self::Contradicted => "contradicted",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Value;

    /// 1, 2, … 100.
    fn hundred() -> Spread {
        Spread::of((1..=100).map(|number| Value::Measured(number.into())))
    }

    #[test]
    fn median_at_the_edge_of_the_tolerance_reproduces_the_claim() {
        assert_eq!(
            Claim::about(53.0, 3.0).judge(&hundred()),
            Verdict::Reproduced
        );
        assert_eq!(
            Claim::about(47.0, 3.0).judge(&hundred()),
            Verdict::Reproduced
        );
        assert_eq!(
            Claim::about(53.5, 3.0).judge(&hundred()),
            Verdict::WithinRange
        );
        assert_eq!(
            Claim::about(50.0, 0.0).judge(&hundred()),
            Verdict::Reproduced
        );
    }

    #[test]
    fn claim_at_the_fifth_and_at_the_95th_seed_is_within_range() {
        for (stated, expected) in [
            (5.0, Verdict::WithinRange),
            (4.9, Verdict::Contradicted),
            (95.0, Verdict::WithinRange),
            (95.1, Verdict::Contradicted),
        ] {
            assert_eq!(
                Claim::about(stated, 1.0).judge(&hundred()),
                expected,
                "{stated}"
            );
        }
    }

    #[test]
    fn direction_is_a_claim_with_an_open_end() {
        let falls = Claim::between(f64::NEG_INFINITY, -0.1);
        let changes = |numbers: [f64; 3]| Spread::of(numbers.map(Value::Measured));
        assert_eq!(
            falls.judge(&changes([-0.5, -0.1, 0.3])),
            Verdict::Reproduced
        );
        assert_eq!(
            falls.judge(&changes([-0.5, -0.05, 0.3])),
            Verdict::WithinRange
        );
        assert_eq!(
            falls.judge(&changes([0.0, 0.1, 0.3])),
            Verdict::Contradicted
        );
        let below = Spread::of([Value::Below; 3]);
        assert_eq!(falls.judge(&below), Verdict::Reproduced);
        assert_eq!(Claim::about(-0.5, 0.1).judge(&below), Verdict::Contradicted);
    }

    #[test]
    fn median_beyond_measure_is_above_every_stated_number() {
        let spread = Spread::of([Value::Measured(5.0), Value::Beyond, Value::Beyond]);
        assert_eq!(Claim::about(5.0, 1.0).judge(&spread), Verdict::WithinRange);
        assert_eq!(Claim::about(4.0, 1.0).judge(&spread), Verdict::Contradicted);
        assert_eq!(
            Claim::between(10.0, f64::INFINITY).judge(&spread),
            Verdict::Reproduced
        );
    }

    #[test]
    fn nothing_to_measure_in_half_of_the_seeds_tells_nothing() {
        let with_nothing = |nothing: usize| {
            let measured = [4.0, 4.0].map(Value::Measured);
            let nothing = std::iter::repeat_n(Value::Nothing, nothing);
            Spread::of(measured.into_iter().chain(nothing))
        };
        let claim = Claim::about(4.0, 0.5);
        assert_eq!(claim.judge(&with_nothing(1)), Verdict::Reproduced);
        assert_eq!(claim.judge(&with_nothing(2)), Verdict::NotIdentifiable);
        assert_eq!(claim.judge(&Spread::of([])), Verdict::NotIdentifiable);
    }
}
