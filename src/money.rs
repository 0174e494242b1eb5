//! Amounts of money that add up exactly.

use std::fmt;
use std::iter::Sum;

/// Billionths of a dollar in a dollar.
const NANOS: u64 = 1_000_000_000;

/// Dollars, kept as whole billionths: sums of many small costs do not drift.
///
/// From nothing to 18 billion; beyond that it stays there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dollars(u64);

impl Dollars {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// So many billionths of a dollar.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Billionths of a dollar.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// The nearest billionth of a number of dollars; `None` below zero, above the most, and for what is no number.
    ///
    /// ```
    /// use offpeak::money::Dollars;
    ///
    /// assert_eq!(Dollars::from_f64(2.5), Some(Dollars::from_nanos(2_500_000_000)));
    /// assert_eq!(Dollars::from_f64(-1.0), None);
    /// ```
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the bounds are checked before"
    )]
    pub fn from_f64(dollars: f64) -> Option<Self> {
        let nanos = (dollars * NANOS as f64).round();
        (0.0..u64::MAX as f64)
            .contains(&nanos)
            .then_some(Self(nanos as u64))
    }

    /// As a number, for JSON and for tables; exact to the billionth up to nine million dollars.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / NANOS as f64
    }

    /// Both together, at most the most.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// What is left without the other, at least nothing.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Dollars {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Self::plus)
    }
}

/// `$2.50`, `$0.0123`: whole cents with two digits, all else with four, rounded; what is less than that with all nine.
impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CENT: u64 = NANOS / 100;
        const LEAST: u64 = NANOS / 10_000;
        let (whole, rest) = (self.0 / NANOS, self.0 % NANOS);
        let text = if self.0.is_multiple_of(CENT) {
            format!("${whole}.{:02}", rest / CENT)
        } else if self.0 < LEAST {
            format!("$0.{rest:09}")
        } else {
            let rounded = self.0 / LEAST + u64::from(self.0 % LEAST >= LEAST / 2);
            format!("${}.{:04}", rounded / 10_000, rounded % 10_000)
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(nanos: u64) -> Dollars {
        Dollars::from_nanos(nanos)
    }

    #[test]
    fn a_million_small_costs_add_up_exactly() {
        let cent = Dollars::from_f64(0.01).unwrap();
        let sum: Dollars = std::iter::repeat_n(cent, 1_000_000).sum();
        assert_eq!(sum, Dollars::from_f64(10_000.0).unwrap());
        let tenth: f64 = (0..10).map(|_| 0.1).sum();
        assert!(tenth < 1.0, "numbers alone do drift");
    }

    #[test]
    fn words_have_cents_or_four_digits_or_all() {
        for (amount, words) in [
            (0, "$0.00"),
            (2_500_000_000, "$2.50"),
            (40_000_000_000, "$40.00"),
            (12_300_000, "$0.0123"),
            (12_345_600, "$0.0123"),
            (12_350_000, "$0.0124"),
            (1_999_999_999, "$2.0000"),
            (100_000, "$0.0001"),
            (99_999, "$0.000099999"),
            (10, "$0.000000010"),
        ] {
            assert_eq!(nanos(amount).to_string(), words);
        }
        assert_eq!(format!("{:>8}|", nanos(2_500_000_000)), "   $2.50|");
        assert_eq!(
            Dollars::from_nanos(u64::MAX).to_string(),
            "$18446744073.7096"
        );
    }

    #[test]
    fn numbers_come_and_go_to_the_billionth() {
        for amount in [0, 1, 999_999_999, 5_000_500, 1_234_567_890_123_456] {
            assert_eq!(
                Dollars::from_f64(nanos(amount).as_f64()),
                Some(nanos(amount))
            );
        }
        for odd in [f64::NAN, f64::INFINITY, -0.000_001, 2e10] {
            assert_eq!(Dollars::from_f64(odd), None, "{odd}");
        }
    }

    #[test]
    fn sums_and_differences_stop_at_their_ends() {
        let most = nanos(u64::MAX);
        assert_eq!(most.plus(nanos(1)), most);
        assert_eq!(nanos(1).minus(nanos(2)), Dollars::ZERO);
        assert_eq!(nanos(5).minus(nanos(2)), nanos(3));
    }
}
