//! A figure that may be too long to measure, or of which there is nothing to measure.

use std::cmp::Ordering;

/// What a figure came to.
///
/// ```
/// use offpeak::trial::Value;
///
/// assert_eq!(Value::Measured(90.0).measured(), Some(90.0));
/// assert!(Value::Beyond.rank_against(Value::Measured(1e300)).is_some_and(|order| order.is_gt()));
/// assert_eq!(Value::Nothing.rank_against(Value::Measured(0.0)), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// There was nothing to measure: no call, no work. It takes no part in ranks.
    Nothing,
    /// Of differences alone: what was beyond measure came to a measured end. It ranks below all that was measured.
    Below,
    /// A number in the unit of its metric.
    Measured(f64),
    /// Longer than any that was measured, as work that was never done is. It ranks above all that was measured.
    Beyond,
}

impl Value {
    /// The number, if one was measured.
    #[must_use]
    pub const fn measured(self) -> Option<f64> {
        match self {
            Self::Measured(number) => Some(number),
            Self::Nothing | Self::Below | Self::Beyond => None,
        }
    }

    /// Which of the two is greater; `None` if there was nothing to measure for either.
    #[must_use]
    pub fn rank_against(self, other: Self) -> Option<Ordering> {
        Some(self.place()?.total_cmp(&other.place()?))
    }

    /// Its place on the line of numbers, which [`Value::Beyond`] ends at the top and [`Value::Below`] at the bottom.
    pub(super) const fn place(self) -> Option<f64> {
        match self {
            Self::Nothing => None,
            Self::Below => Some(f64::NEG_INFINITY),
            Self::Measured(number) => Some(number),
            Self::Beyond => Some(f64::INFINITY),
        }
    }

    /// The same, for sorting values of which none is [`Value::Nothing`].
    pub(super) fn order(&self, other: &Self) -> Ordering {
        self.rank_against(*other).unwrap_or(Ordering::Equal)
    }

    /// A quotient; nothing if it is of nothing.
    pub(super) fn ratio(sum: usize, of: usize) -> Self {
        if of == 0 {
            return Self::Nothing;
        }
        Self::Measured(sum as f64 / of as f64)
    }

    /// A count.
    pub(super) const fn count(count: usize) -> Self {
        Self::Measured(count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_ranks_above_and_below_ranks_under_every_number() {
        let order = |a: Value, b: Value| a.rank_against(b);
        let number = Value::Measured;
        assert_eq!(
            order(Value::Beyond, number(f64::MAX)),
            Some(Ordering::Greater)
        );
        assert_eq!(order(Value::Below, number(f64::MIN)), Some(Ordering::Less));
        assert_eq!(order(number(1.0), number(2.0)), Some(Ordering::Less));
        assert_eq!(order(Value::Beyond, Value::Beyond), Some(Ordering::Equal));
    }

    #[test]
    fn nothing_ranks_against_nothing_at_all() {
        assert_eq!(Value::Nothing.rank_against(Value::Beyond), None);
        assert_eq!(Value::Beyond.rank_against(Value::Nothing), None);
        assert_eq!(Value::Nothing.measured(), None);
    }

    #[test]
    fn ratio_of_nothing_is_nothing_and_of_none_is_zero() {
        assert_eq!(Value::ratio(3, 2), Value::Measured(1.5));
        assert_eq!(Value::ratio(0, 2), Value::Measured(0.0));
        assert_eq!(Value::ratio(0, 0), Value::Nothing);
    }
}
