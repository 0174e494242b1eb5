//! The breaker of one group: closed, open, half-open.
//!
//! An unwell upstream gets one probe a cooldown. Answers of attempts from
//! before a change of state belong to an earlier generation and count for
//! nothing: otherwise the stragglers of an outage would open a breaker that a
//! probe has just closed.

use std::collections::VecDeque;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::span::{elapsed, later};
use super::{BreakerPolicy, Permit};

/// Beyond an attempt's timeout, before its probe counts as lost.
pub const LEASE_MARGIN: Duration = Duration::from_secs(5);

/// No timeout is longer than a day. A lease that ends later was given by a clock that was ahead.
const LONGEST_LEASE: TimeDelta =
    TimeDelta::seconds(24 * 60 * 60 + LEASE_MARGIN.as_secs().cast_signed());

/// Whether a permit is the one probe of a half-open breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// An ordinary attempt.
    No,
    /// The one probe.
    Yes,
}

/// What an attempt tells the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// A whole answer.
    Success,
    /// 429, 529, 5xx, timeouts, connection errors, broken bodies.
    Failure,
    /// Other 4xx, money errors, refusals, our own cancellations.
    Neutral,
}

/// A counted sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampledAt {
    /// When it was recorded.
    pub at: DateTime<Utc>,
    /// `Success` or `Failure`.
    pub sample: Sample,
}

/// Closed, open or half-open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BreakerState {
    /// Lets attempts pass.
    #[default]
    Closed,
    /// Refuses them until the cooldown ends.
    Open {
        /// When it opened.
        since: DateTime<Utc>,
    },
    /// One probe is under way.
    HalfOpen {
        /// When it opened.
        since: DateTime<Utc>,
        /// When the probe counts as lost.
        lease_until: DateTime<Utc>,
    },
}

/// The breaker of one group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Breaker {
    /// The state.
    pub state: BreakerState,
    /// Grows with every change of state.
    pub generation: u64,
    /// The samples of the window, oldest first; empty unless closed.
    ///
    /// At most `min_samples / failure_ratio` of them: with that bound,
    /// `min_samples` failures in a row open the breaker however busy and
    /// healthy the window was before them.
    pub samples: VecDeque<SampledAt>,
}

/// The breaker's answer to an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// It may pass, as the probe or as an ordinary attempt.
    Pass(Probe),
    /// It may not, before this instant at the earliest.
    Refuse(DateTime<Utc>),
}

impl Breaker {
    /// Whether an attempt may pass now.
    ///
    /// Takes nothing: the probe is taken by [`Breaker::enter`] alone. An open
    /// breaker that is `stale_after` old closes here: what it knows is too old
    /// to refuse for. One whose `since` lies in the future, because the wall
    /// clock stepped back, counts as opened now.
    pub fn ask(&mut self, policy: &BreakerPolicy, now: DateTime<Utc>) -> Gate {
        self.set_back(now);
        let since = match self.state {
            BreakerState::Closed => return Gate::Pass(Probe::No),
            BreakerState::HalfOpen { lease_until, .. } if now < lease_until => {
                return Gate::Refuse(lease_until);
            }
            BreakerState::HalfOpen { since, .. } | BreakerState::Open { since } => since,
        };
        if elapsed(since, now) >= policy.stale_after {
            self.change(BreakerState::Closed);
            return Gate::Pass(Probe::No);
        }
        if elapsed(since, now) < policy.cooldown {
            return Gate::Refuse(later(since, policy.cooldown));
        }
        Gate::Pass(Probe::Yes)
    }

    /// Lets an attempt that [`Breaker::ask`] has passed in; the probe gets a lease.
    pub fn enter(&mut self, probe: Probe, now: DateTime<Utc>, lease: Duration) -> Permit {
        match (probe, self.state) {
            (Probe::Yes, BreakerState::Open { since } | BreakerState::HalfOpen { since, .. }) => {
                self.change(BreakerState::HalfOpen {
                    since,
                    lease_until: later(now, lease),
                });
                Permit {
                    generation: self.generation,
                    probe,
                }
            }
            (Probe::Yes, BreakerState::Closed) | (Probe::No, _) => Permit {
                generation: self.generation,
                probe: Probe::No,
            },
        }
    }

    /// Takes what came back; a permit of an earlier generation changes nothing.
    ///
    /// A neutral sample counts neither way, and gives the probe back.
    pub fn record(
        &mut self,
        policy: &BreakerPolicy,
        permit: &Permit,
        sample: Sample,
        now: DateTime<Utc>,
    ) {
        if permit.generation != self.generation {
            return;
        }
        match (self.state, sample) {
            (BreakerState::Closed, Sample::Success | Sample::Failure) => {
                self.count(policy, sample, now);
            }
            (BreakerState::HalfOpen { .. }, Sample::Success) => self.change(BreakerState::Closed),
            (BreakerState::HalfOpen { .. }, Sample::Failure) => {
                self.change(BreakerState::Open { since: now });
            }
            (BreakerState::HalfOpen { since, .. }, Sample::Neutral) => {
                self.change(BreakerState::Open { since });
            }
            // No permit of the present generation is out while the breaker is open.
            (BreakerState::Closed, Sample::Neutral) | (BreakerState::Open { .. }, _) => {}
        }
    }

    /// Gives a permit back without a sample.
    pub fn release(&mut self, permit: &Permit) {
        match self.state {
            BreakerState::HalfOpen { since, .. } if permit.generation == self.generation => {
                // The cooldown is over already: the next attempt that asks is the probe.
                self.change(BreakerState::Open { since });
            }
            BreakerState::HalfOpen { .. } | BreakerState::Open { .. } | BreakerState::Closed => {}
        }
    }

    /// Closes with a clean slate; attempts under way count for nothing.
    pub fn close(&mut self) {
        self.change(BreakerState::Closed);
    }

    fn count(&mut self, policy: &BreakerPolicy, sample: Sample, now: DateTime<Utc>) {
        self.set_back(now);
        self.samples.push_back(SampledAt { at: now, sample });
        let most = most_samples(policy);
        while self.samples.len() > most
            || self
                .samples
                .front()
                .is_some_and(|first| elapsed(first.at, now) >= policy.window)
        {
            self.samples.pop_front();
        }
        let failures = self
            .samples
            .iter()
            .filter(|kept| kept.sample == Sample::Failure)
            .count();
        let enough = self.samples.len() >= least_samples(policy);
        // A quotient, not a product: 3 of 30 must equal 0.1, and 0.1 × 30 is more than 3.
        if enough && failures as f64 / self.samples.len() as f64 >= policy.failure_ratio {
            self.change(BreakerState::Open { since: now });
        }
    }

    fn change(&mut self, state: BreakerState) {
        self.state = state;
        self.generation = self.generation.wrapping_add(1);
        self.samples.clear();
    }

    /// Moves instants from the future of a clock that stepped back to now.
    pub(super) fn set_back(&mut self, now: DateTime<Utc>) {
        for kept in self
            .samples
            .iter_mut()
            .rev()
            .take_while(|kept| kept.at > now)
        {
            kept.at = now;
        }
        match &mut self.state {
            BreakerState::Open { since } => *since = now.min(*since),
            BreakerState::HalfOpen { since, lease_until } if *since > now => {
                *lease_until -= *since - now;
                *since = now;
            }
            // The probe was let in while the clock was ahead, and nobody has heard of it since.
            BreakerState::HalfOpen { lease_until, .. } if *lease_until - now > LONGEST_LEASE => {
                *lease_until = now;
            }
            BreakerState::HalfOpen { .. } | BreakerState::Closed => {}
        }
    }
}

fn least_samples(policy: &BreakerPolicy) -> usize {
    usize::try_from(policy.min_samples.get()).unwrap_or(usize::MAX)
}

/// The most samples of which `min_samples` failures are still the share that opens.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 1 and BreakerPolicy::MAX_SAMPLES by `min` and policy"
)]
fn most_samples(policy: &BreakerPolicy) -> usize {
    let most = f64::from(policy.min_samples.get()) / policy.failure_ratio;
    (most.min(f64::from(BreakerPolicy::MAX_SAMPLES)) as usize).max(least_samples(policy))
}

#[cfg(test)]
mod tests;
