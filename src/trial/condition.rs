//! A condition on the figures of an arm: `p99 > 90s`, `worst lost > 0`.

mod error;
mod reading;

use std::cmp::Ordering;
use std::fmt;
use std::time::Duration;

pub use error::{ConditionError, Expected};

use super::metric::{Metric, Unit};
use super::summary::{Spread, Summary};
use super::value::Value;
use crate::span;

/// A condition on one figure over the seeds of an arm.
///
/// `[median|least|most|worst] FIGURE (>|>=|<|<=|=|!=) VALUE`, with or without blanks around the sign. Without a first
/// word it is about the median. `worst` is the most over all seeds, and the least of a figure of which more is better.
/// `p50`, `p95`, `p99` and `max` alone are those of work from due to done. A span has units, such as `1m30s`; a count
/// is a whole number; ratios and dollars may have a fraction.
///
/// ```
/// use offpeak::trial::{Condition, Held, Log, Score, Summary, Value};
///
/// let condition = Condition::parse("worst lost>0")?;
/// assert_eq!(condition.to_string(), "worst lost > 0");
/// let summary = Summary::of(&[Score::of(&Log::default())]);
/// assert_eq!(condition.holds(&summary), Held::DoesNot(Value::Measured(0.0)));
/// assert_eq!(Condition::parse("p99 > 90s")?.holds(&summary), Held::Nothing);
///
/// let error = Condition::parse("p99 > 90").unwrap_err();
/// assert_eq!(error.to_string(), "column 7: found `90`, expected a duration with its units, such as `90s` or `1m30s`");
/// # Ok::<(), offpeak::trial::ConditionError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Condition {
    aggregate: Aggregate,
    metric: Metric,
    relation: Relation,
    /// In the unit of the metric.
    limit: f64,
}

/// Whether a condition holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Held {
    /// It does, for this value.
    Holds(Value),
    /// It does not, for this value.
    DoesNot(Value),
    /// There was nothing to measure in any seed, so that it neither holds nor does not. A check that comes to this has
    /// shown nothing; whoever asked must hear of it.
    Nothing,
}

/// Which value over the seeds is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Aggregate {
    Median,
    Least,
    Most,
    Worst,
}

/// How the value stands to the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Relation {
    Above,
    AtLeast,
    Below,
    AtMost,
    Equal,
    Other,
}

impl Condition {
    /// Reads a condition.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        reading::read(text)
    }

    /// The figure that it is about.
    #[must_use]
    pub const fn metric(&self) -> Metric {
        self.metric
    }

    /// What it asks: `median done_p99`.
    #[must_use]
    pub fn subject(&self) -> String {
        format!("{} {}", self.aggregate.as_str(), self.metric)
    }

    /// What is said of it: `> 1m30s`.
    #[must_use]
    pub fn bound(&self) -> String {
        let limit = match self.metric.unit() {
            Unit::Span => span::show(millis(self.limit)),
            Unit::Count | Unit::Ratio | Unit::Dollars => self.limit.to_string(),
        };
        format!("{} {limit}", self.relation.as_str())
    }

    /// Whether it holds over these seeds. [`Value::Beyond`] is above every limit.
    #[must_use]
    pub fn holds(&self, summary: &Summary) -> Held {
        let value = self.aggregate.of(self.metric, summary.spread(self.metric));
        let Some(order) = value.rank_against(Value::Measured(self.limit)) else {
            return Held::Nothing;
        };
        if self.relation.admits(order) {
            Held::Holds(value)
        } else {
            Held::DoesNot(value)
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.subject(), self.bound())
    }
}

impl Aggregate {
    const ALL: [Self; 4] = [Self::Median, Self::Least, Self::Most, Self::Worst];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Least => "least",
            Self::Most => "most",
            Self::Worst => "worst",
        }
    }

    const fn of(self, metric: Metric, spread: &Spread) -> Value {
        match self {
            Self::Median => spread.median,
            Self::Worst if metric.is_better_high() => spread.least,
            Self::Least => spread.least,
            Self::Most | Self::Worst => spread.most,
        }
    }
}

impl Relation {
    /// Longer signs first: `>=` begins as `>` does.
    const ALL: [Self; 6] = [
        Self::AtLeast,
        Self::AtMost,
        Self::Other,
        Self::Above,
        Self::Below,
        Self::Equal,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Equal => "=",
            Self::Other => "!=",
        }
    }

    const fn admits(self, order: Ordering) -> bool {
        match self {
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Equal => order.is_eq(),
            Self::Other => order.is_ne(),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a limit in milliseconds was read as a whole number of them"
)]
const fn millis(limit: f64) -> Duration {
    Duration::from_millis(limit as u64)
}

#[cfg(test)]
mod tests;
