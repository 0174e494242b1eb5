//! The three layers between a slot and the API: retry, budget, breaker.
//!
//! Plain state with `now` and `draw` as arguments; no clock, no lock, no I/O.
//! A [`Guard`] is the state of one group. The store keeps it as one row and
//! changes it in one transaction, so that a restart or a second process goes
//! on from it. The retry layer has no state: see [`next_step`].

pub mod backoff;
pub mod breaker;
pub mod budget;
pub mod classify;
pub mod hint;
pub mod hold;
pub mod limit;
pub mod policy;
pub mod retry;
pub mod span;
pub mod spending;

pub use breaker::{Breaker, BreakerState, Gate, LEASE_MARGIN, Probe, Sample, SampledAt};
pub use budget::Budget;
pub use classify::{Then, Verdict, classify, is_models_fault};
pub use hold::{Hold, HoldCause};
pub use policy::{BreakerPolicy, BudgetPolicy, GuardPolicy, PolicyError, RetryPolicy};
pub use retry::{Step, next_step};
pub use spending::{Bill, Charge, DollarCaps, Reserve, Spending, Tally};

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::money::Dollars;
use crate::outcome::YieldReason;

/// 401s without a success in between that hold a group: during outages valid keys get some.
const STRIKES: u32 = 2;

/// The state of one group; stored as one row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guard {
    /// What was sent lately.
    pub budget: Budget,
    /// What came back lately.
    pub breaker: Breaker,
    /// What was spent in the day and the month.
    pub spending: Spending,
    /// Why nothing may be sent, if so.
    pub hold: Option<Hold>,
    /// 401s since the last success: one is weak evidence, the second holds the group.
    pub strikes: u32,
}

/// The proof of admission, used up by [`Guard::record`] or [`Guard::release`].
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a permit that is neither recorded nor released leaves its probe to the lease"]
pub struct Permit {
    /// The breaker's generation at admission; a result from an older one counts for nothing.
    pub generation: u64,
    /// Whether it is the half-open breaker's one probe.
    pub probe: Probe,
}

/// The guard's no: not an attempt, not a sample, not a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Which gate.
    pub reason: YieldReason,
    /// The earliest instant at which asking again makes sense; `None` if only a person can tell.
    pub until: Option<DateTime<Utc>>,
}

impl Guard {
    /// Asks hold, breaker and budget, in this order; only an admission spends, and only an admission takes the probe.
    ///
    /// `lease` bounds a probe that is never heard of again: the attempt's timeout plus 5 s.
    ///
    /// A refusal may tidy the state all the same: it drops a hold that is
    /// over, closes a stale breaker, and moves instants from the future of a
    /// clock that stepped back to now. A store keeps the state either way;
    /// otherwise such a step would jam the group until the old time comes.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] that names the gate. It is a normal result: the run yields.
    ///
    /// ```
    /// use std::{num::NonZeroU32, time::Duration};
    /// use chrono::DateTime;
    /// use offpeak::guard::{BreakerPolicy, BudgetPolicy, Guard, GuardPolicy, Sample};
    /// use offpeak::outcome::YieldReason;
    ///
    /// let second = Duration::from_secs(1);
    /// let policy = GuardPolicy {
    ///     budget: BudgetPolicy::new(1, second * 60)?,
    ///     breaker: BreakerPolicy {
    ///         min_samples: NonZeroU32::MIN,
    ///         failure_ratio: 0.5,
    ///         window: second * 120,
    ///         cooldown: second * 60,
    ///         stale_after: second * 600,
    ///     }
    ///     .checked()?,
    /// };
    /// let now = DateTime::UNIX_EPOCH;
    /// let mut guard = Guard::default();
    /// let permit = guard.admit(&policy, now, second * 65).expect("an empty budget has room");
    /// guard.record(&policy, permit, Sample::Success, now);
    ///
    /// let refusal = guard.admit(&policy, now, second * 65).expect_err("one call a minute");
    /// assert_eq!(refusal.reason, YieldReason::Budget);
    /// assert_eq!(refusal.until, Some(now + second * 60));
    /// # Ok::<(), offpeak::guard::PolicyError>(())
    /// ```
    pub fn admit(
        &mut self,
        policy: &GuardPolicy,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Permit, Refusal> {
        self.admit_costing(policy, now, lease, None)
    }

    /// The same for an attempt that may cost so much at most; `None` if its price is unknown.
    ///
    /// It asks the caps in dollars last, and an admission reserves the amount. An unknown price fits under no cap: who
    /// knows the price no better fails the attempt before it asks.
    ///
    /// # Errors
    ///
    /// As [`Guard::admit`].
    pub fn admit_costing(
        &mut self,
        policy: &GuardPolicy,
        now: DateTime<Utc>,
        lease: Duration,
        reserve: Option<Dollars>,
    ) -> Result<Permit, Refusal> {
        self.hold.iter_mut().for_each(|hold| hold.settle(now));
        self.hold.take_if(|hold| !hold.is_active(now));
        if let Some(hold) = &self.hold {
            return Err(Refusal {
                reason: YieldReason::Hold,
                until: hold.until,
            });
        }
        // Settled whatever the breaker says: the row must not keep sends from the future.
        self.budget.settle(&policy.budget, now);
        if self.spending != Spending::default() {
            self.spending.settle(now);
        }
        let probe = match self.breaker.ask(&policy.breaker, now) {
            Gate::Pass(probe) => probe,
            Gate::Refuse(until) => {
                return Err(Refusal {
                    reason: YieldReason::Breaker,
                    until: Some(until),
                });
            }
        };
        if !self.budget.has_room(&policy.budget, now) {
            let until = self.budget.room_at(&policy.budget, now);
            return Err(Refusal {
                reason: YieldReason::Budget,
                until: Some(until),
            });
        }
        self.afford(&policy.budget.dollars(), reserve, now)?;
        self.budget.spend(now);
        if let Some(amount) = reserve {
            self.spending.reserve(amount, now);
        }
        Ok(self.breaker.enter(probe, now, lease))
    }

    /// Whether the caps in dollars have room.
    fn afford(
        &self,
        caps: &DollarCaps,
        reserve: Option<Dollars>,
        now: DateTime<Utc>,
    ) -> Result<(), Refusal> {
        let until = match (caps.least(), reserve) {
            (None, _) => return Ok(()),
            (Some(_), None) => None,
            (Some(_), Some(amount)) => match self.spending.room_at(caps, amount, now) {
                None => return Ok(()),
                until @ Some(_) => until,
            },
        };
        Err(Refusal {
            reason: YieldReason::Dollars,
            until,
        })
    }

    /// Puts what an attempt cost in the place of what was reserved for it.
    pub fn pay(&mut self, bill: &Bill, now: DateTime<Utc>) {
        self.spending.pay(bill, now);
    }

    /// Moves hold and breaker from the future of a clock that was set back to now. [`Guard::admit`] does so too; done
    /// at once, their spans run from the step on and not from the next attempt. Sends wait for that attempt: the row
    /// goes on to account for those on record.
    pub fn set_back(&mut self, now: DateTime<Utc>) {
        self.hold.iter_mut().for_each(|hold| hold.settle(now));
        self.breaker.set_back(now);
    }

    /// Tells the breaker what came back; a success also forgets 401s.
    #[expect(clippy::needless_pass_by_value, reason = "a permit is used up")]
    pub fn record(
        &mut self,
        policy: &GuardPolicy,
        permit: Permit,
        sample: Sample,
        now: DateTime<Utc>,
    ) {
        self.breaker.record(&policy.breaker, &permit, sample, now);
        if sample == Sample::Success {
            self.strikes = 0;
        }
    }

    /// Gives a permit back without a sample: the attempt was cancelled by ourselves.
    ///
    /// The send stays spent, as the request may have reached the API.
    #[expect(clippy::needless_pass_by_value, reason = "a permit is used up")]
    pub fn release(&mut self, permit: Permit) {
        self.breaker.release(&permit);
    }

    /// Holds the group; a longer or harder hold is kept. `HoldCause::Authentication` holds at the second strike only.
    pub fn place_hold(&mut self, hold: Hold) {
        if hold.cause == HoldCause::Authentication {
            self.strikes = self.strikes.saturating_add(1);
            if self.strikes < STRIKES {
                return;
            }
        }
        if self.hold.as_ref().is_none_or(|kept| hold.outlasts(kept)) {
            self.hold = Some(hold);
        }
    }

    /// Lifts a hold at a person's word, and closes the breaker with a clean slate.
    ///
    /// The budget stays, in calls and in dollars: what was sent was sent, and what was spent was spent.
    pub fn resume(&mut self) {
        self.hold = None;
        self.strikes = 0;
        self.breaker.close();
    }
}

#[cfg(test)]
mod tests;
