//! Checked policies: values that the layers can rely on.
//!
//! Bounds are checked where a policy is built, so that no decision has to ask
//! whether a ratio is a number or a span is zero. The defaults are not here;
//! they live in the embedded YAML file that `config` reads.

use std::num::NonZeroU32;
use std::time::Duration;

use super::DollarCaps;
use crate::span::show;

/// The longest span over which calls or samples are counted.
const MAX_SPAN: Duration = Duration::from_hours(24);

/// How often and how long a call is retried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    max_attempts: NonZeroU32,
    base_delay: Duration,
    max_delay: Duration,
    jitter_ratio: f64,
}

/// How many attempts a group may make in any span of `per`, and what it may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetPolicy {
    calls: NonZeroU32,
    per: Duration,
    dollars: DollarCaps,
}

/// When a group's breaker opens and closes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BreakerPolicy {
    /// Samples within the window before it may open; 1 to 1024.
    pub min_samples: NonZeroU32,
    /// The share of failures at which it opens, above 0 to 1.
    pub failure_ratio: f64,
    /// How long a sample counts; above zero to a day.
    pub window: Duration,
    /// How long it stays open before one probe; above zero to a day.
    pub cooldown: Duration,
    /// An open breaker of this age closes when asked; longer than `cooldown`, at most a week.
    pub stale_after: Duration,
}

/// What a group's guard goes by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GuardPolicy {
    /// The budget.
    pub budget: BudgetPolicy,
    /// The breaker.
    pub breaker: BreakerPolicy,
}

/// Why a policy is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {found} is outside {expected}")]
pub struct PolicyError {
    /// The field as written in YAML.
    pub field: &'static str,
    /// What was found.
    pub found: String,
    /// The bounds.
    pub expected: &'static str,
}

impl RetryPolicy {
    /// The most attempts of one call: one request and two retries.
    pub const MAX_ATTEMPTS: u32 = 3;
    /// The longest wait. A run is short: what needs a longer wait belongs into a later slot.
    pub const MAX_DELAY: Duration = Duration::from_hours(1);

    /// Checks the bounds: 1 to 3 attempts, `base_delay <= max_delay <= 1h`, ratio 0 to 1.
    ///
    /// A `base_delay` of zero retries at once; a ratio of zero makes waits exact.
    ///
    /// # Errors
    ///
    /// The first field that is out of bounds, in the order of the arguments.
    pub fn new(
        max_attempts: u32,
        base_delay: Duration,
        max_delay: Duration,
        jitter_ratio: f64,
    ) -> Result<Self, PolicyError> {
        let max_attempts = NonZeroU32::new(max_attempts)
            .filter(|attempts| attempts.get() <= Self::MAX_ATTEMPTS)
            .ok_or_else(|| error("max_attempts", max_attempts.to_string(), "1 to 3"))?;
        if max_delay > Self::MAX_DELAY {
            return Err(error("max_delay", show(max_delay), "0s to 1h"));
        }
        if base_delay > max_delay {
            return Err(error("base_delay", show(base_delay), "0s to `max_delay`"));
        }
        if !(0.0..=1.0).contains(&jitter_ratio) {
            return Err(error("jitter_ratio", jitter_ratio.to_string(), "0 to 1"));
        }
        Ok(Self {
            max_attempts,
            base_delay,
            max_delay,
            jitter_ratio,
        })
    }

    /// Attempts in all, the first included.
    #[must_use]
    pub fn max_attempts(&self) -> u32 {
        self.max_attempts.get()
    }

    /// The centre of the first wait.
    #[must_use]
    pub fn base_delay(&self) -> Duration {
        self.base_delay
    }

    /// No wait is longer.
    #[must_use]
    pub fn max_delay(&self) -> Duration {
        self.max_delay
    }

    /// The width of the jitter in parts of the centre.
    #[must_use]
    pub fn jitter_ratio(&self) -> f64 {
        self.jitter_ratio
    }
}

impl BudgetPolicy {
    /// The most calls. The log keeps one instant a call, and one group's row must stay small.
    pub const MAX_CALLS: u32 = 10_000;

    /// Checks the bounds: 1 to 10,000 calls, a span above zero and at most a day.
    ///
    /// # Errors
    ///
    /// The first field that is out of bounds.
    pub fn new(calls: u32, per: Duration) -> Result<Self, PolicyError> {
        let calls = NonZeroU32::new(calls)
            .filter(|calls| calls.get() <= Self::MAX_CALLS)
            .ok_or_else(|| error("calls", calls.to_string(), "1 to 10000"))?;
        span("per", per)?;
        Ok(Self {
            calls,
            per,
            dollars: DollarCaps::default(),
        })
    }

    /// The same with caps in dollars.
    #[must_use]
    pub const fn costing(self, dollars: DollarCaps) -> Self {
        Self { dollars, ..self }
    }

    /// What a group may spend; no cap unless [`BudgetPolicy::costing`] says so.
    #[must_use]
    pub const fn dollars(&self) -> DollarCaps {
        self.dollars
    }

    /// The most attempts.
    #[must_use]
    pub fn calls(&self) -> u32 {
        self.calls.get()
    }

    /// The span.
    #[must_use]
    pub fn per(&self) -> Duration {
        self.per
    }
}

impl BreakerPolicy {
    /// The most samples. The breaker's log holds at least `min_samples` of them, and is bounded.
    pub const MAX_SAMPLES: u32 = 1024;
    /// The longest time for which nobody asks after an open breaker.
    pub const MAX_STALE: Duration = Duration::from_hours(7 * 24);

    /// Checks the bounds of every field, as stated there.
    ///
    /// # Errors
    ///
    /// The first field that is out of bounds, in the order of the fields.
    pub fn checked(self) -> Result<Self, PolicyError> {
        if self.min_samples.get() > Self::MAX_SAMPLES {
            return Err(error(
                "min_samples",
                self.min_samples.to_string(),
                "1 to 1024",
            ));
        }
        if !(self.failure_ratio > 0.0 && self.failure_ratio <= 1.0) {
            return Err(error(
                "failure_ratio",
                self.failure_ratio.to_string(),
                "0 (excluded) to 1",
            ));
        }
        span("window", self.window)?;
        span("cooldown", self.cooldown)?;
        // At `stale_after <= cooldown` it would close without ever sending a probe.
        if self.stale_after <= self.cooldown || self.stale_after > Self::MAX_STALE {
            return Err(error(
                "stale_after",
                show(self.stale_after),
                "`cooldown` (excluded) to 7d",
            ));
        }
        Ok(self)
    }
}

fn span(field: &'static str, found: Duration) -> Result<(), PolicyError> {
    if found > Duration::ZERO && found <= MAX_SPAN {
        Ok(())
    } else {
        Err(error(field, show(found), "0s (excluded) to 24h"))
    }
}

fn error(field: &'static str, found: String, expected: &'static str) -> PolicyError {
    PolicyError {
        field,
        found,
        expected,
    }
}

#[cfg(test)]
mod tests;
